/**
 * Public ports of `tcp` tunnels. A port belongs to its tunnel for as long as the row lives; a freed one rests as long as others are
 * free, so that a stranger's client does not find a new owner behind an old address.
 */
import { and, gte, isNotNull, isNull, lte, max } from 'drizzle-orm';
import type { PortRange } from '../../../base/addr.ts';
import { tunnels } from '../../db/schema.ts';
import type { Tx } from '../../db/tx.ts';

/** The free port that has been free for longest, lowest first among those never used; undefined when all are taken or there are none. */
export function pickPort(tx: Tx, range: PortRange | null): number | undefined {
  if (range === null) return undefined;
  const inRange = and(gte(tunnels.tcpPort, range.first), lte(tunnels.tcpPort, range.last), isNotNull(tunnels.tcpPort));
  const taken = new Set(
    tx.db
      .select({ port: tunnels.tcpPort })
      .from(tunnels)
      .where(and(inRange, isNull(tunnels.deletedAt)))
      .all()
      .map((row) => row.port),
  );
  const freedAt = new Map(
    tx.db
      .select({ port: tunnels.tcpPort, at: max(tunnels.deletedAt) })
      .from(tunnels)
      .where(and(inRange, isNotNull(tunnels.deletedAt)))
      .groupBy(tunnels.tcpPort)
      .all()
      .map((row) => [row.port, row.at ?? 0]),
  );
  let best: number | undefined;
  for (let port = range.first; port <= range.last; port++) {
    if (taken.has(port)) continue;
    if (best === undefined || (freedAt.get(port) ?? 0) < (freedAt.get(best) ?? 0)) best = port;
  }
  return best;
}
