/**
 * Organizations as their members handle them: list, make, rename, delete. Called by control/api. Each is named by its id, whichever is
 * active in the caller's session: the caller's role there is what counts.
 */
import { and, eq } from 'drizzle-orm';
import { AppError } from '../../base/errors.ts';
import { memberships, organizations } from '../db/schema.ts';
import type { Store, Tx } from '../db/tx.ts';
import { type Actor, allow, type UserActor } from './actor.ts';
import { type AuditAction, recordDeed } from './audit.ts';
import { endAllInvitations } from './invitation-rows.ts';
import { actorIn, membersOf } from './membership-rows.ts';
import { insertOrganization, type NewOrgRules, type OrgRow, orgsOf } from './organization-rows.ts';
import { leaveOrg } from './session-rows.ts';
import type { Tokens } from './tokens.ts';
import type { Tunnels } from './tunnels.ts';

/** Organizations that one person owns: each has quotas of its own. */
const MAX_OWNED = 20;

export interface OrganizationDeps {
  readonly store: Store;
  readonly tokens: Pick<Tokens, 'endAllIn'>;
  readonly tunnels: Pick<Tunnels, 'deleteAllIn'>;
  readonly newOrg: NewOrgRules;
}

/** What went with an organization. */
export interface DeletedOrg {
  readonly revokedTokens: number;
  readonly deletedTunnels: number;
}

export class Organizations {
  readonly #deps: OrganizationDeps;

  constructor(deps: OrganizationDeps) {
    this.#deps = deps;
  }

  /** The caller's, oldest membership first. */
  list(actor: Actor): readonly OrgRow[] {
    allow(actor, 'read', 'account');
    return orgsOf(this.#deps.store.db, actor.userId);
  }

  /** The actor with the role that they have in this organization. Throws `not_found` when they are not in it. */
  actorIn(actor: Actor, orgId: string): UserActor {
    return actorIn(this.#deps.store.db, actor, orgId);
  }

  /** Throws `not_found`. */
  get(actor: Actor, orgId: string): OrgRow {
    const me = actorIn(this.#deps.store.db, actor, orgId);
    allow(me, 'read', 'organization');
    return this.#find(me);
  }

  /**
   * Makes one that the caller owns; it waits for an operator where another of theirs was suspended, also once that is deleted. Their session
   * stays in its own until they switch. Throws `conflict` when they own too many.
   */
  create(actor: Actor, name: string): OrgRow {
    allow(actor, 'change', 'account');
    return this.#deps.store.inTx((tx) => {
      const owned = ownedBy(tx, actor.userId);
      if (owned.filter(({ deletedAt }) => deletedAt === null).length >= MAX_OWNED) {
        throw new AppError('conflict', `You own ${MAX_OWNED} organizations. Delete one first.`);
      }
      const isWatched = owned.some(({ approval }) => approval === 'suspended');
      const rules = isWatched ? { ...this.#deps.newOrg, approval: 'pending' as const } : this.#deps.newOrg;
      const made = insertOrganization(tx, { name, ownerId: actor.userId }, rules);
      recordDeed(tx, actor, deed('org.create', made.id));
      return made;
    });
  }

  /** Another name; the slug stays, for links hold it. Throws `not_found`, `forbidden`. */
  rename(actor: Actor, orgId: string, name: string): OrgRow {
    return this.#deps.store.inTx((tx) => {
      const me = actorIn(tx.db, actor, orgId);
      allow(me, 'change', 'organization');
      tx.db.update(organizations).set({ name }).where(eq(organizations.id, me.orgId)).run();
      recordDeed(tx, me, deed('org.update', me.orgId));
      return this.#find(me);
    });
  }

  /**
   * Ends its tokens, tunnels and invitations; agents are cut off after the commit. Sessions that were active in it go on in another
   * organization of their person, or end where there is none. Soft: the rows stay for the books. Throws `not_found`, `forbidden`, and
   * `conflict` when it is the caller's only one.
   */
  delete(actor: Actor, orgId: string): DeletedOrg {
    const { store, tokens, tunnels } = this.#deps;
    return store.inTx((tx) => {
      const me = actorIn(tx.db, actor, orgId);
      allow(me, 'delete', 'organization');
      if (orgsOf(tx.db, me.userId).length === 1) {
        throw new AppError('conflict', 'This is your only organization. Make another one first.');
      }
      const { name } = this.#find(me);
      const deletedTunnels = tunnels.deleteAllIn(tx, me);
      const message = `The organization ${name} was deleted.`;
      const revokedTokens = tokens.endAllIn(tx, me, { createdBy: null, message });
      endAllInvitations(tx, me);
      for (const { userId } of membersOf(tx.db, me.orgId)) leaveOrg(tx, userId, me.orgId);
      tx.db.update(organizations).set({ deletedAt: tx.now }).where(eq(organizations.id, me.orgId)).run();
      recordDeed(tx, me, deed('org.delete', me.orgId));
      return { revokedTokens, deletedTunnels };
    });
  }

  #find(me: UserActor): OrgRow {
    const org = orgsOf(this.#deps.store.db, me.userId).find(({ id }) => id === me.orgId);
    if (org === undefined) throw new AppError('not_found', 'You are in no such organization.');
    return org;
  }
}

/** Deleted ones too. */
function ownedBy(tx: Tx, userId: string) {
  return tx.db
    .select({ approval: organizations.approvalStatus, deletedAt: organizations.deletedAt })
    .from(memberships)
    .innerJoin(organizations, eq(organizations.id, memberships.orgId))
    .where(and(eq(memberships.userId, userId), eq(memberships.role, 'owner')))
    .all();
}

function deed(action: AuditAction, orgId: string) {
  return { action, resourceType: 'organization', resourceId: orgId, orgId } as const;
}
