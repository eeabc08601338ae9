/** Gates of tunnels as the data plane gets them. Read by route-maker.ts; written by basic-gates.ts and visitor-gates.ts. */
import { and, eq, isNull } from 'drizzle-orm';
import type { BasicGate } from '../../../plane/routes.ts';
import { basicGates, tunnels, visitorGates } from '../../db/schema.ts';
import type { Db } from '../../db/tx.ts';

/** Of one tunnel; null when it has none. */
export function gateOf(db: Db, tunnelId: string): BasicGate | null {
  const row = db.select().from(basicGates).where(eq(basicGates.tunnelId, tunnelId)).get();
  return row === undefined ? null : toGate(row);
}

/** Of every live tunnel that has one. */
export function allGates(db: Db): ReadonlyMap<string, BasicGate> {
  const rows = db
    .select({ gate: basicGates })
    .from(basicGates)
    .innerJoin(tunnels, and(eq(tunnels.id, basicGates.tunnelId), isNull(tunnels.deletedAt)))
    .all();
  return new Map(rows.map(({ gate }) => [gate.tunnelId, toGate(gate)]));
}

/** Version of a tunnel's visitor gate; null when it has none. */
export function visitorGateOf(db: Db, tunnelId: string): string | null {
  return db.select().from(visitorGates).where(eq(visitorGates.tunnelId, tunnelId)).get()?.version ?? null;
}

/** Of every live tunnel that has one. */
export function allVisitorGates(db: Db): ReadonlyMap<string, string> {
  const rows = db
    .select({ tunnelId: visitorGates.tunnelId, version: visitorGates.version })
    .from(visitorGates)
    .innerJoin(tunnels, and(eq(tunnels.id, visitorGates.tunnelId), isNull(tunnels.deletedAt)))
    .all();
  return new Map(rows.map(({ tunnelId, version }) => [tunnelId, version]));
}

function toGate({ username, passwordHash, version }: typeof basicGates.$inferSelect): BasicGate {
  return { username, passwordHash, version };
}
