/**
 * Rows of sessions: open, read, revoke. The login of a user (password, second factor, identity provider,
 * command line) does it through `openSession`; the rules of each way in are in the file of that way. Whatever ends a session says so
 * (`personChanged`), so that what was opened by it and stays open ends too.
 */
import { and, asc, count, eq, gt, isNotNull, isNull, ne } from 'drizzle-orm';
import { uuidv7 } from 'uuidv7';
import { organizations, sessions } from '../../db/schema.ts';
import type { Tx } from '../../db/tx.ts';
import { recordOutside, refuseLocked, type UserRow } from '../accounts/rows.ts';
import type { UserActor } from '../../core/rules/actor.ts';
import { recordAudit } from '../../core/rules/audit.ts';
import { asActor, SESSION_SECONDS, type Visit } from '../../core/rules/caller.ts';
import { type OrgRow, orgsOf } from '../../organizations/rows.ts';
import { sessionsEnding } from './events.ts';
import { insertRefresh } from './refresh-rows.ts';

/** Log-ins of one person at once; the oldest gives way, so that a script that never logs out can't fill the table. */
const MAX_SESSIONS = 100;
const MAX_USER_AGENT = 256;

/** A session that was just opened, and the only copy of its refresh cookie. */
export interface OpenedSession {
  readonly actor: UserActor;
  readonly org: OrgRow;
  readonly refreshToken: string;
}

/**
 * Opens a session in the organization and writes `auth.login` into the audit log. `tokenId`: the key that ends with the session. Throws
 * `forbidden` for a locked account.
 */
export function openSession(
  tx: Tx,
  input: { user: UserRow; org: OrgRow; visit: Visit; tokenId?: string },
): OpenedSession {
  refuseLocked(input.user);
  makeRoom(tx, input.user.id);
  const actor = asActor(input.user, input.org, { sessionId: uuidv7(), ipAddress: input.visit.ipAddress });
  tx.db
    .insert(sessions)
    .values({
      id: actor.sessionId,
      userId: actor.userId,
      orgId: actor.orgId,
      createdAt: tx.now,
      lastUsedAt: tx.now,
      expiresAt: tx.now + SESSION_SECONDS * 1000,
      tokenId: input.tokenId ?? null,
      ...visitColumns(input.visit),
    })
    .run();
  recordAudit(tx, actor, { action: 'auth.login', resourceType: 'session', resourceId: actor.sessionId });
  return { actor, org: input.org, refreshToken: insertRefresh(tx, actor.sessionId) };
}

/** Writes a wrong password or code for this account into the audit log. */
export function recordFailedLogin(tx: Tx, user: UserRow, visit: Visit): void {
  recordOutside(tx, user, { action: 'auth.login_failed', visit });
}

/** The row alone: an untrusted session is ended by ends.ts. */
export function revokeSession(tx: Tx, sessionId: string): void {
  const ended = tx.db
    .update(sessions)
    .set({ revokedAt: tx.now })
    .where(and(eq(sessions.id, sessionId), isNull(sessions.revokedAt)))
    .returning({ userId: sessions.userId })
    .get();
  if (ended !== undefined) tx.personChanged(ended.userId);
}

/** The rows of every session of a person, but for one that is spared, and what waits to become one. Returns how many ended. */
export function revokeSessionsOf(tx: Tx, userId: string, spared?: string): number {
  tx.emit(sessionsEnding, { userId });
  const { changes } = tx.db
    .update(sessions)
    .set({ revokedAt: tx.now })
    .where(
      and(
        eq(sessions.userId, userId),
        isNull(sessions.revokedAt),
        spared === undefined ? undefined : ne(sessions.id, spared),
      ),
    )
    .run();
  tx.personChanged(userId);
  return changes;
}

/** The login of a command line ends the key that it has now. */
export function replaceKey(tx: Tx, { oldId, newId }: { readonly oldId: string; readonly newId: string }): void {
  tx.db.update(sessions).set({ tokenId: newId }).where(eq(sessions.tokenId, oldId)).run();
}

/**
 * A person has left an organization, or it is gone: their sessions that were active in it go on in the oldest other organization of
 * theirs, or end when there is none. To be called in the transaction that takes the membership away, before or after it does.
 */
export function leaveOrg(tx: Tx, userId: string, orgId: string): void {
  const next = orgsOf(tx.db, userId).find((org) => org.id !== orgId);
  tx.db
    .update(sessions)
    .set(next === undefined ? { revokedAt: tx.now } : { orgId: next.id })
    .where(and(eq(sessions.userId, userId), eq(sessions.orgId, orgId), isNull(sessions.revokedAt)))
    .run();
  // Also of a session that is active elsewhere: an access token of it goes on in the organization that it was made for.
  tx.personChanged(userId);
}

/** The same where the active organization of this session was deleted. Returns whether it was. */
export function leaveGoneOrg(tx: Tx, sessionId: string): boolean {
  const gone = tx.db
    .select({ userId: sessions.userId, orgId: sessions.orgId })
    .from(sessions)
    .innerJoin(organizations, eq(organizations.id, sessions.orgId))
    .where(and(eq(sessions.id, sessionId), isNotNull(organizations.deletedAt)))
    .get();
  if (gone === undefined) return false;
  leaveOrg(tx, gone.userId, gone.orgId);
  return true;
}

export function visitColumns(visit: Visit): { ipAddress: string; userAgent: string } {
  return { ipAddress: visit.ipAddress, userAgent: visit.userAgent.slice(0, MAX_USER_AGENT) };
}

function makeRoom(tx: Tx, userId: string): void {
  const live = and(eq(sessions.userId, userId), isNull(sessions.revokedAt), gt(sessions.expiresAt, tx.now));
  const excess = (tx.db.select({ n: count() }).from(sessions).where(live).get()?.n ?? 0) - MAX_SESSIONS + 1;
  if (excess <= 0) return;
  const oldest = tx.db
    .select({ id: sessions.id })
    .from(sessions)
    .where(live)
    .orderBy(asc(sessions.lastUsedAt))
    .limit(excess)
    .all();
  for (const { id } of oldest) revokeSession(tx, id);
}
