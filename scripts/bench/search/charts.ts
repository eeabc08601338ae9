/** Rows of the charts of a month, as traffic of each minute leaves them, for the scenario `search`. */
import { latencyBuckets, usageBuckets } from '../../../src/control/db/schema.ts';
import { WIDTHS } from '../../../src/control/metrics/latency/latency-rows.ts';
import { LatencySum } from '../../../src/control/metrics/latency/latency-sum.ts';
import { WINDOWS } from '../../../src/control/metrics/usage-buckets.ts';
import type { Rows } from '../rows.ts';
import type { Owner } from './records.ts';

/** Durations of a bucket are spread over so many cells of the histogram. */
const CELLS = 60;

export function fillCharts(rows: Rows, { orgId, tunnelIds }: Owner): void {
  const before = (width: number, i: number): number => (Math.floor(rows.tx.now / (width * 1_000)) - i) * width * 1_000;
  const values = sumOf().values();
  for (const scopeId of [orgId, ...tunnelIds])
    for (const { width, keepSeconds } of WIDTHS) {
      const kept = Array.from({ length: Math.floor(keepSeconds / width) }, (_, i) => before(width, i));
      rows.insert(
        latencyBuckets,
        kept.map((startsAt) => ({ scopeId, widthSeconds: width, startsAt, ...values })),
      );
    }
  for (const { width, count } of Object.values(WINDOWS)) {
    const traffic = { orgId, widthSeconds: width, requests: 1_000, bytesIn: 100_000, bytesOut: 5_000_000 };
    rows.insert(
      usageBuckets,
      Array.from({ length: count }, (_, i) => ({ ...traffic, startsAt: before(width, i) })),
    );
  }
}

function sumOf(): LatencySum {
  const sum = new LatencySum();
  const cells = Array.from({ length: CELLS }, (_, i) => [100 + i, 1 + ((i * 7) % 40)]).flat();
  const status = [0, 1_000, 20, 30, 4, 1];
  sum.addEvent({
    kind: 'latency',
    tunnelId: '',
    firstByte: cells,
    total: cells,
    status,
    bytesIn: 100_000,
    bytesOut: 5_000_000,
    connections: 0,
  });
  return sum;
}
