/**
 * Time as an argument, so that tests can move it, and one coarse timer for everything that has a deadline per connection.
 */
import type { Logger } from './log.ts';

export interface Clock {
  /** Milliseconds since the Unix epoch; may jump. */
  now(): number;
  /** Milliseconds since an arbitrary instant; never goes back. */
  monotonic(): number;
}

export const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;

export const systemClock: Clock = { now: () => Date.now(), monotonic: () => performance.now() };

export interface SweeperOptions<T> {
  /** Ends a member that has thrown, and says so; it is swept no more. Without this the fault is the process's, as a test wants it. */
  readonly onFault?: (member: T, error: unknown) => void;
  readonly clock?: Clock;
}

/** For `SweeperOptions`: logs what was thrown, and cuts the member. */
export function cutFaulty(log: Logger, what: string): (member: { destroy(): void }, error: unknown) => void {
  return (member, error) => {
    log.error({ err: error }, `${what} failed and was closed`);
    member.destroy();
  };
}

function rethrow(_member: unknown, error: unknown): never {
  throw error;
}

/**
 * Calls `sweep(now)` of each member once per period. A connection with a deadline registers here instead of holding a timer of
 * its own: 10,000 idle visitors then cost one walk per second and no timer objects. What one member throws ends that one: the timer is
 * shared by all, and a throw out of it would end the process.
 */
export class Sweeper<T extends { sweep(nowMs: number): void }> {
  readonly #members = new Set<T>();
  readonly #timer: NodeJS.Timeout;

  constructor(periodMs: number, { onFault = rethrow, clock = systemClock }: SweeperOptions<T> = {}) {
    this.#timer = setInterval(() => {
      const now = clock.monotonic();
      for (const member of this.#members) {
        try {
          member.sweep(now);
        } catch (error) {
          this.#members.delete(member);
          onFault(member, error);
        }
      }
    }, periodMs);
    this.#timer.unref();
  }

  add(member: T): void {
    this.#members.add(member);
  }

  delete(member: T): void {
    this.#members.delete(member);
  }

  get size(): number {
    return this.#members.size;
  }

  /** The members, for callers that must cut them all at once. */
  members(): IterableIterator<T> {
    return this.#members.values();
  }

  close(): void {
    clearInterval(this.#timer);
    this.#members.clear();
  }
}
