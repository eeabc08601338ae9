/** Tunnels and the names that they may have. */
import { sql } from 'drizzle-orm';
import { index, integer, primaryKey, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core';
import { organizations } from './organizations.ts';
import { capabilityTokens, projects } from './tokens.ts';

export const tunnels = sqliteTable(
  'tunnels',
  {
    id: text().primaryKey(),
    orgId: text('org_id')
      .notNull()
      .references(() => organizations.id),
    projectId: text('project_id')
      .notNull()
      .references(() => projects.id),
    /** Full label, project suffix included. `tcp` tunnels have one too: it is how an agent names them. */
    label: text().notNull(),
    protocol: text({ enum: ['http', 'https', 'websocket', 'tcp'] }).notNull(),
    localPort: integer('local_port').notNull(),
    /** Public port of a `tcp` tunnel: stays with the row for as long as it lives. */
    tcpPort: integer('tcp_port'),
    status: text({ enum: ['active', 'inactive'] }).notNull(),
    /** Stopped by the API: agents are refused until it is started. */
    stopped: integer({ mode: 'boolean' }).notNull().default(false),
    /** What was asked for at creation; null = the plan's. */
    ttlSeconds: integer('ttl_seconds'),
    /** When this life began: creation or the last start. */
    startedAt: integer('started_at').notNull().default(0),
    /** Counted from `startedAt`; null = never. */
    expiresAt: integer('expires_at'),
    /** The expiry has been carried out: agent cut off, data plane told. */
    expired: integer({ mode: 'boolean' }).notNull().default(false),
    /** Made by an agent that named nothing: goes by itself when unused. */
    ephemeral: integer({ mode: 'boolean' }).notNull().default(false),
    /** The token whose agent made the row or served it last. */
    tokenId: text('token_id').references(() => capabilityTokens.id),
    bytesIn: integer('bytes_in').notNull().default(0),
    bytesOut: integer('bytes_out').notNull().default(0),
    totalRequests: integer('total_requests').notNull().default(0),
    createdAt: integer('created_at').notNull(),
    /** Last time that an agent came or left, or the API changed the row. Of an unnamed tunnel whose agent was stopped: almost a day before (plane/usage.ts). */
    touchedAt: integer('touched_at').notNull(),
    /** Session of the agent that came or left last: an `ended_sessions` row, if that is kept. */
    agentId: text('agent_id'),
    /** When it did. null: no agent has come since this is stored. */
    agentAt: integer('agent_at'),
    /** How it left; null: it serves the tunnel. */
    agentLeft: text('agent_left', { enum: ['stopped', 'lost'] }),
    /** When traffic was counted last. */
    trafficAt: integer('traffic_at'),
    deletedAt: integer('deleted_at'),
  },
  (t) => [
    uniqueIndex('tunnels_live_label').on(t.label).where(sql`deleted_at IS NULL`),
    uniqueIndex('tunnels_live_port').on(t.tcpPort).where(sql`deleted_at IS NULL AND tcp_port IS NOT NULL`),
    // Deleted rows stay for accounting: a list must not walk through them. `deletedAt`, so that it is taken before `tunnels_made`.
    index('tunnels_live_org').on(t.orgId, t.deletedAt, t.createdAt).where(sql`deleted_at IS NULL`),
    // All of them, deleted ones too: what an organization made in a day.
    index('tunnels_made').on(t.orgId, t.createdAt),
    index('tunnels_idle').on(t.touchedAt).where(sql`deleted_at IS NULL`),
    index('tunnels_deleted').on(t.deletedAt).where(sql`deleted_at IS NOT NULL`),
    index('tunnels_token').on(t.tokenId),
    index('tunnels_due').on(t.expiresAt).where(sql`deleted_at IS NULL AND expired = 0 AND expires_at IS NOT NULL`),
  ],
);

/** The command of the agent that served a tunnel last, if it has sent one. A table of its own: lists of tunnels don't read it. */
export const agentCommands = sqliteTable('agent_commands', {
  tunnelId: text('tunnel_id')
    .primaryKey()
    .references(() => tunnels.id),
  /** AgentCommand of wire/agent-command.ts, as JSON. */
  command: text().notNull(),
  updatedAt: integer('updated_at').notNull(),
});

export const restingNames = sqliteTable(
  'resting_names',
  {
    label: text().primaryKey(),
    orgId: text('org_id')
      .notNull()
      .references(() => organizations.id),
    deletedAt: integer('deleted_at').notNull(),
  },
  (t) => [index('resting_names_deleted').on(t.deletedAt)],
);

/** Names that an organization keeps whether or not a tunnel has them. */
export const reservedSubdomains = sqliteTable(
  'reserved_subdomains',
  {
    id: text().primaryKey(),
    orgId: text('org_id')
      .notNull()
      .references(() => organizations.id),
    /** A whole label, project suffix included. */
    subdomain: text().notNull(),
    createdAt: integer('created_at').notNull(),
  },
  (t) => [uniqueIndex('reserved_subdomains_subdomain').on(t.subdomain), index('reserved_subdomains_org').on(t.orgId)],
);

/** What requests of a tunnel's visitors must pass, and what is set on them. */
export const tunnelPolicies = sqliteTable('tunnel_policies', {
  tunnelId: text('tunnel_id')
    .primaryKey()
    .references(() => tunnels.id),
  /** The Actions of plane/policy.ts. */
  policy: text({ mode: 'json' }).notNull(),
  updatedAt: integer('updated_at').notNull(),
});

/** What actions of a policy that are only tried would have refused since it was put. Gone with the policy: it holds addresses of visitors. */
export const dryRuns = sqliteTable(
  'dry_runs',
  {
    tunnelId: text('tunnel_id')
      .notNull()
      .references(() => tunnels.id),
    /** Place of the action in the policy. */
    actionIndex: integer('action_index').notNull(),
    refused: integer().notNull(),
    lastAt: integer('last_at').notNull(),
    /** The last of them. null: a connection of a `tcp` tunnel has none. */
    method: text(),
    path: text(),
    clientIp: text('client_ip').notNull(),
    /** Error code that the visitor would have got. */
    code: text().notNull(),
  },
  (t) => [primaryKey({ columns: [t.tunnelId, t.actionIndex] })],
);

/** User name and password that a tunnel asks its visitors for. */
export const basicGates = sqliteTable('basic_gates', {
  tunnelId: text('tunnel_id')
    .primaryKey()
    .references(() => tunnels.id),
  username: text().notNull(),
  /** Argon2id in PHC form. */
  passwordHash: text('password_hash').notNull(),
  /** New with each change: it ends the passes of older versions. */
  version: text().notNull(),
  updatedAt: integer('updated_at').notNull(),
});

/** Visitors that a tunnel admits, once an identity provider vouches for them. */
export const visitorGates = sqliteTable('visitor_gates', {
  tunnelId: text('tunnel_id')
    .primaryKey()
    .references(() => tunnels.id),
  /** Lower case. */
  allowedDomains: text('allowed_domains', { mode: 'json' }).$type<readonly string[]>().notNull(),
  allowedEmails: text('allowed_emails', { mode: 'json' }).$type<readonly string[]>().notNull(),
  /** New with each change: it ends the passes of older versions. */
  version: text().notNull(),
  updatedAt: integer('updated_at').notNull(),
});
