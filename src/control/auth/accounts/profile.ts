/**
 * What a person says about themselves.
 */
import type { Store } from '../../db/tx.ts';
import { type Actor, allow } from '../../core/rules/actor.ts';
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
      updateUser(tx, actor.userId, { name });
      recordAudit(tx, actor, { action: 'user.update', resourceType: 'user', resourceId: actor.userId });
    });
  }
}
