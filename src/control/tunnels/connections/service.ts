/**
 * Agent sessions for the organization of the caller: those that are live, as the data nodes know them, and how the last ones ended.
 */
import { and, eq, inArray } from 'drizzle-orm';
import { AppError } from '../../../base/errors.ts';
import type { ConnectionInfo, NodeControl } from '../../../plane/link.ts';
import { capabilityTokens } from '../../db/schema.ts';
import type { Store } from '../../db/tx.ts';
import { type Actor, allow, hasRole } from '../../core/rules/actor.ts';
import { recordAudit } from '../../core/rules/audit.ts';
import { type EndedSessionRow, endedSessionsOf } from './ended-sessions.ts';

export interface ConnectionView extends ConnectionInfo {
  /** What its key is called; null: the key's row is gone. */
  readonly tokenName: string | null;
}

export class Connections {
  readonly #store: Store;
  readonly #nodes: NodeControl;

  constructor(deps: { store: Store; nodes: NodeControl }) {
    this.#store = deps.store;
    this.#nodes = deps.nodes;
  }

  list(actor: Actor): readonly ConnectionView[] {
    allow(actor, 'read', 'connection');
    const own = this.#nodes.connections().filter((connection) => connection.orgId === actor.orgId);
    const { id, name, orgId } = capabilityTokens;
    const used = [...new Set(own.map(({ tokenId }) => tokenId))];
    const keys = this.#store.db
      .select({ id, name })
      .from(capabilityTokens)
      .where(and(eq(orgId, actor.orgId), inArray(id, used)))
      .all();
    const names = new Map(keys.map((key) => [key.id, key.name]));
    return own.map((connection) => ({ ...connection, tokenName: names.get(connection.tokenId) ?? null }));
  }

  /** The last sessions that ended, newest first. */
  ended(actor: Actor): readonly EndedSessionRow[] {
    allow(actor, 'read', 'connection');
    return endedSessionsOf(this.#store.db, actor.orgId);
  }

  /**
   * Ends a session; its agent gets the reason, and comes back in about 5 s unless its token is gone. Throws `not_found`, `forbidden` (another
   * member's).
   */
  disconnect(actor: Actor, agentId: string, reason?: string): void {
    allow(actor, 'delete', 'connection');
    const connection = this.list(actor).find((c) => c.agentId === agentId);
    if (connection === undefined)
      throw new AppError('not_found', 'Your organization has no connection with this id. Check the id.');
    const token = this.#store.db
      .select({ createdBy: capabilityTokens.createdBy })
      .from(capabilityTokens)
      .where(eq(capabilityTokens.id, connection.tokenId))
      .get();
    if (token?.createdBy !== actor.userId && !hasRole(actor, 'admin')) {
      throw new AppError('forbidden', 'The agent uses a key of another member. Ask an admin to disconnect it.');
    }
    this.#store.inTx((tx) => {
      recordAudit(tx, actor, {
        action: 'connection.disconnect',
        resourceType: 'connection',
        resourceId: agentId,
        resourceName: connection.hostname,
        ...(reason === undefined ? {} : { details: { reason } }),
      });
      tx.onCommit(() => this.#nodes.disconnect(agentId, reason));
    });
  }
}
