/**
 * Relay ports of private networks. A port belongs to its network until the network goes or is reached without this server, and to its
 * organization for a day after it.
 */
import { and, gte, lte } from 'drizzle-orm';
import type { PortRange } from '../../../base/net/addr.ts';
import { privateNetworks } from '../../db/schema.ts';
import type { Tx } from '../../db/tx.ts';
import { type PortFault, pickPublicPort } from '../../core/rules/public-ports.ts';

/** A port for a network of the organization. */
export function pickUdpPort(tx: Tx, range: PortRange, orgId: string): number | PortFault {
  const { reservedUdpPort } = privateNetworks;
  const live = tx.db
    .select({ port: reservedUdpPort, orgId: privateNetworks.orgId })
    .from(privateNetworks)
    .where(and(gte(reservedUdpPort, range.first), lte(reservedUdpPort, range.last)))
    .all();
  return pickPublicPort(tx, { transport: 'udp', range, orgId, live });
}

/** May a network be relayed at this port? Settings may have moved the range since it got it. */
export function isUdpPort(range: PortRange | null, port: number): boolean {
  return range !== null && port >= range.first && port <= range.last;
}
