/**
 * Members of an organization and their roles. Admins manage members up to admins; only owners touch owners or
 * make one; there is always an owner. A new role counts from the member's next request on.
 */
import { and, eq } from 'drizzle-orm';
import { AppError } from '../../base/errors.ts';
import { memberships } from '../db/schema.ts';
import type { Store, Tx } from '../db/tx.ts';
import { type Actor, allow, hasRole, type Role, type UserActor } from '../core/rules/actor.ts';
import { changesBetween } from '../core/rules/audit-changes.ts';
import { type AuditAction, recordAudit } from '../core/rules/audit.ts';
import { endInvitationsBeyond } from './invitation-rows.ts';
import { actorIn, findMember, isLastOwner, type MemberRow, membersOf } from './membership-rows.ts';
import { memberLeft, memberRoleChanged, orgLeft } from './events.ts';

/** As others in the organization may see them: whose account lacks a second factor is for those who run it. */
export type MemberView = Omit<MemberRow, 'mfaEnabled'> & { readonly mfaEnabled: boolean | null };

/** A member with another role, and how many tokens of theirs ended with the old one. */
export type ChangedMember = MemberView & { readonly revokedTokens: number };

export class Members {
  readonly #store: Store;

  constructor(deps: { store: Store }) {
    this.#store = deps.store;
  }

  /** Oldest first. Throws `not_found`. */
  list(actor: Actor, orgId: string): readonly MemberView[] {
    const me = actorIn(this.#store.db, actor, orgId);
    allow(me, 'read', 'member');
    return membersOf(this.#store.db, me.orgId).map((member) => view(me, member));
  }

  /**
   * Gives a member another role. What they made here and it no longer allows them to make ends: invitations, and tokens, whose agents are
   * cut off after the commit. Throws `not_found`, `forbidden`, and `conflict` when it would leave no owner.
   */
  setRole(actor: Actor, which: { readonly orgId: string; readonly userId: string }, role: Role): ChangedMember {
    return this.#store.inTx((tx) => {
      const me = actorIn(tx.db, actor, which.orgId);
      allow(me, 'change', 'member');
      const member = found(tx, me, which.userId);
      if (role === 'owner' || member.role === 'owner') needOwner(me);
      if (role === member.role) return { ...view(me, member), revokedTokens: 0 };
      keepOwner(tx, me, member);
      tx.db.update(memberships).set({ role }).where(rowOf(me.orgId, member.userId)).run();
      tx.personChanged(member.userId);
      endInvitationsBeyond(tx, me, { userId: member.userId, role });
      const { userId, email } = member;
      const { revokedTokens } = tx.emit(memberRoleChanged, { userId, email, role, by: me });
      const changes = changesBetween({ role: member.role }, { role });
      recordAudit(tx, me, { ...entry('member.update', member), details: { email: member.email }, changes });
      return { ...view(me, { ...member, role }), revokedTokens };
    });
  }

  /**
   * Removes a member, or the caller on leaving. The tokens that they made here, their invitations and their sessions here end with it:
   * keys are what one forgets when a colleague goes. Returns how many tokens ended; their agents are cut off after the commit. Throws
   * `not_found`, `forbidden`, and `conflict` for the last owner.
   */
  remove(actor: Actor, which: { readonly orgId: string; readonly userId: string }): number {
    return this.#store.inTx((tx) => {
      const me = actorIn(tx.db, actor, which.orgId);
      const leaves = which.userId === me.userId;
      if (leaves) allow(me, 'change', 'account');
      else allow(me, 'delete', 'member');
      const member = found(tx, me, which.userId);
      if (member.role === 'owner') needOwner(me);
      if (leaves) keepSuspended(me);
      keepOwner(tx, me, member);
      const { revokedTokens } = tx.emit(memberLeft, { userId: member.userId, email: member.email, by: me });
      endInvitationsBeyond(tx, me, { userId: member.userId, role: 'none' });
      tx.db.delete(memberships).where(rowOf(me.orgId, member.userId)).run();
      tx.emit(orgLeft, { userId: member.userId, orgId: me.orgId });
      const details = { email: member.email, role: member.role };
      recordAudit(tx, me, { ...entry(leaves ? 'member.leave' : 'member.remove', member), details });
      return revokedTokens;
    });
  }
}

function found(tx: Tx, me: UserActor, userId: string): MemberRow {
  const member = findMember(tx.db, me.orgId, userId);
  if (member === undefined)
    throw new AppError('not_found', 'The organization has no member with this id. Check the id.');
  return member;
}

function needOwner(me: UserActor): void {
  if (!hasRole(me, 'owner'))
    throw new AppError('forbidden', 'Only an owner may change owners or assign the role. Ask an owner.');
}

/** An owner who left would have no organization that is suspended, and could begin again with a new one. */
function keepSuspended(me: UserActor): void {
  if (me.approval !== 'suspended' || me.role !== 'owner') return;
  throw new AppError(
    'forbidden',
    'Your organization is suspended, so its owners cannot change. Ask an operator of this server to approve it.',
  );
}

function keepOwner(tx: Tx, me: UserActor, member: MemberRow): void {
  if (!isLastOwner(tx.db, me.orgId, member)) return;
  throw new AppError(
    'conflict',
    'The member is the last owner. Assign the role to another member first, or delete the organization.',
  );
}

function rowOf(orgId: string, userId: string) {
  return and(eq(memberships.orgId, orgId), eq(memberships.userId, userId));
}

function view(me: UserActor, member: MemberRow): MemberView {
  const mayKnow = member.userId === me.userId || hasRole(me, 'admin');
  return mayKnow ? member : { ...member, mfaEnabled: null };
}

function entry(action: AuditAction, member: MemberRow) {
  return { action, resourceType: 'member', resourceId: member.userId } as const;
}
