/** So many messages per second on average, and twice that at once. Called by live-feed.ts. */
import type { Clock } from '../../../base/clock.ts';

const BURST_SECONDS = 2;

export class MessageRate {
  readonly #perMs: number;
  readonly #most: number;
  readonly #clock: Clock;
  #left: number;
  #atMs: number;

  constructor(perSecond: number, clock: Clock) {
    this.#perMs = perSecond / 1000;
    this.#most = perSecond * BURST_SECONDS;
    this.#clock = clock;
    this.#left = this.#most;
    this.#atMs = clock.monotonic();
  }

  /** False: not now. */
  take(): boolean {
    const now = this.#clock.monotonic();
    this.#left = Math.min(this.#most, this.#left + (now - this.#atMs) * this.#perMs);
    this.#atMs = now;
    if (this.#left < 1) return false;
    this.#left -= 1;
    return true;
  }
}
