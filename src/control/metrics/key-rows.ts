/** The rows of keys that read metrics. Called by keys.ts, and by whatever ends people and organizations. */
import { and, asc, eq } from 'drizzle-orm';
import { metricKeys, users } from '../db/schema.ts';
import type { Db, Tx } from '../db/tx.ts';
import { ownRow } from '../core/rules/own-row.ts';

export type MetricKeyRow = typeof metricKeys.$inferSelect;

export interface MetricKeyView {
  readonly row: MetricKeyRow;
  /** E-mail address of its creator. */
  readonly createdBy: string | null;
}

/** Oldest first. */
export function metricKeysOf(db: Db, orgId: string): readonly MetricKeyView[] {
  return db
    .select({ row: metricKeys, createdBy: users.email })
    .from(metricKeys)
    .leftJoin(users, eq(users.id, metricKeys.createdBy))
    .where(eq(metricKeys.orgId, orgId))
    .orderBy(asc(metricKeys.createdAt), asc(metricKeys.id))
    .all();
}

/** Throws `not_found`, also for another organization's. */
export function ownMetricKey(db: Db, orgId: string, id: string): MetricKeyRow {
  return ownRow(db, metricKeys, { orgId, id, what: 'metrics key' });
}

/** Deletes keys: all of an organization, those of one person in it, or those of a person everywhere. The caller has checked the permission. */
export function forgetMetricKeys(
  tx: Tx,
  which:
    | { readonly orgId: string; readonly createdBy?: string }
    | { readonly orgId?: string; readonly createdBy: string },
): void {
  tx.db
    .delete(metricKeys)
    .where(
      and(
        which.orgId === undefined ? undefined : eq(metricKeys.orgId, which.orgId),
        which.createdBy === undefined ? undefined : eq(metricKeys.createdBy, which.createdBy),
      ),
    )
    .run();
}
