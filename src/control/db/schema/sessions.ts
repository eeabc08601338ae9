/** Who is logged in, by which cookie, and which command line waits to be. */
import { index, integer, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import { organizations } from './organizations.ts';
import { users } from './people.ts';

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
    /** The key of a command line that was authorized with this session: both end together. */
    tokenId: text('token_id'),
  },
  (t) => [index('sessions_user').on(t.userId), index('sessions_expires').on(t.expiresAt)],
);

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
