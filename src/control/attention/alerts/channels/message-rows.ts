/** The queue of messages to channels, as rows. Not to be called from outside alerts/. */
import { and, asc, count, eq, getTableColumns, lte, sql } from 'drizzle-orm';
import { uuidv7 } from 'uuidv7';
import { alertMessages } from '../../../db/schema.ts';
import type { Db, Tx } from '../../../db/tx.ts';
import type { Notice } from './notices.ts';
import { noteAttempt } from '../rows.ts';

type Row = typeof alertMessages.$inferSelect;
export interface MessageRow extends Omit<Row, 'notice'> {
  readonly notice: Notice;
}

/** Of one organization: channels that fail for a day keep theirs. Beyond it a message is dropped, and the channel says so. */
const MAX_WAITING = 500;

/** At the end of the queue of its channel. */
export function queueMessage(
  tx: Tx,
  { orgId, channelId, notice }: Pick<MessageRow, 'orgId' | 'channelId' | 'notice'>,
): void {
  const waiting = tx.db.select({ n: count() }).from(alertMessages).where(eq(alertMessages.orgId, orgId)).get()?.n ?? 0;
  if (waiting >= MAX_WAITING) {
    noteAttempt(tx, channelId, `A message was dropped: ${MAX_WAITING} others are waiting.`);
    return;
  }
  tx.db.insert(alertMessages).values({ id: uuidv7(), orgId, channelId, notice, attempts: 0, nextAt: tx.now }).run();
}

/**
 * Messages whose time has come: the first of each channel, for the order of its messages counts; of one organization `each` at most, so that its
 * channels that hang keep no other one waiting.
 */
export function dueMessages(
  db: Db,
  { now, limit, each }: { readonly now: number; readonly limit: number; readonly each: number },
): MessageRow[] {
  const { id, nextAt, channelId } = alertMessages;
  const first = sql`(SELECT min(other.id) FROM alert_messages other WHERE other.channel_id = ${channelId})`;
  const place = sql<number>`row_number() OVER (PARTITION BY ${alertMessages.orgId} ORDER BY ${nextAt}, ${id})`;
  const due = db
    .select({ ...getTableColumns(alertMessages), place: place.as('place') })
    .from(alertMessages)
    .where(and(lte(nextAt, now), eq(id, first)))
    .as('due');
  return db
    .select()
    .from(due)
    .where(lte(due.place, each))
    .orderBy(asc(due.nextAt), asc(due.id))
    .limit(limit)
    .all() as unknown as MessageRow[];
}

export function removeMessage(tx: Tx, id: string): void {
  tx.db.delete(alertMessages).where(eq(alertMessages.id, id)).run();
}

export function delayMessage(tx: Tx, id: string, change: { readonly attempts: number; readonly nextAt: number }): void {
  tx.db.update(alertMessages).set(change).where(eq(alertMessages.id, id)).run();
}
