/** The rows of webhook receivers and their secrets. Not to be called from outside webhooks/. */
import { and, asc, eq } from 'drizzle-orm';
import { notGone } from '../db/gone.ts';
import { webhookReceivers } from '../db/schema.ts';
import type { Db } from '../db/tx.ts';
import type { Sealer } from '../core/secrets/sealing.ts';
import { ownRow } from '../core/rules/own-row.ts';

export type ReceiverRow = typeof webhookReceivers.$inferSelect;

const PURPOSE = 'webhook receiver';

/** Oldest first. */
export function receiversOf(db: Db, orgId: string): readonly ReceiverRow[] {
  return db
    .select()
    .from(webhookReceivers)
    .where(and(eq(webhookReceivers.orgId, orgId), liveReceivers()))
    .orderBy(asc(webhookReceivers.createdAt), asc(webhookReceivers.id))
    .all();
}

/** Neither they nor their organization were deleted. */
export function liveReceivers() {
  return notGone(webhookReceivers.id, webhookReceivers.orgId);
}

/** Throws `not_found`, also for another organization's. */
export function ownReceiver(db: Db, orgId: string, id: string): ReceiverRow {
  return ownRow(db, webhookReceivers, { orgId, id, what: 'webhook receiver', where: liveReceivers() });
}

/** Of any owner: for deliveries by strangers. */
export function anyReceiver(db: Db, id: string): ReceiverRow | undefined {
  return db
    .select()
    .from(webhookReceivers)
    .where(and(eq(webhookReceivers.id, id), liveReceivers()))
    .get();
}

export function sealSecret(sealer: Sealer, id: string, secret: string): string {
  return sealer.seal(`${PURPOSE} ${id}`, Buffer.from(secret));
}

export function openSecret(sealer: Sealer, row: ReceiverRow): string {
  return sealer.open(`${PURPOSE} ${row.id}`, row.sealedSecret).toString('utf8');
}
