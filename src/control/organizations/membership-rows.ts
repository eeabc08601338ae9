/**
 * Who is in which organization, row by row. Called by service.ts, members.ts and invitations.ts; the rules are there.
 */
import { and, asc, count, eq, gt, isNull, type SQL } from 'drizzle-orm';
import { AppError } from '../../base/errors.ts';
import { memberships, mfaFactors, organizations, users } from '../db/schema.ts';
import type { Db } from '../db/tx.ts';
import { type Actor, allow, type Role, type UserActor } from '../core/rules/actor.ts';

/** A bound for lists and for the work of deleting an organization, far above need. */
export const MAX_MEMBERS = 1_000;

export interface MemberRow {
  readonly userId: string;
  readonly email: string;
  readonly name: string;
  readonly role: Role;
  /** Milliseconds. */
  readonly joinedAt: number;
  readonly mfaEnabled: boolean;
}

export type MemberPage = ReadonlyArray<Pick<MemberRow, 'userId' | 'role' | 'email'>>;

/**
 * The same person as a member of this organization, with the role that they have there now, whichever is active in their session. Throws
 * `not_found` for an organization that they are not in, as for one that does not exist.
 */
export function actorIn(db: Db, actor: Actor, orgId: string): UserActor {
  allow(actor, 'read', 'account');
  const row = db
    .select({ role: memberships.role, approval: organizations.approvalStatus })
    .from(memberships)
    .innerJoin(organizations, eq(organizations.id, memberships.orgId))
    .where(and(eq(memberships.orgId, orgId), eq(memberships.userId, actor.userId), isNull(organizations.deletedAt)))
    .get();
  if (row === undefined) throw new AppError('not_found', 'You are not a member of this organization. Check the id.');
  return { ...actor, orgId, ...row };
}

/** Oldest first. */
export function membersOf(db: Db, orgId: string): readonly MemberRow[] {
  return select(db, eq(memberships.orgId, orgId));
}

/** A page of them, in the order of their ids. */
export function pageOfMembers(db: Db, orgId: string, page: { after: string; limit: number }): MemberPage {
  const { userId, role } = memberships;
  return db
    .select({ userId, role, email: users.email })
    .from(memberships)
    .innerJoin(users, eq(users.id, userId))
    .where(and(eq(memberships.orgId, orgId), gt(userId, page.after)))
    .orderBy(asc(userId))
    .limit(page.limit)
    .all();
}

export function findMember(db: Db, orgId: string, userId: string): MemberRow | undefined {
  return select(db, and(eq(memberships.orgId, orgId), eq(memberships.userId, userId)))[0];
}

export function countMembers(db: Db, orgId: string): number {
  return countRows(db, eq(memberships.orgId, orgId));
}

/** Is this the only owner? To be asked in the transaction that takes the role away. */
export function isLastOwner(db: Db, orgId: string, member: MemberRow): boolean {
  if (member.role !== 'owner') return false;
  return countRows(db, and(eq(memberships.orgId, orgId), eq(memberships.role, 'owner'))) === 1;
}

function select(db: Db, where: SQL | undefined): readonly MemberRow[] {
  return db
    .select({ user: users, role: memberships.role, joinedAt: memberships.createdAt, factor: mfaFactors.userId })
    .from(memberships)
    .innerJoin(users, eq(users.id, memberships.userId))
    .leftJoin(mfaFactors, eq(mfaFactors.userId, memberships.userId))
    .where(where)
    .orderBy(asc(memberships.createdAt), asc(memberships.userId))
    .all()
    .map(({ user, role, joinedAt, factor }) => {
      const { id, email, name } = user;
      return { userId: id, email, name, role, joinedAt, mfaEnabled: factor !== null };
    });
}

function countRows(db: Db, where: SQL | undefined): number {
  return db.select({ n: count() }).from(memberships).where(where).get()?.n ?? 0;
}
