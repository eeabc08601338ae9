/** Deliveries of a time range that are sent once more: which ones, and their place in the queue. Used by redelivery.ts. */
import { and, asc, count, eq, exists, gte, lte, notExists, sql } from 'drizzle-orm';
import { webhookDeliveries, webhookForwards, webhookReceivers } from '../../db/schema.ts';
import type { Db, Tx } from '../../db/tx.ts';
import { isTestOf } from '../forward-rows.ts';

/** Queued by one call: one statement, some milliseconds. */
export const MAX_REDELIVERED = 1_000;

/** `all`: also those that were never to be forwarded. Never those that wait already. */
export const REDELIVERABLE = ['failed', 'delivered', 'all'] as const;

export interface Range {
  readonly receiverId: string;
  /** Milliseconds since the epoch, both included. */
  readonly from: number;
  readonly to: number;
  readonly state: (typeof REDELIVERABLE)[number];
}

const { sequence, receivedAt } = webhookDeliveries;

/** How many there are. */
export function countInRange(db: Db, range: Range): number {
  return db.select({ n: count() }).from(webhookDeliveries).where(meant(db, range)).get()?.n ?? 0;
}

/** The oldest of them, and the one behind the last of these. */
export function firstInRange(db: Db, range: Range) {
  return db
    .select({ sequence, receivedAt })
    .from(webhookDeliveries)
    .where(meant(db, range))
    .orderBy(asc(sequence))
    .limit(MAX_REDELIVERED + 1)
    .all();
}

/** In the queue by the order in which they came, as if they had never been tried. */
export function queueAgain(tx: Tx, receiverId: string, sequences: readonly number[]): void {
  if (sequences.length === 0) return;
  const anew = {
    state: 'waiting',
    attempts: 0,
    nextAt: 0,
    deliveredAt: null,
    lastStatus: null,
    lastError: null,
  } as const;
  tx.db
    .insert(webhookForwards)
    .values(sequences.map((of) => ({ sequence: of, receiverId, place: of, isTest: isTestOf(of), ...anew })))
    .onConflictDoUpdate({ target: webhookForwards.sequence, set: { ...anew, place: sql`excluded.place` } })
    .run();
}

/** Result of a call, by its idempotency key. */
export interface NotedCall {
  readonly key: string;
  readonly matched: number;
  readonly queued: number;
  readonly continueFrom: number | null;
}

/** Stores the receiver's last call with an idempotency key. */
export function noteRedelivery(tx: Tx, receiverId: string, { key, matched, queued, continueFrom }: NotedCall): void {
  tx.db
    .update(webhookReceivers)
    .set({
      redeliveryKey: key,
      redeliveryCount: queued,
      redeliveryMatched: matched,
      redeliveryContinueFrom: continueFrom,
    })
    .where(eq(webhookReceivers.id, receiverId))
    .run();
}

function meant(db: Db, { receiverId, from, to, state }: Range) {
  const own = eq(webhookForwards.sequence, sequence);
  const forward = db.select({ sequence: webhookForwards.sequence }).from(webhookForwards);
  const inState =
    state === 'all'
      ? notExists(forward.where(and(own, eq(webhookForwards.state, 'waiting'))))
      : exists(forward.where(and(own, eq(webhookForwards.state, state))));
  return and(eq(webhookDeliveries.receiverId, receiverId), gte(receivedAt, from), lte(receivedAt, to), inState);
}
