/**
 * What senders deliver to a receiver, and what its owners read: signed deliveries are kept in their order until they are too old or newer ones
 * need their room. Called by control/api.
 */
import { and, asc, eq, gt, inArray, lt, min, sql } from 'drizzle-orm';
import { uuidv7 } from 'uuidv7';
import { DAY_MS } from '../../../base/clock.ts';
import { AppError } from '../../../base/errors.ts';
import { organizations, webhookDeliveries, webhookReceivers } from '../../db/schema.ts';
import type { Db, Store, Tx } from '../../db/tx.ts';
import { type Actor, allow } from '../actor.ts';
import type { Sealer } from '../keys/sealing.ts';
import { ENTITLEMENTS, PLANS } from '../plans.ts';
import { Waits } from '../waits.ts';
import { anyReceiver, openSecret, ownReceiver, type ReceiverRow } from './receiver-rows.ts';
import { describe, type Incoming, isGenuine } from './validators.ts';

export type DeliveryRow = typeof webhookDeliveries.$inferSelect;

/** What one receiver keeps; beyond either the oldest goes, and is counted as displaced. */
export const MAX_STORED = 10_000;
export const MAX_STORED_BYTES = 32 * 1024 * 1024;
/** One answer ends behind the delivery that brings it over this: bodies may have a megabyte each. */
const MAX_ANSWER_BYTES = 8 * 1024 * 1024;
/** What a row weighs beside body and headers. */
const ROW_BYTES = 256;
/** Requests that wait for a delivery. */
const MAX_WAITS = 500;
const MAX_WAITS_PER_RECEIVER = 16;
/** Looked at together when room is needed. */
const DROP_BATCH = 256;
/** Deliveries that go in one pass of the sweep: each may be a megabyte. */
const SWEEP_BATCH = 100;
/** Fields that are between the sender and this server, or that an owner's reader has no business with. */
const NOT_KEPT = new Set(['authorization', 'connection', 'cookie', 'keep-alive', 'proxy-authorization', 'te']);

/** What the sender is told: that it is kept, or the text that it asked for. */
export type Received = { readonly challenge: string } | 'stored';

export interface Reading {
  /** Of the last delivery that the reader has; undefined: from the oldest on. */
  readonly after: string | undefined;
  readonly limit: number;
  /** How long to wait for a delivery when there is none. */
  readonly waitSeconds: number;
}

export class Mailbox {
  readonly #store: Store;
  readonly #sealer: Sealer;
  readonly #waits = new Waits({ total: MAX_WAITS, perKey: MAX_WAITS_PER_RECEIVER });

  constructor(deps: { store: Store; sealer: Sealer }) {
    this.#store = deps.store;
    this.#sealer = deps.sealer;
  }

  /** Takes a delivery in once its signature is right; one that was taken in before is not stored again. Throws `not_found`, `invalid_signature`. */
  receive(receiverId: string, incoming: Incoming): Received {
    const { db, clock } = this.#store;
    const receiver = anyReceiver(db, receiverId);
    if (receiver === undefined) throw new AppError('not_found', 'There is no webhook receiver at this URL.');
    const secret = openSecret(this.#sealer, receiver);
    if (!isGenuine(receiver.validator, incoming, { secret, now: clock.now() })) {
      throw new AppError(
        'invalid_signature',
        'The signature is missing, wrong or too old. Check the secret and the validator of this receiver.',
      );
    }
    const { eventType, deliveryId, challenge } = describe(receiver.validator, incoming);
    if (challenge !== null) return { challenge };
    this.#store.inTx((tx) => {
      // Deleted since it was read above: the delivery has nowhere to go.
      const now = anyReceiver(tx.db, receiverId);
      if (now === undefined) throw new AppError('not_found', 'There is no webhook receiver at this URL.');
      if (deliveryId !== null && isKnown(tx.db, receiverId, deliveryId)) return;
      store(tx, now, { incoming, eventType, deliveryId });
      tx.onCommit(() => this.#waits.wake(receiverId));
    });
    return 'stored';
  }

  /**
   * Oldest first, those behind `after`. An `after` that is gone itself stands for its place. Waits when there are none, unless too many wait
   * already. Throws `not_found`, `invalid_request`, `forbidden`.
   */
  async read(actor: Actor, id: string, reading: Reading & { readonly gone: AbortSignal }): Promise<DeliveryRow[]> {
    allow(actor, 'read', 'webhook_receiver');
    const { orgId } = actor;
    const read = (): DeliveryRow[] => this.#behind(ownReceiver(this.#store.db, orgId, id), reading);
    const found = read();
    if (found.length > 0 || reading.waitSeconds === 0) return found;
    await this.#waits.until(id, reading.waitSeconds * 1000, reading.gone);
    return reading.gone.aborted ? [] : read();
  }

  /** Answers all who wait, and holds nobody any more: the server stops. */
  endWaits(): void {
    this.#waits.end();
  }

  /** Requests that are held now. */
  get waiting(): number {
    return this.#waits.size;
  }

  #behind({ id }: ReceiverRow, { after, limit }: Reading): DeliveryRow[] {
    const { db } = this.#store;
    const { receiverId, sequence } = webhookDeliveries;
    const from = after === undefined ? 0 : placeOf(db, id, after);
    const rows = db
      .select({ sequence, bytes: webhookDeliveries.bytes })
      .from(webhookDeliveries)
      .where(and(eq(receiverId, id), gt(sequence, from)))
      .orderBy(asc(sequence))
      .limit(limit)
      .all();
    let bytes = 0;
    const wanted = rows.filter((row) => {
      const fits = bytes < MAX_ANSWER_BYTES;
      bytes += row.bytes;
      return fits;
    });
    const last = wanted.at(-1);
    if (last === undefined) return [];
    return db
      .select()
      .from(webhookDeliveries)
      .where(and(eq(receiverId, id), gt(sequence, from), lt(sequence, last.sequence + 1)))
      .orderBy(asc(sequence))
      .all();
  }
}

/** Deletes what is older than the plan of its organization keeps: a batch of each plan. Called by retention.ts. */
export function forgetDeliveries(tx: Tx): void {
  for (const plan of PLANS) {
    const past = tx.now - ENTITLEMENTS[plan].inspectorRetentionDays * DAY_MS;
    const old = tx.db
      .select({ sequence: webhookDeliveries.sequence, receiverId: webhookDeliveries.receiverId })
      .from(webhookDeliveries)
      .innerJoin(webhookReceivers, eq(webhookReceivers.id, webhookDeliveries.receiverId))
      .innerJoin(organizations, eq(organizations.id, webhookReceivers.orgId))
      .where(and(lt(webhookDeliveries.receivedAt, past), eq(organizations.plan, plan)))
      .limit(SWEEP_BATCH)
      .all();
    for (const [receiverId, rows] of Map.groupBy(old, (row) => row.receiverId)) {
      drop(
        tx,
        receiverId,
        rows.map((row) => row.sequence),
      );
    }
  }
}

function isKnown(db: Db, receiverId: string, deliveryId: string): boolean {
  const { sequence } = webhookDeliveries;
  const same = and(eq(webhookDeliveries.receiverId, receiverId), eq(webhookDeliveries.deliveryId, deliveryId));
  return db.select({ sequence }).from(webhookDeliveries).where(same).get() !== undefined;
}

interface Arrival {
  readonly incoming: Incoming;
  readonly eventType: string | null;
  readonly deliveryId: string | null;
}

function store(tx: Tx, receiver: ReceiverRow, { incoming, eventType, deliveryId }: Arrival): void {
  const headers = Object.fromEntries(Object.entries(incoming.headers).filter(([name]) => !NOT_KEPT.has(name)));
  const bytes = incoming.body.length + JSON.stringify(headers).length + ROW_BYTES;
  const displaced = makeRoom(tx, receiver, bytes);
  tx.db
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
    })
    .run();
  const { storedBytes, storedCount, received } = webhookReceivers;
  tx.db
    .update(webhookReceivers)
    .set({
      storedBytes: sql`${storedBytes} + ${bytes}`,
      storedCount: sql`${storedCount} + 1`,
      received: sql`${received} + 1`,
      displaced: receiver.displaced + displaced,
      lastReceivedAt: tx.now,
    })
    .where(eq(webhookReceivers.id, receiver.id))
    .run();
}

/** Drops the oldest until one more of this size fits; says how many. */
function makeRoom(tx: Tx, { id, storedBytes, storedCount }: ReceiverRow, bytes: number): number {
  let over = storedBytes + bytes - MAX_STORED_BYTES;
  let crowd = storedCount + 1 - MAX_STORED;
  let gone = 0;
  while (over > 0 || crowd > 0) {
    const going: number[] = [];
    for (const row of oldest(tx, id)) {
      if (over <= 0 && crowd <= 0) break;
      going.push(row.sequence);
      over -= row.bytes;
      crowd -= 1;
    }
    if (going.length === 0) break;
    drop(tx, id, going);
    gone += going.length;
  }
  return gone;
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

function drop(tx: Tx, id: string, sequences: readonly number[]): void {
  const { receiverId, sequence, bytes } = webhookDeliveries;
  const these = and(eq(receiverId, id), inArray(sequence, [...sequences]));
  const gone = tx.db.select({ bytes }).from(webhookDeliveries).where(these).all();
  tx.db.delete(webhookDeliveries).where(these).run();
  const { storedBytes, storedCount } = webhookReceivers;
  const freed = gone.reduce((sum, row) => sum + row.bytes, 0);
  tx.db
    .update(webhookReceivers)
    .set({ storedBytes: sql`${storedBytes} - ${freed}`, storedCount: sql`${storedCount} - ${gone.length}` })
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
