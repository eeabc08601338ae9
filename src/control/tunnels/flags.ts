/** Which of the things that can be put on a tunnel are on it, for those who read tunnels: one query each for a whole list. */
import { eq } from 'drizzle-orm';
import { basicGates, tunnelPolicies, tunnels, visitorGates } from '../db/schema.ts';
import type { Db } from '../db/tx.ts';

export interface TunnelFlags {
  readonly authEnabled: boolean;
  readonly edgeAuthEnabled: boolean;
  readonly policyEnabled: boolean;
}

/** Of each tunnel of an organization, by its id. */
export function flagsIn(db: Db, orgId: string): (tunnelId: string) => TunnelFlags {
  const found = db
    .select({ tunnelId: tunnelPolicies.tunnelId })
    .from(tunnelPolicies)
    .innerJoin(tunnels, eq(tunnels.id, tunnelPolicies.tunnelId))
    .where(eq(tunnels.orgId, orgId))
    .all();
  const withPolicy = new Set(found.map(({ tunnelId }) => tunnelId));
  const gates = db
    .select({ tunnelId: basicGates.tunnelId })
    .from(basicGates)
    .innerJoin(tunnels, eq(tunnels.id, basicGates.tunnelId))
    .where(eq(tunnels.orgId, orgId))
    .all();
  const withGate = new Set(gates.map(({ tunnelId }) => tunnelId));
  const asking = db
    .select({ tunnelId: visitorGates.tunnelId })
    .from(visitorGates)
    .innerJoin(tunnels, eq(tunnels.id, visitorGates.tunnelId))
    .where(eq(tunnels.orgId, orgId))
    .all();
  const withVisitors = new Set(asking.map(({ tunnelId }) => tunnelId));
  return (tunnelId) => ({
    authEnabled: withGate.has(tunnelId),
    edgeAuthEnabled: withVisitors.has(tunnelId),
    policyEnabled: withPolicy.has(tunnelId),
  });
}

/** Of one tunnel. */
export function flagsOf(db: Db, tunnelId: string): TunnelFlags {
  const policy = db
    .select({ tunnelId: tunnelPolicies.tunnelId })
    .from(tunnelPolicies)
    .where(eq(tunnelPolicies.tunnelId, tunnelId))
    .get();
  const gate = db
    .select({ tunnelId: basicGates.tunnelId })
    .from(basicGates)
    .where(eq(basicGates.tunnelId, tunnelId))
    .get();
  const visitors = db
    .select({ tunnelId: visitorGates.tunnelId })
    .from(visitorGates)
    .where(eq(visitorGates.tunnelId, tunnelId))
    .get();
  return {
    authEnabled: gate !== undefined,
    edgeAuthEnabled: visitors !== undefined,
    policyEnabled: policy !== undefined,
  };
}
