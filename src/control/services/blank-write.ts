/**
 * A write that leaves nothing behind. Whoever asks about an e-mail address must not learn from the time of this answer, or of the next
 * one, whether there was something to store: where there was not, this is done instead.
 */
import { eq } from 'drizzle-orm';
import { uuidv7 } from 'uuidv7';
import { auditEvents } from '../db/schema.ts';
import type { Tx } from '../db/tx.ts';
import { orgsOf } from './organization-rows.ts';

/** Does the work of that many entries in somebody's trail (session-rows.ts, `recordOutside`), which is what all these deeds leave. */
export function writeNothing(tx: Tx, entries = 1): void {
  for (let i = 0; i < entries; i++) writeAndForget(tx);
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
