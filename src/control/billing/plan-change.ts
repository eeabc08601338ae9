/**
 * The one way in which an organization gets another plan: operators and billing both come here. What lives by the plan follows it at once.
 */
import { and, asc, eq, gt, isNull, or } from 'drizzle-orm';
import { liveTunnels } from '../db/gone.ts';
import { organizations, tunnels } from '../db/schema.ts';
import type { Tx } from '../db/tx.ts';
import type { OperatorActor, SystemActor, UserActor } from '../core/rules/actor.ts';
import { recordAudit } from '../core/rules/audit.ts';
import type { RouteEvents } from '../core/link/route-events.ts';
import type { Drain, Drains } from '../core/drains.ts';
import { moveCursor, type PendingWork } from '../core/pending-rows.ts';
import type { Plan } from '../core/rules/plans.ts';
import type { RouteMaker } from '../tunnels/route-maker.ts';
import { expiryUnder } from '../tunnels/rows.ts';

export interface PlanChangeDeps {
  readonly routeEvents: RouteEvents;
  readonly routes: Pick<RouteMaker, 'routesOf'>;
  readonly drains: Drains;
}

export interface PlanChange {
  readonly orgId: string;
  readonly from: Plan;
  readonly to: Plan;
  /** An operator by the operators' routes; otherwise billing, whether a person asked for it or the provider said so. */
  readonly by: OperatorActor | UserActor | SystemActor;
}

/**
 * Writes the plan and its audit entry, and gives the tunnels that have time left a new end by what each asked for and the new plan has, many of them in
 * slices. Names and master keys that the new plan would not give stay; the next one is refused. No audit entry when nothing changes.
 */
export function changePlanIn(tx: Tx, { orgId, from, to, by }: PlanChange, deps: PlanChangeDeps): void {
  if (from === to) return;
  tx.db.update(organizations).set({ plan: to }).where(eq(organizations.id, orgId)).run();
  const entry =
    by.kind === 'operator'
      ? ({ action: 'org.plan', resourceType: 'organization' } as const)
      : ({ action: 'billing.plan', resourceType: 'billing' } as const);
  recordAudit(tx, by, { ...entry, resourceId: orgId, orgId, details: { from, to } });
  // A name that is no id: nothing of the organization is gone.
  deps.drains.begin(tx, { kind: 'plan_changed', scope: `plan/${orgId}`, orgId, actor: by, details: { plan: to } });
}

/** A Drain that gives tunnels their new ends, in the order of their ids. */
export function renewing(deps: Omit<PlanChangeDeps, 'drains'>): Drain {
  return (tx, work, limit) => renewTunnels(tx, { work, limit }, deps);
}

function renewTunnels(
  tx: Tx,
  { work, limit }: { work: PendingWork; limit: number },
  deps: Omit<PlanChangeDeps, 'drains'>,
): number {
  const { orgId, cursor, details } = work;
  const { plan = 'free' } = details;
  const rows = tx.db
    .select()
    .from(tunnels)
    .where(
      and(
        eq(tunnels.orgId, orgId),
        gt(tunnels.id, cursor),
        liveTunnels(),
        eq(tunnels.expired, false),
        or(isNull(tunnels.expiresAt), gt(tunnels.expiresAt, tx.now)),
      ),
    )
    .orderBy(asc(tunnels.id))
    .limit(limit)
    .all();
  const changed = rows
    .map((row) => ({ ...row, expiresAt: expiryUnder(plan, row, tx.now), before: row.expiresAt }))
    .filter(({ expiresAt, before }) => expiresAt !== before);
  for (const { id, expiresAt } of changed) tx.db.update(tunnels).set({ expiresAt }).where(eq(tunnels.id, id)).run();
  const routes = deps.routes.routesOf(tx.db, changed);
  tx.onCommit(() => {
    for (const route of routes) deps.routeEvents.put(route);
  });
  const last = rows.at(-1);
  if (last !== undefined) moveCursor(tx, work, last.id);
  return rows.length;
}
