/**
 * What a person says about themselves.
 */
import { eq } from 'drizzle-orm';
import { users } from '../../db/schema.ts';
import type { Store } from '../../db/tx.ts';
import { type Actor, allow } from '../../core/rules/actor.ts';
import { changesBetween } from '../../core/rules/audit-changes.ts';
import { recordAudit } from '../../core/rules/audit.ts';
import { updateUser } from './rows.ts';

export class Profile {
  readonly #store: Store;

  constructor(deps: { store: Store }) {
    this.#store = deps.store;
  }

  /** Sets the name that others see; may be empty. */
  rename(actor: Actor, name: string): void {
    allow(actor, 'change', 'account');
    this.#store.inTx((tx) => {
      const before = tx.db.select({ name: users.name }).from(users).where(eq(users.id, actor.userId)).get();
      updateUser(tx, actor.userId, { name });
      const entry = { action: 'user.update', resourceType: 'user', resourceId: actor.userId } as const;
      recordAudit(tx, actor, { ...entry, changes: changesBetween({ name: before?.name }, { name }) });
    });
  }
}
