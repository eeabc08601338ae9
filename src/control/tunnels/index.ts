/** Tunnels: names and ports, claims of agents, what they carry, and their agents' sessions. */
import { lt } from 'drizzle-orm';
import { keyLimitsChanged, keysForgotten } from '../access-keys/events.ts';
import { accessKeys } from '../access-keys/index.ts';
import { DAY_MS } from '../../base/clock.ts';
import type { PortRange } from '../../base/net/addr.ts';
import { inBatches } from '../core/jobs.ts';
import { forgetRows } from '../core/retention.ts';
import type { Slice } from '../core/slice.ts';
import { after, on } from '../db/events.ts';
import { nodeCursors, tunnels as table } from '../db/schema.ts';
import { metrics } from '../metrics/index.ts';
import { orgDeleted } from '../organizations/events.ts';
import { projectDeleted } from '../projects/events.ts';
import { subdomains } from '../subdomains/index.ts';
import { BeyondLimits } from './claims/beyond-limits.ts';
import { Claims } from './claims/service.ts';
import { forgetEndedSessions } from './connections/ended-sessions.ts';
import { mountConnections } from './connections/routes.ts';
import { Connections } from './connections/service.ts';
import { Maintenance } from './maintenance.ts';
import { renewing } from './renewal.ts';
import { RouteMaker } from './plane/route-maker.ts';
import { forgetKeys } from './rows.ts';
import { Tunnels } from './service.ts';
import { Usage } from './plane/usage.ts';

/** A deleted tunnel keeps its counters for this long, for the bill of the month. */
const DELETED_DAYS = 30;
/** A node that has said nothing for this long will not repeat a batch. */
const CURSOR_DAYS = 7;

export interface TunnelOptions {
  readonly tcpPorts: PortRange | null;
}

export interface TunnelServices {
  readonly tunnels: Tunnels;
  readonly connections: Connections;
  readonly claims: Claims;
  readonly usage: Usage;
  /** Rows of tunnels as routes of the data plane. */
  readonly tunnelRoutes: RouteMaker;
  /** Which tunnels are in maintenance. */
  readonly inMaintenance: Maintenance;
  readonly renew: ReturnType<typeof renewing>;
  /** Ends sessions of keys that allow less now. */
  readonly beyondLimits: BeyondLimits;
}

export const tunnels: Slice<TunnelServices, TunnelOptions> = {
  name: 'tunnels',
  service: (core, use, { tcpPorts }) => {
    const { store, nodes, names, apiUrl, ownHosts, publisher: routeEvents } = core;
    const { tokens, spend } = use(accessKeys);
    const { ownLabels } = use(subdomains);
    const maintenance = new Maintenance();
    const routes = new RouteMaker({ names, maintenance, apiUrl, ownLabels, ownHosts });
    const deps = { store, routeEvents, routes, maintenance, nodes, tcpPorts, ownLabels };
    return {
      tunnels: new Tunnels(deps),
      connections: new Connections({ store, nodes }),
      claims: new Claims({ ...deps, tokens, spend }),
      usage: new Usage({ store, nodes, spend, latencyTotals: use(metrics).latencyTotals }),
      tunnelRoutes: routes,
      inMaintenance: maintenance,
      renew: renewing({ routeEvents, routes }),
      beyondLimits: new BeyondLimits({ store, nodes }),
    };
  },
  routes: (api, services) => mountConnections(api, services),
  on: ({ tunnels: of, beyondLimits }) => [
    // Behind the keys: an agent acts on the first message, and a deleted tunnel is not why it must go.
    on(orgDeleted, (tx, { id }) => ({ deletedTunnels: of.announceGone(tx, undefined, id) })),
    on(projectDeleted, (tx, project) => ({ deletedTunnels: of.announceProjectGone(tx, project) })),
    on(keysForgotten, (tx, { ids }) => forgetKeys(tx, ids)),
    after(keyLimitsChanged, ({ ids }) => beyondLimits.changed(ids)),
  ],
  drains: ({ tunnels: of, renew }) => [
    { kind: 'organization_deleted', drain: of.drain.bind(of) },
    { kind: 'project_deleted', drain: of.drain.bind(of) },
    { kind: 'plan_changed', drain: renew },
  ],
  jobs: ({ tunnels: of, beyondLimits }) => [
    { name: 'check changed keys', everyMs: 5_000, run: () => beyondLimits.again() },
    // A tunnel may outlive its time by this much.
    inBatches('expire tunnels', 1_000, () => of.expireDue()),
    inBatches('remove unused tunnels', 10_000, () => of.removeUnused()),
    inBatches('remove forgotten tunnels', 600_000, () => of.removeForgotten()),
  ],
  forget: [
    forgetRows(table, table.id, (now) => lt(table.deletedAt, now - DELETED_DAYS * DAY_MS)),
    forgetRows(nodeCursors, nodeCursors.node, (now) => lt(nodeCursors.updatedAt, now - CURSOR_DAYS * DAY_MS)),
    forgetEndedSessions,
  ],
};
