/**
 * Organizations as their members handle them: list, make, rename, delete. Each is named by its id, whichever is
 * active in the caller's session: the caller's role there is what counts.
 */
import { AppError } from '../../base/errors.ts';
import type { Db, Store, Tx } from '../db/tx.ts';
import { type Actor, allow, type UserActor } from '../core/rules/actor.ts';
import { changesBetween } from '../core/rules/audit-changes.ts';
import { type AuditAction, recordAudit } from '../core/rules/audit.ts';
import { checkDailyLimit } from '../core/rules/daily-limit.ts';
import { actorIn, pageOfMembers } from './membership-rows.ts';
import { insertOrganization, type NewOrgRules, type OrgRow, orgsOf, rulesFor, updateOrganization } from './rows.ts';
import { type DeletedOrg, orgDeleted, orgLeft } from './events.ts';
import { callerNow } from '../core/rules/caller.ts';
import type { Outbox } from '../core/mail/outbox.ts';
import type { Drains } from '../core/drains.ts';
import { moveCursor, type PendingWork } from '../core/pending-rows.ts';

/** Organizations that one person owns: each has quotas of its own. */
const MAX_OWNED = 20;
/** Organizations that one person makes in a day, deleted ones too: their rows and slugs stay. */
const MAX_PER_DAY = 40;
/** A notice is worth delivering for as long as mail servers are usually tried. */
const NOTICE_SECONDS = 3 * 24 * 3600;

export interface OrganizationDeps {
  readonly store: Store;
  readonly drains: Drains;
  readonly outbox: Outbox;
  readonly newOrg: NewOrgRules;
}

/** Surrounds a deletion: does `work`, perhaps after a wait, or throws why it must not be. */
export type DeletionGuard = (orgId: string, work: () => DeletedOrg) => Promise<DeletedOrg>;

export class Organizations {
  readonly #deps: OrganizationDeps;
  #guard: DeletionGuard = async (_orgId, work) => work();

  constructor(deps: OrganizationDeps) {
    this.#deps = deps;
  }

  /** What must agree to every deletion from now on. There is one. */
  guardDeletions(guard: DeletionGuard): void {
    this.#guard = guard;
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
   * stays in its own until they switch. Throws `conflict` when they own too many, `rate_limited` when they made too many.
   */
  create(actor: Actor, name: string): OrgRow {
    allow(actor, 'change', 'account');
    return this.#deps.store.inTx((tx) => {
      const owned = orgsOf(tx.db, actor.userId).filter(({ role }) => role === 'owner');
      if (owned.length >= MAX_OWNED) {
        throw new AppError('conflict', `You own ${MAX_OWNED} organizations, which is the limit. Delete one first.`);
      }
      const message = `You reached the limit of ${MAX_PER_DAY} new organizations a day. Try again later.`;
      checkDailyLimit(tx, actor, { action: 'org.create', perDay: MAX_PER_DAY, message });
      const rules = rulesFor(tx, actor.userId, this.#deps.newOrg);
      const made = insertOrganization(tx, { name, ownerId: actor.userId }, rules);
      recordAudit(tx, actor, entry('org.create', made.id));
      return made;
    });
  }

  /** Another name; the slug stays, for links hold it. Throws `not_found`, `forbidden`. */
  rename(actor: Actor, orgId: string, name: string): OrgRow {
    return this.#deps.store.inTx((tx) => {
      const me = actorIn(tx.db, actor, orgId);
      allow(me, 'change', 'organization');
      const before = this.#find(me).name;
      updateOrganization(tx, me.orgId, { name });
      recordAudit(tx, me, { ...entry('org.update', me.orgId), changes: changesBetween({ name: before }, { name }) });
      return this.#find(me);
    });
  }

  /**
   * Ends its tokens, tunnels, reserved names, domains, private networks and invitations: they are gone once this has returned, agents are cut off
   * after the commit, and many rows follow in slices. Sessions that were active in it go on in another
   * organization of their person, or end where there is none. The other owners get an email. Soft: the rows stay for accounting. Throws `not_found`, `forbidden`,
   * `conflict` when it is the caller's only one, or goes on paying, and `unavailable` when a payment provider can't say whether it does.
   */
  async delete(actor: Actor, orgId: string): Promise<DeletedOrg> {
    allow(actor, 'change', 'account');
    // Before the provider is asked; and again afterwards, for that takes a while.
    this.#deletable(this.#deps.store.db, actor, orgId);
    return this.#guard(orgId, () => this.#deleteNow(actor, orgId));
  }

  #deletable(db: Db, actor: Actor, orgId: string): UserActor {
    const me = actorIn(db, actor, orgId);
    allow(me, 'delete', 'organization');
    if (orgsOf(db, me.userId).length === 1) {
      throw new AppError('conflict', 'This is your only organization. Create another one first.');
    }
    return me;
  }

  #deleteNow(actor: UserActor, orgId: string): DeletedOrg {
    const { store, drains } = this.#deps;
    return store.inTx((tx) => {
      const me = this.#deletable(tx.db, callerNow(tx, actor), orgId);
      const { name } = this.#find(me);
      const gone = tx.emit(orgDeleted, { id: me.orgId, name, by: me });
      updateOrganization(tx, me.orgId, { deletedAt: tx.now });
      tx.emit(orgLeft, { userId: me.userId, orgId: me.orgId });
      const work = { kind: 'organization_deleted', scope: me.orgId, orgId: me.orgId, actor: me } as const;
      drains.begin(tx, { ...work, details: { name } });
      recordAudit(tx, me, { ...entry('org.delete', me.orgId), details: { name } });
      return gone;
    });
  }

  /** Sessions of members go on elsewhere, and the other owners are written to. A Drain. */
  drainMembers(tx: Tx, work: PendingWork, limit: number): number {
    const members = pageOfMembers(tx.db, work.scope, { after: work.cursor, limit });
    const { actor, details } = work;
    const by = actor.kind === 'user' ? actor : { userId: '', email: '' };
    for (const { userId, role, email } of members) {
      tx.emit(orgLeft, { userId, orgId: work.scope });
      if (role !== 'owner' || userId === by.userId) continue;
      const mail = {
        kind: 'organization_deleted',
        to: email,
        organization: details.name ?? '',
        by: by.email,
      } as const;
      this.#deps.outbox.post(tx, mail, NOTICE_SECONDS);
    }
    const last = members.at(-1);
    if (last !== undefined) moveCursor(tx, work, last.userId);
    return members.length;
  }

  #find(me: UserActor): OrgRow {
    const org = orgsOf(this.#deps.store.db, me.userId).find(({ id }) => id === me.orgId);
    if (org === undefined) throw new AppError('not_found', 'You are not a member of this organization. Check the id.');
    return org;
  }
}

function entry(action: AuditAction, orgId: string) {
  return { action, resourceType: 'organization', resourceId: orgId, orgId } as const;
}
