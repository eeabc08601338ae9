/**
 * Counts things that end and how long they took: a total, rates per second over one, five and fifteen minutes, and percentiles of the
 * latest that were timed. The numbers that `/api/tunnels` shows of each tunnel. Nothing is allocated when something is counted.
 */

const TICK_MS = 5_000;
/** Durations that percentiles are made of. */
const SAMPLES = 512;
const MINUTES = [1, 5, 15] as const;

export interface MeterView {
  readonly count: number;
  /** Per second. */
  readonly rate1: number;
  readonly rate5: number;
  readonly rate15: number;
  /** Nanoseconds, as scripts for ngrok expect them. */
  readonly p50: number;
  readonly p90: number;
  readonly p95: number;
  readonly p99: number;
}

export class Meter {
  /** May be raised from outside, for what is counted and not timed. */
  count = 0;
  readonly #samples = new Float64Array(SAMPLES);
  #sampled = 0;
  readonly #rates = new Float64Array(MINUTES.length);
  #tickAt: number;
  #countAtTick = 0;

  constructor(nowMs: number) {
    this.#tickAt = nowMs;
  }

  /** Counts something that took `durationMs`. */
  mark(nowMs: number, durationMs: number): void {
    if (nowMs - this.#tickAt >= TICK_MS) this.#tick(nowMs);
    this.count++;
    this.#samples[this.#sampled++ % SAMPLES] = durationMs;
  }

  view(nowMs: number): MeterView {
    this.#tick(nowMs);
    const sorted = this.#samples.slice(0, Math.min(this.#sampled, SAMPLES)).sort();
    const [rate1 = 0, rate5 = 0, rate15 = 0] = this.#rates;
    return {
      count: this.count,
      rate1,
      rate5,
      rate15,
      p50: percentile(sorted, 0.5),
      p90: percentile(sorted, 0.9),
      p95: percentile(sorted, 0.95),
      p99: percentile(sorted, 0.99),
    };
  }

  /** Averages that weigh less the older they are, brought up to date in steps of five seconds. */
  #tick(nowMs: number): void {
    const ticks = Math.floor((nowMs - this.#tickAt) / TICK_MS);
    if (ticks < 1) return;
    const perSecond = (this.count - this.#countAtTick) / ((ticks * TICK_MS) / 1_000);
    for (let k = 0; k < MINUTES.length; k++) {
      const kept = Math.exp((-TICK_MS * ticks) / ((MINUTES[k] as number) * 60_000));
      this.#rates[k] = (this.#rates[k] as number) * kept + perSecond * (1 - kept);
    }
    this.#tickAt += ticks * TICK_MS;
    this.#countAtTick = this.count;
  }
}

function percentile(sorted: Float64Array, part: number): number {
  if (sorted.length === 0) return 0;
  return Math.round((sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] as number) * 1e6);
}
