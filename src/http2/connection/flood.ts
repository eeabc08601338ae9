/**
 * How often a visitor may do what costs this side more than the visitor, per connection. Buckets are made when they are first needed: most
 * connections never do.
 */
import type { Clock } from '../../base/clock.ts';

/** What may come at once, in seconds of the rate. */
const BURST_SECONDS = 10;
/** Frames that must be answered: PING, SETTINGS, and whatever makes this side send RST_STREAM. */
const CONTROLS_PER_SECOND = 100;
/** Bytes of frames that bring nothing. */
const OVERHEAD_PER_SECOND = 524_288;
const OVERHEAD_BURST = 1 << 20;

/** So many at once, and so many per second after that. */
export class Bucket {
  readonly #clock: Clock;
  readonly #perMs: number;
  readonly #burst: number;
  #left: number;
  #atMs: number;

  constructor(clock: Clock, perSecond: number, burst: number) {
    this.#clock = clock;
    this.#perMs = perSecond / 1_000;
    this.#burst = this.#left = burst;
    this.#atMs = clock.monotonic();
  }

  /** It happened, `count` times: false when that is too often. The clock is only asked when the bucket looks empty. */
  take(count: number): boolean {
    this.#left -= count;
    if (this.#left >= 0) return true;
    const nowMs = this.#clock.monotonic();
    this.#left = Math.min(this.#burst, this.#left + (nowMs - this.#atMs) * this.#perMs);
    this.#atMs = nowMs;
    return this.#left >= 0;
  }
}

export class Floods {
  readonly #clock: Clock;
  readonly #resetsPerSecond: number;
  #resets: Bucket | null = null;
  #controls: Bucket | null = null;
  #overheads: Bucket | null = null;

  constructor(clock: Clock, resetsPerSecond: number) {
    this.#clock = clock;
    this.#resetsPerSecond = resetsPerSecond;
  }

  /** The visitor reset a stream that had work. */
  reset(): boolean {
    this.#resets ??= new Bucket(this.#clock, this.#resetsPerSecond, this.#resetsPerSecond * BURST_SECONDS);
    return this.#resets.take(1);
  }

  /** A frame came that has to be answered. */
  control(): boolean {
    this.#controls ??= new Bucket(this.#clock, CONTROLS_PER_SECOND, CONTROLS_PER_SECOND * BURST_SECONDS);
    return this.#controls.take(1);
  }

  /** `bytes` came that bring nothing. */
  overhead(bytes: number): boolean {
    this.#overheads ??= new Bucket(this.#clock, OVERHEAD_PER_SECOND, OVERHEAD_BURST);
    return this.#overheads.take(bytes);
  }
}
