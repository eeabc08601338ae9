/** How often something may happen: so many at once, and so many per second after that. For what costs the edge more than its peer. */
export class FloodGuard {
  readonly #perMs: number;
  readonly #burst: number;
  #left: number;
  #atMs: number;

  /** `nowMs`: of the same clock as in `add`. */
  constructor(of: { perSecond: number; burst: number; nowMs: number }) {
    this.#perMs = of.perSecond / 1_000;
    this.#burst = this.#left = of.burst;
    this.#atMs = of.nowMs;
  }

  /** It happened, `times` in a row: false when that is too often. */
  add(nowMs: number, times = 1): boolean {
    this.#left = Math.min(this.#burst, this.#left + (nowMs - this.#atMs) * this.#perMs) - times;
    this.#atMs = nowMs;
    return this.#left >= 0;
  }
}
