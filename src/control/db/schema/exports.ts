/** Where organizations send their requests and audit events. */
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import { organizations } from './organizations.ts';

/** What can be exported. */
export const EXPORT_EVENTS = ['requests', 'audit', 'security'] as const;

export const orgExports = sqliteTable('org_exports', {
  orgId: text('org_id')
    .primaryKey()
    .references(() => organizations.id),
  events: text({ mode: 'json' }).$type<ReadonlyArray<(typeof EXPORT_EVENTS)[number]>>().notNull(),
  otlpEndpoint: text('otlp_endpoint'),
  /** Header fields for the collector, with its key; sealed. null: none. */
  sealedHeaders: text('sealed_headers'),
  webhookUrl: text('webhook_url'),
  /** Signs what is posted; sealed. */
  sealedSecret: text('sealed_secret'),
  /** Id of the last audit event that was handed on: what a stopped server has missed goes out at its next start. */
  auditCursor: text('audit_cursor').notNull(),
  updatedAt: integer('updated_at').notNull(),
});
