/** What is known of the subscriptions at the payment provider. Not to be called from outside the services. */
import { and, asc, desc, eq, inArray, isNull, lt, or, sql } from 'drizzle-orm';
import { DAY_MS, HOUR_MS } from '../../base/clock.ts';
import { AppError } from '../../base/errors.ts';
import { organizations, subscriptions } from '../db/schema.ts';
import type { Db, Tx } from '../db/tx.ts';

export type SubscriptionRow = typeof subscriptions.$inferSelect;

/** While it is in one of these the plan is paid for: a card that failed gets the days that the provider goes on trying. */
const LIVE: ReadonlySet<string> = new Set(['active', 'trialing', 'past_due']);
/** A first payment that has not gone through: no subscription yet, and perhaps never one. */
const UNBORN: ReadonlySet<string> = new Set(['incomplete', 'incomplete_expired']);

export function isLive(status: string | null): boolean {
  return status !== null && LIVE.has(status);
}

export function isBorn(status: string): boolean {
  return !UNBORN.has(status);
}

export function findSubscription(db: Db, orgId: string): SubscriptionRow | undefined {
  return db.select().from(subscriptions).where(eq(subscriptions.orgId, orgId)).get();
}

export function findByCustomer(db: Db, customerId: string): SubscriptionRow | undefined {
  return db.select().from(subscriptions).where(eq(subscriptions.customerId, customerId)).get();
}

/** Stores the provider's customer of the organization; an earlier one counts no more. */
export function putCustomer(tx: Tx, orgId: string, customerId: string): SubscriptionRow {
  const blank = {
    customerId,
    subscriptionId: null,
    status: null,
    cycle: null,
    currentPeriodEndsAt: null,
    cancels: false,
    updatedAt: tx.now,
  };
  return tx.db
    .insert(subscriptions)
    .values({ orgId, ...blank })
    .onConflictDoUpdate({ target: subscriptions.orgId, set: blank })
    .returning()
    .get();
}

/** Writes changed columns, unless the row is of another customer by now. */
export function updateSubscription(tx: Tx, row: SubscriptionRow, change: Partial<SubscriptionRow>): void {
  tx.db
    .update(subscriptions)
    .set({ ...change, updatedAt: tx.now })
    .where(and(eq(subscriptions.orgId, row.orgId), eq(subscriptions.customerId, row.customerId)))
    .run();
}

/**
 * Whose word about them is old: not asked for a day, or for an hour where the period that is paid for has been over for as long; the latter
 * first, the longest ago first. Of deleted organizations those alone that go on paying.
 */
export function dueSubscriptions(db: Db, now: number, limit: number): readonly SubscriptionRow[] {
  const { updatedAt, currentPeriodEndsAt, status } = subscriptions;
  const pays = inArray(status, [...LIVE]);
  const isOver = sql<number>`coalesce(${and(pays, lt(currentPeriodEndsAt, now - HOUR_MS))}, 0)`;
  return db
    .select({ row: subscriptions })
    .from(subscriptions)
    .innerJoin(organizations, eq(organizations.id, subscriptions.orgId))
    .where(
      and(
        lt(updatedAt, now - HOUR_MS),
        or(lt(updatedAt, now - DAY_MS), isOver),
        or(isNull(organizations.deletedAt), pays),
      ),
    )
    .orderBy(desc(isOver), asc(updatedAt))
    .limit(limit)
    .all()
    .map(({ row }) => row);
}

/** Throws `conflict` while the organization would go on paying. One that ends with its period takes no more money. */
export function requireNoSubscription(db: Db, orgId: string): void {
  const row = findSubscription(db, orgId);
  if (row === undefined || row.cancels || !isLive(row.status)) return;
  throw new AppError(
    'conflict',
    'The organization has a subscription. Cancel it in the portal first: POST /billing/portal.',
  );
}
