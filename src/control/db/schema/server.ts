/** The server's own: keys, mail that waits, what was used once, what was stored, the audit log. */
import { index, integer, sqliteTable, text } from 'drizzle-orm/sqlite-core';

/** One row: which server this database is of. */
export const serverIdentity = sqliteTable('server_identity', {
  /** A random UUID, made at the first start and kept by backups: agents tell by it whether their own server speaks. */
  id: text().primaryKey(),
  createdAt: integer('created_at').notNull(),
});

export const signingKeys = sqliteTable('signing_keys', {
  /** The `kid`: 8 random bytes, hex. */
  id: text().primaryKey(),
  /** `access` signs JWTs for people, `capability` signs CWTs for agents: neither can stand for the other. */
  purpose: text({ enum: ['access', 'capability'] }).notNull(),
  publicJwk: text('public_jwk').notNull(),
  /** PKCS #8, sealed with the key file of the data folder (core/secrets/sealing.ts). */
  sealedPrivate: text('sealed_private').notNull(),
  createdAt: integer('created_at').notNull(),
  /** Signs no more, still verifies. */
  retiredAt: integer('retired_at'),
});

export const outgoingMails = sqliteTable(
  'outgoing_mails',
  {
    id: text().primaryKey(),
    /** The email with address, codes and links, as JSON, sealed with the key of the data folder. */
    sealedEmail: text('sealed_letter').notNull(),
    attempts: integer().notNull().default(0),
    createdAt: integer('created_at').notNull(),
    nextAt: integer('next_at').notNull(),
    /** Past this the email is useless (its code has expired): it is dropped, with a line in the log. */
    expiresAt: integer('expires_at').notNull(),
  },
  (t) => [index('outgoing_mails_next').on(t.nextAt)],
);

export const spentOnce = sqliteTable(
  'spent_once',
  {
    id: text().primaryKey(),
    expiresAt: integer('expires_at').notNull(),
  },
  (t) => [index('spent_once_expires').on(t.expiresAt)],
);

export const nodeCursors = sqliteTable('node_cursors', {
  node: text().primaryKey(),
  sequence: integer().notNull(),
  updatedAt: integer('updated_at').notNull(),
});

export const auditEvents = sqliteTable(
  'audit_events',
  {
    id: text().primaryKey(),
    orgId: text('org_id'),
    at: integer().notNull(),
    action: text().notNull(),
    resourceType: text('resource_type').notNull(),
    resourceId: text('resource_id').notNull(),
    /** Name of the object, as it was then; null: it has none, or the entry is of an older version. */
    resourceName: text('resource_name'),
    actorKind: text('actor_kind', { enum: ['user', 'token', 'operator', 'system'] }).notNull(),
    actorId: text('actor_id'),
    /** E-mail address or token name, as it was then. */
    actorLabel: text('actor_label').notNull(),
    ipAddress: text('ip_address').notNull(),
    /** Facts beside the change; entries of older versions have the change here, too. Never a secret. */
    details: text({ mode: 'json' }).$type<Readonly<Record<string, string | number | boolean | null>>>(),
    /** AuditChange of core/rules/audit-changes.ts; null: none. Never a secret. */
    changes: text({ mode: 'json' }).$type<
      ReadonlyArray<{
        readonly field: string;
        readonly from: string | number | boolean | null;
        readonly to: string | number | boolean | null;
      }>
    >(),
  },
  (t) => [
    index('audit_events_org_at').on(t.orgId, t.at),
    index('audit_events_at').on(t.at),
    index('audit_events_actor_at').on(t.actorId, t.at),
    index('audit_events_resource_at').on(t.resourceId, t.at),
  ],
);

/** Settings of the server that an operator has set in the dashboard; the settings file wins. */
export const instanceSettings = sqliteTable('instance_settings', {
  /** As in the settings file, dotted. */
  key: text().primaryKey(),
  value: text({ mode: 'json' }).$type<string | boolean>(),
  /** In its place for a secret: sealed with the key of the data folder. */
  sealedValue: text('sealed_value'),
  updatedAt: integer('updated_at').notNull(),
});

/** Numbers that only grow. */
export const counters = sqliteTable('counters', {
  name: text().primaryKey(),
  value: integer().notNull(),
});
