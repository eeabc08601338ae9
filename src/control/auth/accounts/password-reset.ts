/**
 * Passwords that change: by a link in an email for a forgotten one, or by the old one.
 * A reset keeps the second factor: a mailbox alone must not be a way around it.
 */
import { eq } from 'drizzle-orm';
import { AppError } from '../../../base/errors.ts';
import { users } from '../../db/schema.ts';
import type { Store, Tx } from '../../db/tx.ts';
import { type CreatedUser, findUserByEmail, randomPassword } from './service.ts';
import { type Actor, allow, allowOperator } from '../../core/rules/actor.ts';
import { recordAudit } from '../../core/rules/audit.ts';
import { writeNothing } from '../../organizations/blank-write.ts';
import type { EmailLimit } from '../../core/mail/email-limit.ts';
import { linkTo } from '../../core/mail/email-text.ts';
import type { Outbox } from '../../core/mail/outbox.ts';
import type { Passwords } from '../../core/secrets/passwords.ts';
import { issueResetToken, ownerOfReset, RESET_SECONDS } from './reset-tokens.ts';
import { hashOf } from '../../core/secrets/secret-hash.ts';
import { passwordChanged } from './events.ts';
import { deleteCode, deleteResets, outsideActor, recordOutside, updateUser, type UserRow } from './rows.ts';
import { callerNow, operatorNow, type Visit } from '../../core/rules/caller.ts';
import type { SignUpMemory } from './sign-up-memory.ts';
import { recordUserAudit } from './user-audit.ts';

/** Measured: a link, its email and its entry in the audit log take as long as this many entries. */
const LINK_ENTRIES = 2;
/** A warning is worth delivering for as long as mail servers are usually tried. */
const WARNING_SECONDS = 3 * 24 * 3600;

export interface PasswordResetDeps {
  readonly store: Store;
  readonly passwords: Passwords;
  readonly emailLimit: EmailLimit;
  readonly signUps: SignUpMemory;
  readonly outbox: Outbox;
  /** What links start with. */
  readonly apiUrl: () => string;
}

/** A link that sets the password of an account, for the operator to hand over. */
export interface PasswordLink {
  readonly id: string;
  readonly email: string;
  readonly url: string;
  readonly expiresAt: number;
}

export class PasswordReset {
  readonly #deps: PasswordResetDeps;

  constructor(deps: PasswordResetDeps) {
    this.#deps = deps;
  }

  /**
   * Sends a link, good for an hour and one use, to the address if it has an account: after the answer, which is the same for all. Throws
   * `unavailable` when nothing can be stored.
   */
  forgot(email: string, visit: Visit): void {
    this.#deps.store.checkDisk();
    visit.afterAnswer(() =>
      this.#deps.store.inTx(
        (tx) => {
          const user = findUserByEmail(tx.db, email);
          if (user !== undefined && this.#deps.emailLimit.take('reset', user.emailKey)) this.#sendLink(tx, user, visit);
          else writeNothing(tx, LINK_ENTRIES);
        },
        // Any stranger can cause this: it must not make the event loop wait for the disk. A power cut costs a link.
        { relaxed: true },
      ),
    );
  }

  /**
   * Sets the password of the link's account, ends all their sessions and their other links, and takes the address for proven: the mail
   * has arrived. Throws `invalid_code` for a token that is wrong, was used or has run out; `unavailable` when too many passwords wait.
   */
  async reset(input: { readonly token: string; readonly newPassword: string }, visit: Visit): Promise<void> {
    const { store, passwords } = this.#deps;
    const hash = hashOf(input.token);
    // Before the hashing, so that guesses cost no computing: 256 random bits are not guessed, and time tells nothing about them.
    if (ownerOfReset(store.db, hash, store.clock.now()) === undefined) throw badToken();
    const passwordHash = await passwords.hash(input.newPassword);
    store.inTx((tx) => {
      const user = ownerOfReset(tx.db, hash, tx.now);
      if (user === undefined) throw badToken();
      this.#setPassword(tx, user, passwordHash);
      updateUser(tx, user.id, { emailVerifiedAt: user.emailVerifiedAt ?? tx.now });
      if (user.emailVerifiedAt === null) tx.onCommit(() => this.#deps.signUps.forget(user.email));
      deleteCode(tx, user.id);
      tx.emit(passwordChanged, { userId: user.id, by: outsideActor(tx, user, visit) });
      recordOutside(tx, user, { action: 'auth.password_reset', visit });
    });
  }

  /**
   * Changes the password of the caller and ends their other sessions. Throws `unauthorized` when the current one is wrong, `conflict` when
   * there is none, `unavailable` when too many passwords wait.
   */
  async change(actor: Actor, input: { readonly current: string; readonly next: string }): Promise<void> {
    allow(actor, 'change', 'account');
    const { store, passwords } = this.#deps;
    const before = store.db.select().from(users).where(eq(users.id, actor.userId)).get();
    if (before !== undefined && before.passwordHash === null) {
      throw new AppError(
        'conflict',
        'Your account has no password yet. Set one with POST /auth/forgot and the link in the email.',
      );
    }
    if (!(await passwords.verify(before?.passwordHash ?? null, input.current))) throw wrongPassword();
    const passwordHash = await passwords.hash(input.next);
    store.inTx((tx) => {
      callerNow(tx, actor);
      const user = tx.db.select().from(users).where(eq(users.id, actor.userId)).get();
      // Changed or reset meanwhile: the one that was checked is no longer the current one.
      if (user === undefined || user.passwordHash !== before?.passwordHash) throw wrongPassword();
      this.#setPassword(tx, user, passwordHash);
      tx.emit(passwordChanged, { userId: user.id, by: actor, spared: actor.sessionId });
      recordAudit(tx, actor, { action: 'auth.password_change', resourceType: 'user', resourceId: user.id });
    });
  }

  /**
   * Gives an account a random password and logs it out everywhere, for an operator, at the owner's request. Throws `not_found`,
   * `unavailable` when too many passwords wait.
   */
  async replace(actor: Actor, userId: string): Promise<CreatedUser> {
    allowOperator(actor);
    const { store, passwords } = this.#deps;
    const password = randomPassword();
    const passwordHash = await passwords.hash(password.reveal());
    return store.inTx((tx) => {
      const operator = operatorNow(tx, actor);
      const user = tx.db.select().from(users).where(eq(users.id, userId)).get();
      if (user === undefined) throw noAccount();
      this.#setPassword(tx, user, passwordHash);
      tx.emit(passwordChanged, { userId, by: operator });
      recordUserAudit(tx, operator, { action: 'user.password_reset', userId });
      return { id: userId, email: user.email, password };
    });
  }

  /**
   * A link that sets the password of an account, good for an hour and one use. The password and the sessions stay until it is used; links from
   * before stay good. Throws `not_found`.
   */
  link(actor: Actor, userId: string): PasswordLink {
    allowOperator(actor);
    const { store, apiUrl } = this.#deps;
    return store.inTx((tx) => {
      const operator = operatorNow(tx, actor);
      const user = tx.db.select().from(users).where(eq(users.id, userId)).get();
      if (user === undefined) throw noAccount();
      const token = issueResetToken(tx, userId);
      recordUserAudit(tx, operator, { action: 'user.password_link', userId });
      const expiresAt = tx.now + RESET_SECONDS * 1000;
      return { id: userId, email: user.email, url: linkTo(apiUrl(), 'reset', token), expiresAt };
    });
  }

  #sendLink(tx: Tx, user: UserRow, visit: Visit): void {
    const token = issueResetToken(tx, user.id);
    recordOutside(tx, user, { action: 'auth.password_forgot', visit });
    this.#deps.outbox.post(tx, { kind: 'password_reset', to: user.email, token }, RESET_SECONDS);
  }

  /** Links that are under way go with the password that they were asked for. */
  #setPassword(tx: Tx, user: UserRow, passwordHash: string): void {
    updateUser(tx, user.id, { passwordHash, passwordChangedAt: tx.now, passwordUnseen: false });
    deleteResets(tx, user.id);
    this.#deps.outbox.post(tx, { kind: 'password_changed', to: user.email }, WARNING_SECONDS);
  }
}

function noAccount(): AppError {
  return new AppError('not_found', 'No account has this id. Check it.');
}

function badToken(): AppError {
  return new AppError('invalid_code', 'The link was used or has expired. Request a new one.');
}

function wrongPassword(): AppError {
  return new AppError('unauthorized', 'The current password is wrong. Try again.');
}
