/** Projects, capability tokens, and what those have spent. */
import { sql } from 'drizzle-orm';
import { index, integer, primaryKey, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core';
import { organizations } from './organizations.ts';
import { users } from './people.ts';

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
    /**
     * The first of those that rotation made of one another: they share a budget and a bandwidth limit. Null on rows of the first release: its own id.
     */
    lineageId: text('lineage_id'),
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
    /** Was rotated, or the master key that minted it was, and works until then. */
    graceEndsAt: integer('grace_ends_at'),
    /** Nonce of the one that rotation made of it, whose row may be gone before this one. */
    replacedBy: text('replaced_by'),
    revokedAt: integer('revoked_at'),
    lastUsedAt: integer('last_used_at'),
    /** From where, as of `last_used_at`; null: unknown. */
    lastUsedIp: text('last_used_ip'),
  },
  (t) => [
    uniqueIndex('capability_tokens_nonce').on(t.nonce),
    uniqueIndex('capability_tokens_key_hash').on(t.keyHash),
    index('capability_tokens_org').on(t.orgId),
    index('capability_tokens_creator').on(t.createdBy),
    index('capability_tokens_expires').on(t.expiresAt),
    index('capability_tokens_revoked').on(t.revokedAt).where(sql`revoked_at IS NOT NULL`),
    index('capability_tokens_parent').on(t.parentId),
    index('capability_tokens_lineage').on(t.lineageId),
    index('capability_tokens_grace').on(t.graceEndsAt).where(sql`grace_ends_at IS NOT NULL AND revoked_at IS NULL`),
  ],
);

/**
 * Tokens that end before the time which is signed in them: what the list of revocations says, for as long as an edge could believe them. The
 * rows of the tokens themselves may be gone.
 */
export const revokedNonces = sqliteTable(
  'revoked_nonces',
  {
    tokenId: text('token_id').primaryKey(),
    nonce: text().notNull(),
    /** The master key that minted the token, or the person who did. */
    minterId: text('minter_id'),
    /** Not to be believed from then on: in the future while a rotated token has its grace. */
    from: integer('from_at').notNull(),
    /** When the token would have run out; earlier for one whose master key is in this table too, and stands for it. */
    until: integer().notNull(),
  },
  (t) => [index('revoked_nonces_minter').on(t.minterId, t.until), index('revoked_nonces_until').on(t.until)],
);

/** Traffic of a lineage of tokens (capability_tokens.lineage_id) and of the keys that it minted, per UTC month: what budgets are counted in. */
export const tokenSpend = sqliteTable(
  'token_spend',
  {
    lineageId: text('lineage_id').notNull(),
    /** `2026-11`. */
    month: text().notNull(),
    bytes: integer().notNull(),
    requests: integer().notNull(),
    updatedAt: integer('updated_at').notNull(),
  },
  (t) => [primaryKey({ columns: [t.lineageId, t.month] })],
);
