/**
 * From the row of a tunnel and what its owner put on it (policy, gates, maintenance, custom domains) to the Route that the data plane gets.
 * The only place where a Route is made.
 */
import { and, asc, eq, isNotNull, isNull } from 'drizzle-orm';
import type { Actions, PolicySpec } from '../../../plane/policy.ts';
import type { Route, VisitorGate } from '../../../plane/routes.ts';
import { domains, tunnelPolicies, tunnels } from '../../db/schema.ts';
import type { Db } from '../../db/tx.ts';
import type { PublicNames } from '../news.ts';
import { allGates, allVisitorGates, gateOf, visitorGateOf } from './gate-rows.ts';
import type { Maintenance } from './maintenance.ts';
import type { OwnLabels } from './own-labels.ts';
import type { TunnelRow } from './tunnel-rows.ts';

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
    const found = db.select().from(tunnelPolicies).where(eq(tunnelPolicies.tunnelId, row.id)).get();
    const { tunnelId, verifiedAt, domain } = domains;
    const bound = db
      .select({ domain })
      .from(domains)
      .where(and(eq(tunnelId, row.id), isNotNull(verifiedAt)))
      .orderBy(asc(domain))
      .all();
    return this.#make(row, {
      policy: policyOf(found),
      gate: gateOf(db, row.id),
      visitorGate: this.#visitorGate(row.id, visitorGateOf(db, row.id)),
      domains: bound.map((one) => one.domain),
    });
  }

  /** Every route of every organization, for a snapshot. Expired tunnels are in: their name is known, and its visitors are told so. */
  all(db: Db): readonly Route[] {
    const policies = new Map(
      db
        .select({
          tunnelId: tunnelPolicies.tunnelId,
          policy: tunnelPolicies.policy,
          updatedAt: tunnelPolicies.updatedAt,
        })
        .from(tunnelPolicies)
        .innerJoin(tunnels, and(eq(tunnels.id, tunnelPolicies.tunnelId), isNull(tunnels.deletedAt)))
        .all()
        .map((found) => [found.tunnelId, policyOf(found)]),
    );
    const gates = allGates(db);
    const visitorGates = allVisitorGates(db);
    const rows = db.select().from(tunnels).where(isNull(tunnels.deletedAt)).orderBy(asc(tunnels.id)).all();
    const bound = boundDomains(db);
    return rows.map((row) =>
      this.#make(row, {
        policy: policies.get(row.id) ?? null,
        gate: gates.get(row.id) ?? null,
        visitorGate: this.#visitorGate(row.id, visitorGates.get(row.id) ?? null),
        domains: bound.get(row.id) ?? [],
      }),
    );
  }

  publicUrl(row: TunnelRow): string {
    return row.tcpPort === null ? this.#names.url(row.label) : this.#names.tcpUrl(row.tcpPort);
  }

  #visitorGate(tunnelId: string, version: string | null): VisitorGate | null {
    if (version === null) return null;
    return { version, signInUrl: `${this.#apiUrl()}/edge-auth/start?tunnel_id=${tunnelId}` };
  }

  /** What had a host of this server before it was one leads to no service any more. */
  #make(row: TunnelRow, had: Pick<Route, 'policy' | 'gate' | 'visitorGate' | 'domains'>): Route {
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

/** Tunnel to the custom domains that lead to it. */
function boundDomains(db: Db): ReadonlyMap<string, readonly string[]> {
  const found = db
    .select({ tunnelId: domains.tunnelId, domain: domains.domain })
    .from(domains)
    .where(and(isNotNull(domains.tunnelId), isNotNull(domains.verifiedAt)))
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

/** What policies.ts has checked and stored; null when there is none. */
export function policyOf(row: { readonly policy: unknown; readonly updatedAt: number } | undefined): PolicySpec | null {
  return row === undefined ? null : { ...(row.policy as Actions), setAt: row.updatedAt };
}
