/**
 * Which account somebody has whom an identity provider vouches for: found by issuer and subject, else by an e-mail address that the
 * provider has verified, else made. Called by provider-logins.ts in the transaction of a log-in.
 */
import { and, eq } from 'drizzle-orm';
import { uuidv7 } from 'uuidv7';
import { AppError } from '../../base/errors.ts';
import type { VouchedPerson } from '../providers/oauth.ts';
import { emailCodes, identities, passwordResets, users } from '../db/schema.ts';
import type { Tx } from '../db/tx.ts';
import { emailKey } from './accounts.ts';
import { revokeSessionsOf, type UserRow } from './session-rows.ts';

export type ProviderId = (typeof identities.$inferInsert)['provider'];

/** A person with an address that the provider has verified, and that can be compared with ours. */
export type ProvenPerson = VouchedPerson & { readonly email: string };

const MAX_NAME = 200;
/** ASCII alone: outside of it two different mailboxes can have the same lower case (K, U+212A, becomes k). */
const COMPARABLE_EMAIL = /^[\x21-\x3f\x41-\x7e]{1,64}@[\x21-\x3f\x41-\x7e]{1,255}$/;

/** Throws `email_not_verified` when the provider does not say that the address is the person's. */
export function proven(person: VouchedPerson, providerName: string): ProvenPerson {
  const { email } = person;
  if (email !== null && person.emailVerified && COMPARABLE_EMAIL.test(email)) return { ...person, email };
  throw new AppError(
    'email_not_verified',
    `${providerName} does not say that you have a verified e-mail address. Verify your primary address there, then start again.`,
  );
}

/** The account that this identity belongs to. The address that the provider tells now changes nothing about the account's own. */
export function findByIdentity(tx: Tx, person: ProvenPerson): UserRow | undefined {
  const found = tx.db
    .select({ user: users, identityId: identities.id })
    .from(identities)
    .innerJoin(users, eq(users.id, identities.userId))
    .where(and(eq(identities.issuer, person.issuer), eq(identities.subject, person.subject)))
    .get();
  if (found === undefined) return undefined;
  tx.db
    .update(identities)
    .set({ email: person.email, lastUsedAt: tx.now })
    .where(eq(identities.id, found.identityId))
    .run();
  return found.user;
}

export function findByEmail(tx: Tx, person: ProvenPerson): UserRow | undefined {
  return tx.db
    .select()
    .from(users)
    .where(eq(users.emailKey, emailKey(person.email)))
    .get();
}

export function addIdentity(
  tx: Tx,
  user: { readonly id: string },
  { provider, person }: { readonly provider: ProviderId; readonly person: ProvenPerson },
): void {
  const { issuer, subject, email } = person;
  tx.db
    .insert(identities)
    .values({ id: uuidv7(), userId: user.id, provider, issuer, subject, email, createdAt: tx.now, lastUsedAt: tx.now })
    .run();
}

/**
 * Takes an account over for the person who has proven its address. Whoever signed up with it never did: their password, name, codes and
 * links go, so that they can't wait inside for the owner of the address (pre-hijacking).
 */
export function claimUnconfirmed(tx: Tx, user: UserRow, person: ProvenPerson): UserRow {
  const changed = {
    name: person.name.slice(0, MAX_NAME),
    passwordHash: null,
    emailVerifiedAt: tx.now,
    passwordChangedAt: tx.now,
  };
  tx.db.update(users).set(changed).where(eq(users.id, user.id)).run();
  tx.db.delete(emailCodes).where(eq(emailCodes.userId, user.id)).run();
  tx.db.delete(passwordResets).where(eq(passwordResets.userId, user.id)).run();
  revokeSessionsOf(tx, user.id);
  return { ...user, ...changed };
}

/** A verified account without a password. */
export function insertVouchedUser(tx: Tx, person: ProvenPerson): UserRow {
  const user: UserRow = {
    id: uuidv7(),
    email: person.email,
    emailKey: emailKey(person.email),
    name: person.name.slice(0, MAX_NAME),
    passwordHash: null,
    emailVerifiedAt: tx.now,
    isSuperadmin: false,
    createdAt: tx.now,
    passwordChangedAt: null,
  };
  tx.db.insert(users).values(user).run();
  return user;
}
