/** The rows of what alert rules found. Not to be called from outside alerts/. */
import { and, desc, eq, inArray, isNotNull, isNull, lt, sql } from 'drizzle-orm';
import { DAY_MS } from '../../../base/clock.ts';
import { forgetRows } from '../../core/retention.ts';
import { alertIncidents } from '../../db/schema.ts';
import type { Db, Tx } from '../../db/tx.ts';

export type IncidentRow = typeof alertIncidents.$inferSelect;

/** Of one organization, those that are over; then the oldest go. */
const MAX_PAST = 1_000;
/** Those that are over are kept for so long. */
const KEPT_DAYS = 90;
export const MAX_HISTORY = 100;

const { id, orgId, ruleId, state, firedAt, endToldAt } = alertIncidents;

/** Those that are not over, and those that a message is due about. */
export function openIncidents(db: Db, org: string): readonly IncidentRow[] {
  return db
    .select()
    .from(alertIncidents)
    .where(and(eq(orgId, org), isNull(endToldAt)))
    .orderBy(id)
    .all();
}

/** Those that fired, newest first. */
export function historyOf(db: Db, org: string): readonly IncidentRow[] {
  return db
    .select()
    .from(alertIncidents)
    .where(and(eq(orgId, org), isNotNull(firedAt)))
    .orderBy(desc(id))
    .limit(MAX_HISTORY)
    .all();
}

export function insertIncidents(tx: Tx, rows: readonly IncidentRow[]): void {
  for (const row of rows) tx.db.insert(alertIncidents).values(row).run();
}

export function updateIncident(tx: Tx, { id: of, ...row }: IncidentRow): void {
  tx.db.update(alertIncidents).set(row).where(eq(id, of)).run();
}

export function removeIncidents(tx: Tx, ids: readonly string[]): void {
  if (ids.length === 0) return;
  tx.db
    .delete(alertIncidents)
    .where(inArray(id, [...ids]))
    .run();
}

/** The rule watches nothing any more: what fires is over, without a message. */
export function closeIncidents(tx: Tx, rule: string): void {
  const open = and(eq(ruleId, rule), isNull(endToldAt));
  tx.db
    .delete(alertIncidents)
    .where(and(open, eq(state, 'pending')))
    .run();
  tx.db
    .update(alertIncidents)
    .set({ state: 'recovered', wellAt: sql`coalesce(${alertIncidents.wellAt}, ${tx.now})`, endToldAt: tx.now })
    .where(open)
    .run();
}

/** Deletes the oldest of those that are over where there are too many. */
export function trimIncidents(tx: Tx, org: string): void {
  const surplus = tx.db
    .select({ id })
    .from(alertIncidents)
    .where(and(eq(orgId, org), isNotNull(endToldAt)))
    .orderBy(desc(id))
    // SQLite wants one in front of an offset.
    .limit(MAX_PAST)
    .offset(MAX_PAST);
  tx.db.delete(alertIncidents).where(inArray(id, surplus)).run();
}

/** Past their time. */
export const forgetIncidents = forgetRows(
  alertIncidents,
  id,
  (now) => and(isNotNull(endToldAt), lt(endToldAt, now - KEPT_DAYS * DAY_MS)) ?? sql`0`,
);

/** Pending and firing now, by rule. */
export function statesOf(db: Db, org: string): ReadonlyMap<string, IncidentRow[]> {
  const byRule = new Map<string, IncidentRow[]>();
  for (const row of openIncidents(db, org)) {
    if (row.state === 'recovered' || row.state === 'noted') continue;
    byRule.set(row.ruleId, [...(byRule.get(row.ruleId) ?? []), row]);
  }
  return byRule;
}
