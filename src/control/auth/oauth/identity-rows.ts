/**
 * The account of a user that an identity provider vouches for: found by issuer and subject, else by an e-mail address that the
 * provider has verified, else made. Called by provider-logins.ts in the transaction of a log-in.
 */
import { and, eq } from 'drizzle-orm';
import { uuidv7 } from 'uuidv7';
import { AppError } from '../../../base/errors.ts';
import type { VouchedPerson } from '../../providers/oauth.ts';
import { identities, users } from '../../db/schema.ts';
import type { Tx } from '../../db/tx.ts';
import { insertOrganization, type NewOrgRules, orgsOf, renameOrganization } from '../../organizations/rows.ts';
import { revokeSessionsOf } from '../sessions/rows.ts';
import { deleteCode, deleteResets, insertUser, updateUser, type UserRow } from '../accounts/rows.ts';
import { withoutUnseen } from '../../core/rules/unseen-signs.ts';

export type ProviderId = (typeof identities.$inferInsert)['provider'];

/** A person with an address that the provider has verified, and that can be compared with ours. */
export type ProvenPerson = VouchedPerson & { readonly email: string };

/** What is kept of such a person in `identities`. */
export type Identified = Pick<ProvenPerson, 'issuer' | 'subject' | 'email'>;

/** As at sign-up: one line of text. */
const MAX_NAME = 100;
/** ASCII alone: outside of it two different mailboxes can have the same lower case (K, U+212A, becomes k). */
const COMPARABLE_EMAIL = /^[\x21-\x3f\x41-\x7e]{1,64}@[\x21-\x3f\x41-\x7e]{1,255}$/;

/** Throws `email_not_verified` when the provider does not say that the address is the person's. */
export function proven(person: VouchedPerson, providerName: string): ProvenPerson {
  const { email } = person;
  if (email !== null && person.emailVerified && COMPARABLE_EMAIL.test(email)) return { ...person, email };
  throw new AppError(
    'email_not_verified',
    `${providerName} has no verified email address of yours. Verify your primary address there, then log in again.`,
  );
}

/** The account that this identity belongs to. The address that the provider tells now changes nothing about the account's own. */
export function findByIdentity(tx: Tx, person: Identified): UserRow | undefined {
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

export function addIdentity(
  tx: Tx,
  user: { readonly id: string },
  { provider, person }: { readonly provider: ProviderId; readonly person: Identified },
): void {
  const { issuer, subject, email } = person;
  tx.db
    .insert(identities)
    .values({ id: uuidv7(), userId: user.id, provider, issuer, subject, email, createdAt: tx.now, lastUsedAt: tx.now })
    .run();
}

/**
 * Takes an account over for the person who has proven its address. The earlier sign-up never proved it: all that they typed goes, password,
 * names and codes, so that they can't wait inside for the owner of the address (pre-hijacking).
 */
export function claimUnconfirmed(tx: Tx, user: UserRow, person: ProvenPerson): UserRow {
  const changed = {
    ...namesOf(person),
    passwordHash: null,
    emailVerifiedAt: tx.now,
    passwordChangedAt: tx.now,
  };
  updateUser(tx, user.id, changed);
  deleteCode(tx, user.id);
  deleteResets(tx, user.id);
  revokeSessionsOf(tx, user.id);
  for (const org of orgsOf(tx.db, user.id)) if (org.role === 'owner') renameOrganization(tx, org, orgName(person));
  return { ...user, ...changed };
}

/** A verified account without a password, and an organization of its own. */
export function insertVouchedUser(tx: Tx, person: ProvenPerson, rules: NewOrgRules): UserRow {
  const user = insertUser(tx, { ...namesOf(person), passwordHash: null, emailVerifiedAt: tx.now });
  insertOrganization(tx, { name: orgName(person), ownerId: user.id }, rules);
  return user;
}

function namesOf(person: ProvenPerson): { email: string; name: string } {
  return {
    email: person.email,
    name: withoutUnseen(person.name).slice(0, MAX_NAME).trim(),
  };
}

function orgName(person: ProvenPerson): string {
  const { email, name } = namesOf(person);
  return name || (email.split('@')[0] ?? email);
}
