/** What those who run the server see and do: accounts, organizations, health, metrics. */
import { buildInfo } from '../../base/process/version.ts';
import { audit } from '../audit/index.ts';
import { accounts } from '../auth/accounts/index.ts';
import { secondFactor } from '../auth/mfa/index.ts';
import { sessions } from '../auth/sessions/index.ts';
import { backups } from '../backups/index.ts';
import { certificates } from '../certificates/index.ts';
import type { Keys } from '../core/secrets/keys.ts';
import type { Slice } from '../core/slice.ts';
import type { MinFree } from '../db/disk/floor.ts';
import { inspector } from '../inspector/index.ts';
import { orgExport } from '../organizations/export/index.ts';
import { metrics } from '../metrics/index.ts';
import { webhooks } from '../webhooks/index.ts';
import { OperatorTokens } from './admin-tokens.ts';
import { DiskWatch } from './disk-watch.ts';
import { OperatorEdge } from './edge.ts';
import { Health } from './health.ts';
import { OperatorMetrics } from './metrics.ts';
import { OperatorOrgs } from './organizations.ts';
import { mountSuperadmin } from './routes.ts';
import { OperatorUsers } from './users.ts';

export interface OperatorOptions {
  readonly minFree: MinFree;
  readonly recordsRequests: boolean;
}

export interface OperatorServices {
  readonly operatorTokens: OperatorTokens;
  readonly operatorUsers: OperatorUsers;
  readonly operatorOrgs: OperatorOrgs;
  readonly operatorEdge: OperatorEdge;
  readonly operatorMetrics: OperatorMetrics;
  readonly health: Health;
  readonly disk: DiskWatch;
  readonly keys: Keys;
}

export const operator: Slice<OperatorServices, OperatorOptions> = {
  name: 'operator',
  service: (core, use, { minFree, recordsRequests }) => {
    const { store, sealer, clock, nodes, keys, records, drains, jobTimes, dataDir, log } = core;
    const of = { ...use(accounts), ...use(secondFactor), ...use(sessions), ...use(certificates), ...use(webhooks) };
    const disk = new DiskWatch({ dataDir, minFree, clock, log });
    const { certificates: shown } = of;
    const { backups: ofBackups } = use(backups);
    const { version } = buildInfo();
    const watched = { store, disk, records, nodes, keys, instance: core.instance, jobTimes, backups: ofBackups };
    const health = new Health({ ...watched, recordsRequests, certificates: shown, dataDir, version, log });
    return {
      operatorTokens: new OperatorTokens({ sealer, clock }),
      operatorUsers: new OperatorUsers({ store, ...of, newOrg: core.instance.newOrg }),
      operatorOrgs: new OperatorOrgs({ store, routeEvents: core.publisher, drains }),
      operatorEdge: new OperatorEdge({ nodes }),
      operatorMetrics: new OperatorMetrics({
        ...of,
        ...{ store, nodes, records, drains, jobTimes, health, disk, dataDir, backups: ofBackups },
        passwords: core.passwords,
        latencyTotals: use(metrics).latencyTotals,
        feed: use(inspector).liveFeed,
        exporter: use(orgExport).exporter,
      }),
      health,
      disk,
      keys,
    };
  },
  routes: (api, services, { version, use }) =>
    mountSuperadmin(api, { ...services, ...use(audit), ...use(certificates), version }),
};
