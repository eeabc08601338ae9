/**
 * Every table of the control plane. Read by drizzle-kit, which writes `drizzle/*.sql`, and by control/services, nobody else.
 *
 * Rules: ids are UUIDv7 in text; instants are integers, milliseconds since the epoch, named `*At`; a secret is stored as a hash
 * or sealed, never in clear; nothing that a customer made is removed by a cascade that a migration could fire by accident
 * (see migrate.ts). A later feature adds a table or a nullable column, so that no table has to be rebuilt.
 * Length: it is one list, and whoever looks for a table looks here.
 */
import { sql } from 'drizzle-orm';
import { index, integer, primaryKey, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core';

export const users = sqliteTable(
  'users',
  {
    id: text().primaryKey(),
    /** As typed at sign-up: shown, never compared. */
    email: text().notNull(),
    /** Lower case: what is compared. */
    emailKey: text('email_key').notNull(),
    name: text().notNull().default(''),
    /** Argon2id in PHC form; null for an account that only an identity provider vouches for. */
    passwordHash: text('password_hash'),
    emailVerifiedAt: integer('email_verified_at'),
    isSuperadmin: integer('is_superadmin', { mode: 'boolean' }).notNull().default(false),
    createdAt: integer('created_at').notNull(),
    passwordChangedAt: integer('password_changed_at'),
    /** Locked by an operator: no way in, until it is unlocked. */
    lockedAt: integer('locked_at'),
  },
  (t) => [uniqueIndex('users_email_key').on(t.emailKey)],
);

export const organizations = sqliteTable(
  'organizations',
  {
    id: text().primaryKey(),
    name: text().notNull(),
    slug: text().notNull(),
    plan: text({ enum: ['free', 'pro', 'team', 'enterprise'] }).notNull(),
    approvalStatus: text('approval_status', { enum: ['approved', 'pending', 'suspended'] }).notNull(),
    createdAt: integer('created_at').notNull(),
    deletedAt: integer('deleted_at'),
  },
  (t) => [uniqueIndex('organizations_slug').on(t.slug)],
);

export const memberships = sqliteTable(
  'memberships',
  {
    orgId: text('org_id')
      .notNull()
      .references(() => organizations.id),
    userId: text('user_id')
      .notNull()
      .references(() => users.id),
    role: text({ enum: ['viewer', 'member', 'admin', 'owner'] }).notNull(),
    createdAt: integer('created_at').notNull(),
  },
  (t) => [primaryKey({ columns: [t.orgId, t.userId] }), index('memberships_user').on(t.userId)],
);

export const sessions = sqliteTable(
  'sessions',
  {
    id: text().primaryKey(),
    userId: text('user_id')
      .notNull()
      .references(() => users.id),
    /** The active organization of this session. */
    orgId: text('org_id')
      .notNull()
      .references(() => organizations.id),
    createdAt: integer('created_at').notNull(),
    lastUsedAt: integer('last_used_at').notNull(),
    expiresAt: integer('expires_at').notNull(),
    revokedAt: integer('revoked_at'),
    ipAddress: text('ip_address').notNull(),
    userAgent: text('user_agent').notNull(),
    /** The key of a command line that was let in together with this session: it ends with it. */
    tokenId: text('token_id'),
  },
  (t) => [index('sessions_user').on(t.userId), index('sessions_expires').on(t.expiresAt)],
);

/** Two rows per session: its refresh cookie, and what all its cookies share (`rotated_at` is set). See services/sessions/refresh-rows.ts. */
export const refreshTokens = sqliteTable(
  'refresh_tokens',
  {
    /** SHA-256, hex. */
    hash: text().primaryKey(),
    sessionId: text('session_id')
      .notNull()
      .references(() => sessions.id),
    issuedAt: integer('issued_at').notNull(),
    rotatedAt: integer('rotated_at'),
  },
  (t) => [index('refresh_tokens_session').on(t.sessionId)],
);

/** The live e-mail code of an account: at most one per user. */
export const emailCodes = sqliteTable('email_codes', {
  userId: text('user_id')
    .primaryKey()
    .references(() => users.id),
  /** Six digits have no strength of their own: an HMAC with the key of the data folder (services/keys/sealing.ts), hex. */
  codeMac: text('code_mac').notNull(),
  failedAttempts: integer('failed_attempts').notNull().default(0),
  createdAt: integer('created_at').notNull(),
  expiresAt: integer('expires_at').notNull(),
});

export const passwordResets = sqliteTable(
  'password_resets',
  {
    /** SHA-256 of the token in the mail, hex. */
    hash: text().primaryKey(),
    userId: text('user_id')
      .notNull()
      .references(() => users.id),
    createdAt: integer('created_at').notNull(),
    expiresAt: integer('expires_at').notNull(),
  },
  (t) => [index('password_resets_user').on(t.userId), index('password_resets_expires').on(t.expiresAt)],
);

/** The second factor of an account, once it is confirmed. */
export const mfaFactors = sqliteTable('mfa_factors', {
  userId: text('user_id')
    .primaryKey()
    .references(() => users.id),
  /** TOTP secret, sealed with the key of the data folder. */
  sealedSecret: text('sealed_secret').notNull(),
  createdAt: integer('created_at').notNull(),
  /** The 30 s step of the last code that was accepted: neither it nor an older one is accepted again (RFC 6238 §5.2). */
  lastStep: integer('last_step').notNull(),
  /** Wrong codes in a row, over all log-ins of the account. */
  failedAttempts: integer('failed_attempts').notNull().default(0),
  lockedUntil: integer('locked_until'),
});

/** Unused recovery codes: a used one is gone. */
export const recoveryCodes = sqliteTable(
  'recovery_codes',
  {
    /** HMAC of user and code with the key of the data folder, hex. */
    mac: text().primaryKey(),
    userId: text('user_id')
      .notNull()
      .references(() => users.id),
  },
  (t) => [index('recovery_codes_user').on(t.userId)],
);

/** Signed values that count once (log-in challenges, OAuth states), from their use until they would have run out anyway. */
export const spentOnce = sqliteTable(
  'spent_once',
  {
    id: text().primaryKey(),
    expiresAt: integer('expires_at').notNull(),
  },
  (t) => [index('spent_once_expires').on(t.expiresAt)],
);

/** Whom identity providers vouch for. Found by issuer and subject; an e-mail address is never an identity. */
export const identities = sqliteTable(
  'identities',
  {
    id: text().primaryKey(),
    userId: text('user_id')
      .notNull()
      .references(() => users.id),
    provider: text({ enum: ['google', 'github'] }).notNull(),
    issuer: text().notNull(),
    subject: text().notNull(),
    /** As the provider said at the last log-in: shown, never compared. */
    email: text().notNull(),
    createdAt: integer('created_at').notNull(),
    lastUsedAt: integer('last_used_at').notNull(),
  },
  (t) => [uniqueIndex('identities_subject').on(t.issuer, t.subject), index('identities_user').on(t.userId)],
);

/** A command line that somebody let in and that has not fetched its key yet. Unknown codes leave no row. */
export const deviceLogins = sqliteTable(
  'device_logins',
  {
    /** SHA-256 of the device code, hex. */
    codeHash: text('code_hash').primaryKey(),
    userId: text('user_id')
      .notNull()
      .references(() => users.id),
    orgId: text('org_id')
      .notNull()
      .references(() => organizations.id),
    tokenId: text('token_id').notNull(),
    label: text().notNull(),
    /** The wire form of the token, sealed; emptied once it has been fetched. */
    sealedWire: text('sealed_wire').notNull(),
    approvedAt: integer('approved_at').notNull(),
    expiresAt: integer('expires_at').notNull(),
    fetchedAt: integer('fetched_at'),
  },
  (t) => [index('device_logins_expires').on(t.expiresAt)],
);

export const invitations = sqliteTable(
  'invitations',
  {
    id: text().primaryKey(),
    orgId: text('org_id')
      .notNull()
      .references(() => organizations.id),
    email: text().notNull(),
    emailKey: text('email_key').notNull(),
    role: text({ enum: ['viewer', 'member', 'admin', 'owner'] }).notNull(),
    /** SHA-256 of the token in the mail, hex. */
    tokenHash: text('token_hash').notNull(),
    invitedBy: text('invited_by')
      .notNull()
      .references(() => users.id),
    createdAt: integer('created_at').notNull(),
    expiresAt: integer('expires_at').notNull(),
    acceptedAt: integer('accepted_at'),
    revokedAt: integer('revoked_at'),
  },
  (t) => [
    uniqueIndex('invitations_token').on(t.tokenHash),
    uniqueIndex('invitations_pending').on(t.orgId, t.emailKey).where(sql`accepted_at IS NULL AND revoked_at IS NULL`),
  ],
);

/** Mail that waits for its delivery. Written in the transaction that is the reason for it, removed once a server has taken it. */
export const outgoingMails = sqliteTable(
  'outgoing_mails',
  {
    id: text().primaryKey(),
    /** The letter with address, codes and links, as JSON, sealed with the key of the data folder. */
    sealedLetter: text('sealed_letter').notNull(),
    attempts: integer().notNull().default(0),
    createdAt: integer('created_at').notNull(),
    nextAt: integer('next_at').notNull(),
    /** Past this the letter helps nobody (its code has run out): it is dropped and said so in the log. */
    expiresAt: integer('expires_at').notNull(),
  },
  (t) => [index('outgoing_mails_next').on(t.nextAt)],
);

export const signingKeys = sqliteTable('signing_keys', {
  /** The `kid`: 8 random bytes, hex. */
  id: text().primaryKey(),
  /** `access` signs JWTs for people, `capability` signs CWTs for agents: neither can stand for the other. */
  purpose: text({ enum: ['access', 'capability'] }).notNull(),
  publicJwk: text('public_jwk').notNull(),
  /** PKCS #8, sealed with the key file of the data folder (services/keys/sealing.ts). */
  sealedPrivate: text('sealed_private').notNull(),
  createdAt: integer('created_at').notNull(),
  /** Signs no more, still verifies. */
  retiredAt: integer('retired_at'),
});

export const projects = sqliteTable(
  'projects',
  {
    id: text().primaryKey(),
    orgId: text('org_id')
      .notNull()
      .references(() => organizations.id),
    slug: text().notNull(),
    name: text().notNull(),
    isDefault: integer('is_default', { mode: 'boolean' }).notNull(),
    createdAt: integer('created_at').notNull(),
    deletedAt: integer('deleted_at'),
  },
  (t) => [
    uniqueIndex('projects_org_slug').on(t.orgId, t.slug).where(sql`deleted_at IS NULL`),
    uniqueIndex('projects_org_default').on(t.orgId).where(sql`is_default = 1`),
  ],
);

export const capabilityTokens = sqliteTable(
  'capability_tokens',
  {
    id: text().primaryKey(),
    orgId: text('org_id')
      .notNull()
      .references(() => organizations.id),
    /** Set on tokens that may open tunnels inside one project only. */
    projectId: text('project_id').references(() => projects.id),
    /** The master key that minted this one; dies with it. */
    parentId: text('parent_id'),
    createdBy: text('created_by').references(() => users.id),
    kind: text({ enum: ['agent', 'master', 'project', 'cli'] }).notNull(),
    version: integer().notNull(),
    name: text().notNull(),
    /** 16 random bytes, hex: the public handle, and the `cti` of the wire form. */
    nonce: text().notNull(),
    subject: text().notNull(),
    /** SHA-256 of the text key, hex. */
    keyHash: text('key_hash').notNull(),
    wireBytesLen: integer('wire_bytes_len').notNull(),
    tunnelQuota: integer('tunnel_quota').notNull(),
    bandwidthLimitMbps: integer('bandwidth_limit_mbps').notNull(),
    allowedSubdomains: text('allowed_subdomains', { mode: 'json' }).$type<readonly string[]>().notNull(),
    monthlyBudgetUsdCents: integer('monthly_budget_usd_cents'),
    issuedAt: integer('issued_at').notNull(),
    expiresAt: integer('expires_at').notNull(),
    revokedAt: integer('revoked_at'),
    lastUsedAt: integer('last_used_at'),
  },
  (t) => [
    uniqueIndex('capability_tokens_nonce').on(t.nonce),
    uniqueIndex('capability_tokens_key_hash').on(t.keyHash),
    index('capability_tokens_org').on(t.orgId),
    index('capability_tokens_parent').on(t.parentId),
  ],
);

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
    /** Counted from creation or the last start; null = never. */
    expiresAt: integer('expires_at'),
    /** The expiry has been carried out: agent cut off, data plane told. */
    expired: integer({ mode: 'boolean' }).notNull().default(false),
    /** Made by an agent that named nothing: goes by itself when unused (jobs.ts). */
    ephemeral: integer({ mode: 'boolean' }).notNull().default(false),
    /** The token whose agent made the row or served it last. */
    tokenId: text('token_id').references(() => capabilityTokens.id),
    bytesIn: integer('bytes_in').notNull().default(0),
    bytesOut: integer('bytes_out').notNull().default(0),
    totalRequests: integer('total_requests').notNull().default(0),
    createdAt: integer('created_at').notNull(),
    /** Last time that an agent came or left, or the API changed the row. */
    touchedAt: integer('touched_at').notNull(),
    deletedAt: integer('deleted_at'),
  },
  (t) => [
    uniqueIndex('tunnels_live_label').on(t.label).where(sql`deleted_at IS NULL`),
    uniqueIndex('tunnels_live_port').on(t.tcpPort).where(sql`deleted_at IS NULL AND tcp_port IS NOT NULL`),
    index('tunnels_org').on(t.orgId),
    index('tunnels_token').on(t.tokenId),
    index('tunnels_due').on(t.expiresAt).where(sql`deleted_at IS NULL AND expired = 0 AND expires_at IS NOT NULL`),
  ],
);

/** A deleted name rests 24 h before another organization may take it. */
export const restingNames = sqliteTable('resting_names', {
  label: text().primaryKey(),
  orgId: text('org_id')
    .notNull()
    .references(() => organizations.id),
  deletedAt: integer('deleted_at').notNull(),
});

/** How far the event batches of each data node have been stored: a repeat is dropped. */
export const nodeCursors = sqliteTable('node_cursors', {
  node: text().primaryKey(),
  sequence: integer().notNull(),
  updatedAt: integer('updated_at').notNull(),
});

/** Append only. No foreign keys: an audit row outlives what it speaks of. */
export const auditEvents = sqliteTable(
  'audit_events',
  {
    id: text().primaryKey(),
    orgId: text('org_id'),
    at: integer().notNull(),
    action: text().notNull(),
    resourceType: text('resource_type').notNull(),
    resourceId: text('resource_id').notNull(),
    actorKind: text('actor_kind', { enum: ['user', 'token', 'operator', 'system'] }).notNull(),
    actorId: text('actor_id'),
    /** E-mail address or token name, as it was then. */
    actorLabel: text('actor_label').notNull(),
    ipAddress: text('ip_address').notNull(),
    /** What was changed, from what to what, where the action alone does not say it. Never a secret. */
    details: text({ mode: 'json' }).$type<Readonly<Record<string, string | number | boolean | null>>>(),
  },
  (t) => [
    index('audit_events_org_at').on(t.orgId, t.at),
    index('audit_events_at').on(t.at),
    index('audit_events_actor_at').on(t.actorId, t.at),
    index('audit_events_resource_at').on(t.resourceId, t.at),
  ],
);
