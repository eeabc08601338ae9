/** What keys serve now, as the data nodes know it: agents that are connected, their tunnels and private networks. */
import { inArray } from 'drizzle-orm';
import type { ConnectionInfo, NodeControl } from '../../plane/link.ts';
import { tunnels } from '../db/schema.ts';
import type { Db } from '../db/tx.ts';

export interface Serving {
  readonly sessions: number;
  readonly tunnels: number;
  readonly networks: number;
}

/** One agent that is connected. */
export interface ServingSession
  extends Pick<ConnectionInfo, 'agentId' | 'hostname' | 'remoteIp' | 'version' | 'connectedAt'> {
  readonly tunnels: ReadonlyArray<{ readonly id: string; readonly subdomain: string }>;
  readonly networks: readonly string[];
}

export const NOTHING_SERVED: Serving = { sessions: 0, tunnels: 0, networks: 0 };

/** By the id of the key, those of one organization. Keys that serve nothing are left out. */
export function servingOf(nodes: Pick<NodeControl, 'connections'>, orgId: string): ReadonlyMap<string, Serving> {
  const sums = new Map<string, Serving>();
  for (const { tokenId, orgId: of, tunnelIds, networkIds } of nodes.connections()) {
    if (of !== orgId) continue;
    const sum = sums.get(tokenId) ?? NOTHING_SERVED;
    sums.set(tokenId, {
      sessions: sum.sessions + 1,
      tunnels: sum.tunnels + tunnelIds.length,
      networks: sum.networks + networkIds.length,
    });
  }
  return sums;
}

/** The agents of one key, oldest first, with the names of their tunnels. */
export function sessionsOf(db: Db, nodes: Pick<NodeControl, 'connections'>, ofToken: string): ServingSession[] {
  const own = nodes.connections().filter(({ tokenId }) => tokenId === ofToken);
  const { id, label } = tunnels;
  const ids = own.flatMap(({ tunnelIds }) => tunnelIds);
  const rows = ids.length === 0 ? [] : db.select({ id, label }).from(tunnels).where(inArray(id, ids)).all();
  const labels = new Map(rows.map((row) => [row.id, row.label]));
  return own
    .map(({ agentId, hostname, remoteIp, version, connectedAt, tunnelIds, networkIds }) => ({
      ...{ agentId, hostname, remoteIp, version, connectedAt },
      tunnels: tunnelIds.map((one) => ({ id: one, subdomain: labels.get(one) ?? '' })),
      networks: networkIds,
    }))
    .sort((a, b) => a.connectedAt - b.connectedAt);
}
