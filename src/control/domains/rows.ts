/** The rows of custom domains: read, changed, and told of to the data plane. Not to be called from outside domains/. */
import { and, desc, eq, isNotNull } from 'drizzle-orm';
import { domains } from '../db/schema.ts';
import type { Db, Tx } from '../db/tx.ts';
import type { Actor } from '../core/rules/actor.ts';
import type { AuditChange } from '../core/rules/audit-changes.ts';
import { type AuditAction, type AuditDetails, recordAudit } from '../core/rules/audit.ts';
import type { RouteEvents } from '../core/link/route-events.ts';
import type { RouteMaker } from '../tunnels/plane/route-maker.ts';
import { liveById } from '../tunnels/rows.ts';
import { ownRow } from '../core/rules/own-row.ts';

export type DomainRow = typeof domains.$inferSelect;

/** Newest first. */
export function domainsOf(db: Db, orgId: string): readonly DomainRow[] {
  return db
    .select()
    .from(domains)
    .where(eq(domains.orgId, orgId))
    .orderBy(desc(domains.createdAt), desc(domains.id))
    .all();
}

/** Throws `not_found`, also for another organization's. */
export function ownDomain(db: Db, orgId: string, id: string): DomainRow {
  return ownRow(db, domains, { orgId, id, what: 'domain' });
}

/** The one organization that has verified this domain. */
export function verifierOf(db: Db, domain: string): string | undefined {
  const verified = and(eq(domains.domain, domain), isNotNull(domains.verifiedAt));
  return db.select({ orgId: domains.orgId }).from(domains).where(verified).get()?.orgId;
}

/** Writes changed columns and returns the row as it is then. */
export function updateDomain(tx: Tx, row: DomainRow, change: Partial<DomainRow>): DomainRow {
  tx.db.update(domains).set(change).where(eq(domains.id, row.id)).run();
  return { ...row, ...change };
}

export function recordDomain(
  tx: Tx,
  actor: Actor,
  {
    action,
    row,
    more,
    changes,
  }: { action: AuditAction; row: DomainRow; more?: AuditDetails; changes?: readonly AuditChange[] | undefined },
): void {
  const details = { domain: row.domain, ...more };
  recordAudit(tx, actor, {
    action,
    resourceType: 'domain',
    resourceId: row.id,
    details,
    ...(changes === undefined ? {} : { changes }),
  });
}

/** After the commit the edge has the domains of this tunnel as the transaction leaves them. To be called behind the change. */
export function announceTunnel(
  tx: Tx,
  tunnelId: string | null,
  { routes, routeEvents }: { routes: RouteMaker; routeEvents: Pick<RouteEvents, 'put'> },
): void {
  const tunnel = tunnelId === null ? undefined : liveById(tx.db, tunnelId);
  // The route of a deleted one is published by its deletion.
  if (tunnel === undefined) return;
  const route = routes.routeOf(tx.db, tunnel);
  tx.onCommit(() => routeEvents.put(route));
}
