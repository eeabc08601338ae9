/** What a test file may have changed of its process, put back for the next one. Used by scripts/test/lane.ts. */

type Listener = (...args: unknown[]) => void;

/** Listeners for the end of the process clean up what the file has left, whenever that comes. */
const KEPT = new Set<string | symbol>(['exit', 'message', 'disconnect', 'newListener', 'removeListener']);

export class Fixture {
  readonly #env = { ...process.env };
  readonly #folder = process.cwd();
  readonly #umask = process.umask();
  readonly #listeners = new Map(process.eventNames().map((name) => [name, new Set(process.rawListeners(name))]));

  restore(): void {
    for (const name of Object.keys(process.env)) if (!(name in this.#env)) delete process.env[name];
    Object.assign(process.env, this.#env);
    process.chdir(this.#folder);
    process.umask(this.#umask);
    for (const name of process.eventNames()) {
      if (KEPT.has(name)) continue;
      const before = this.#listeners.get(name);
      for (const listener of process.rawListeners(name)) {
        if (before?.has(listener) !== true) process.off(name, listener as Listener);
      }
    }
  }
}
