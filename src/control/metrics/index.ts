/** What an organization's tunnels and networks carry, and keys for programs that read it. */
import type { Slice } from '../core/slice.ts';
import { on } from '../db/events.ts';
import { memberLeft, orgDeleted } from '../organizations/events.ts';
import { forgetMetricKeys } from './key-rows.ts';
import { mountMetricKeys } from './keys-routes.ts';
import { MetricKeys } from './keys.ts';
import { LatencyRollUp } from './latency/roll-up.ts';
import { mountLatency } from './latency/routes.ts';
import { Latency } from './latency/service.ts';
import { LatencyTotals } from './latency/totals.ts';
import { mountMetrics } from './routes.ts';
import { Metrics } from './service.ts';
import { forgetBuckets } from './usage-buckets.ts';

export interface MetricServices {
  readonly metrics: Metrics;
  readonly metricKeys: MetricKeys;
  readonly latency: Latency;
  readonly latencyTotals: LatencyTotals;
  readonly latencyRollUp: LatencyRollUp;
}

export const metrics: Slice<MetricServices> = {
  name: 'metrics',
  service: ({ store, nodes }) => {
    const latencyTotals = new LatencyTotals();
    return {
      metrics: new Metrics({ store, nodes, latencyTotals }),
      metricKeys: new MetricKeys({ store }),
      latency: new Latency({ store }),
      latencyTotals,
      latencyRollUp: new LatencyRollUp({ store }),
    };
  },
  routes: (api, services) => {
    mountMetrics(api, services);
    mountMetricKeys(api, services);
    mountLatency(api, services);
  },
  on: () => [
    on(orgDeleted, (tx, { id }) => forgetMetricKeys(tx, { orgId: id })),
    on(memberLeft, (tx, { userId, by }) => forgetMetricKeys(tx, { orgId: by.orgId, createdBy: userId })),
  ],
  jobs: ({ latencyRollUp }) => [
    { name: 'roll up latency', everyMs: 60_000, run: (stopping) => latencyRollUp.run(stopping) },
  ],
  forget: [forgetBuckets],
};
