/** What organizations' tunnels carried, by time: what charts are drawn from; keys to read metrics with; how sessions of agents ended. */
import { index, integer, primaryKey, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core';
import { organizations } from './organizations.ts';
import { users } from './people.ts';

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

/** Keys of an organization with which a scraper reads its metrics, and nothing else. One that was revoked is gone. */
export const metricKeys = sqliteTable(
  'metric_keys',
  {
    id: text().primaryKey(),
    orgId: text('org_id')
      .notNull()
      .references(() => organizations.id),
    name: text().notNull(),
    /** SHA-256 of the key, hex. */
    keyHash: text('key_hash').notNull(),
    createdBy: text('created_by').references(() => users.id),
    createdAt: integer('created_at').notNull(),
    lastUsedAt: integer('last_used_at'),
  },
  (t) => [uniqueIndex('metric_keys_key_hash').on(t.keyHash), index('metric_keys_org').on(t.orgId)],
);

/** Sessions of agents that are over, and why: the last ones of each organization. */
export const endedSessions = sqliteTable(
  'ended_sessions',
  {
    agentId: text('agent_id').primaryKey(),
    orgId: text('org_id')
      .notNull()
      .references(() => organizations.id),
    tokenId: text('token_id').notNull(),
    remoteIp: text('remote_ip').notNull(),
    /** As the agent calls its machine. */
    hostname: text().notNull(),
    startedAt: integer('started_at').notNull(),
    endedAt: integer('ended_at').notNull(),
    /** One of plane/events.ts. */
    reason: text().notNull(),
    message: text().notNull(),
  },
  (t) => [index('ended_sessions_org').on(t.orgId, t.endedAt), index('ended_sessions_ended').on(t.endedAt)],
);
