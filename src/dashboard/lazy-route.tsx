/**
 * Code that is fetched when it is needed. Unlike React's `lazy` alone, what is here already is drawn at once: a component that suspends, if only for
 * a moment, stays behind its fallback for 300 ms (React keeps fallbacks from flickering), which the first page can't afford.
 */
import { type ComponentType, lazy, useState } from 'react';

/** How long a failure is one. */
const FAILED_MS = 500;

export interface LazyRoute<P extends object> {
  /** Fetches the code; at once when it is here. Rejects when it can't be fetched: the next call tries anew. */
  readonly load: () => Promise<unknown>;
  readonly Component: ComponentType<P>;
}

export function lazyRoute<P extends object = object>(from: () => Promise<ComponentType<P>>): LazyRoute<P> {
  let here: ComponentType<P> | undefined;
  const load = async (): Promise<ComponentType<P>> => (here ??= await from());
  // React keeps a failure for ever: who comes again gets another try. Not at once, for React itself draws once more what has failed.
  const waiting = (): ComponentType<P> =>
    lazy(async () => {
      try {
        return { default: await load() };
      } catch (error) {
        setTimeout(() => (Awaited = waiting()), FAILED_MS);
        throw error;
      }
    });
  let Awaited = waiting();
  function Component(props: P) {
    // Decided once: another type in the same place would begin anew, and lose what was typed.
    const [There] = useState<ComponentType<P>>(() => here ?? Awaited);
    return <There {...props} />;
  }
  return { load, Component };
}
