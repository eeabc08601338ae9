/**
 * Log lines that strangers can cause are written at most once per period, with a count of those that were left out.
 */
export class Throttle {
  readonly #periodMs: number;
  readonly #monotonic: () => number;
  #nextMs = -Infinity;
  #leftOut = 0;

  constructor(periodMs: number, monotonic: () => number) {
    this.#periodMs = periodMs;
    this.#monotonic = monotonic;
  }

  /** Undefined: say nothing now. Else: say it, and how often it was not said since the last time. */
  pass(): { readonly leftOut: number } | undefined {
    const now = this.#monotonic();
    if (now < this.#nextMs) {
      this.#leftOut++;
      return undefined;
    }
    const passed = { leftOut: this.#leftOut };
    this.#nextMs = now + this.#periodMs;
    this.#leftOut = 0;
    return passed;
  }
}
