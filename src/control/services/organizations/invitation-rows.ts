/**
 * Rows of invitations: find those that are open, end them. Called by invitations.ts, and by members.ts and organizations.ts, for an
 * invitation must not outlive the right to make it. The rules are there.
 */
import { and, desc, eq, gt, isNull, type SQL } from 'drizzle-orm';
import { invitations, organizations, users } from '../../db/schema.ts';
import type { Tx } from '../../db/tx.ts';
import { ROLES, type Role, type UserActor } from '../actor.ts';
import { recordDeed } from '../audit.ts';

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

/** What an invitation says to whoever holds its token. */
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
 * somebody who is sent away comes back through an invitation that they made for themselves.
 */
export function endInvitationsBeyond(tx: Tx, actor: UserActor, inviter: { userId: string; role: Role | 'none' }): void {
  const { userId, role } = inviter;
  const mayInvite = role === 'admin' || role === 'owner' ? ROLES.slice(0, ROLES.indexOf(role) + 1) : [];
  for (const { row } of openInvitations(tx, actor.orgId, eq(invitations.invitedBy, userId))) {
    if (!mayInvite.includes(row.role)) endInvitation(tx, actor, row);
  }
}

/** Revokes every open invitation of the actor's organization. */
export function endAllInvitations(tx: Tx, actor: UserActor): void {
  for (const { row } of openInvitations(tx, actor.orgId)) endInvitation(tx, actor, row);
}

export function endInvitation(tx: Tx, actor: UserActor, row: InvitationRow): void {
  tx.db.update(invitations).set({ revokedAt: tx.now }).where(eq(invitations.id, row.id)).run();
  recordDeed(tx, actor, { action: 'invitation.revoke', resourceType: 'invitation', resourceId: row.id });
}

/** Neither accepted nor revoked; it may have run out. */
export function stands(): SQL | undefined {
  return and(isNull(invitations.acceptedAt), isNull(invitations.revokedAt));
}
