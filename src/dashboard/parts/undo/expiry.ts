/** The time for which an undo is offered. It stands still while the notice is hovered or has the focus. */

/** Long enough to read it and to reach the button by keyboard. */
export const OFFERED_MS = 10_000;
/** At least so long after the last hold: a pointer that leaves the notice must not close it at once. */
const LEAST_MS = 3000;

export interface Clock {
  /** Milliseconds. */
  now(): number;
  /** Returns how to call it off. */
  after(ms: number, run: () => void): () => void;
}

export const BROWSER_CLOCK: Clock = {
  now: () => performance.now(),
  after: (ms, run) => {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
};

/** Calls `onEnd` once, unless stopped before. */
export class Expiry {
  readonly #clock: Clock;
  readonly #onEnd: () => void;
  /** Reasons to wait: pointer and focus, each once. */
  readonly #holds = new Set<'hover' | 'focus'>();
  #leftMs = OFFERED_MS;
  #since = 0;
  #cancel: () => void = () => {};

  constructor(onEnd: () => void, clock: Clock = BROWSER_CLOCK) {
    this.#onEnd = onEnd;
    this.#clock = clock;
    this.#run();
  }

  hold(reason: 'hover' | 'focus'): void {
    if (this.#holds.size === 0) {
      this.#cancel();
      this.#leftMs -= this.#clock.now() - this.#since;
    }
    this.#holds.add(reason);
  }

  release(reason: 'hover' | 'focus'): void {
    if (!this.#holds.delete(reason) || this.#holds.size > 0) return;
    this.#leftMs = Math.max(this.#leftMs, LEAST_MS);
    this.#run();
  }

  stop(): void {
    this.#cancel();
    this.#cancel = () => {};
  }

  #run(): void {
    this.#since = this.#clock.now();
    this.#cancel = this.#clock.after(this.#leftMs, this.#onEnd);
  }
}
