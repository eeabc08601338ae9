/** What an organization's tunnels and networks carry, and keys for programs that read it. */
import type { Slice } from '../core/slice.ts';
import { on } from '../db/events.ts';
import { memberLeft, orgDeleted } from '../organizations/events.ts';
import { forgetMetricKeys } from './key-rows.ts';
import { mountMetricKeys } from './keys-routes.ts';
import { MetricKeys } from './keys.ts';
import { mountMetrics } from './routes.ts';
import { Metrics } from './service.ts';
import { forgetBuckets } from './usage-buckets.ts';

export interface MetricServices {
  readonly metrics: Metrics;
  readonly metricKeys: MetricKeys;
}

export const metrics: Slice<MetricServices> = {
  name: 'metrics',
  service: ({ store, nodes }) => ({ metrics: new Metrics({ store, nodes }), metricKeys: new MetricKeys({ store }) }),
  routes: (api, services) => {
    mountMetrics(api, services);
    mountMetricKeys(api, services);
  },
  on: () => [
    on(orgDeleted, (tx, { id }) => forgetMetricKeys(tx, { orgId: id })),
    on(memberLeft, (tx, { userId, by }) => forgetMetricKeys(tx, { orgId: by.orgId, createdBy: userId })),
  ],
  forget: [forgetBuckets],
};
