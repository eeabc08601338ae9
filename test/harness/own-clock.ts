/** For bounds by the clock: time without what other programs took of the processor. */
import { readdirSync, readFileSync } from 'node:fs';

const TASKS = '/proc/self/task';
/** Threads of V8, libuv and Node that run no JavaScript: they are queued much longer than the others, and nothing waits for most of them. */
const HELPERS: ReadonlySet<string> = new Set(['node-V8Worker', 'libuv-worker', 'DelayedTaskSche', 'SignalInspector']);

/**
 * Runs from its construction. What waits, and what computes, counts in full; what an event loop of this process stood in the kernel's queue for a
 * processor does not: beside a second test suite that is four fifths of the time (/proc/PID/schedstat, the second number, in ns; Linux's
 * Documentation/scheduler/sched-stats). Of threads that ended meanwhile it counts too, and so does everything where the system does not tell.
 */
export class OwnClock {
  readonly #began = performance.now();
  readonly #before = queuedByThread();

  /** Milliseconds since the start that the program itself took. */
  get ms(): number {
    return performance.now() - this.#began - this.heldUpMs;
  }

  /** Milliseconds since the start that it was held up: its main thread and its workers together. */
  get heldUpMs(): number {
    let sum = 0;
    for (const [id, ns] of queuedByThread()) sum += ns - (this.#before.get(id) ?? 0);
    return sum / 1e6;
  }
}

function queuedByThread(): Map<string, number> {
  const queued = new Map<string, number>();
  for (const id of threads()) {
    try {
      if (HELPERS.has(readFileSync(`${TASKS}/${id}/comm`, 'utf8').trimEnd())) continue;
      queued.set(id, Number(readFileSync(`${TASKS}/${id}/schedstat`, 'utf8').split(' ')[1]));
    } catch (error) {
      // It ended between the two looks, or this kernel keeps no account.
      const { code } = error as NodeJS.ErrnoException;
      if (code !== 'ENOENT' && code !== 'ESRCH') throw error;
    }
  }
  return queued;
}

function threads(): string[] {
  try {
    return readdirSync(TASKS);
  } catch {
    return [];
  }
}
