/** What the inspector of a tunnel records. */
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core';
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
  /** null: as the server has it (`inspector.websocket_frames`). */
  websocketFrames: integer('websocket_frames', { mode: 'boolean' }),
  mask: text({ mode: 'json' }).$type<readonly MaskRule[]>().notNull(),
  updatedAt: integer('updated_at').notNull(),
});
