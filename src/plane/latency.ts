/**
 * Latency as both planes count it: a log-linear histogram (as HdrHistogram's) with 16 cells for each doubling, so that a percentile is at most
 * 3.2 % off from a quarter of a millisecond on. Below, cells are 1/64 ms wide. Histograms add up cell by cell, in any order, of any number of nodes.
 */

export const LATENCY_CELLS = 400;
const TICKS_PER_MS = 64;
/** 70 minutes; what takes longer is in the last cell. */
const MAX_MS = 2 ** 28 / TICKS_PER_MS;

/** How requests of a tunnel ended, in the order of `LatencyEvent.status`. `canceled`: the visitor left before the response. */
export const STATUS_CLASSES = ['1xx', '2xx', '3xx', '4xx', '5xx', 'canceled'] as const;

/** Traffic of one tunnel since the last event about it. */
export interface LatencyEvent {
  readonly kind: 'latency';
  readonly tunnelId: string;
  /** From the end of the request's head to the first byte of the response: cell and count in turn, by cell. */
  readonly firstByte: readonly number[];
  /** The same, to the last byte. */
  readonly total: readonly number[];
  /** Requests by class. */
  readonly status: readonly number[];
  readonly bytesIn: number;
  readonly bytesOut: number;
  /** Connections of a `tcp` tunnel, and WebSockets. */
  readonly connections: number;
}

/** The cell of a duration. */
export function latencyCell(ms: number): number {
  if (ms >= MAX_MS) return LATENCY_CELLS - 1;
  const ticks = (ms * TICKS_PER_MS) | 0;
  if (ticks < 16) return ticks < 0 ? 0 : ticks;
  const exponent = 31 - Math.clz32(ticks);
  return ((exponent - 3) << 4) | ((ticks >>> (exponent - 4)) & 15);
}

/** The middle of a cell, in milliseconds: what its durations are taken for. */
export function cellMiddle(cell: number): number {
  if (cell < 16) return (cell + 0.5) / TICKS_PER_MS;
  const exponent = (cell >> 4) + 3;
  return ((16 + (cell & 15) + 0.5) * 2 ** (exponent - 4)) / TICKS_PER_MS;
}
