/**
 * Events: the owner of a change declares and emits one, and others handle it in the same transaction or after its commit. Knows none of
 * them. Emitted by `tx.emit` (tx.ts).
 */

/** `P`: the payload. `C`: what handlers count, by name. */
export interface Event<P, C> {
  readonly name: string;
  /** The counts without a handler. */
  readonly zero: C;
  /** Never set: it carries the type. */
  readonly payload?: P;
}

/** Each name is a sum over the handlers. */
type Counts<C> = { readonly [Name in keyof C]: number };
type Sums = Readonly<Record<string, number>>;
type NoCounts = Readonly<Record<string, never>>;

/** Declares an event. `zero`: its counts, each 0. */
export function event<P>(name: string): Event<P, NoCounts>;
export function event<P, C extends Counts<C>>(name: string, zero: C): Event<P, C>;
export function event<P>(name: string, zero: object = {}): Event<P, object> {
  return { name, zero };
}

/** What handlers get: the transaction of the change. */
interface Commits {
  onCommit(tell: () => void): void;
}

/** One reaction to one event. */
export interface Handler<T extends Commits> {
  readonly event: object;
  run(tx: T, payload: unknown): Sums | void;
}

/** `handle` runs inside the transaction and returns its counts, if any. What it throws rolls the change back. */
export function on<T extends Commits, P, C extends object>(
  of: Event<P, C>,
  handle: (tx: T, payload: P) => Partial<C> | void,
): Handler<T> {
  return { event: of, run: (tx, payload) => handle(tx, payload as P) as Sums | void };
}

/** `handle` runs after the commit. Its failure is logged and reaches no caller. */
export function after<T extends Commits, P>(of: Event<P, object>, handle: (payload: P) => void): Handler<T> {
  return {
    event: of,
    run: (tx, payload) => tx.onCommit(() => handle(payload as P)),
  };
}

/** All handlers of a program, in the order in which they run. */
export class Handlers<T extends Commits> {
  readonly #of: ReadonlyMap<object, readonly Handler<T>[]>;

  constructor(handlers: readonly Handler<T>[]) {
    this.#of = Map.groupBy(handlers, (handler) => handler.event);
  }

  /** Runs the handlers of the event one by one. Returns their counts, added up. Throws what a handler throws. */
  emit<P, C extends object>(tx: T, of: Event<P, C>, payload: P): C {
    const sums = { ...of.zero } as Record<string, number>;
    for (const handler of this.#of.get(of) ?? []) {
      for (const [name, n] of Object.entries(handler.run(tx, payload) ?? {})) sums[name] = (sums[name] ?? 0) + n;
    }
    return sums as C;
  }
}
