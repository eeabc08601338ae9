/** What a test file may have changed of its process, put back for the next one. Used by scripts/test/lane.ts. */
import { getPriority } from 'node:os';

type Listener = (...args: unknown[]) => void;

/** Listeners for the end of the process clean up what the file has left, whenever that comes. */
const KEPT = new Set<string | symbol>(['exit', 'message', 'disconnect', 'newListener', 'removeListener']);

export class Fixture {
  readonly #env = { ...process.env };
  readonly #folder = process.cwd();
  readonly #umask = process.umask();
  readonly #priority = getPriority();
  readonly #listeners = new Map(process.eventNames().map((name) => [name, new Set(process.rawListeners(name))]));

  /** @throws Error for a change that can't be put back. */
  restore(): void {
    if (getPriority() !== this.#priority)
      throw new Error('it has lowered the priority of its process: run the command in one of its own');
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
