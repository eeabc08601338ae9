/** The rows of webhook receivers and their secrets. Not to be called from outside webhooks/. */
import { and, asc, eq } from 'drizzle-orm';
import { notGone } from '../db/gone.ts';
import { webhookReceivers } from '../db/schema.ts';
import type { Db } from '../db/tx.ts';
import type { Sealer } from '../core/secrets/sealing.ts';
import { ownRow } from '../core/rules/own-row.ts';

export type ReceiverRow = typeof webhookReceivers.$inferSelect;

const PURPOSE = 'webhook receiver';
/** Before a list of secrets, where one alone is sealed as it is. */
const SEVERAL = '\0';
const VERIFY_TOKEN_LENGTH = 32;

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

/** The secrets that hold for a receiver: one, or several while one replaces another. */
export function sealSecrets(sealer: Sealer, id: string, secrets: readonly string[]): string {
  const [only = ''] = secrets;
  const isPlain = secrets.length === 1 && !only.startsWith(SEVERAL);
  return sealer.seal(`${PURPOSE} ${id}`, Buffer.from(isPlain ? only : SEVERAL + JSON.stringify(secrets)));
}

export function openSecrets(sealer: Sealer, row: ReceiverRow): readonly string[] {
  const text = sealer.open(`${PURPOSE} ${row.id}`, row.sealedSecret).toString('utf8');
  return text.startsWith(SEVERAL) ? (JSON.parse(text.slice(SEVERAL.length)) as string[]) : [text];
}

/** The word by which senders like Meta prove that they know the receiver's owner. No secret of a signature: it stands in URLs. */
export function verifyTokenOf(sealer: Sealer, id: string): string {
  return sealer.mac('webhook verify token', id).slice(0, VERIFY_TOKEN_LENGTH);
}
