/** The rows of users, and what the audit log gets of a user who has no session. Not to be called from outside the services. */
import { eq } from 'drizzle-orm';
import { uuidv7 } from 'uuidv7';
import { AppError } from '../../../base/errors.ts';
import { emailCodes, mfaFactors, passwordResets, users } from '../../db/schema.ts';
import type { Db, Tx } from '../../db/tx.ts';
import type { Actor } from '../../core/rules/actor.ts';
import { type AuditAction, recordAudit } from '../../core/rules/audit.ts';
import { asActor, type Visit } from '../../core/rules/caller.ts';
import { emailKey } from '../../core/rules/email-key.ts';
import { orgsOf } from '../../organizations/rows.ts';

export type UserRow = typeof users.$inferSelect;

/** Columns that differ among new accounts. */
type NewUserRow = Pick<UserRow, 'email' | 'name' | 'passwordHash' | 'emailVerifiedAt'> &
  Partial<Pick<UserRow, 'isSuperadmin' | 'passwordUnseen'>>;

/** The account alone: the caller makes its organization. */
export function insertUser(tx: Tx, account: NewUserRow): UserRow {
  const user: UserRow = {
    isSuperadmin: false,
    passwordUnseen: false,
    ...account,
    id: uuidv7(),
    emailKey: emailKey(account.email),
    createdAt: tx.now,
    passwordChangedAt: null,
    lockedAt: null,
  };
  tx.db.insert(users).values(user).run();
  return user;
}

export function updateUser(tx: Tx, userId: string, change: Partial<UserRow>): void {
  tx.db.update(users).set(change).where(eq(users.id, userId)).run();
}

/** The code that is under way to the address of this account is good no more. */
export function deleteCode(tx: Tx, userId: string): void {
  tx.db.delete(emailCodes).where(eq(emailCodes.userId, userId)).run();
}

/** Links that are under way set the password of this account no more. */
export function deleteResets(tx: Tx, userId: string): void {
  tx.db.delete(passwordResets).where(eq(passwordResets.userId, userId)).run();
}

/** For a user who has proven their identity. Throws `forbidden` for an account that an operator has locked. */
export function refuseLocked(user: Pick<UserRow, 'lockedAt'>): void {
  if (user.lockedAt === null) return;
  throw new AppError('forbidden', 'This account is locked. Ask an operator of this server.');
}

/** Writes an action without a session into the audit log of the user and of their oldest organization. */
export function recordOutside(tx: Tx, user: UserRow, what: { action: AuditAction; visit: Visit }): void {
  recordAudit(tx, outsideActor(tx, user, what.visit), {
    action: what.action,
    resourceType: 'user',
    resourceId: user.id,
  });
}

/** An actor for the account without a session, in its oldest organization. */
export function outsideActor(tx: Tx, user: UserRow, visit: Visit): Actor {
  const org = orgsOf(tx.db, user.id)[0];
  return org === undefined
    ? { kind: 'system', orgId: null }
    : asActor(user, org, { sessionId: '', ipAddress: visit.ipAddress });
}

/** Must every way into this account ask for a second factor? */
export function isMfaEnabled(db: Db, userId: string): boolean {
  const found = db.select({ of: mfaFactors.userId }).from(mfaFactors).where(eq(mfaFactors.userId, userId)).get();
  return found !== undefined;
}
