/** Large changes that were decided and answered, and whose rows follow in slices (control/core/drains.ts). */
import { index, integer, sqliteTable, text } from 'drizzle-orm/sqlite-core';

export const PENDING_KINDS = [
  'organization_deleted',
  'project_deleted',
  'master_key_ended',
  'master_key_rotated',
  'member_keys_ended',
  'user_keys_ended',
  'user_logins_ended',
  'receiver_deleted',
  'network_deleted',
  'plan_changed',
] as const;

export const pendingWork = sqliteTable(
  'pending_work',
  {
    /** In the order in which the work was decided. */
    id: text().primaryKey(),
    kind: text({ enum: PENDING_KINDS }).notNull(),
    /** The id of what is gone: its rows count as gone while this row is here (db/gone.ts). Of other kinds a name that is no id. */
    scope: text().notNull(),
    /** Empty: of a user in all organizations. */
    orgId: text('org_id').notNull(),
    /** The instant that all its rows get. */
    at: integer().notNull(),
    /** Who did it: an Actor. */
    actor: text({ mode: 'json' }).notNull(),
    details: text({ mode: 'json' }).notNull(),
    /** How far a step has come that leaves no sign in its rows. */
    cursor: text().notNull().default(''),
  },
  (t) => [index('pending_work_scope').on(t.scope), index('pending_work_org').on(t.orgId, t.id)],
);
