/** Public ports that tunnels and private networks gave up: who comes to an old address should not find another organization's service behind it. */
import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import { organizations } from './organizations.ts';

export const restingPorts = sqliteTable(
  'resting_ports',
  {
    /** `tcp`: of tunnels; `udp`: of private networks. */
    transport: text({ enum: ['tcp', 'udp'] }).notNull(),
    port: integer().notNull(),
    /** That had it last. Null: not known, for it was freed before this was written down. */
    orgId: text('org_id').references(() => organizations.id),
    freedAt: integer('freed_at').notNull(),
  },
  (t) => [primaryKey({ columns: [t.transport, t.port] })],
);
