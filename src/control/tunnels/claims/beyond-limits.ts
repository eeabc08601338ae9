/**
 * Sessions that serve more than their key allows since its limits were lowered: they end, and their agents claim again what they had. What the
 * key still allows is back in seconds; the rest is refused with the reason.
 */
import { eq, inArray } from 'drizzle-orm';
import type { ConnectionInfo, NodeControl } from '../../../plane/link.ts';
import { type TokenRow, tokenById } from '../../access-keys/rows.ts';
import { isAllowedName } from '../../core/rules/labels.ts';
import { projects, tunnels } from '../../db/schema.ts';
import type { Db, Store } from '../../db/tx.ts';

const MESSAGE = 'the limits of the access key were lowered';

export interface BeyondLimitsDeps {
  readonly store: Pick<Store, 'db'>;
  readonly nodes: Pick<NodeControl, 'connections' | 'disconnect'>;
}

/** To be called after the limits of these keys have changed. */
export function endBeyondLimits({ store, nodes }: BeyondLimitsDeps, tokenIds: readonly string[]): void {
  const live = nodes.connections();
  for (const tokenId of tokenIds) {
    const token = tokenById(store.db, tokenId);
    const sessions = live.filter((one) => one.tokenId === tokenId);
    if (token === undefined || sessions.length === 0) continue;
    for (const { agentId } of beyond(store.db, token, sessions)) nodes.disconnect(agentId, MESSAGE);
  }
}

/** Those with a name that is not allowed, and the newest until the rest is within the quota. */
function beyond(db: Db, token: TokenRow, sessions: readonly ConnectionInfo[]): readonly ConnectionInfo[] {
  const refused = refusedNames(db, token, sessions);
  let served = 0;
  return [...sessions]
    .sort((a, b) => a.connectedAt - b.connectedAt)
    .filter(({ tunnelIds, networkIds }) => {
      served += tunnelIds.length + networkIds.length;
      return served > token.tunnelQuota || tunnelIds.some((id) => refused.has(id));
    });
}

/** Tunnels of these sessions whose names the key does not allow. */
function refusedNames(db: Db, token: TokenRow, sessions: readonly ConnectionInfo[]): ReadonlySet<string> {
  const { id, label, protocol, ephemeral, projectId } = tunnels;
  const ids = sessions.flatMap(({ tunnelIds }) => tunnelIds);
  const rows = db
    .select({ id, label, protocol, ephemeral, slug: projects.slug, isDefault: projects.isDefault })
    .from(tunnels)
    .innerJoin(projects, eq(projects.id, projectId))
    .where(inArray(id, ids))
    .all();
  const refused = rows.filter((row) => {
    // A raw port has no name that visitors see.
    if (row.protocol === 'tcp' && row.ephemeral) return false;
    const name = row.isDefault ? row.label : row.label.slice(0, -(row.slug.length + 1));
    return !isAllowedName(name, token.allowedSubdomains);
  });
  return new Set(refused.map((row) => row.id));
}
