/**
 * The line of deliveries that a receiver sends on, as rows: who is next, who goes to the front, what became of each. Not to be called from
 * outside webhooks/, but for tunnels that are deleted.
 */
import { and, asc, count, eq, exists, gt, inArray, isNotNull, lt, max, min, or, type SQL, sql } from 'drizzle-orm';
import { FAILING, webhookDeliveries, webhookForwards, webhookReceivers } from '../db/schema.ts';
import type { Db, Tx } from '../db/tx.ts';
import { forgetAttempts } from './attempts/rows.ts';
import { anyReceiver, liveReceivers, type ReceiverRow } from './receiver-rows.ts';

export type DeliveryRow = typeof webhookDeliveries.$inferSelect;
export type ForwardRow = typeof webhookForwards.$inferSelect;

/** Where a receiver sends its deliveries on to. */
export interface Destination {
  readonly tunnelId: string;
  /** Origin form: with the query, without a host. */
  readonly path: string;
}

/** What is next in the line of a receiver. */
export interface Head extends Destination {
  readonly sequence: number;
  readonly nextAt: number;
}

/** Whose line it is. */
export interface Line {
  readonly receiverId: string;
  readonly orgId: string;
}

/** Between the front of a line and what is put before it: room for those that are asked for next. */
const GAP = 2 ** 20;

const { receiverId, sequence, place, state, attempts, nextAt } = webhookForwards;

export function destinationOf(row: Pick<ReceiverRow, 'forwardTunnelId' | 'forwardPath'>): Destination | null {
  const { forwardTunnelId: tunnelId, forwardPath: path } = row;
  return tunnelId === null || path === null ? null : { tunnelId, path };
}

/** Queues with waiting deliveries: for a start. */
export function waitingLines(db: Db): readonly Line[] {
  const { id, orgId, forwardTunnelId } = webhookReceivers;
  const waits = db.select({ sequence }).from(webhookForwards).where(waitingIn(id));
  return db
    .select({ receiverId: id, orgId })
    .from(webhookReceivers)
    .where(and(isNotNull(forwardTunnelId), exists(waits), liveReceivers()))
    .all();
}

/** Undefined where no delivery waits, or the receiver sends nothing on. */
export function headOf(db: Db, ofReceiver: string): Head | undefined {
  const receiver = anyReceiver(db, ofReceiver);
  const destination = receiver === undefined ? null : destinationOf(receiver);
  if (destination === null) return undefined;
  const first = db
    .select({ sequence, nextAt })
    .from(webhookForwards)
    .where(waitingIn(ofReceiver))
    .orderBy(asc(place), asc(sequence))
    .limit(1)
    .get();
  return first === undefined ? undefined : { ...destination, ...first };
}

/** How many wait in the line of a receiver, the one that is on its way among them. */
export function countWaiting(db: Db, ofReceiver: string): number {
  const row = db.select({ waiting: count() }).from(webhookForwards).where(waitingIn(ofReceiver)).get();
  return row?.waiting ?? 0;
}

/** How many of those that a receiver keeps were given up. From the index of what fails alone. */
export function countFailed(db: Db, ofReceiver: string): number {
  const failed = and(eq(receiverId, ofReceiver), eq(state, 'failed'), FAILING);
  return db.select({ failed: count() }).from(webhookForwards).where(failed).get()?.failed ?? 0;
}

/** The first of the line after an attempt that failed, which holds up the others. Undefined: the line moves. */
export function failingHead(db: Db, ofReceiver: string) {
  const { id } = webhookDeliveries;
  const { lastStatus, lastError } = webhookForwards;
  const first = db
    .select({ id, attempts, lastStatus, lastError, nextAt })
    .from(webhookForwards)
    .innerJoin(webhookDeliveries, eq(webhookDeliveries.sequence, sequence))
    .where(waitingIn(ofReceiver))
    .orderBy(asc(place), asc(sequence))
    .limit(1)
    .get();
  return first === undefined || first.attempts === 0 ? undefined : first;
}

/** A delivery and how often it was tried. Undefined: it is gone, or waits no more. */
export function waitingDelivery(db: Db, of: number): { delivery: DeliveryRow; forward: ForwardRow } | undefined {
  return db
    .select({ delivery: webhookDeliveries, forward: webhookForwards })
    .from(webhookForwards)
    .innerJoin(webhookDeliveries, eq(webhookDeliveries.sequence, sequence))
    .where(and(eq(sequence, of), eq(state, 'waiting')))
    .get();
}

/** At the end of the line. */
export function putInLine(tx: Tx, ofReceiver: string, { of, isTest = false }: { of: number; isTest?: boolean }): void {
  tx.db
    .insert(webhookForwards)
    .values({ sequence: of, receiverId: ofReceiver, place: of, state: 'waiting', isTest })
    .run();
}

/** To the front, as if it had never been tried; behind those that were put there before and have not been tried yet. */
export function putInFront(tx: Tx, ofReceiver: string, of: number): void {
  const others = and(waitingIn(ofReceiver), or(lt(sequence, of), gt(sequence, of)));
  const asked = tx.db
    .select({ last: max(place) })
    .from(webhookForwards)
    .where(and(others, lt(place, 0), eq(attempts, 0)))
    .get();
  const front = tx.db
    .select({ first: min(place) })
    .from(webhookForwards)
    .where(others)
    .get();
  const last = asked?.last ?? null;
  const to = last !== null ? last + 1 : Math.min(0, front?.first ?? 0) - GAP;
  const anew = { place: to, state: 'waiting', attempts: 0, nextAt: 0, deliveredAt: null } as const;
  tx.db
    .insert(webhookForwards)
    .values({ sequence: of, receiverId: ofReceiver, isTest: isTestOf(of), ...anew })
    .onConflictDoUpdate({ target: sequence, set: { ...anew, lastStatus: null, lastError: null } })
    .run();
}

/** As its delivery says, for one that was stored before the receiver forwarded. */
export function isTestOf(of: number): SQL<boolean> {
  return sql`(SELECT is_test FROM webhook_deliveries WHERE sequence = ${of})`;
}

export function updateForward(tx: Tx, of: number, change: Partial<ForwardRow>): void {
  tx.db.update(webhookForwards).set(change).where(eq(sequence, of)).run();
}

/** Where they go has changed: what was tried at the old place counts no more. */
export function beginAnew(tx: Tx, ofReceiver: string): void {
  const tried = or(gt(attempts, 0), gt(nextAt, 0));
  tx.db
    .update(webhookForwards)
    .set({ attempts: 0, nextAt: 0 })
    .where(and(waitingIn(ofReceiver), tried))
    .run();
}

/** The queue is empty. */
export function emptyLine(tx: Tx, ofReceiver: string): void {
  tx.db.delete(webhookForwards).where(waitingIn(ofReceiver)).run();
}

/** Of deliveries that go. */
export function forgetForwards(tx: Tx, sequences: readonly number[]): void {
  forgetAttempts(tx, sequences);
  tx.db
    .delete(webhookForwards)
    .where(inArray(sequence, [...sequences]))
    .run();
}

/** The tunnels are deleted: nothing is sent on to them any more. */
export function endForwardsTo(tx: Tx, tunnelIds: readonly string[]): void {
  const { id, forwardTunnelId } = webhookReceivers;
  const own = tx.db
    .select({ id })
    .from(webhookReceivers)
    .where(inArray(forwardTunnelId, [...tunnelIds]))
    .all();
  for (const receiver of own) emptyLine(tx, receiver.id);
  tx.db
    .update(webhookReceivers)
    .set({ forwardTunnelId: null, forwardPath: null, updatedAt: tx.now })
    .where(inArray(forwardTunnelId, [...tunnelIds]))
    .run();
}

/** Written out, as in the index of those that wait. */
function waitingIn(of: string | typeof webhookReceivers.id) {
  return and(eq(receiverId, of), sql`${state} = 'waiting'`);
}
