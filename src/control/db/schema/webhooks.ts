/** The webhook mailbox: receivers, and what was delivered to them. */
import { blob, index, integer, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core';
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
    validator: text({ enum: ['generic_hmac_sha256', 'github', 'slack', 'stripe'] }).notNull(),
    /** Shared with the sender; sealed, for a signature can't be checked against a hash. */
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
  },
  (t) => [index('webhook_receivers_org').on(t.orgId)],
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
  },
  (t) => [
    uniqueIndex('webhook_deliveries_id').on(t.id),
    uniqueIndex('webhook_deliveries_delivery').on(t.receiverId, t.deliveryId),
    index('webhook_deliveries_receiver').on(t.receiverId, t.sequence),
    index('webhook_deliveries_received').on(t.receivedAt),
  ],
);
