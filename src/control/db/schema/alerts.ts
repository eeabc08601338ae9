/** Alerts: rules of organizations, where they send to, what they found, and messages on their way out. */
import { sql } from 'drizzle-orm';
import { index, integer, primaryKey, real, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core';
import { organizations } from './organizations.ts';

export const ALERT_KINDS = [
  'tunnel_offline',
  'error_rate',
  'latency_p95',
  'webhook_failing',
  'certificate',
  'budget',
  'new_address',
] as const;

export const ALERT_CHANNELS = ['email', 'webhook', 'slack', 'discord', 'ntfy', 'pagerduty'] as const;

/**
 * `pending`: found, not for long enough yet. `recovering`: well again for some seconds. `noted`: an event, which has no end.
 */
export const INCIDENT_STATES = ['pending', 'firing', 'recovering', 'recovered', 'noted'] as const;

export const alertRules = sqliteTable(
  'alert_rules',
  {
    id: text().primaryKey(),
    orgId: text('org_id')
      .notNull()
      .references(() => organizations.id),
    kind: text({ enum: ALERT_KINDS }).notNull(),
    /** The one tunnel that it watches; null: all of the organization. No reference: a deleted tunnel's row goes after a month. */
    tunnelId: text('tunnel_id'),
    threshold: real(),
    forMinutes: integer('for_minutes').notNull(),
    /** Of attention/alerts/quiet-hours.ts. */
    quietHours: text('quiet_hours', { mode: 'json' }).$type<{
      readonly from: string;
      readonly to: string;
      readonly time_zone: string;
    }>(),
    enabled: integer({ mode: 'boolean' }).notNull().default(true),
    /** When it was created, or enabled last: what was offline before is no news. */
    activeSince: integer('active_since').notNull(),
    createdAt: integer('created_at').notNull(),
    updatedAt: integer('updated_at').notNull(),
  },
  (t) => [index('alert_rules_org').on(t.orgId), index('alert_rules_tunnel').on(t.tunnelId)],
);

export const alertChannels = sqliteTable(
  'alert_channels',
  {
    id: text().primaryKey(),
    ruleId: text('rule_id')
      .notNull()
      .references(() => alertRules.id),
    /** Its place in the list. */
    place: integer().notNull(),
    type: text({ enum: ALERT_CHANNELS }).notNull(),
    /** The address or URL without what is secret of it. */
    target: text().notNull(),
    /** All of its settings: URLs of chat services hold their secret. */
    sealedSettings: text('sealed_settings').notNull(),
    lastSentAt: integer('last_sent_at'),
    /** Why the last attempt failed; null: it did not. */
    lastError: text('last_error'),
    /** Since when attempts fail. */
    failingSince: integer('failing_since'),
    /** SHA-256 of the token in the email that its address is confirmed with, hex; null: it gets alerts. Shared by channels of one organization to one address. */
    confirmHash: text('confirm_hash'),
    /** Until when that token works. */
    confirmUntil: integer('confirm_until'),
  },
  (t) => [
    index('alert_channels_rule').on(t.ruleId, t.place),
    index('alert_channels_confirm').on(t.confirmHash).where(sql`confirm_hash IS NOT NULL`),
    index('alert_channels_failing').on(t.ruleId).where(sql`failing_since IS NOT NULL`),
  ],
);

/** What a rule found, one row per object and time. */
export const alertIncidents = sqliteTable(
  'alert_incidents',
  {
    /** In the order in which they were found. */
    id: text().primaryKey(),
    ruleId: text('rule_id')
      .notNull()
      .references(() => alertRules.id),
    orgId: text('org_id').notNull(),
    objectType: text('object_type').notNull(),
    objectId: text('object_id').notNull(),
    /** For users: what the object is called. */
    name: text().notNull(),
    title: text().notNull(),
    detail: text().notNull(),
    /** Page of the dashboard, a path below the address of the API. */
    href: text().notNull(),
    state: text({ enum: INCIDENT_STATES }).notNull(),
    /** For users: since when it is so. */
    since: integer().notNull(),
    /** What `for_minutes` is counted from. */
    countedFrom: integer('counted_from').notNull(),
    firedAt: integer('fired_at'),
    /** Since when it is well again. */
    wellAt: integer('well_at'),
    /** Messages about it: of its start, the last reminder, its end; null: none was due yet. */
    toldAt: integer('told_at'),
    remindedAt: integer('reminded_at'),
    reminders: integer().notNull().default(0),
    endToldAt: integer('end_told_at'),
  },
  (t) => [
    uniqueIndex('alert_incidents_open')
      .on(t.ruleId, t.objectId)
      .where(sql`state IN ('pending', 'firing', 'recovering')`),
    index('alert_incidents_org').on(t.orgId, t.id),
    // What messages are due about.
    index('alert_incidents_untold').on(t.orgId).where(sql`end_told_at IS NULL`),
    index('alert_incidents_rule').on(t.ruleId),
  ],
);

/** Messages to channels; a row goes when it was sent, or given up. */
export const alertMessages = sqliteTable(
  'alert_messages',
  {
    /** In their order. */
    id: text().primaryKey(),
    orgId: text('org_id').notNull(),
    channelId: text('channel_id')
      .notNull()
      .references(() => alertChannels.id),
    /** A Notice of attention/alerts/channels/notices.ts. */
    notice: text({ mode: 'json' }).notNull(),
    attempts: integer().notNull().default(0),
    nextAt: integer('next_at').notNull(),
  },
  (t) => [
    index('alert_messages_channel').on(t.channelId, t.id),
    index('alert_messages_due').on(t.nextAt),
    index('alert_messages_org').on(t.orgId),
  ],
);

/** Addresses that agents of an organization have come from; kept while it has a rule about new ones. */
export const knownAddresses = sqliteTable(
  'known_addresses',
  {
    orgId: text('org_id')
      .notNull()
      .references(() => organizations.id),
    /** IPv6: its /64 network. */
    address: text().notNull(),
    lastAt: integer('last_at').notNull(),
  },
  (t) => [primaryKey({ columns: [t.orgId, t.address] }), index('known_addresses_last').on(t.lastAt)],
);
