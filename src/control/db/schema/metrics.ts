/** What organizations' tunnels carried, by time: what charts are drawn from. */
import { index, integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import { organizations } from './organizations.ts';

/** One row per organization, width and stretch of time in which something was carried: empty stretches have none. */
export const usageBuckets = sqliteTable(
  'usage_buckets',
  {
    orgId: text('org_id')
      .notNull()
      .references(() => organizations.id),
    widthSeconds: integer('width_seconds').notNull(),
    /** A multiple of the width since the epoch, milliseconds. */
    startsAt: integer('starts_at').notNull(),
    requests: integer().notNull(),
    bytesIn: integer('bytes_in').notNull(),
    bytesOut: integer('bytes_out').notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.orgId, t.widthSeconds, t.startsAt] }),
    index('usage_buckets_past').on(t.widthSeconds, t.startsAt),
  ],
);
