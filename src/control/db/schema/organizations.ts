/** Organizations, who is in them, who is invited, and what they pay. */
import { sql } from 'drizzle-orm';
import { index, integer, primaryKey, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core';
import { users } from './people.ts';

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
  (t) => [
    uniqueIndex('organizations_slug').on(t.slug),
    index('organizations_barred').on(t.id).where(sql`approval_status <> 'approved'`),
  ],
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

/** What a payment provider says about an organization that pays, or once did. */
export const subscriptions = sqliteTable(
  'subscriptions',
  {
    orgId: text('org_id')
      .primaryKey()
      .references(() => organizations.id),
    customerId: text('customer_id').notNull(),
    /** Null from the first visit to the checkout until it is completed. */
    subscriptionId: text('subscription_id'),
    /** As the provider names it: `active`, `past_due`, … */
    status: text(),
    plan: text({ enum: ['pro', 'team'] }),
    cycle: text({ enum: ['monthly', 'yearly'] }),
    currentPeriodEndsAt: integer('current_period_ends_at'),
    /** It ends with the period that is paid for. */
    cancels: integer({ mode: 'boolean' }).notNull().default(false),
    /** When the provider was asked last. */
    updatedAt: integer('updated_at').notNull(),
  },
  (t) => [
    index('subscriptions_updated').on(t.updatedAt),
    uniqueIndex('subscriptions_customer').on(t.customerId),
    uniqueIndex('subscriptions_subscription').on(t.subscriptionId),
  ],
);

/** Events of the payment provider that have been dealt with: each counts once. */
export const billingEvents = sqliteTable(
  'billing_events',
  {
    id: text().primaryKey(),
    receivedAt: integer('received_at').notNull(),
  },
  (t) => [index('billing_events_received').on(t.receivedAt)],
);
