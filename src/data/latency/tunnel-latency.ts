/**
 * What was counted of one tunnel since the last report: two histograms (plane/latency.ts), how requests ended, connections and bytes. Lives as
 * long as its routing entry, because requests under way hold on to it; the array is lent by the recorder between the first request after a
 * report and the next report. Called per request: nothing is allocated here.
 */
import { LATENCY_CELLS, latencyCell, type LatencyEvent, STATUS_CLASSES } from '../../plane/latency.ts';

/** Places in the array: first byte, total, then requests by class, then connections. */
const TOTAL = LATENCY_CELLS;
const STATUS = 2 * LATENCY_CELLS;
const CANCELED = STATUS + STATUS_CLASSES.indexOf('canceled');
const CONNECTIONS = STATUS + STATUS_CLASSES.length;
export const COUNTS_SIZE = CONNECTIONS + 1;

/** Lends arrays of zeros. */
export interface CountsLender {
  /** null: too many are lent. */
  lend(to: TunnelLatency): Uint32Array | null;
}

export class TunnelLatency {
  readonly #tunnelId: string;
  readonly #lender: CountsLender;
  #counts: Uint32Array | null = null;
  #bytesIn = 0;
  #bytesOut = 0;

  constructor(tunnelId: string, lender: CountsLender) {
    this.#tunnelId = tunnelId;
    this.#lender = lender;
  }

  /** The head of a response leaves, so long after the request's; `isWhole`: with all of its body. */
  answered(status: number, ms: number, isWhole: boolean): void {
    const counts = this.#counts ?? this.#borrow();
    if (counts === null) return;
    const cell = latencyCell(ms);
    counts[cell] = (counts[cell] as number) + 1;
    if (isWhole) counts[TOTAL + cell] = (counts[TOTAL + cell] as number) + 1;
    addStatus(counts, status);
  }

  /** The last byte of that response leaves. */
  completed(ms: number): void {
    const counts = this.#counts ?? this.#borrow();
    if (counts === null) return;
    const at = TOTAL + latencyCell(ms);
    counts[at] = (counts[at] as number) + 1;
  }

  /** The edge responds by itself before an agent has the request: that takes no time worth a percentile. */
  blocked(status: number): void {
    const counts = this.#counts ?? this.#borrow();
    if (counts !== null) addStatus(counts, status);
  }

  /** The visitor has left before the response. */
  canceled(): void {
    const counts = this.#counts ?? this.#borrow();
    if (counts !== null) counts[CANCELED] = (counts[CANCELED] as number) + 1;
  }

  /** A connection of a `tcp` tunnel, or a WebSocket. */
  connected(): void {
    const counts = this.#counts ?? this.#borrow();
    if (counts !== null) counts[CONNECTIONS] = (counts[CONNECTIONS] as number) + 1;
  }

  /** Adds bytes from and to visitors. */
  carried(bytesIn: number, bytesOut: number): void {
    if (this.#counts === null && this.#borrow() === null) return;
    this.#bytesIn += bytesIn;
    this.#bytesOut += bytesOut;
  }

  get tunnelId(): string {
    return this.#tunnelId;
  }

  /** What was counted, and the array, which is all zeros again; null: nothing was counted. */
  take(): { readonly event: LatencyEvent; readonly counts: Uint32Array } | null {
    const counts = this.#counts;
    if (counts === null) return null;
    const event: LatencyEvent = {
      kind: 'latency',
      tunnelId: this.#tunnelId,
      firstByte: pairsOf(counts, 0),
      total: pairsOf(counts, TOTAL),
      status: Array.from(counts.subarray(STATUS, CONNECTIONS)),
      connections: counts[CONNECTIONS] as number,
      bytesIn: this.#bytesIn,
      bytesOut: this.#bytesOut,
    };
    counts.fill(0);
    this.#counts = null;
    this.#bytesIn = this.#bytesOut = 0;
    return { event, counts };
  }

  #borrow(): Uint32Array | null {
    this.#counts = this.#lender.lend(this);
    return this.#counts;
  }
}

function addStatus(counts: Uint32Array, status: number): void {
  // A service may send any number: what is beyond 5xx is no class.
  if (status < 100 || status > 599) return;
  const at = STATUS - 1 + ((status / 100) | 0);
  counts[at] = (counts[at] as number) + 1;
}

/** Cell and count in turn, of those that are not 0. */
function pairsOf(counts: Uint32Array, from: number): number[] {
  const pairs: number[] = [];
  for (let cell = 0; cell < LATENCY_CELLS; cell++) {
    const count = counts[from + cell] as number;
    if (count > 0) pairs.push(cell, count);
  }
  return pairs;
}
