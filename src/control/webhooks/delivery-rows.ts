/**
 * The rows of deliveries: stored in their order, read behind a cursor, and gone when they are too old or newer ones need their room. Called by
 * mailbox.ts, service.ts and core/retention.ts.
 */
import {
  and,
  asc,
  desc,
  eq,
  exists,
  getTableColumns,
  gt,
  inArray,
  lt,
  lte,
  min,
  ne,
  notExists,
  sql,
  sum,
} from 'drizzle-orm';
import { uuidv7 } from 'uuidv7';
import { DAY_MS } from '../../base/clock.ts';
import { AppError } from '../../base/errors.ts';
import type { Incoming } from '../../signatures/scheme.ts';
import { organizations, webhookDeliveries, webhookForwards, webhookReceivers } from '../db/schema.ts';
import type { Db, Tx } from '../db/tx.ts';
import { ENTITLEMENTS, PLANS } from '../core/rules/plans.ts';
import { type DeliveryRow, type ForwardRow, forgetForwards } from './forward-rows.ts';
import { liveReceivers, type ReceiverRow } from './receiver-rows.ts';

/** What one receiver keeps, and all of an organization together; beyond either the oldest goes, and is counted as displaced. */
export const MAX_STORED = 10_000;
export const MAX_STORED_BYTES = 32 * 1024 * 1024;
export const MAX_ORG_BYTES = 256 * 1024 * 1024;
/** One answer ends behind the delivery that brings it over this: bodies may have a megabyte each. */
const MAX_ANSWER_BYTES = 8 * 1024 * 1024;
/** What a row weighs beside body and headers. */
const ROW_BYTES = 256;
/** Looked at together when room is needed. */
const DROP_BATCH = 256;
/** Deliveries that go in one pass of the sweep: each may be a megabyte. */
const SWEEP_BATCH = 100;
/** Fields that are between the sender and this server, or that an owner's reader has no business with. */
const NOT_KEPT = new Set(['authorization', 'connection', 'cookie', 'keep-alive', 'proxy-authorization', 'te']);

const GONE = 'The receiver has no delivery with this id, or it was deleted. Check the id.';

/** A delivery, and what became of it on its way to a tunnel; null: it was not to go there. */
export interface Delivered {
  /** Its body is empty where it was not asked for; `size` says how long it is all the same. */
  readonly delivery: DeliveryRow & { readonly size: number };
  readonly forward: ForwardRow | null;
}

/** By which lists are filtered. One that is under way now is `waiting`. */
export const STATE_FILTERS = ['none', 'waiting', 'delivered', 'failed'] as const;
export type StateFilter = (typeof STATE_FILTERS)[number];

export interface PageBehind {
  readonly after: string | undefined;
  readonly limit: number;
  readonly state?: StateFilter | undefined;
}

/** Those behind this id, oldest first, until there are enough. Without one from the oldest on. Throws `invalid_request`. */
export function deliveriesBehind(db: Db, id: string, { after, limit, state }: PageBehind): Delivered[] {
  const { receiverId, sequence } = webhookDeliveries;
  const from = after === undefined ? 0 : placeOf(db, id, after);
  const rows = db
    .select({ sequence, bytes: webhookDeliveries.bytes })
    .from(webhookDeliveries)
    .where(and(eq(receiverId, id), gt(sequence, from), isIn(db, state)))
    .orderBy(asc(sequence))
    .limit(limit)
    .all();
  return read(db, thatFit(rows)).orderBy(asc(sequence)).all();
}

export interface LatestPage {
  /** Of the oldest delivery that the reader has; undefined: from the newest on. */
  readonly before: string | undefined;
  readonly limit: number;
  readonly state?: StateFilter | undefined;
  /** Without headers and bodies, which are not even read then. */
  readonly isBrief: boolean;
}

/** Those in front of this id, newest first, until there are enough. Without one from the newest on. Throws `invalid_request`. */
export function deliveriesBefore(db: Db, id: string, { before, limit, state, isBrief }: LatestPage): Delivered[] {
  const { receiverId, sequence } = webhookDeliveries;
  // The place of one that is gone is that of the last in front of it.
  const to = before === undefined ? Number.MAX_SAFE_INTEGER : placeOf(db, id, before);
  const isOther = before === undefined ? undefined : ne(webhookDeliveries.id, before);
  const rows = db
    .select({ sequence, bytes: webhookDeliveries.bytes })
    .from(webhookDeliveries)
    .where(and(eq(receiverId, id), lte(sequence, to), isOther, isIn(db, state)))
    .orderBy(desc(sequence))
    .limit(limit)
    .all();
  const wanted = isBrief ? rows.map((row) => row.sequence) : thatFit(rows);
  return read(db, wanted, isBrief).orderBy(desc(sequence)).all();
}

/** Undefined: all are meant. */
function isIn(db: Db, state: StateFilter | undefined) {
  if (state === undefined) return undefined;
  const { sequence } = webhookForwards;
  const own = eq(sequence, webhookDeliveries.sequence);
  const forward = db.select({ sequence }).from(webhookForwards);
  if (state === 'none') return notExists(forward.where(own));
  return exists(forward.where(and(own, eq(webhookForwards.state, state))));
}

/** The first of them that one answer has room for, at least one. */
function thatFit(rows: ReadonlyArray<{ readonly sequence: number; readonly bytes: number }>): number[] {
  let bytes = 0;
  const wanted = rows.filter((row) => {
    const fits = bytes < MAX_ANSWER_BYTES;
    bytes += row.bytes;
    return fits;
  });
  return wanted.map((row) => row.sequence);
}

function read(db: Db, sequences: readonly number[], isBrief = false) {
  const { sequence, body, headers } = webhookDeliveries;
  const nothing = {
    body: sql<DeliveryRow['body']>`x''`.mapWith(body),
    headers: sql<DeliveryRow['headers']>`'{}'`.mapWith(headers),
  };
  const size = sql<number>`length(${body})`;
  return db
    .select({
      delivery: { ...getTableColumns(webhookDeliveries), ...(isBrief ? nothing : {}), size },
      forward: webhookForwards,
    })
    .from(webhookDeliveries)
    .leftJoin(webhookForwards, eq(webhookForwards.sequence, sequence))
    .where(inArray(sequence, [...sequences]));
}

/** A delivery of this receiver. Throws `not_found`. */
export function ownDelivery(db: Db, ofReceiver: string, id: string): Pick<DeliveryRow, 'id' | 'sequence'> {
  const { receiverId, sequence } = webhookDeliveries;
  const row = db
    .select({ id: webhookDeliveries.id, sequence })
    .from(webhookDeliveries)
    .where(and(eq(receiverId, ofReceiver), eq(webhookDeliveries.id, id)))
    .get();
  if (row === undefined) throw new AppError('not_found', GONE);
  return row;
}

/** The same with all that it has, and what became of it; by its ID, or its sequence once that is known. Throws `not_found`. */
export function wholeDelivery(db: Db, ofReceiver: string, which: string | number): Delivered {
  const sequence = typeof which === 'number' ? which : ownDelivery(db, ofReceiver, which).sequence;
  const found = read(db, [sequence]).get();
  if (found === undefined) throw new AppError('not_found', GONE);
  return found;
}

/** Deletes what is older than the plan of its organization keeps: a batch of each plan. Called by core/retention.ts. */
export function forgetDeliveries(tx: Tx): void {
  for (const plan of PLANS) {
    const past = tx.now - ENTITLEMENTS[plan].inspectorRetentionDays * DAY_MS;
    let left = SWEEP_BATCH;
    for (const id of receiversWithOlder(tx.db, plan, past)) {
      const { receiverId, receivedAt, sequence } = webhookDeliveries;
      const old = tx.db
        .select({ sequence })
        .from(webhookDeliveries)
        .where(and(eq(receiverId, id), lt(receivedAt, past)))
        .orderBy(asc(sequence))
        .limit(left)
        .all();
      left -= old.length;
      drop(tx, id, { sequences: old.map((row) => row.sequence), isDisplaced: false });
      if (left === 0) break;
    }
  }
}

/** By the oldest of each alone: what others may keep for a year must not be walked through for those who keep a week. */
function receiversWithOlder(db: Db, plan: (typeof PLANS)[number], past: number): readonly string[] {
  const { id, orgId, storedCount } = webhookReceivers;
  const { receiverId, receivedAt, sequence } = webhookDeliveries;
  const oldest = db
    .select({ receivedAt })
    .from(webhookDeliveries)
    .where(eq(receiverId, id))
    .orderBy(asc(sequence))
    .limit(1);
  return db
    .select({ id })
    .from(webhookReceivers)
    .innerJoin(organizations, eq(organizations.id, orgId))
    .where(and(eq(organizations.plan, plan), gt(storedCount, 0), lt(sql`(${oldest})`, past), liveReceivers()))
    .limit(SWEEP_BATCH)
    .all()
    .map((row) => row.id);
}

export function isKnown(db: Db, receiverId: string, deliveryId: string): boolean {
  const { sequence } = webhookDeliveries;
  const same = and(eq(webhookDeliveries.receiverId, receiverId), eq(webhookDeliveries.deliveryId, deliveryId));
  return db.select({ sequence }).from(webhookDeliveries).where(same).get() !== undefined;
}

/** A delivery on its way in. */
export interface Arriving extends Incoming {
  /** True source address of the sender. */
  readonly remoteIp: string;
}

export interface Arrival {
  readonly incoming: Arriving;
  readonly eventType: string | null;
  readonly deliveryId: string | null;
  /** Deliveries that the receiver has refused by now. */
  readonly refused: number;
  /** This server has made it: it says nothing about the sender. */
  readonly isTest?: boolean;
}

/** Stores a delivery, and makes room for it; says its sequence. */
export function storeDelivery(tx: Tx, receiver: ReceiverRow, arrival: Arrival): number {
  const { incoming, eventType, deliveryId, refused, isTest = false } = arrival;
  const headers = Object.fromEntries(Object.entries(incoming.headers).filter(([name]) => !NOT_KEPT.has(name)));
  const bytes = incoming.body.length + JSON.stringify(headers).length + ROW_BYTES;
  makeRoom(tx, receiver, bytes);
  makeRoomInOrg(tx, receiver.orgId, bytes);
  const { sequence } = tx.db
    .insert(webhookDeliveries)
    .values({
      id: uuidv7(),
      receiverId: receiver.id,
      receivedAt: tx.now,
      eventType,
      deliveryId,
      contentType: incoming.headers['content-type'] ?? null,
      headers,
      body: incoming.body,
      bytes,
      remoteIp: incoming.remoteIp,
      isTest,
    })
    .returning({ sequence: webhookDeliveries.sequence })
    .get();
  const { storedBytes, storedCount, received } = webhookReceivers;
  tx.db
    .update(webhookReceivers)
    .set({
      storedBytes: sql`${storedBytes} + ${bytes}`,
      storedCount: sql`${storedCount} + 1`,
      ...(isTest ? {} : { received: sql`${received} + 1`, lastReceivedAt: tx.now, refusedBefore: refused }),
    })
    .where(eq(webhookReceivers.id, receiver.id))
    .run();
  return sequence;
}

/** Drops the oldest until one more of this size fits. */
function makeRoom(tx: Tx, { id, storedBytes, storedCount }: ReceiverRow, bytes: number): void {
  let over = storedBytes + bytes - MAX_STORED_BYTES;
  let crowd = storedCount + 1 - MAX_STORED;
  while (over > 0 || crowd > 0) {
    const going: number[] = [];
    for (const row of oldest(tx, id)) {
      if (over <= 0 && crowd <= 0) break;
      going.push(row.sequence);
      over -= row.bytes;
      crowd -= 1;
    }
    if (going.length === 0) return;
    drop(tx, id, { sequences: going, isDisplaced: true });
  }
}

/** The same for the organization: the oldest of its fullest receiver goes, so that one which gets much displaces its own. */
function makeRoomInOrg(tx: Tx, ofOrg: string, bytes: number): void {
  const { id, orgId, storedBytes } = webhookReceivers;
  const own = eq(orgId, ofOrg);
  for (;;) {
    const all = tx.db
      .select({ bytes: sum(storedBytes).mapWith(Number) })
      .from(webhookReceivers)
      .where(own)
      .get();
    let over = (all?.bytes ?? 0) + bytes - MAX_ORG_BYTES;
    if (over <= 0) return;
    const fullest = tx.db.select({ id }).from(webhookReceivers).where(own).orderBy(desc(storedBytes)).limit(1).get();
    const going: number[] = [];
    for (const row of fullest === undefined ? [] : oldest(tx, fullest.id)) {
      if (over <= 0) break;
      going.push(row.sequence);
      over -= row.bytes;
    }
    if (fullest === undefined || going.length === 0) return;
    drop(tx, fullest.id, { sequences: going, isDisplaced: true });
  }
}

/** A batch: small ones may have to go for a large one. */
function oldest(tx: Tx, id: string) {
  const { receiverId, sequence, bytes } = webhookDeliveries;
  return tx.db
    .select({ sequence, bytes })
    .from(webhookDeliveries)
    .where(eq(receiverId, id))
    .orderBy(asc(sequence))
    .limit(DROP_BATCH)
    .all();
}

/** Bytes that `dropSome` frees at once: pages of large bodies are read one by one. */
const FREED_AT_ONCE = 1024 * 1024;

/** Drops the oldest deliveries of a receiver that goes. Returns how many; `limit` when there may be more. */
export function dropSome(tx: Tx, ofReceiver: string, limit: number): number {
  const { receiverId, sequence, bytes } = webhookDeliveries;
  const rows = tx.db
    .select({ sequence, bytes })
    .from(webhookDeliveries)
    .where(eq(receiverId, ofReceiver))
    .orderBy(asc(sequence))
    .limit(limit)
    .all();
  let freed = 0;
  const some = rows.filter((row) => {
    const isFirst = freed < FREED_AT_ONCE;
    freed += row.bytes;
    return isFirst;
  });
  if (some.length > 0) drop(tx, ofReceiver, { sequences: some.map((row) => row.sequence), isDisplaced: false });
  return some.length < rows.length ? limit : some.length;
}

function drop(
  tx: Tx,
  id: string,
  { sequences, isDisplaced }: { readonly sequences: readonly number[]; readonly isDisplaced: boolean },
): void {
  const { receiverId, sequence, bytes } = webhookDeliveries;
  const these = and(eq(receiverId, id), inArray(sequence, [...sequences]));
  const gone = tx.db.select({ bytes }).from(webhookDeliveries).where(these).all();
  forgetForwards(tx, sequences);
  tx.db.delete(webhookDeliveries).where(these).run();
  const { storedBytes, storedCount, displaced } = webhookReceivers;
  const freed = gone.reduce((all, row) => all + row.bytes, 0);
  tx.db
    .update(webhookReceivers)
    .set({
      storedBytes: sql`${storedBytes} - ${freed}`,
      storedCount: sql`${storedCount} - ${gone.length}`,
      ...(isDisplaced ? { displaced: sql`${displaced} + ${gone.length}` } : {}),
    })
    .where(eq(webhookReceivers.id, id))
    .run();
}

/** The place of a delivery in its receiver, also of one that is gone: ids grow with time. Throws `invalid_request` for what is no id. */
function placeOf(db: Db, receiverId: string, after: string): number {
  const { id, sequence } = webhookDeliveries;
  const ofReceiver = eq(webhookDeliveries.receiverId, receiverId);
  const known = db
    .select({ sequence })
    .from(webhookDeliveries)
    .where(and(ofReceiver, eq(id, after)))
    .get();
  if (known !== undefined) return known.sequence;
  const next = db
    .select({ first: min(sequence) })
    .from(webhookDeliveries)
    .where(and(ofReceiver, gt(id, after)))
    .get();
  return next?.first === null || next === undefined ? Number.MAX_SAFE_INTEGER : next.first - 1;
}
