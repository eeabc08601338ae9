/**
 * Time as an argument, so that tests can move it, and one coarse timer for everything that has a deadline per connection.
 */
export interface Clock {
  /** Milliseconds since the Unix epoch; may jump. */
  now(): number;
  /** Milliseconds since an arbitrary instant; never goes back. */
  monotonic(): number;
}

export const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;

export const systemClock: Clock = { now: () => Date.now(), monotonic: () => performance.now() };

/**
 * Calls `sweep(now)` of each member once per period. A connection with a deadline registers here instead of holding a timer of
 * its own: 10,000 idle visitors then cost one walk per second and no timer objects.
 */
export class Sweeper<T extends { sweep(nowMs: number): void }> {
  readonly #members = new Set<T>();
  readonly #timer: NodeJS.Timeout;

  constructor(periodMs: number, clock: Clock = systemClock) {
    this.#timer = setInterval(() => {
      const now = clock.monotonic();
      for (const member of this.#members) member.sweep(now);
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

  /** The members, for whoever must cut them all at once. */
  members(): IterableIterator<T> {
    return this.#members.values();
  }

  close(): void {
    clearInterval(this.#timer);
    this.#members.clear();
  }
}
