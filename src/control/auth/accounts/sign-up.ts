/**
 * Sign-up and the proof of an email address. For strangers: nothing here shows whether an address has an
 * account. A second sign-up with another password leaves the account without any (a null hash in an unverified row) until the
 * address is proven. Reasons: docs/decisions/0024-sign-up.md.
 */
import { AppError } from '../../../base/errors.ts';
import type { Store, Tx } from '../../db/tx.ts';
import { findUserByEmail } from './service.ts';
import { emailKey } from '../../core/rules/email-key.ts';
import { writeNothing } from '../../organizations/blank-write.ts';
import { CODE_SECONDS, type EmailCodes } from './email-codes.ts';
import type { Instance } from '../../core/instance.ts';
import type { EmailLimit } from '../../core/mail/email-limit.ts';
import { insertOrganization, orgsOf, renameOrganization } from '../../organizations/rows.ts';
import type { Outbox } from '../../core/mail/outbox.ts';
import type { Passwords } from '../../core/secrets/passwords.ts';
import { issueResetToken, RESET_SECONDS } from './reset-tokens.ts';
import { insertUser, recordOutside, updateUser, type UserRow } from './rows.ts';
import type { Visit } from '../../core/rules/caller.ts';
import type { SignUpMemory } from './sign-up-memory.ts';

/** A day later the sign-up counts as abandoned. */
const NOTICE_SECONDS = 24 * 3600;
/** Measured: an account with its organization takes as long as this many entries of the audit log. */
const ACCOUNT_ENTRIES = 3;
/**
 * For writes that any stranger can cause: waiting for the disk would stop the event loop, and the visitors of all tunnels with it. A power
 * cut costs a user a second try.
 */
const RELAXED = { relaxed: true } as const;

export interface NewAccount {
  readonly email: string;
  readonly password: string;
  /** May be empty. */
  readonly name: string;
  /** Empty: called after the person. */
  readonly organizationName: string;
}

export interface SignUpDeps {
  readonly store: Store;
  readonly passwords: Passwords;
  readonly codes: EmailCodes;
  readonly emailLimit: EmailLimit;
  readonly signUps: SignUpMemory;
  readonly outbox: Outbox;
  /** `signup` is `closed`: operators alone make accounts. */
  readonly instance: Pick<Instance, 'now' | 'newOrg'>;
}

type Registration = NewAccount & { readonly passwordHash: string };

export class SignUp {
  readonly #deps: SignUpDeps;

  constructor(deps: SignUpDeps) {
    this.#deps = deps;
  }

  /**
   * Makes an account that waits for the proof of its address, with an organization of its own. Throws `forbidden` when sign-up is closed,
   * `unavailable` when too many passwords wait to be hashed or nothing can be stored: for every address alike.
   */
  async signUp(account: NewAccount, visit: Visit): Promise<void> {
    const { store, passwords, instance } = this.#deps;
    if (instance.now.signup === 'closed') {
      throw new AppError('forbidden', 'Sign-up is closed. Ask an operator of this server for an account.');
    }
    store.checkDisk();
    const passwordHash = await passwords.hash(account.password);
    visit.afterAnswer(() => store.inTx((tx) => this.#register(tx, { ...account, passwordHash }, visit), RELAXED));
  }

  /** Proves the address by the code that was sent to it. Throws the same `invalid_code` whatever is wrong. */
  verify(input: { readonly email: string; readonly code: string }, visit: Visit): void {
    const { store, codes } = this.#deps;
    const isVerified = store.inTx((tx) => {
      const user = findUserByEmail(tx.db, input.email);
      if (!codes.use(tx, user?.id, input.code) || user === undefined) return false;
      updateUser(tx, user.id, { emailVerifiedAt: tx.now });
      tx.onCommit(() => this.#deps.signUps.forget(user.email));
      recordOutside(tx, user, { action: 'auth.email_verify', visit });
      return true;
    }, RELAXED);
    if (!isVerified) {
      throw new AppError(
        'invalid_code',
        'The code is wrong or expired, or there were too many attempts. Request a new one.',
      );
    }
  }

  /** Sends a new code, in the place of the last one, to an address that waits for its proof; to others nothing. Throws `unavailable`. */
  resend(email: string, visit: Visit): void {
    this.#deps.store.checkDisk();
    visit.afterAnswer(() =>
      this.#deps.store.inTx((tx) => {
        const user = findUserByEmail(tx.db, email);
        const waits = user !== undefined && user.emailVerifiedAt === null;
        if (waits && this.#deps.emailLimit.take('code', user.emailKey)) this.#sendCode(tx, user);
        else writeNothing(tx);
      }, RELAXED),
    );
  }

  #register(tx: Tx, input: Registration, visit: Visit): void {
    const { emailLimit, signUps, outbox } = this.#deps;
    const known = findUserByEmail(tx.db, input.email);
    if (known !== undefined && known.emailVerifiedAt !== null) {
      tx.onCommit(() => signUps.remember(input, null));
      writeNothing(tx, ACCOUNT_ENTRIES);
      if (!emailLimit.take('notice', known.emailKey)) return;
      return outbox.post(tx, { kind: 'already_registered', to: known.email }, NOTICE_SECONDS);
    }
    const mayEmail = emailLimit.take('code', emailKey(input.email));
    const isContested = known !== undefined && !signUps.isConfirmed(input, known.passwordHash);
    if (!mayEmail && !isContested) {
      if (known === undefined) tx.onCommit(() => signUps.remember(input, null));
      return writeNothing(tx, ACCOUNT_ENTRIES);
    }
    const user = known === undefined ? this.#insert(tx, input) : replace(tx, known, { ...input, isContested });
    tx.onCommit(() => signUps.remember(input, user.passwordHash));
    recordOutside(tx, user, { action: 'auth.signup', visit });
    // The account loses its password also when no email may be sent: a code that is under way must not confirm another user's password.
    if (mayEmail) this.#sendCode(tx, user);
  }

  #insert(tx: Tx, input: Registration): UserRow {
    const { email, name, passwordHash } = input;
    const user = insertUser(tx, { email, name, passwordHash, emailVerifiedAt: null });
    insertOrganization(tx, { name: orgName(input), ownerId: user.id }, this.#deps.instance.newOrg);
    return user;
  }

  #sendCode(tx: Tx, user: UserRow): void {
    const { codes, outbox } = this.#deps;
    const mail = { to: user.email, code: codes.issue(tx, user.id) };
    if (user.passwordHash !== null) return outbox.post(tx, { kind: 'verify_email', ...mail }, CODE_SECONDS);
    const link = { token: issueResetToken(tx, user.id), linkSeconds: RESET_SECONDS };
    outbox.post(tx, { kind: 'verify_contested', ...mail, ...link }, CODE_SECONDS);
  }
}

/** Contested: left without a password; else it has the one that was typed already. */
function replace(tx: Tx, user: UserRow, input: Registration & { readonly isContested: boolean }): UserRow {
  const { email, name } = input;
  const changed = { email, name, passwordHash: input.isContested ? null : user.passwordHash, createdAt: tx.now };
  updateUser(tx, user.id, changed);
  const org = orgsOf(tx.db, user.id).find(({ role }) => role === 'owner');
  if (org !== undefined) renameOrganization(tx, org, orgName(input));
  return { ...user, ...changed };
}

function orgName({ email, name, organizationName }: Registration): string {
  return organizationName || name || (email.split('@')[0] ?? email);
}
