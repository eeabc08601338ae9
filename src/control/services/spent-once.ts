/**
 * Signed values that may count once: the first who spends one wins, in one statement, whoever races.
 */
import { lt } from 'drizzle-orm';
import { spentOnce } from '../db/schema.ts';
import type { Tx } from '../db/tx.ts';

/** True for the first caller with this id; false for every later one until `expiresAt` (ms), when the value itself has run out. */
export function spend(tx: Tx, id: string, expiresAt: number): boolean {
  return tx.db.insert(spentOnce).values({ id, expiresAt }).onConflictDoNothing().run().changes === 1;
}

/** Forgets what has run out. */
export function sweepSpent(tx: Tx): void {
  tx.db.delete(spentOnce).where(lt(spentOnce.expiresAt, tx.now)).run();
}
