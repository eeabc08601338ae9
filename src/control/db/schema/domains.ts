/** Custom domains, and the certificates that the edge shows for them and for its own names. */
import { sql } from 'drizzle-orm';
import { index, integer, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core';
import { organizations } from './organizations.ts';
import { tunnels } from './tunnels.ts';

export const domains = sqliteTable(
  'domains',
  {
    id: text().primaryKey(),
    orgId: text('org_id')
      .notNull()
      .references(() => organizations.id),
    /** Lower case, IDNs in their ASCII form, no dot at the end. */
    domain: text().notNull(),
    /** What the TXT record must say: no secret, for the DNS is public. */
    verificationToken: text('verification_token').notNull(),
    /** Several organizations may claim a domain; one at a time has verified it. */
    verifiedAt: integer('verified_at'),
    checkedAt: integer('checked_at'),
    /** Since when the record of a verified domain is missing. */
    failingSince: integer('failing_since'),
    tunnelId: text('tunnel_id').references(() => tunnels.id),
    createdAt: integer('created_at').notNull(),
  },
  (t) => [
    uniqueIndex('domains_org_domain').on(t.orgId, t.domain),
    uniqueIndex('domains_verified').on(t.domain).where(sql`verified_at IS NOT NULL`),
    index('domains_tunnel').on(t.tunnelId),
    index('domains_checked').on(t.checkedAt).where(sql`verified_at IS NOT NULL`),
  ],
);

/** Certificates from an ACME server (RFC 8555): one per name, or one for all names under the edge's domain. */
export const certificates = sqliteTable(
  'certificates',
  {
    /** `shop.example.com` or `*.example.com`. */
    name: text().primaryKey(),
    /** Its owner at the last request, who is charged for it, also when its tunnel is gone. Null for the wildcard. */
    orgId: text('org_id'),
    /** PEM, chain included; null until the first one is there. */
    chain: text(),
    /** PKCS #8, sealed with the key of the data folder. */
    sealedKey: text('sealed_key'),
    expiresAt: integer('expires_at'),
    /** When to ask for the next one. */
    nextAt: integer('next_at').notNull(),
    /** Attempts in a row that failed, and what the last one said. */
    failures: integer().notNull().default(0),
    lastError: text('last_error'),
    lastAttemptAt: integer('last_attempt_at'),
    /** Orders in a row that began and neither failed nor succeeded: the server ended in the middle of them. */
    interruptions: integer().notNull().default(0),
    createdAt: integer('created_at').notNull(),
  },
  (t) => [
    index('certificates_next').on(t.nextAt),
    // Operators are shown those that run out first.
    index('certificates_expires').on(t.expiresAt),
  ],
);

/** The account at an ACME server. */
export const acmeAccounts = sqliteTable('acme_accounts', {
  directoryUrl: text('directory_url').primaryKey(),
  /** As the server names it: the `kid` of requests. */
  accountUrl: text('account_url').notNull(),
  /** PKCS #8, sealed with the key of the data folder. */
  sealedKey: text('sealed_key').notNull(),
  createdAt: integer('created_at').notNull(),
});
