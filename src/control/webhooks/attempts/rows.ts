/**
 * The rows of attempts to forward deliveries: the last ones of each delivery, and of a receiver the last bodies of responses. Written with the
 * result of an attempt by forwarder.ts. Not to be called from outside webhooks/.
 */
import { and, desc, eq, inArray, lt, lte, sql } from 'drizzle-orm';
import { webhookAttempts } from '../../db/schema.ts';
import type { Db, Tx } from '../../db/tx.ts';

export type AttemptRow = typeof webhookAttempts.$inferSelect;

/** Of one delivery; a redelivery begins to count anew, and these go on. */
export const MAX_ATTEMPTS_KEPT = 20;
/** Of one receiver; older attempts have no body. */
export const MAX_BODIES = 500;

const { id, sequence, receiverId } = webhookAttempts;

/** Of a delivery, newest first. */
export function attemptsOf(db: Db, of: number): readonly AttemptRow[] {
  return db.select().from(webhookAttempts).where(eq(sequence, of)).orderBy(desc(id)).all();
}

/** Adds one, and drops what is beyond the limits. */
export function addAttempt(tx: Tx, attempt: Omit<AttemptRow, 'id'>): void {
  tx.db.insert(webhookAttempts).values(attempt).run();
  const oldest = tx.db
    .select({ id })
    .from(webhookAttempts)
    .where(eq(sequence, attempt.sequence))
    .orderBy(desc(id))
    .limit(1)
    .offset(MAX_ATTEMPTS_KEPT - 1)
    .get();
  if (oldest !== undefined)
    tx.db
      .delete(webhookAttempts)
      .where(and(eq(sequence, attempt.sequence), lt(id, oldest.id)))
      .run();
  if (attempt.body !== null) dropBodies(tx, attempt.receiverId);
}

/** Of deliveries that go. */
export function forgetAttempts(tx: Tx, sequences: readonly number[]): void {
  tx.db
    .delete(webhookAttempts)
    .where(inArray(sequence, [...sequences]))
    .run();
}

/** Written out, as in the index of those with a body. */
function dropBodies(tx: Tx, of: string): void {
  const withBody = and(eq(receiverId, of), sql`body IS NOT NULL`);
  const beyond = tx.db
    .select({ id })
    .from(webhookAttempts)
    .where(withBody)
    .orderBy(desc(id))
    .limit(1)
    .offset(MAX_BODIES)
    .get();
  if (beyond === undefined) return;
  tx.db
    .update(webhookAttempts)
    .set({ body: null })
    .where(and(withBody, lte(id, beyond.id)))
    .run();
}
