/** What the inspector of a tunnel records, and requests that were shared. */
import { index, integer, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core';
import { organizations } from './organizations.ts';
import { tunnels } from './tunnels.ts';

/** What is replaced in records of a tunnel before they are stored. */
export type MaskRule =
  | { readonly header: string }
  /** `$.card.number`, `$.items[*].secret`, `$..password`. */
  | { readonly json_path: string }
  | { readonly query: string }
  /** A field of a form. */
  | { readonly form: string };

/** A tunnel without a row has the server's settings. The row outlives the tunnel by a day: its last records may still come. */
export const inspectorSettings = sqliteTable('inspector_settings', {
  tunnelId: text('tunnel_id')
    .primaryKey()
    .references(() => tunnels.id),
  /** null: the setting of the server (`inspector.websocket_frames`). */
  websocketFrames: integer('websocket_frames', { mode: 'boolean' }),
  mask: text({ mode: 'json' }).$type<readonly MaskRule[]>().notNull(),
  updatedAt: integer('updated_at').notNull(),
});

/** Public links, each to one recorded request. */
export const inspectorShares = sqliteTable(
  'inspector_shares',
  {
    id: text().primaryKey(),
    orgId: text('org_id')
      .notNull()
      .references(() => organizations.id),
    /** In the file of recorded requests. */
    recordId: text('record_id').notNull(),
    /** For the audit log. No reference: a record outlives its tunnel. */
    tunnelId: text('tunnel_id').notNull(),
    /** SHA-256 of the token in the link. */
    tokenHash: text('token_hash').notNull(),
    /** Email address of the user who made it. */
    createdBy: text('created_by').notNull(),
    createdAt: integer('created_at').notNull(),
    expiresAt: integer('expires_at').notNull(),
  },
  (t) => [
    uniqueIndex('inspector_shares_token').on(t.tokenHash),
    index('inspector_shares_org').on(t.orgId, t.createdAt),
    index('inspector_shares_expiry').on(t.expiresAt),
  ],
);
