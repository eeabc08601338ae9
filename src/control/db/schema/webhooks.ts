/** The webhook mailbox: receivers, what was delivered to them, and what became of it on its way to a tunnel. */
import { sql } from 'drizzle-orm';
import { blob, index, integer, primaryKey, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core';
import { WEBHOOK_KINDS } from '../../../signatures/kinds.ts';
import { organizations } from './organizations.ts';

export const webhookReceivers = sqliteTable(
  'webhook_receivers',
  {
    /** Part of the public URL. */
    id: text().primaryKey(),
    orgId: text('org_id')
      .notNull()
      .references(() => organizations.id),
    name: text().notNull(),
    validator: text({ enum: WEBHOOK_KINDS }).notNull(),
    /** Shared with the sender, or several of them; sealed, for a signature can't be checked against a hash. */
    sealedSecret: text('sealed_secret').notNull(),
    createdAt: integer('created_at').notNull(),
    updatedAt: integer('updated_at').notNull(),
    /** What is stored now, in bytes and deliveries; kept in the transactions that change it. */
    storedBytes: integer('stored_bytes').notNull().default(0),
    storedCount: integer('stored_count').notNull().default(0),
    /** Deliveries since the beginning, and those that went unread because newer ones needed their room. */
    received: integer().notNull().default(0),
    displaced: integer().notNull().default(0),
    lastReceivedAt: integer('last_received_at'),
    /** How many had been refused when the last delivery was taken in; null: none was since the secret or validator changed last. */
    refusedBefore: integer('refused_before'),
    /** The tunnel that deliveries are sent on to, and where on it; both null: none is. No reference: a deleted tunnel's row goes after a month. */
    forwardTunnelId: text('forward_tunnel_id'),
    forwardPath: text('forward_path'),
    /** Of the last redelivery of a time range: what the caller named it, and how many it queued. The same name again queues none. */
    redeliveryKey: text('redelivery_key'),
    redeliveryCount: integer('redelivery_count'),
    /** The rest of that call's response. `redelivery_matched` is null for a call of an earlier version. */
    redeliveryMatched: integer('redelivery_matched'),
    redeliveryContinueFrom: integer('redelivery_continue_from'),
  },
  (t) => [
    index('webhook_receivers_org').on(t.orgId),
    index('webhook_receivers_forward').on(t.forwardTunnelId).where(sql`forward_tunnel_id IS NOT NULL`),
  ],
);

export const webhookDeliveries = sqliteTable(
  'webhook_deliveries',
  {
    /** The order in which they came: a clock may go back, this never does. */
    sequence: integer().primaryKey({ autoIncrement: true }),
    id: text().notNull(),
    receiverId: text('receiver_id')
      .notNull()
      .references(() => webhookReceivers.id),
    receivedAt: integer('received_at').notNull(),
    /** As the sender calls it, or null. */
    eventType: text('event_type'),
    /** By which the sender names this delivery when it sends it again; null: it gives none. */
    deliveryId: text('delivery_id'),
    contentType: text('content_type'),
    headers: text({ mode: 'json' }).$type<Readonly<Record<string, string>>>().notNull(),
    /** As it was signed, byte by byte. */
    body: blob({ mode: 'buffer' }).notNull(),
    /** What it counts for: body, headers and a row. */
    bytes: integer().notNull(),
    /** Address of its sender; null: it came before this was kept. */
    remoteIp: text('remote_ip'),
    /** A test event: this server has made and signed it. */
    isTest: integer('is_test', { mode: 'boolean' }).notNull().default(false),
  },
  (t) => [
    uniqueIndex('webhook_deliveries_id').on(t.id),
    uniqueIndex('webhook_deliveries_delivery').on(t.receiverId, t.deliveryId),
    index('webhook_deliveries_receiver').on(t.receiverId, t.sequence),
    index('webhook_deliveries_received').on(t.receivedAt),
  ],
);

/** What a receiver has refused since its secret or validator changed last: how often for each reason, and nothing of what was refused. */
export const webhookRefusals = sqliteTable(
  'webhook_refusals',
  {
    receiverId: text('receiver_id')
      .notNull()
      .references(() => webhookReceivers.id),
    reason: text({
      enum: ['signature_missing', 'signature_wrong', 'signature_too_old', 'too_large', 'came_back'],
    }).notNull(),
    count: integer().notNull(),
    lastAt: integer('last_at').notNull(),
  },
  (t) => [primaryKey({ columns: [t.receiverId, t.reason] })],
);

/** A forward that was given up, or failed several times in a row; none of a test event. Queries that say the same use the index. */
export const FAILING = sql.raw("(is_test = 0 AND (state = 'failed' OR (state = 'waiting' AND attempts >= 3)))");

/** What became of a delivery that is sent on. Apart from it: to change a row that holds a megabyte is to write it anew. */
export const webhookForwards = sqliteTable(
  'webhook_forwards',
  {
    sequence: integer()
      .primaryKey()
      .references(() => webhookDeliveries.sequence),
    receiverId: text('receiver_id').notNull(),
    /** Lowest first; below zero: a user asked to resend it. */
    place: integer().notNull(),
    state: text({ enum: ['waiting', 'delivered', 'failed'] }).notNull(),
    /** Since it was put in line last. */
    attempts: integer().notNull().default(0),
    /** Not before this. */
    nextAt: integer('next_at').notNull().default(0),
    /** Of the last try; null: nothing came. */
    lastStatus: integer('last_status'),
    /** Why the last try failed, where that was not the service's own answer. */
    lastError: text('last_error'),
    deliveredAt: integer('delivered_at'),
    /** As of its delivery. */
    isTest: integer('is_test', { mode: 'boolean' }).notNull().default(false),
  },
  (t) => [
    index('webhook_forwards_waiting').on(t.receiverId, t.place, t.sequence).where(sql`state = 'waiting'`),
    // What fails now, of what may be 10,000 deliveries: answered from the index alone.
    index('webhook_forwards_failing').on(t.receiverId, t.state, t.attempts).where(FAILING),
  ],
);

/** Attempts to forward a delivery, each with the response. The last ones of a delivery, and the last bodies of a receiver, are kept. */
export const webhookAttempts = sqliteTable(
  'webhook_attempts',
  {
    id: integer().primaryKey({ autoIncrement: true }),
    sequence: integer()
      .notNull()
      .references(() => webhookDeliveries.sequence),
    receiverId: text('receiver_id').notNull(),
    /** As in `Culvert-Webhook-Attempt`: from 1, and again from 1 after a redelivery. */
    attempt: integer().notNull(),
    /** When it began. */
    at: integer().notNull(),
    latencyMs: integer('latency_ms').notNull(),
    /** null: nothing came. */
    status: integer(),
    /** Of the edge, where that was not the service's own response. */
    error: text(),
    contentType: text('content_type'),
    /** Bytes of the response's body, of which the first are kept; null: none came, or they gave way to newer ones. */
    size: integer().notNull(),
    body: blob({ mode: 'buffer' }),
  },
  (t) => [
    index('webhook_attempts_delivery').on(t.sequence, t.id),
    index('webhook_attempts_bodies').on(t.receiverId, t.id).where(sql`body IS NOT NULL`),
  ],
);
