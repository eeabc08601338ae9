/**
 * From the row of a tunnel and what its owner put on it (policy, gates, maintenance, custom domains) to the Route that the data plane gets.
 * The only place where a Route is made.
 */
import { and, asc, gt, inArray, isNotNull } from 'drizzle-orm';
import { given } from '../../../base/given.ts';
import type { Actions, PolicySpec } from '../../../plane/policy.ts';
import type { Route, VisitorGate } from '../../../plane/routes.ts';
import { liveTunnels } from '../../db/gone.ts';
import { domains, inspectorSettings, tunnelPolicies, tunnels } from '../../db/schema.ts';
import type { Db } from '../../db/tx.ts';
import type { PublicNames } from '../../core/link/route-events.ts';
import { gatesOf, visitorGatesOf } from './gate-rows.ts';
import type { Maintenance } from '../maintenance.ts';
import type { OwnLabels } from '../../subdomains/own-labels.ts';
import type { TunnelRow } from '../rows.ts';

/** Rows that are read at once: some milliseconds. */
const SLICE = 250;

export class RouteMaker {
  readonly #names: PublicNames;
  readonly #maintenance: Maintenance;
  readonly #apiUrl: () => string;
  readonly #ownLabels: OwnLabels;
  readonly #ownHosts: () => readonly string[];

  constructor(deps: {
    names: PublicNames;
    maintenance: Maintenance;
    apiUrl: () => string;
    ownLabels: OwnLabels;
    ownHosts: () => readonly string[];
  }) {
    this.#apiUrl = deps.apiUrl;
    this.#ownLabels = deps.ownLabels;
    this.#ownHosts = deps.ownHosts;
    this.#names = deps.names;
    this.#maintenance = deps.maintenance;
  }

  routeOf(db: Db, row: TunnelRow): Route {
    const [route] = this.routesOf(db, [row]);
    if (route === undefined) throw new Error('a route per row');
    return route;
  }

  /** Routes of these rows, in their order: five queries for all. A bounded number at once. */
  routesOf(db: Db, rows: readonly TunnelRow[]): readonly Route[] {
    if (rows.length === 0) return [];
    const ids = rows.map(({ id }) => id);
    const policies = policiesOf(db, ids);
    const gates = gatesOf(db, ids);
    const visitorGates = visitorGatesOf(db, ids);
    const bound = boundDomains(db, ids);
    const frames = framesOf(db, ids);
    return rows.map((row) =>
      this.#make(row, {
        policy: policies.get(row.id) ?? null,
        gate: gates.get(row.id) ?? null,
        visitorGate: this.#visitorGate(row.id, visitorGates.get(row.id) ?? null),
        domains: bound.get(row.id) ?? [],
        ...given({ websocketFrames: frames.get(row.id) }),
      }),
    );
  }

  /** Every route of every organization, a slice at a time. Expired tunnels are in: their name is known, and its visitors get a page that says so. */
  *slices(db: Db): Generator<readonly Route[]> {
    let after = '';
    for (;;) {
      const rows = db
        .select()
        .from(tunnels)
        .where(and(gt(tunnels.id, after), liveTunnels()))
        .orderBy(asc(tunnels.id))
        .limit(SLICE)
        .all();
      yield this.routesOf(db, rows);
      const last = rows.at(-1);
      if (last === undefined || rows.length < SLICE) return;
      after = last.id;
    }
  }

  publicUrl(row: TunnelRow): string {
    return row.tcpPort === null ? this.#names.url(row.label) : this.#names.tcpUrl(row.tcpPort);
  }

  #visitorGate(tunnelId: string, version: string | null): VisitorGate | null {
    if (version === null) return null;
    return { version, signInUrl: `${this.#apiUrl()}/edge-auth/start?tunnel_id=${tunnelId}` };
  }

  /** What had a host of this server before it was one leads to no service any more. */
  #make(row: TunnelRow, had: Pick<Route, 'policy' | 'gate' | 'visitorGate' | 'domains' | 'websocketFrames'>): Route {
    const ownHosts = had.domains.length === 0 ? [] : this.#ownHosts();
    return {
      tunnelId: row.id,
      orgId: row.orgId,
      protocol: row.protocol,
      subdomain: row.protocol === 'tcp' ? '' : row.label,
      tcpPort: row.tcpPort,
      publicUrl: this.publicUrl(row),
      stopped: row.stopped || this.#ownLabels.has(row.label),
      expiresAt: row.expiresAt,
      maintenance: this.#maintenance.messageOf(row.id),
      ...had,
      domains: had.domains.filter((domain) => !ownHosts.includes(domain)),
    };
  }
}

function policiesOf(db: Db, ids: readonly string[]): ReadonlyMap<string, PolicySpec | null> {
  const found = db
    .select()
    .from(tunnelPolicies)
    .where(inArray(tunnelPolicies.tunnelId, [...ids]))
    .all();
  return new Map(found.map((row) => [row.tunnelId, policyOf(row)]));
}

/** Whether frames of WebSockets are recorded, of the tunnels that say so. */
function framesOf(db: Db, ids: readonly string[]): ReadonlyMap<string, boolean> {
  const found = db
    .select({ tunnelId: inspectorSettings.tunnelId, frames: inspectorSettings.websocketFrames })
    .from(inspectorSettings)
    .where(and(inArray(inspectorSettings.tunnelId, [...ids]), isNotNull(inspectorSettings.websocketFrames)))
    .all();
  return new Map(found.map(({ tunnelId, frames }) => [tunnelId, frames === true]));
}

/** Tunnel to the custom domains that lead to it. */
function boundDomains(db: Db, ids: readonly string[]): ReadonlyMap<string, readonly string[]> {
  const found = db
    .select({ tunnelId: domains.tunnelId, domain: domains.domain })
    .from(domains)
    .where(and(inArray(domains.tunnelId, [...ids]), isNotNull(domains.verifiedAt)))
    .orderBy(asc(domains.domain))
    .all();
  const byTunnel = new Map<string, string[]>();
  for (const { tunnelId, domain } of found) {
    if (tunnelId === null) continue;
    const own = byTunnel.get(tunnelId);
    if (own === undefined) byTunnel.set(tunnelId, [domain]);
    else own.push(domain);
  }
  return byTunnel;
}

/** What tunnels/policies/service.ts has checked and stored; null when there is none. */
export function policyOf(row: { readonly policy: unknown; readonly updatedAt: number } | undefined): PolicySpec | null {
  return row === undefined ? null : { ...(row.policy as Actions), setAt: row.updatedAt };
}
