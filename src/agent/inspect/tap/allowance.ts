/**
 * How many requests are copied: a burst at once, and then so many per second. A page that loads hundreds of files is kept whole, and
 * a load test costs the agent the following of its framing and nothing more, not even a look at the clock: a timer fills it up, and
 * runs only while it is not full. Asked by stream-tap.ts.
 */

/** As many as the ring holds: what is more would only push out what was kept a moment before. */
const BURST = 500;
const PER_SECOND = 50;
const STEP_MS = 100;

export class Allowance {
  #level = BURST;
  #timer: NodeJS.Timeout | undefined;

  get isEmpty(): boolean {
    return this.#level === 0;
  }

  /** Takes one. False: there is none left now. */
  take(): boolean {
    if (this.#level === 0) return false;
    this.#level--;
    this.#timer ??= setInterval(() => this.#fill(), STEP_MS).unref();
    return true;
  }

  close(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #fill(): void {
    this.#level = Math.min(BURST, this.#level + (PER_SECOND * STEP_MS) / 1_000);
    if (this.#level === BURST) this.close();
  }
}
