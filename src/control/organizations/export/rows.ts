/** Exports of organizations, row by row, and the audit events behind their cursors. */
import { asc, desc, eq, gt, inArray } from 'drizzle-orm';
import { auditEvents, orgExports } from '../../db/schema.ts';
import type { Db, Tx } from '../../db/tx.ts';

export type ExportRow = typeof orgExports.$inferSelect;
type AuditRow = typeof auditEvents.$inferSelect;

export function findExport(db: Db, orgId: string): ExportRow | undefined {
  return db.select().from(orgExports).where(eq(orgExports.orgId, orgId)).get();
}

export function allExports(db: Db): readonly ExportRow[] {
  return db.select().from(orgExports).all();
}

export function putExport(tx: Tx, row: ExportRow): void {
  const { orgId: _, auditCursor: _cursor, ...set } = row;
  tx.db.insert(orgExports).values(row).onConflictDoUpdate({ target: orgExports.orgId, set }).run();
}

export function deleteExports(tx: Tx, orgIds: readonly string[]): number {
  return tx.db
    .delete(orgExports)
    .where(inArray(orgExports.orgId, [...orgIds]))
    .run().changes;
}

/** Of these organizations. */
export function moveAuditCursor(tx: Tx, orgIds: readonly string[], auditCursor: string): void {
  tx.db
    .update(orgExports)
    .set({ auditCursor })
    .where(inArray(orgExports.orgId, [...orgIds]))
    .run();
}

/** The last audit event so far; '' before the first. */
export function lastAuditId(db: Db): string {
  return db.select({ id: auditEvents.id }).from(auditEvents).orderBy(desc(auditEvents.id)).limit(1).get()?.id ?? '';
}

/** Those of all organizations behind `cursor`, oldest first. */
export function auditBehind(db: Db, cursor: string, limit: number): readonly AuditRow[] {
  return db
    .select()
    .from(auditEvents)
    .where(gt(auditEvents.id, cursor))
    .orderBy(asc(auditEvents.id))
    .limit(limit)
    .all();
}
