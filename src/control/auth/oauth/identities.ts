/**
 * The identities of an account: who at which provider may log in to it. How one comes to be is in provider-logins.ts.
 */
import { and, asc, eq } from 'drizzle-orm';
import { AppError } from '../../../base/errors.ts';
import { identities, users } from '../../db/schema.ts';
import type { Store } from '../../db/tx.ts';
import { type Actor, allow } from '../../core/rules/actor.ts';
import { recordAudit } from '../../core/rules/audit.ts';

export type IdentityRow = typeof identities.$inferSelect;

export class Identities {
  readonly #store: Store;

  constructor(deps: { store: Store }) {
    this.#store = deps.store;
  }

  /** The caller's own, oldest first. */
  list(actor: Actor): readonly IdentityRow[] {
    allow(actor, 'read', 'account');
    return this.#store.db
      .select()
      .from(identities)
      .where(eq(identities.userId, actor.userId))
      .orderBy(asc(identities.createdAt), asc(identities.id))
      .all();
  }

  /** Throws `not_found`, and `conflict` when it is the last way into the account. */
  unlink(actor: Actor, identityId: string): void {
    allow(actor, 'change', 'account');
    this.#store.inTx((tx) => {
      const own = tx.db.select({ id: identities.id }).from(identities).where(eq(identities.userId, actor.userId)).all();
      if (!own.some(({ id }) => id === identityId)) {
        throw new AppError('not_found', 'Your account has no identity with this id. Check the id.');
      }
      const user = tx.db
        .select({ passwordHash: users.passwordHash })
        .from(users)
        .where(eq(users.id, actor.userId))
        .get();
      const hasPassword = (user?.passwordHash ?? null) !== null;
      if (!hasPassword && own.length === 1) {
        throw new AppError('conflict', 'This identity is your only way to log in. Set a password first.');
      }
      tx.db
        .delete(identities)
        .where(and(eq(identities.id, identityId), eq(identities.userId, actor.userId)))
        .run();
      recordAudit(tx, actor, { action: 'auth.identity_unlink', resourceType: 'user', resourceId: actor.userId });
    });
  }
}
