/**
 * The caller as the tables have them at this moment: read for each request, and again after any wait. Where the request came from stands
 * beside it.
 */
import { and, eq, gt, isNull, sql } from 'drizzle-orm';
import { AppError } from '../../../base/errors.ts';
import { memberships, organizations, sessions, users } from '../../db/schema.ts';
import { prepared } from '../../db/prepared.ts';
import type { Db, Tx } from '../../db/tx.ts';
import { type Actor, type Approval, asOperator, type OperatorActor, type Role, type UserActor } from './actor.ts';

/** Since its last use a session lives this long. */
export const SESSION_SECONDS = 30 * 24 * 3600;

/** Where a request comes from, and a way to do something once its answer has left. */
export interface Visit {
  readonly ipAddress: string;
  readonly userAgent: string;
  /** Runs the work once the answer is on its way, so that its time tells the caller nothing. A failure of it is logged. */
  readonly afterAnswer: (work: () => void) => void;
}

/** The caller of a session in this organization. */
export function asActor(
  user: { id: string; email: string; isSuperadmin: boolean },
  org: { readonly id: string; readonly role: Role; readonly approval: Approval },
  at: { sessionId: string; ipAddress: string },
): UserActor {
  return {
    kind: 'user',
    userId: user.id,
    email: user.email,
    orgId: org.id,
    role: org.role,
    approval: org.approval,
    superadmin: user.isSuperadmin,
    ...at,
  };
}

/** Every request asks for its caller, those that change something twice. */
const actorOf = prepared((db) =>
  db
    .select({
      id: users.id,
      email: users.email,
      isSuperadmin: users.isSuperadmin,
      orgId: organizations.id,
      approval: organizations.approvalStatus,
      role: memberships.role,
    })
    .from(sessions)
    .innerJoin(users, eq(users.id, sessions.userId))
    .innerJoin(organizations, eq(organizations.id, sql`coalesce(${sql.placeholder('orgId')}, ${sessions.orgId})`))
    .innerJoin(memberships, and(eq(memberships.orgId, organizations.id), eq(memberships.userId, sessions.userId)))
    .where(
      and(
        eq(sessions.id, sql.placeholder('sessionId')),
        isNull(sessions.revokedAt),
        gt(sessions.expiresAt, sql.placeholder('now')),
        isNull(users.lockedAt),
        isNull(organizations.deletedAt),
      ),
    )
    .prepare(),
);

/**
 * The person behind a live session, with the role that they have now in the organization: the one named, else the session's active one.
 * Undefined when session, membership or organization is gone, or the account is locked.
 */
export function readActor(
  db: Db,
  { sessionId, orgId }: { sessionId: string; orgId?: string },
  { now, ipAddress }: { now: number; ipAddress: string },
): UserActor | undefined {
  const row = actorOf(db).get({ sessionId, orgId: orgId ?? null, now });
  if (row === undefined) return undefined;
  const org = { id: row.orgId, approval: row.approval, role: row.role };
  return asActor(row, org, { sessionId, ipAddress });
}

/**
 * The same caller, as the tables have them now. For work that waited for anything (a body, a password, a payment provider) since it was asked
 * who calls. Throws `unauthorized` when session, membership or organization has gone meanwhile, or the account was locked.
 */
export function callerNow({ db, now }: Pick<Tx, 'db' | 'now'>, actor: UserActor): UserActor {
  const found = readActor(db, actor, { now, ipAddress: actor.ipAddress });
  if (found === undefined) throw new AppError('unauthorized', 'The session has ended. Log in again.');
  return found;
}

/** The same of an operator of this server. Throws `forbidden` too, when they do so no more. */
export function operatorNow(tx: Tx, actor: Actor): OperatorActor {
  return asOperator(actor.kind === 'user' ? callerNow(tx, actor) : actor);
}
