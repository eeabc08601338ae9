/**
 * The second factor of an account: turning it on and off, its recovery codes, and the operator's way out for a user who lost both. How it takes
 * part in a log-in is in login.ts. Other sessions of the account live on through all of it: they were opened with the credentials required
 * then, a stolen one could as well be the one that makes the change, and an email notifies the owner, who can end sessions one by one. A password
 * reset keeps the factor: a mailbox alone must not be a way around it.
 */
import { eq } from 'drizzle-orm';
import { AppError } from '../../../base/errors.ts';
import { users } from '../../db/schema.ts';
import type { Store, Tx } from '../../db/tx.ts';
import { type Actor, allow, asOperator, type UserActor } from '../../core/rules/actor.ts';
import { recordAudit } from '../../core/rules/audit.ts';
import { findFactor, insertFactor, removeFactor } from './rows.ts';
import { isMfaEnabled } from '../accounts/rows.ts';
import type { Outbox } from '../../core/mail/outbox.ts';
import type { Passwords } from '../../core/secrets/passwords.ts';
import { PendingFactors } from './pending-factors.ts';
import type { RecoveryCodes } from './recovery-codes.ts';
import type { Sealer } from '../../core/secrets/sealing.ts';
import { otpauthUri } from './totp.ts';
import { callerNow } from '../../core/rules/caller.ts';
import { recordUserAudit } from '../accounts/user-audit.ts';

/** A warning is worth delivering for as long as mail servers are usually tried. */
const WARNING_SECONDS = 3 * 24 * 3600;

/** What proves, besides the session, that the owner of the account asks. */
export type Proof = { readonly password: string } | { readonly recoveryCode: string };

export interface MfaStatus {
  readonly enabledAt: number | null;
  readonly recoveryCodesLeft: number;
}

export interface MfaDeps {
  readonly store: Store;
  readonly sealer: Sealer;
  readonly passwords: Passwords;
  readonly recoveryCodes: RecoveryCodes;
  readonly outbox: Outbox;
}

export class Mfa {
  readonly #deps: MfaDeps;
  readonly #pending: PendingFactors;

  constructor(deps: MfaDeps) {
    this.#deps = deps;
    this.#pending = new PendingFactors(deps.store.clock);
  }

  status(actor: Actor): MfaStatus {
    allow(actor, 'read', 'account');
    const { db } = this.#deps.store;
    return {
      enabledAt: findFactor(db, actor.userId)?.createdAt ?? null,
      recoveryCodesLeft: this.#deps.recoveryCodes.left(db, actor.userId),
    };
  }

  /** A new secret, kept for ten minutes until this session confirms it. Throws `conflict` when the account has a factor. */
  enroll(actor: Actor): { otpauthUri: string; secret: string } {
    allow(actor, 'change', 'account');
    if (isMfaEnabled(this.#deps.store.db, actor.userId)) throw alreadyOn();
    const secret = this.#pending.begin(actor.sessionId);
    return { otpauthUri: otpauthUri(actor.email, secret), secret };
  }

  /** Turns the factor on; returns the recovery codes. Throws `invalid_code`, also when nothing is pending; `conflict`. */
  confirm(actor: Actor, code: string): string[] {
    allow(actor, 'change', 'account');
    const confirmed = this.#pending.confirm(actor.sessionId, code);
    if (confirmed === undefined) {
      throw new AppError('invalid_code', 'The code is wrong or expired. Try the next one, or enroll again.');
    }
    return this.#deps.store.inTx((tx) => {
      if (!insertFactor(tx, this.#deps.sealer, { ...confirmed, userId: actor.userId })) throw alreadyOn();
      recordAudit(tx, actor, { action: 'auth.mfa_enable', resourceType: 'user', resourceId: actor.userId });
      this.#warn(tx, actor.email, true);
      return this.#deps.recoveryCodes.replace(tx, actor.userId);
    });
  }

  /** Turns the factor off. Throws `unauthorized` when the proof is wrong, `conflict` when it is right and there is nothing to turn off. */
  async disable(actor: Actor, proof: Proof): Promise<void> {
    allow(actor, 'change', 'account');
    if ('password' in proof) await this.#checkPassword(actor, proof.password);
    this.#deps.store.inTx((tx) => {
      callerNow(tx, actor);
      if ('recoveryCode' in proof && !this.#deps.recoveryCodes.use(tx, actor.userId, proof.recoveryCode)) {
        throw new AppError('unauthorized', 'The recovery code is wrong or already used. Try another one.');
      }
      if (!removeFactor(tx, actor.userId)) throw off();
      recordAudit(tx, actor, { action: 'auth.mfa_disable', resourceType: 'user', resourceId: actor.userId });
      this.#warn(tx, actor.email, false);
    });
  }

  /** Ten new recovery codes in place of all earlier ones. Throws `unauthorized`, `conflict` as `disable` does. */
  async renewRecoveryCodes(actor: Actor, password: string): Promise<string[]> {
    allow(actor, 'change', 'account');
    await this.#checkPassword(actor, password);
    return this.#deps.store.inTx((tx) => {
      callerNow(tx, actor);
      if (!isMfaEnabled(tx.db, actor.userId)) throw off();
      recordAudit(tx, actor, { action: 'auth.mfa_recovery_renew', resourceType: 'user', resourceId: actor.userId });
      return this.#deps.recoveryCodes.replace(tx, actor.userId);
    });
  }

  /** For an operator, at the owner's request. False when there was nothing to reset. Throws `not_found` for an unknown account. */
  reset(actor: Actor, userId: string): boolean {
    const operator = asOperator(actor);
    return this.#deps.store.inTx((tx) => {
      const user = tx.db.select({ email: users.email }).from(users).where(eq(users.id, userId)).get();
      if (user === undefined) throw new AppError('not_found', 'No account has this id. Check it.');
      if (!removeFactor(tx, userId)) return false;
      recordUserAudit(tx, operator, { action: 'user.mfa_reset', userId });
      this.#warn(tx, user.email, false);
      return true;
    });
  }

  async #checkPassword(actor: UserActor, password: string): Promise<void> {
    const { store, passwords } = this.#deps;
    const user = store.db.select({ hash: users.passwordHash }).from(users).where(eq(users.id, actor.userId)).get();
    if (await passwords.verify(user?.hash ?? null, password)) return;
    throw new AppError('unauthorized', 'The password is wrong. Try again.');
  }

  #warn(tx: Tx, to: string, enabled: boolean): void {
    this.#deps.outbox.post(tx, { kind: 'mfa_changed', to, enabled }, WARNING_SECONDS);
  }
}

function alreadyOn(): AppError {
  return new AppError('conflict', 'Two-factor authentication is already on. Turn it off before you set it up again.');
}

function off(): AppError {
  return new AppError('conflict', 'Two-factor authentication is already off. No changes were made.');
}
