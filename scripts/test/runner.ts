/**
 * Loads `node:test`, without the hook by which it learns of every promise, timer and socket to know the test that an error belongs to. That
 * hook takes up to five sixths of the processor time of a test that makes many promises. AsyncLocalStorage knows the same for next to nothing.
 *
 * Node's runner gives its hook's `init` each Test, and asks `executionAsyncId()` when an error comes, or when a test is made inside another.
 * Here `init` gets a test once it is asked for.
 */
import asyncHooks, { AsyncLocalStorage, AsyncResource, type HookCallbacks } from 'node:async_hooks';
import type * as Runner from 'node:test';

/** To be called before anything imports `node:test`. */
export async function loadTestRunner(): Promise<Pick<typeof Runner, 'mock' | 'suite'>> {
  const running = new AsyncLocalStorage<AsyncResource>();
  let hooked: HookCallbacks | undefined;
  const { createHook, executionAsyncId } = asyncHooks;
  asyncHooks.createHook = (callbacks) => {
    hooked = callbacks;
    const hook = { enable: () => hook, disable: () => hook };
    return hook;
  };
  asyncHooks.executionAsyncId = () => {
    const test = running.getStore();
    if (test === undefined) return executionAsyncId();
    hooked?.init?.(test.asyncId(), 'Test', 0, test);
    return test.asyncId();
  };
  // oxlint-disable-next-line typescript/unbound-method -- called with its own `this` below
  const plain = AsyncResource.prototype.runInAsyncScope;
  function run(
    this: AsyncResource,
    fn: (...given: unknown[]) => unknown,
    thisArg?: unknown,
    ...args: unknown[]
  ): unknown {
    // Tests, suites and their hooks have subtests; nothing else has.
    if (!('subtests' in this)) return plain.call(this, fn, thisArg, ...args);
    // Inside of the scope, which has the context that the test was made in.
    const within = (...given: unknown[]): unknown => running.run(this, () => fn.apply(thisArg, given));
    return plain.call(this, within, undefined, ...args);
  }
  AsyncResource.prototype.runInAsyncScope = run as typeof plain;
  try {
    return await import('node:test');
  } finally {
    // The runner has taken what it needs.
    Object.assign(asyncHooks, { createHook, executionAsyncId });
  }
}
