/**
 * Writes that mean nothing. A client that asks about an e-mail address must not learn from the time of this answer, or of the next
 * one, whether there was something to store: where there was not, this is done instead.
 */
import { eq } from 'drizzle-orm';
import { uuidv7 } from 'uuidv7';
import { auditEvents, spentOnce } from '../db/schema.ts';
import type { Tx } from '../db/tx.ts';
import { orgsOf } from './rows.ts';

/** Does the work of that many entries in an audit log (accounts/user-rows.ts, `recordOutside`), which is what all these actions leave. */
export function writeNothing(tx: Tx, entries = 1): void {
  for (let i = 0; i < entries; i++) writeAndForget(tx);
}

/** Does the work of one changed row. It leaves a single row, the same for all, which has run out already. */
export function changeNothing(tx: Tx): void {
  const row = { id: 'blank', expiresAt: tx.now };
  tx.db.insert(spentOnce).values(row).onConflictDoUpdate({ target: spentOnce.id, set: row }).run();
}

function writeAndForget(tx: Tx): void {
  const id = uuidv7();
  orgsOf(tx.db, id);
  const row = { id, at: tx.now, orgId: id, actorKind: 'system', actorId: id, actorLabel: '', ipAddress: '' } as const;
  tx.db
    .insert(auditEvents)
    .values({ ...row, action: '', resourceType: '', resourceId: id })
    .run();
  tx.db.delete(auditEvents).where(eq(auditEvents.id, id)).run();
}
