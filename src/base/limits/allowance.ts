/**
 * So many per second on average, and a burst that is saved up. Numbers in place, for some are asked at each request. Who is refused does not
 * wait: where bytes shall wait their turn there is the token bucket.
 */

export class Allowance {
  readonly #perMs: number;
  readonly #burst: number;
  #level: number;
  #atMs: number;

  /** `perSecond` 0: no limit. `burst`: what may come at once; full at the start. `nowMs`: monotonic. */
  constructor(of: { readonly perSecond: number; readonly burst: number }, nowMs: number) {
    this.#perMs = of.perSecond / 1_000;
    this.#burst = of.perSecond === 0 ? Number.POSITIVE_INFINITY : of.burst;
    this.#level = this.#burst;
    this.#atMs = nowMs;
  }

  /** Whether there is one now. It is not spent: another allowance may have to be asked too. */
  hasOne(nowMs: number): boolean {
    // A coarse clock may be behind the one that the allowance began by.
    if (nowMs > this.#atMs) {
      this.#level = Math.min(this.#burst, this.#level + (nowMs - this.#atMs) * this.#perMs);
      this.#atMs = nowMs;
    }
    return this.#level >= 1;
  }

  /** After `hasOne` has said yes. */
  spend(): void {
    this.#level--;
  }

  /** What was spent turns out not to count. */
  giveBack(): void {
    this.#level = Math.min(this.#burst, this.#level + 1);
  }

  /** After `hasOne` has said no: milliseconds until it says yes. */
  get waitMs(): number {
    return (1 - this.#level) / this.#perMs;
  }
}
