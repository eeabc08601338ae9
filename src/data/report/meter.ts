/**
 * Turns the counters of the entries into usage events, every two seconds and at each change of hands, so that traffic is counted
 * while it flows and for the token that served it; the token is charged at the same moment. Writes to report/outbox.ts;
 * data/gateway calls `settle`.
 */
import type { RouteEntry } from '../routing/entry.ts';
import type { RouteTable } from '../routing/table.ts';
import type { Outbox } from './outbox.ts';

const PERIOD_MS = 2_000;
/** Removed tunnels whose last streams may still count; more than that leave at once. */
const MAX_LEAVING = 10_000;

export class UsageMeter {
  readonly #table: RouteTable;
  readonly #outbox: Outbox;
  readonly #unsubscribe: () => void;
  readonly #timer: NodeJS.Timeout;
  /** Removed entries: walked once more, for their streams end a moment after them. */
  #leaving: RouteEntry[] = [];

  constructor(table: RouteTable, outbox: Outbox) {
    this.#table = table;
    this.#outbox = outbox;
    this.#unsubscribe = table.subscribe({ onRemove: (entry) => this.#leave(entry) });
    this.#timer = setInterval(() => this.collect(), PERIOD_MS);
    this.#timer.unref();
  }

  /** Reads and zeroes all counters. */
  collect(): void {
    for (const entry of this.#table.entries()) this.settle(entry);
    const leaving = this.#leaving;
    this.#leaving = [];
    for (const entry of leaving) this.settle(entry);
  }

  /** Reads and zeroes the counters of one entry, for its payer. Called before the payer changes. */
  settle(entry: RouteEntry): void {
    const { meter, payer } = entry;
    if (meter.requests === 0 && meter.bytesIn === 0 && meter.bytesOut === 0) return;
    this.#outbox.addUsage({
      tunnelId: entry.route.tunnelId,
      tokenId: payer.tokenId,
      requests: meter.requests,
      bytesIn: meter.bytesIn,
      bytesOut: meter.bytesOut,
    });
    payer.charge(meter.bytesIn + meter.bytesOut, meter.requests);
    meter.requests = 0;
    meter.bytesIn = 0;
    meter.bytesOut = 0;
  }

  close(): void {
    clearInterval(this.#timer);
    this.#unsubscribe();
    this.collect();
  }

  #leave(entry: RouteEntry): void {
    this.settle(entry);
    if (this.#leaving.length < MAX_LEAVING) this.#leaving.push(entry);
  }
}
