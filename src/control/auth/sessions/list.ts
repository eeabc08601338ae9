/**
 * Where a person is logged in: what they see of it, and how they end it.
 */
import { and, desc, eq, gt, isNull, ne, type SQL } from 'drizzle-orm';
import { AppError } from '../../../base/errors.ts';
import { sessions } from '../../db/schema.ts';
import type { Store, Tx } from '../../db/tx.ts';
import { type Actor, allow, type UserActor } from '../../core/rules/actor.ts';
import { recordAudit } from '../../core/rules/audit.ts';
import type { SessionEnds } from './ends.ts';

export type SessionRow = typeof sessions.$inferSelect;

export class SessionList {
  readonly #store: Store;
  readonly #ends: SessionEnds;

  constructor(deps: { store: Store; sessionEnds: SessionEnds }) {
    this.#store = deps.store;
    this.#ends = deps.sessionEnds;
  }

  /** The live sessions of the actor, in whatever organization they are, newest use first. */
  list(actor: Actor): readonly SessionRow[] {
    allow(actor, 'read', 'account');
    return liveOf({ db: this.#store.db, now: this.#store.clock.now() }, actor);
  }

  /** Ends one of them; it may be the actor's own. Throws `not_found` for all else. */
  revoke(actor: Actor, sessionId: string): void {
    allow(actor, 'change', 'account');
    this.#store.inTx((tx) => {
      const found = liveOf(tx, actor).find((row) => row.id === sessionId);
      if (found === undefined)
        throw new AppError('not_found', 'Your account has no session with this id. Check the id.');
      this.#end(tx, actor, found);
    });
  }

  /** Ends all but the one that the actor speaks from. Returns how many. */
  revokeOthers(actor: Actor): number {
    allow(actor, 'change', 'account');
    return this.#store.inTx((tx) => {
      const others = liveOf(tx, actor, ne(sessions.id, actor.sessionId));
      for (const row of others) this.#end(tx, actor, row);
      return others.length;
    });
  }

  #end(tx: Tx, actor: UserActor, row: SessionRow): void {
    this.#ends.one(tx, actor, row.id);
    recordAudit(tx, actor, { action: 'auth.session_revoke', resourceType: 'session', resourceId: row.id });
  }
}

/** `openSession` bounds how many there are. */
function liveOf({ db, now }: Pick<Tx, 'db' | 'now'>, actor: UserActor, but?: SQL): readonly SessionRow[] {
  return db
    .select()
    .from(sessions)
    .where(and(eq(sessions.userId, actor.userId), isNull(sessions.revokedAt), gt(sessions.expiresAt, now), but))
    .orderBy(desc(sessions.lastUsedAt), desc(sessions.id))
    .all();
}
