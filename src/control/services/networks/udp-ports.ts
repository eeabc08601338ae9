/**
 * Relay ports of private networks. A port belongs to its network until the network goes or is reached without this server; a freed one rests as
 * long as others are free, so that a stranger's client does not find a new owner behind an old address.
 */
import { and, gte, lte } from 'drizzle-orm';
import type { PortRange } from '../../../base/addr.ts';
import { privateNetworks, restingUdpPorts } from '../../db/schema.ts';
import type { Tx } from '../../db/tx.ts';
import { longestFree } from '../free-port.ts';

/** The free port that has been free for longest, lowest first among those never used; undefined when all are taken or there are none. */
export function pickUdpPort(tx: Tx, range: PortRange | null): number | undefined {
  if (range === null) return undefined;
  const { reservedUdpPort } = privateNetworks;
  const rows = tx.db
    .select({ port: reservedUdpPort })
    .from(privateNetworks)
    .where(and(gte(reservedUdpPort, range.first), lte(reservedUdpPort, range.last)))
    .all();
  const taken = new Set(rows.map(({ port }) => port));
  const resting = tx.db
    .select()
    .from(restingUdpPorts)
    .where(and(gte(restingUdpPorts.port, range.first), lte(restingUdpPorts.port, range.last)))
    .all();
  const freedAt = new Map(resting.map((row) => [row.port, row.freedAt]));
  return longestFree(range, { taken, freedAt });
}

/** May a network be relayed at this port? Settings may have moved the range since it got it. */
export function isUdpPort(range: PortRange | null, port: number): boolean {
  return range !== null && port >= range.first && port <= range.last;
}

/** To be called where a network gives its port up. */
export function letUdpPortRest(tx: Tx, port: number | null): void {
  if (port === null) return;
  tx.db
    .insert(restingUdpPorts)
    .values({ port, freedAt: tx.now })
    .onConflictDoUpdate({ target: restingUdpPorts.port, set: { freedAt: tx.now } })
    .run();
}
