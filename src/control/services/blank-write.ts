/**
 * A write that leaves nothing behind. Whoever asks about an e-mail address must not learn from the time of this answer, or of the next
 * one, whether there was something to store: where there was not, this is done instead.
 */
import { randomUUID } from 'node:crypto';
import { eq } from 'drizzle-orm';
import { spentOnce } from '../db/schema.ts';
import type { Tx } from '../db/tx.ts';

/** Changes pages as one small row does, so that the commit has as much to write. */
export function writeNothing(tx: Tx): void {
  const id = `blank/${randomUUID()}`;
  tx.db.insert(spentOnce).values({ id, expiresAt: tx.now }).run();
  tx.db.delete(spentOnce).where(eq(spentOnce.id, id)).run();
}
