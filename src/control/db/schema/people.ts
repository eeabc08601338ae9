/** Accounts: users and their proofs of identity. */
import { index, integer, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core';

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
    /** The server made the password, and has not shown it yet. */
    passwordUnseen: integer('password_unseen', { mode: 'boolean' }).notNull().default(false),
    /** Locked by an operator: no way in, until it is unlocked. */
    lockedAt: integer('locked_at'),
  },
  (t) => [uniqueIndex('users_email_key').on(t.emailKey)],
);

export const emailCodes = sqliteTable('email_codes', {
  userId: text('user_id')
    .primaryKey()
    .references(() => users.id),
  /** Six digits have no strength of their own: an HMAC with the key of the data folder (core/secrets/sealing.ts), hex. */
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
