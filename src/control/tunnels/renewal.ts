/** Tunnels get a new end when their organization gets another plan (billing/plan-change.ts): by what each asked for, many of them in slices. */
import { and, asc, eq, gt, isNull, or } from 'drizzle-orm';
import { liveTunnels } from '../db/gone.ts';
import { tunnels } from '../db/schema.ts';
import type { Tx } from '../db/tx.ts';
import type { Drain } from '../core/drains.ts';
import type { RouteEvents } from '../core/link/route-events.ts';
import { moveCursor, type PendingWork } from '../core/pending-rows.ts';
import type { RouteMaker } from './plane/route-maker.ts';
import { expiryUnder } from './rows.ts';

export interface RenewalDeps {
  readonly routeEvents: RouteEvents;
  readonly routes: Pick<RouteMaker, 'routesOf'>;
}

/** Gives tunnels their new ends, in the order of their ids. */
export function renewing(deps: RenewalDeps): Drain {
  return (tx, work, limit) => renewTunnels(tx, { work, limit }, deps);
}

function renewTunnels(tx: Tx, { work, limit }: { work: PendingWork; limit: number }, deps: RenewalDeps): number {
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
