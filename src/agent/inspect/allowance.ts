/**
 * How many requests are copied: a burst at once, and then so many per second. A page that loads hundreds of files is kept whole, and
 * a load test costs the agent the following of its framing and nothing more. Asked by stream-tap.ts.
 */

/** As many as the ring holds: what is more would only push out what was kept a moment before. */
const BURST = 500;
const PER_SECOND = 50;

export class Allowance {
  #level = BURST;
  #atMs = -Infinity;

  /** Takes one. False: there is none left now. `nowMs` by a clock that never goes back. */
  take(nowMs: number): boolean {
    this.#level = Math.min(BURST, this.#level + ((nowMs - this.#atMs) * PER_SECOND) / 1_000);
    this.#atMs = nowMs;
    if (this.#level < 1) return false;
    this.#level--;
    return true;
  }
}
