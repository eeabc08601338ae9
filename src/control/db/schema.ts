/**
 * Every table of the control plane. Read by drizzle-kit, which writes `drizzle/*.sql`, and by the slices alone. Rules: ids are UUIDv7 in
 * text; instants are integers, milliseconds since the epoch, named `*At`; a secret is stored as a hash or sealed, never in clear; nothing that a
 * customer made is removed by a cascade that a migration could fire by accident (see migrate.ts). A later feature adds a table or a nullable
 * column, so that no table has to be rebuilt.
 */
export * from './schema/people.ts';
export * from './schema/organizations.ts';
export * from './schema/sessions.ts';
export * from './schema/tokens.ts';
export * from './schema/tunnels.ts';
export * from './schema/domains.ts';
export * from './schema/networks.ts';
export * from './schema/public-ports.ts';
export * from './schema/webhooks.ts';
export * from './schema/inspector.ts';
export * from './schema/metrics.ts';
export * from './schema/latency.ts';
export * from './schema/pending.ts';
export * from './schema/server.ts';
export * from './schema/alerts.ts';
export * from './schema/exports.ts';
