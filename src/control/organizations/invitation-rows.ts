/**
 * Rows of invitations: find those that are open, end them. Called by invitations.ts, and by members.ts and service.ts, for an
 * invitation must not outlive the right to make it. The rules are there.
 */
import { and, desc, eq, gt, inArray, isNull, type SQL } from 'drizzle-orm';
import { invitations, organizations, users } from '../db/schema.ts';
import type { Tx } from '../db/tx.ts';
import { type Actor, ROLES, type Role, type UserActor } from '../core/rules/actor.ts';
import { recordAll } from '../core/rules/audit.ts';
import type { PendingWork } from '../core/pending-rows.ts';

export type InvitationRow = typeof invitations.$inferSelect;

export interface InvitationView {
  readonly row: InvitationRow;
  readonly inviterEmail: string;
}

/** Invitations of the organization that can be accepted now, newest first. `which`: only those. */
export function openInvitations(at: Pick<Tx, 'db' | 'now'>, orgId: string, which?: SQL): readonly InvitationView[] {
  return at.db
    .select({ row: invitations, inviterEmail: users.email })
    .from(invitations)
    .innerJoin(users, eq(users.id, invitations.invitedBy))
    .where(and(eq(invitations.orgId, orgId), stands(), gt(invitations.expiresAt, at.now), which))
    .orderBy(desc(invitations.createdAt), desc(invitations.id))
    .all();
}

/** An invitation as its holder sees it. */
export interface InvitationShown extends InvitationView {
  readonly organization: string;
  /** May be empty. */
  readonly inviterName: string;
}

/** The invitation with this token, when it can be accepted now. */
export function findOpen(at: Pick<Tx, 'db' | 'now'>, tokenHash: string): InvitationShown | undefined {
  return at.db
    .select({ row: invitations, organization: organizations.name, inviterEmail: users.email, inviterName: users.name })
    .from(invitations)
    .innerJoin(organizations, eq(organizations.id, invitations.orgId))
    .innerJoin(users, eq(users.id, invitations.invitedBy))
    .where(
      and(
        eq(invitations.tokenHash, tokenHash),
        stands(),
        gt(invitations.expiresAt, at.now),
        isNull(organizations.deletedAt),
      ),
    )
    .get();
}

/**
 * Revokes what a person invited to the actor's organization and may no longer: everything when they are no member now. Otherwise
 * a removed member comes back through an invitation that they made for themselves.
 */
export function endInvitationsBeyond(tx: Tx, actor: UserActor, inviter: { userId: string; role: Role | 'none' }): void {
  const { userId, role } = inviter;
  const mayInvite = role === 'admin' || role === 'owner' ? ROLES.slice(0, ROLES.indexOf(role) + 1) : [];
  const open = openInvitations(tx, actor.orgId, eq(invitations.invitedBy, userId)).map(({ row }) => row);
  endInvitations(
    tx,
    actor,
    open.filter((row) => !mayInvite.includes(row.role)),
  );
}

/** The open invitations of an organization that was deleted. A Drain. */
export function drainInvitations(tx: Tx, { scope, actor }: PendingWork, limit: number): number {
  const open = openInvitations(tx, scope).map(({ row }) => row);
  const some = open.slice(0, limit);
  endInvitations(tx, actor, some);
  return some.length;
}

export function endInvitation(tx: Tx, actor: UserActor, row: InvitationRow): void {
  endInvitations(tx, actor, [row]);
}

function endInvitations(tx: Tx, actor: Actor, rows: readonly InvitationRow[]): void {
  const ids = rows.map(({ id }) => id);
  if (ids.length === 0) return;
  tx.db.update(invitations).set({ revokedAt: tx.now }).where(inArray(invitations.id, ids)).run();
  recordAll(
    tx,
    actor,
    ids.map((id) => ({ action: 'invitation.revoke', resourceType: 'invitation', resourceId: id })),
  );
}

/** Neither accepted nor revoked; it may have run out. */
export function stands(): SQL | undefined {
  return and(isNull(invitations.acceptedAt), isNull(invitations.revokedAt));
}
