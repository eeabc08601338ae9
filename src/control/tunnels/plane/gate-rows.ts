/** Gates of tunnels as the data plane gets them. Read by route-maker.ts; written by tunnels/access-control/password.ts and tunnels/visitor-login/service.ts. */
import { inArray } from 'drizzle-orm';
import type { BasicGate } from '../../../plane/routes.ts';
import { basicGates, visitorGates } from '../../db/schema.ts';
import type { Db } from '../../db/tx.ts';

/** Of each of these tunnels that has one. */
export function gatesOf(db: Db, tunnelIds: readonly string[]): ReadonlyMap<string, BasicGate> {
  const rows = db
    .select()
    .from(basicGates)
    .where(inArray(basicGates.tunnelId, [...tunnelIds]))
    .all();
  return new Map(rows.map((gate) => [gate.tunnelId, toGate(gate)]));
}

/** Version of the visitor gate of each of these tunnels that has one. */
export function visitorGatesOf(db: Db, tunnelIds: readonly string[]): ReadonlyMap<string, string> {
  const { tunnelId, version } = visitorGates;
  const rows = db
    .select({ tunnelId, version })
    .from(visitorGates)
    .where(inArray(tunnelId, [...tunnelIds]))
    .all();
  return new Map(rows.map((gate) => [gate.tunnelId, gate.version]));
}

function toGate({ username, passwordHash, version }: typeof basicGates.$inferSelect): BasicGate {
  return { username, passwordHash, version };
}
