/**
 * When the jobs of the clock last ran, how late, and with what luck: written by control/core/jobs.ts, read by operator/metrics.ts. A job that hangs
 * is seen by being late for its next turn.
 */
import type { Clock } from '../../base/clock.ts';

export interface JobTime {
  readonly name: string;
  /** Behind its turn: at the last run, or now when the next one is overdue by more. Up to a second is the grain of the clock. */
  readonly lateMs: number;
  /** The last run that ended; null: none has. */
  readonly tookMs: number | null;
  readonly runs: number;
  readonly failures: number;
  /** The last run that ended did. */
  readonly lastFailed: boolean;
}

interface Times {
  dueAt: number;
  beganAt: number;
  lateMs: number;
  tookMs: number | null;
  runs: number;
  failures: number;
  lastFailed: boolean;
}

export class JobTimes {
  readonly #clock: Clock;
  /** As many as there are jobs. */
  readonly #jobs = new Map<string, Times>();

  constructor(deps: { clock: Clock }) {
    this.#clock = deps.clock;
  }

  /** The job is to run first at `dueAt`, in milliseconds of the monotonic clock. */
  plan(name: string, dueAt: number): void {
    this.#jobs.set(name, { dueAt, beganAt: 0, lateMs: 0, tookMs: null, runs: 0, failures: 0, lastFailed: false });
  }

  /** It begins, and is to run again at `nextAt`. */
  began(name: string, nextAt: number): void {
    const times = this.#of(name);
    const now = this.#clock.monotonic();
    times.lateMs = Math.max(0, now - times.dueAt);
    times.beganAt = now;
    times.dueAt = nextAt;
    times.runs++;
  }

  ended(name: string, { failed }: { readonly failed: boolean }): void {
    const times = this.#of(name);
    times.tookMs = this.#clock.monotonic() - times.beganAt;
    times.lastFailed = failed;
    if (failed) times.failures++;
  }

  list(): readonly JobTime[] {
    const now = this.#clock.monotonic();
    return Array.from(this.#jobs, ([name, { dueAt, lateMs, tookMs, runs, failures, lastFailed }]) => ({
      name,
      lateMs: Math.max(lateMs, now - dueAt),
      tookMs,
      runs,
      failures,
      lastFailed,
    }));
  }

  #of(name: string): Times {
    const times = this.#jobs.get(name);
    if (times === undefined) throw new Error(`the job ${name} was not planned`);
    return times;
  }
}
