/**
 * Turns the counters of the servings into usage events, every two seconds and when a serving is over, so that traffic is counted while it
 * flows and for the token that serves it; the token is charged at the same moment. A serving that is over but has something in flight is
 * walked on until that is done: a download may outlive by days that its tunnel went to another agent. Writes to report/outbox.ts;
 * data/gateway says which servings there are.
 */
import type { RouteEntry, ServedTunnel } from '../routing/entry.ts';
import type { LatencyRecorder } from '../latency/latency-recorder.ts';
import type { Outbox } from './outbox.ts';

const PERIOD_MS = 2_000;

/** A serving, as far as it is metered. */
export interface Metered extends Pick<ServedTunnel, 'payer' | 'meter' | 'inFlight'> {
  readonly entry: RouteEntry;
}

export class UsageMeter {
  readonly #outbox: Outbox;
  readonly #latency: Pick<LatencyRecorder, 'of'>;
  readonly #timer: NodeJS.Timeout;
  readonly #live = new Set<Metered>();
  /** Those that are over and carry at least one stream: the limits of sessions and of their streams bound them. */
  readonly #leaving = new Set<Metered>();

  constructor(outbox: Outbox, latency: Pick<LatencyRecorder, 'of'>) {
    this.#outbox = outbox;
    this.#latency = latency;
    this.#timer = setInterval(() => this.collect(), PERIOD_MS);
    this.#timer.unref();
  }

  /** All that was metered since the start. */
  readonly totals = { requests: 0, bytesIn: 0, bytesOut: 0 };

  /** Servings that are walked. */
  get size(): number {
    return this.#live.size + this.#leaving.size;
  }

  /** A serving begins. */
  add(serving: Metered): void {
    this.#live.add(serving);
  }

  /** It gets nothing new; what it has in flight is still counted. */
  release(serving: Metered): void {
    this.#live.delete(serving);
    this.#settle(serving);
    if (serving.inFlight > 0) this.#leaving.add(serving);
  }

  /** Reads and zeroes all counters. */
  collect(): void {
    for (const serving of this.#live) this.#settle(serving);
    for (const serving of this.#leaving) {
      this.#settle(serving);
      if (serving.inFlight === 0) this.#leaving.delete(serving);
    }
  }

  close(): void {
    clearInterval(this.#timer);
    this.collect();
  }

  #settle({ meter, payer, entry }: Metered): void {
    const { requests, bytesIn, bytesOut } = meter;
    if (requests === 0 && bytesIn === 0 && bytesOut === 0) return;
    meter.requests = 0;
    meter.bytesIn = 0;
    meter.bytesOut = 0;
    this.totals.requests += requests;
    this.totals.bytesIn += bytesIn;
    this.totals.bytesOut += bytesOut;
    this.#outbox.addUsage({
      tunnelId: entry.route.tunnelId,
      tokenId: payer.tokenId,
      requests,
      bytesIn,
      bytesOut,
    });
    this.#latency.of(entry).carried(bytesIn, bytesOut);
    payer.charge(bytesIn + bytesOut, requests);
  }
}
