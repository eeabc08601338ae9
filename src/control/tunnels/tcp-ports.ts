/** Public ports of `tcp` tunnels. A port belongs to its tunnel for as long as the row lives, and to its organization for a day after it. */
import { and, gte, isNotNull, isNull, lte } from 'drizzle-orm';
import type { PortRange } from '../../base/net/addr.ts';
import { tunnels } from '../db/schema.ts';
import type { Tx } from '../db/tx.ts';
import { type PortFault, pickPublicPort } from '../core/rules/public-ports.ts';

/** A port for a tunnel of the organization. `range`: null when there are none. `only`: this port and no other. */
export function pickTcpPort(
  tx: Tx,
  range: PortRange | null,
  { orgId, only }: { readonly orgId: string; readonly only?: number | undefined },
): number | PortFault {
  if (range === null) return 'no_port_free';
  const { tcpPort, deletedAt } = tunnels;
  const live = tx.db
    .select({ port: tcpPort, orgId: tunnels.orgId })
    .from(tunnels)
    .where(and(gte(tcpPort, range.first), lte(tcpPort, range.last), isNotNull(tcpPort), isNull(deletedAt)))
    .all();
  return pickPublicPort(tx, { transport: 'tcp', range, orgId, live, only });
}
