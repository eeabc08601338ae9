/**
 * Public ports of `tcp` tunnels. A port belongs to its tunnel for as long as the row lives; a freed one rests as long as others are
 * free, so that a stranger's client does not find a new owner behind an old address.
 */
import { and, gte, isNotNull, isNull, lte, sql } from 'drizzle-orm';
import type { PortRange } from '../../../base/addr.ts';
import { tunnels } from '../../db/schema.ts';
import type { Tx } from '../../db/tx.ts';
import { longestFree } from '../free-port.ts';

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
  const freedAt = new Map(freedPorts(tx, range).map(({ port, at }) => [port, at ?? 0]));
  return longestFree(range, { taken, freedAt });
}

/**
 * When each port that once was a tunnel's was freed last. From port to port by the index: to group the rows would read all of them, and there
 * may be 5,000 a day of one organization.
 */
function freedPorts(tx: Tx, { first, last }: PortRange): ReadonlyArray<{ port: number; at: number | null }> {
  return tx.db.all(sql`
    WITH RECURSIVE used(port) AS (
      SELECT min(tcp_port) FROM tunnels WHERE deleted_at IS NOT NULL AND tcp_port >= ${first}
      UNION ALL
      SELECT (SELECT min(tcp_port) FROM tunnels WHERE deleted_at IS NOT NULL AND tcp_port > port) FROM used WHERE port <= ${last}
    )
    SELECT port, (SELECT max(deleted_at) FROM tunnels WHERE deleted_at IS NOT NULL AND tcp_port = port) AS at
    FROM used WHERE port <= ${last}`);
}
