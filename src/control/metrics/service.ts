/** What an organization's tunnels and private networks carry: numbers, charts, and rows for Prometheus. */
import { and, asc, count, eq, gt, isNull, or } from 'drizzle-orm';
import type { NodeControl } from '../../plane/link.ts';
import { liveTunnels, notGone } from '../db/gone.ts';
import { networkDevices, privateNetworks, tunnels } from '../db/schema.ts';
import type { Store } from '../db/tx.ts';
import { type Actor, allow, type MetricKeyActor } from '../core/rules/actor.ts';
import type { Durations, LatencyTotals } from './latency/totals.ts';
import { bucketsOf, type Traffic, type Window } from './usage-buckets.ts';

export const METRICS = ['requests', 'bytes_in', 'bytes_out'] as const;
export type Metric = (typeof METRICS)[number];

const FIELD = { requests: 'requests', bytes_in: 'bytesIn', bytes_out: 'bytesOut' } as const satisfies Record<
  Metric,
  keyof Traffic
>;

export interface Counters {
  readonly totalTunnels: number;
  readonly activeTunnels: number;
  /** The last 96 quarters of an hour, the present one included: the sum of the chart of 24 hours. */
  readonly last24h: Traffic;
}

/** One live tunnel since it was made. */
export interface TunnelTraffic extends Traffic {
  readonly id: string;
  readonly subdomain: string;
  readonly active: boolean;
  /** Durations of its requests since the server started; undefined: none. */
  readonly durations: Durations | undefined;
}

/** One private network since it was made. */
export interface NetworkTraffic {
  readonly id: string;
  readonly name: string;
  /** An agent carries it now. */
  readonly attached: boolean;
  /** Enrolled, and not run out. */
  readonly devices: number;
  readonly packetsIn: number;
  readonly packetsOut: number;
  readonly bytesIn: number;
  readonly bytesOut: number;
}

export class Metrics {
  readonly #store: Store;
  readonly #nodes: Pick<NodeControl, 'isCarried'>;
  readonly #latencyTotals: LatencyTotals;

  constructor(deps: { store: Store; nodes: Pick<NodeControl, 'isCarried'>; latencyTotals: LatencyTotals }) {
    this.#store = deps.store;
    this.#nodes = deps.nodes;
    this.#latencyTotals = deps.latencyTotals;
  }

  counters(actor: Actor): Counters {
    allow(actor, 'read', 'metric');
    const { db, clock } = this.#store;
    const live = this.#live(actor.orgId);
    const buckets = bucketsOf(db, actor.orgId, { window: '24h', now: clock.now() });
    const sum = (field: keyof Traffic) => buckets.reduce((total, bucket) => total + bucket[field], 0);
    return {
      totalTunnels: live.length,
      activeTunnels: live.filter((tunnel) => tunnel.active).length,
      last24h: { requests: sum('requests'), bytesIn: sum('bytesIn'), bytesOut: sum('bytesOut') },
    };
  }

  /** Oldest first; stretches without traffic are 0. */
  series(actor: Actor, of: { readonly metric: Metric; readonly window: Window }) {
    allow(actor, 'read', 'metric');
    const { db, clock } = this.#store;
    const buckets = bucketsOf(db, actor.orgId, { window: of.window, now: clock.now() });
    return buckets.map((bucket) => ({ startsAt: bucket.startsAt, value: bucket[FIELD[of.metric]] }));
  }

  /** Every live tunnel of the organization. For scrapers with a key of it too: keys.ts has found out whose key that is. */
  perTunnel(actor: Actor | MetricKeyActor): readonly TunnelTraffic[] {
    if (actor.kind !== 'metric_key') allow(actor, 'read', 'metric');
    return this.#live(actor.orgId);
  }

  /** Every private network of the organization, oldest first; permissions: as perTunnel. */
  perNetwork(actor: Actor | MetricKeyActor): readonly NetworkTraffic[] {
    if (actor.kind !== 'metric_key') allow(actor, 'read', 'metric');
    const { db, clock } = this.#store;
    const { networkId, orgId, expiresAt } = networkDevices;
    const isLive = or(isNull(expiresAt), gt(expiresAt, clock.now()));
    const sizes = new Map(
      db
        .select({ networkId, devices: count() })
        .from(networkDevices)
        .where(and(eq(orgId, actor.orgId), isLive))
        .groupBy(networkId)
        .all()
        .map((row) => [row.networkId, row.devices]),
    );
    const { id, name, packetsIn, packetsOut, bytesIn, bytesOut, createdAt } = privateNetworks;
    return db
      .select({ id, name, packetsIn, packetsOut, bytesIn, bytesOut })
      .from(privateNetworks)
      .where(and(eq(privateNetworks.orgId, actor.orgId), notGone(privateNetworks.id)))
      .orderBy(asc(createdAt), asc(id))
      .all()
      .map((row) => ({
        ...row,
        attached: this.#nodes.isCarried(row.id),
        devices: sizes.get(row.id) ?? 0,
      }));
  }

  #live(orgId: string): readonly TunnelTraffic[] {
    const { id, label, status, totalRequests, bytesIn, bytesOut } = tunnels;
    const rows = this.#store.db
      .select({ id, subdomain: label, status, requests: totalRequests, bytesIn, bytesOut })
      .from(tunnels)
      .where(and(eq(tunnels.orgId, orgId), liveTunnels()))
      .all();
    return rows.map(({ status: state, ...row }) => ({
      ...row,
      active: state === 'active',
      durations: this.#latencyTotals.of(row.id),
    }));
  }
}
