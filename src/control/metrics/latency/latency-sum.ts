/** Requests of any number of buckets, tunnels and nodes, added up. */
import type { LatencyEvent } from '../../../plane/latency.ts';
import { addPacked, addPairs, type Cells, noCells, pack, percentiles } from './packed-cells.ts';
import type { latencyBuckets } from '../../db/schema.ts';

type Row = typeof latencyBuckets.$inferSelect;
/** What a row holds, without its key. */
export type LatencyValues = Omit<Row, 'scopeId' | 'widthSeconds' | 'startsAt'>;

/** In the order of `STATUS_CLASSES`. */
const COLUMNS = ['status1xx', 'status2xx', 'status3xx', 'status4xx', 'status5xx', 'canceled'] as const;

export interface Percentiles {
  readonly p50: number | null;
  readonly p95: number | null;
  readonly p99: number | null;
}

export class LatencySum {
  readonly firstByte: Cells = noCells();
  readonly total: Cells = noCells();
  /** In the order of `STATUS_CLASSES`. */
  readonly status: number[] = COLUMNS.map(() => 0);
  bytesIn = 0;
  bytesOut = 0;
  connections = 0;

  addEvent(event: LatencyEvent): void {
    addPairs(this.firstByte, event.firstByte);
    addPairs(this.total, event.total);
    this.#addCounts(event, event.status);
  }

  addRow(row: LatencyValues): void {
    addPacked(this.firstByte, row.firstByte);
    addPacked(this.total, row.total);
    this.#addCounts(
      row,
      COLUMNS.map((column) => row[column]),
    );
  }

  /** Requests. */
  get count(): number {
    return this.status.reduce((sum, one) => sum + one, 0);
  }

  /** Requests with a status of 5xx. */
  get errors(): number {
    return this.status[4] ?? 0;
  }

  /** As a row. */
  values(): LatencyValues {
    const [status1xx = 0, status2xx = 0, status3xx = 0, status4xx = 0, status5xx = 0, canceled = 0] = this.status;
    return {
      firstByte: pack(this.firstByte),
      total: pack(this.total),
      ...{ status1xx, status2xx, status3xx, status4xx, status5xx, canceled },
      bytesIn: this.bytesIn,
      bytesOut: this.bytesOut,
      connections: this.connections,
    };
  }

  #addCounts(of: Pick<Row, 'bytesIn' | 'bytesOut' | 'connections'>, status: readonly number[]): void {
    this.status.forEach((count, i) => (this.status[i] = count + (status[i] ?? 0)));
    this.bytesIn += of.bytesIn;
    this.bytesOut += of.bytesOut;
    this.connections += of.connections;
  }
}

/** Of a histogram, in milliseconds; null: it is empty. */
export function percentilesOf(cells: Cells): Percentiles {
  const [p50 = null, p95 = null, p99 = null] = percentiles(cells, [0.5, 0.95, 0.99]);
  return { p50, p95, p99 };
}
