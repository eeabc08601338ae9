/**
 * Organizations as those who run the server see and change them: plan, approval, suspension. Called by control/api for superadmins and for
 * `culvert admin`. Each deed stands in the trail of the organization, where its members read it.
 */
import { and, asc, count, eq, gt, inArray, isNotNull, isNull, or } from 'drizzle-orm';
import { AppError } from '../../../base/errors.ts';
import { memberships, organizations, users } from '../../db/schema.ts';
import type { Db, Store, Tx } from '../../db/tx.ts';
import { type Actor, allowOperator, asOperator, type Approval } from '../actor.ts';
import { type AuditAction, type DeedDetails, recordDeed } from '../audit.ts';
import { holdsText } from '../match-text.ts';
import type { RouteNews } from '../news.ts';
import type { Page } from './operator-users.ts';
import type { Plan } from '../plans.ts';

type Row = typeof organizations.$inferSelect;

interface OrgChange {
  readonly action: AuditAction;
  readonly set: Partial<Pick<Row, 'plan' | 'approvalStatus'>>;
  /** After the commit, when anything changed. */
  readonly tell?: (org: Row) => void;
}

export interface OrgView {
  readonly org: Row;
  readonly members: number;
  /** E-mail addresses, oldest owner first. */
  readonly owners: readonly string[];
}

export class OperatorOrgs {
  readonly #store: Store;
  readonly #news: RouteNews;

  constructor(deps: { store: Store; news: RouteNews }) {
    this.#store = deps.store;
    this.#news = deps.news;
  }

  /** `query` is looked for in names and slugs. */
  list(
    actor: Actor,
    page: Page & { readonly status: Approval | undefined; readonly deleted: boolean },
  ): readonly OrgView[] {
    allowOperator(actor);
    const { db } = this.#store;
    const { after, query, status } = page;
    const rows = db
      .select()
      .from(organizations)
      .where(
        and(
          page.deleted ? isNotNull(organizations.deletedAt) : isNull(organizations.deletedAt),
          after === undefined ? undefined : gt(organizations.id, after),
          status === undefined ? undefined : eq(organizations.approvalStatus, status),
          query === undefined
            ? undefined
            : or(holdsText(organizations.name, query), holdsText(organizations.slug, query)),
        ),
      )
      .orderBy(asc(organizations.id))
      .limit(page.limit)
      .all();
    return viewsOf(db, rows);
  }

  /** Tunnels that live already keep the time that they were given. Throws `not_found`. */
  setPlan(actor: Actor, handle: string, plan: Plan | undefined): OrgView {
    allowOperator(actor);
    return this.#change(actor, handle, { action: 'org.plan', set: plan === undefined ? {} : { plan } });
  }

  /** Lets a new organization begin, or a suspended one go on. Throws `not_found`. */
  approve(actor: Actor, handle: string): OrgView {
    allowOperator(actor);
    return this.#change(actor, handle, { action: 'org.approve', set: { approvalStatus: 'approved' } });
  }

  /** Ends its agents' sessions at once and lets none come back. Its tunnels keep their names, for it may be approved again. */
  suspend(actor: Actor, handle: string): OrgView {
    allowOperator(actor);
    return this.#change(actor, handle, {
      action: 'org.suspend',
      set: { approvalStatus: 'suspended' },
      tell: (org) => this.#news.cutOrg(org.id, `The organization ${org.name} is suspended.`),
    });
  }

  /** What is so already is no deed. */
  #change(actor: Actor, handle: string, { action, set, tell }: OrgChange): OrgView {
    return this.#store.inTx((tx) => {
      const before = find(tx, handle);
      const org = { ...before, ...set };
      if (org.plan !== before.plan || org.approvalStatus !== before.approvalStatus) {
        tx.db.update(organizations).set(set).where(eq(organizations.id, org.id)).run();
        const deed = { action, resourceType: 'organization', resourceId: org.id, orgId: org.id } as const;
        recordDeed(tx, asOperator(actor), { ...deed, details: changeOf(before, org) });
        if (tell !== undefined) tx.onCommit(() => tell(org));
      }
      const [view] = viewsOf(tx.db, [org]);
      if (view === undefined) throw new Error('a view per row');
      return view;
    });
  }
}

function changeOf(from: Row, to: Row): DeedDetails {
  if (from.plan !== to.plan) return { from: from.plan, to: to.plan };
  return { from: from.approvalStatus, to: to.approvalStatus };
}

/** By id, else by slug: somebody's slug can look like the id of another organization, and the id counts. */
function find(tx: Tx, handle: string): Row {
  const rows = tx.db
    .select()
    .from(organizations)
    .where(and(isNull(organizations.deletedAt), or(eq(organizations.id, handle), eq(organizations.slug, handle))))
    .all();
  const row = rows.find(({ id }) => id === handle) ?? rows[0];
  if (row === undefined) throw new AppError('not_found', `There is no organization ${handle}.`);
  return row;
}

/** Two queries for the whole page. */
function viewsOf(db: Db, rows: readonly Row[]): readonly OrgView[] {
  const ids = rows.map(({ id }) => id);
  const sizes = db
    .select({ orgId: memberships.orgId, n: count() })
    .from(memberships)
    .where(inArray(memberships.orgId, ids))
    .groupBy(memberships.orgId)
    .all();
  const owners = db
    .select({ orgId: memberships.orgId, email: users.email })
    .from(memberships)
    .innerJoin(users, eq(users.id, memberships.userId))
    .where(and(inArray(memberships.orgId, ids), eq(memberships.role, 'owner')))
    .orderBy(asc(memberships.createdAt), asc(memberships.userId))
    .all();
  const sizeOf = new Map(sizes.map(({ orgId, n }) => [orgId, n]));
  const ownersOf = Map.groupBy(owners, ({ orgId }) => orgId);
  return rows.map((org) => ({
    org,
    members: sizeOf.get(org.id) ?? 0,
    owners: (ownersOf.get(org.id) ?? []).map(({ email }) => email),
  }));
}
