/**
 * Organizations as those who run the server see and change them: plan, approval, suspension. Called by routes for superadmins and for
 * `culvert admin`. Every action is recorded in the audit log of the organization, for its members.
 */
import { and, asc, count, eq, gt, inArray, isNotNull, isNull, or } from 'drizzle-orm';
import { AppError } from '../../base/errors.ts';
import { memberships, organizations, users } from '../db/schema.ts';
import type { Db, Store, Tx } from '../db/tx.ts';
import { type Actor, allowOperator, asOperator, type Approval } from '../core/rules/actor.ts';
import { changesBetween } from '../core/rules/audit-changes.ts';
import { type AuditAction, recordAudit } from '../core/rules/audit.ts';
import { changePlanIn, type PlanChangeDeps } from '../billing/plan-change.ts';
import { holdsText } from '../db/text-match.ts';
import type { RouteEvents } from '../core/link/route-events.ts';
import type { Page } from './users.ts';
import type { Plan } from '../core/rules/plans.ts';
import { updateOrganization } from '../organizations/rows.ts';

type Row = typeof organizations.$inferSelect;

interface ApprovalChange {
  readonly action: AuditAction;
  readonly to: Approval;
  /** After the commit, when anything changed. */
  readonly tell?: (org: Row) => void;
}

export interface OrgView {
  readonly org: Row;
  readonly members: number;
  /** E-mail addresses, oldest owner first. */
  readonly owners: readonly string[];
}

export interface OperatorOrgsDeps extends PlanChangeDeps {
  readonly store: Store;
  readonly routeEvents: RouteEvents;
}

export class OperatorOrgs {
  readonly #deps: OperatorOrgsDeps;

  constructor(deps: OperatorOrgsDeps) {
    this.#deps = deps;
  }

  /** `query` is looked for in names and slugs. */
  list(
    actor: Actor,
    page: Page & { readonly status: Approval | undefined; readonly deleted: boolean },
  ): readonly OrgView[] {
    allowOperator(actor);
    const { db } = this.#deps.store;
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

  /**
   * Its tunnels get a new end by the new plan. A plan that billing gave it is the operator's from now on, unless it is set to the one that it
   * is on: then nothing changes, and billing takes the plan back when the subscription ends. Throws `not_found`.
   */
  setPlan(actor: Actor, handle: string, plan: Plan | undefined): OrgView {
    allowOperator(actor);
    return this.#deps.store.inTx((tx) => {
      const org = find(tx, handle);
      const to = plan ?? org.plan;
      changePlanIn(tx, { orgId: org.id, from: org.plan, to, by: asOperator(actor) }, this.#deps);
      return viewOf(tx, { ...org, plan: to });
    });
  }

  /** Lets a new organization begin, or a suspended one go on. Throws `not_found`. */
  approve(actor: Actor, handle: string): OrgView {
    allowOperator(actor);
    return this.#change(actor, handle, { action: 'org.approve', to: 'approved' });
  }

  /** Ends its agents' sessions at once and lets none come back. Its tunnels keep their names, for it may be approved again. */
  suspend(actor: Actor, handle: string): OrgView {
    allowOperator(actor);
    return this.#change(actor, handle, {
      action: 'org.suspend',
      to: 'suspended',
      tell: (org) =>
        this.#deps.routeEvents.cutOrg(
          org.id,
          `The organization ${org.name} is suspended. Ask an operator of the server to approve it.`,
        ),
    });
  }

  /** No audit entry when nothing changes. */
  #change(actor: Actor, handle: string, { action, to, tell }: ApprovalChange): OrgView {
    return this.#deps.store.inTx((tx) => {
      const before = find(tx, handle);
      const org = { ...before, approvalStatus: to };
      if (before.approvalStatus !== to) {
        updateOrganization(tx, org.id, { approvalStatus: to });
        const entry = { action, resourceType: 'organization', resourceId: org.id, orgId: org.id } as const;
        recordAudit(tx, asOperator(actor), {
          ...entry,
          changes: changesBetween({ approval: before.approvalStatus }, { approval: to }),
        });
        if (tell !== undefined) tx.onCommit(() => tell(org));
      }
      return viewOf(tx, org);
    });
  }
}

function viewOf(tx: Tx, org: Row): OrgView {
  const [view] = viewsOf(tx.db, [org]);
  if (view === undefined) throw new Error('a view per row');
  return view;
}

/** By id, else by slug: a slug can look like the id of another organization, and the id counts. */
function find(tx: Tx, handle: string): Row {
  const rows = tx.db
    .select()
    .from(organizations)
    .where(and(isNull(organizations.deletedAt), or(eq(organizations.id, handle), eq(organizations.slug, handle))))
    .all();
  const row = rows.find(({ id }) => id === handle) ?? rows[0];
  if (row === undefined) throw new AppError('not_found', `No organization has the name or id ${handle}. Check it.`);
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
