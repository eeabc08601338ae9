/** How long requests of tunnels took, and how they ended, by time. */
import { blob, index, integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core';

/**
 * One row per tunnel or organization, width and period with traffic. Names no other table: rows of deleted tunnels age out like all
 * others. A histogram is a blob of control/metrics/latency/packed-cells.ts.
 */
export const latencyBuckets = sqliteTable(
  'latency_buckets',
  {
    /** Of a tunnel or an organization. */
    scopeId: text('scope_id').notNull(),
    widthSeconds: integer('width_seconds').notNull(),
    /** A multiple of the width since the epoch, milliseconds. */
    startsAt: integer('starts_at').notNull(),
    firstByte: blob('first_byte', { mode: 'buffer' }).notNull(),
    total: blob({ mode: 'buffer' }).notNull(),
    status1xx: integer('status_1xx').notNull(),
    status2xx: integer('status_2xx').notNull(),
    status3xx: integer('status_3xx').notNull(),
    status4xx: integer('status_4xx').notNull(),
    status5xx: integer('status_5xx').notNull(),
    canceled: integer().notNull(),
    bytesIn: integer('bytes_in').notNull(),
    bytesOut: integer('bytes_out').notNull(),
    connections: integer().notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.scopeId, t.widthSeconds, t.startsAt] }),
    index('latency_buckets_past').on(t.widthSeconds, t.startsAt),
  ],
);
