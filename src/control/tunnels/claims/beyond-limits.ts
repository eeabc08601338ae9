/**
 * Sessions that serve more than their key allows since its limits were lowered: they end, and their agents claim again what they had. What the
 * key still allows is back in seconds; the rest is refused with the reason.
 */
import { eq, inArray } from 'drizzle-orm';
import type { ConnectionInfo, NodeControl } from '../../../plane/link.ts';
import { type TokenRow, tokenById } from '../../access-keys/rows.ts';
import { isAllowedName, nameIn } from '../../core/rules/labels.ts';
import { projects, tunnels } from '../../db/schema.ts';
import type { Db, Store } from '../../db/tx.ts';

const MESSAGE = 'the limits of the access key were lowered';

/** A claim that was granted before the change may be bound behind it: keys are looked at again for so long. */
const AGAIN_MS = 15_000;
/** Keys that are looked at again. Beyond, the oldest are not. */
const MAX_AGAIN = 10_000;

export interface BeyondLimitsDeps {
  readonly store: Pick<Store, 'db' | 'clock'>;
  readonly nodes: Pick<NodeControl, 'connections' | 'disconnect'>;
}

export class BeyondLimits {
  readonly #deps: BeyondLimitsDeps;
  /** By key: when its limits changed. The oldest first. */
  readonly #changed = new Map<string, number>();

  constructor(deps: BeyondLimitsDeps) {
    this.#deps = deps;
  }

  /** To be called after the limits of these keys have changed. */
  changed(tokenIds: readonly string[]): void {
    const now = this.#deps.store.clock.now();
    for (const id of tokenIds) {
      this.#changed.delete(id);
      this.#changed.set(id, now);
    }
    for (const oldest of this.#changed.keys()) {
      if (this.#changed.size <= MAX_AGAIN) break;
      this.#changed.delete(oldest);
    }
    this.#end(tokenIds);
  }

  /** The keys whose limits changed a moment ago, once more. */
  again(): void {
    const past = this.#deps.store.clock.now() - AGAIN_MS;
    this.#end([...this.#changed.keys()]);
    for (const [id, at] of this.#changed) if (at <= past) this.#changed.delete(id);
  }

  #end(tokenIds: readonly string[]): void {
    if (tokenIds.length === 0) return;
    const { store, nodes } = this.#deps;
    const byKey = Map.groupBy(nodes.connections(), ({ tokenId }) => tokenId);
    for (const tokenId of tokenIds) {
      const sessions = byKey.get(tokenId);
      const token = sessions === undefined ? undefined : tokenById(store.db, tokenId);
      if (sessions === undefined || token === undefined) continue;
      for (const { agentId } of beyond(store.db, token, sessions)) nodes.disconnect(agentId, MESSAGE);
    }
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
    const name = nameIn(row.label, row);
    return !isAllowedName(name, token.allowedSubdomains);
  });
  return new Set(refused.map((row) => row.id));
}
