/**
 * The one way in which an organization gets another plan: operators and billing both come here. What lives by the plan follows it at once.
 */
import { and, eq, gt, isNull, or } from 'drizzle-orm';
import { organizations, tunnels } from '../../db/schema.ts';
import type { Tx } from '../../db/tx.ts';
import type { OperatorActor, SystemActor, UserActor } from '../actor.ts';
import { recordDeed } from '../audit.ts';
import type { RouteNews } from '../news.ts';
import type { Plan } from '../plans.ts';
import type { RouteMaker } from '../tunnels/route-maker.ts';
import { expiryUnder } from '../tunnels/tunnel-rows.ts';

export interface PlanChangeDeps {
  readonly news: RouteNews;
  readonly routes: RouteMaker;
}

export interface PlanChange {
  readonly orgId: string;
  readonly from: Plan;
  readonly to: Plan;
  /** An operator by the operators' routes; otherwise billing, whether a person asked for it or the provider said so. */
  readonly by: OperatorActor | UserActor | SystemActor;
}

/**
 * Writes the plan and the deed, and gives the tunnels that have time left a new end by what each asked for and the new plan has. Names and master keys that the new plan would not give stay; the next one is refused. No deed when nothing changes.
 */
export function changePlanIn(tx: Tx, { orgId, from, to, by }: PlanChange, deps: PlanChangeDeps): void {
  if (from === to) return;
  tx.db.update(organizations).set({ plan: to }).where(eq(organizations.id, orgId)).run();
  const deed =
    by.kind === 'operator'
      ? ({ action: 'org.plan', resourceType: 'organization' } as const)
      : ({ action: 'billing.plan', resourceType: 'billing' } as const);
  recordDeed(tx, by, { ...deed, resourceId: orgId, orgId, details: { from, to } });
  renewTunnels(tx, { orgId, plan: to }, deps);
}

/** At most MAX_TUNNELS of tunnel-rows.ts. */
function renewTunnels(tx: Tx, { orgId, plan }: { orgId: string; plan: Plan }, { news, routes }: PlanChangeDeps): void {
  const rows = tx.db
    .select()
    .from(tunnels)
    .where(
      and(
        eq(tunnels.orgId, orgId),
        isNull(tunnels.deletedAt),
        eq(tunnels.expired, false),
        or(isNull(tunnels.expiresAt), gt(tunnels.expiresAt, tx.now)),
      ),
    )
    .all();
  for (const row of rows) {
    const expiresAt = expiryUnder(plan, row, tx.now);
    if (expiresAt === row.expiresAt) continue;
    tx.db.update(tunnels).set({ expiresAt }).where(eq(tunnels.id, row.id)).run();
    const route = routes.routeOf(tx.db, { ...row, expiresAt });
    tx.onCommit(() => news.put(route));
  }
}
