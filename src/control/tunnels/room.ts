/**
 * A new tunnel in an organization that may be full. Called by service.ts (people) and claims/service.ts (agents).
 */
import { and, asc, eq } from 'drizzle-orm';
import type { PortRange } from '../../base/net/addr.ts';
import type { NodeControl } from '../../plane/link.ts';
import { liveTunnels } from '../db/gone.ts';
import { tunnels } from '../db/schema.ts';
import type { Tx } from '../db/tx.ts';
import type { RouteEvents } from '../core/link/route-events.ts';
import type { Plan } from '../core/rules/plans.ts';
import type { Maintenance } from './maintenance.ts';
import type { OwnLabels } from '../subdomains/own-labels.ts';
import {
  anyById,
  deleteTunnels,
  insertTunnel,
  type NewTunnel,
  recordTunnel,
  type RowFault,
  type TunnelRow,
} from './rows.ts';

export interface RoomRules {
  readonly plan: Plan;
  readonly tcpPorts: PortRange | null;
  /** This port and no other. */
  readonly onlyPort?: number | undefined;
  readonly ownLabels: OwnLabels;
  readonly nodes: Pick<NodeControl, 'isTaken'>;
  readonly routeEvents: Pick<RouteEvents, 'remove'>;
  readonly maintenance: Maintenance;
}

/**
 * As `insertTunnel`; but in a full organization the tunnel that was used longest ago, of those that agents opened without a name and that
 * has no agent now, gives way: what a crashed script left behind must not keep its owner from opening tunnels for a day.
 */
export function placeTunnel(tx: Tx, input: NewTunnel, rules: RoomRules): TunnelRow | RowFault {
  const row = insertTunnel(tx, input, rules);
  return row === 'too_many' && makeRoom(tx, input.orgId, rules) ? insertTunnel(tx, input, rules) : row;
}

function makeRoom(tx: Tx, orgId: string, { nodes, routeEvents, maintenance }: RoomRules): boolean {
  // Ids alone: whole rows of a full organization would take five times as long.
  const idle = tx.db
    .select({ id: tunnels.id })
    .from(tunnels)
    .where(and(eq(tunnels.orgId, orgId), eq(tunnels.ephemeral, true), liveTunnels()))
    .orderBy(asc(tunnels.touchedAt), asc(tunnels.id))
    .all()
    .find(({ id }) => !nodes.isTaken(id));
  const leftBehind = idle === undefined ? undefined : anyById(tx.db, idle.id);
  if (leftBehind === undefined) return false;
  deleteTunnels(tx, [leftBehind]);
  recordTunnel(tx, { kind: 'system', orgId }, { action: 'tunnel.delete', row: leftBehind });
  tx.onCommit(() => {
    maintenance.end(leftBehind.id);
    routeEvents.remove(leftBehind.id, 'tunnel_deleted', 'The tunnel was deleted. Start the agent again.');
  });
  return true;
}
