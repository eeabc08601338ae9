/**
 * Signed values that may count once: the first who spends one wins, in one statement. What has run out
 * is forgotten by core/retention.ts.
 */
import { spentOnce } from './schema.ts';
import type { Tx } from './tx.ts';

/** True for the first caller with this id; false for every later one until `expiresAt` (ms), when the value itself has run out. */
export function spend(tx: Tx, id: string, expiresAt: number): boolean {
  return tx.db.insert(spentOnce).values({ id, expiresAt }).onConflictDoNothing().run().changes === 1;
}

/** Does the work of one changed row. It leaves a single row, the same for all, which has run out already. */
export function changeNothing(tx: Tx): void {
  const row = { id: 'blank', expiresAt: tx.now };
  tx.db.insert(spentOnce).values(row).onConflictDoUpdate({ target: spentOnce.id, set: row }).run();
}
