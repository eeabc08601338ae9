/**
 * What a person says about themselves.
 */
import { eq } from 'drizzle-orm';
import { users } from '../../db/schema.ts';
import type { Store } from '../../db/tx.ts';
import { type Actor, allow } from '../../core/rules/actor.ts';
import { recordAudit } from '../../core/rules/audit.ts';

export class Profile {
  readonly #store: Store;

  constructor(deps: { store: Store }) {
    this.#store = deps.store;
  }

  /** Sets the name that others see; may be empty. */
  rename(actor: Actor, name: string): void {
    allow(actor, 'change', 'account');
    this.#store.inTx((tx) => {
      tx.db.update(users).set({ name }).where(eq(users.id, actor.userId)).run();
      recordAudit(tx, actor, { action: 'user.update', resourceType: 'user', resourceId: actor.userId });
    });
  }
}
