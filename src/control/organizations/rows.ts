/**
 * What several services do alike to the rows of organizations and memberships. Not to be called from outside the services.
 */
import { randomBytes } from 'node:crypto';
import { and, asc, eq, inArray, isNull } from 'drizzle-orm';
import { uuidv7 } from 'uuidv7';
import { memberships, organizations } from '../db/schema.ts';
import type { Db, Tx } from '../db/tx.ts';
import type { Approval, Role } from '../core/rules/actor.ts';
import { recordAudit } from '../core/rules/audit.ts';
import type { Plan } from '../core/rules/plans.ts';
import { orgCreated, orgForgotten } from './events.ts';

const MAX_SLUG = 40;

/** An organization as one of its members sees it. */
export interface OrgRow {
  readonly id: string;
  readonly name: string;
  readonly slug: string;
  readonly plan: Plan;
  readonly approval: Approval;
  readonly role: Role;
  /** Milliseconds. */
  readonly createdAt: number;
}

export type OrganizationRow = typeof organizations.$inferSelect;

/** What a new organization gets from the settings (`plans.default`, `accounts.require_approval`). */
export interface NewOrgRules {
  readonly plan: Plan;
  readonly approval: Approval;
}

/** The live organization with this id. */
export function findOrg(db: Db, orgId: string): OrganizationRow | undefined {
  return db
    .select()
    .from(organizations)
    .where(and(eq(organizations.id, orgId), isNull(organizations.deletedAt)))
    .get();
}

/** Live organizations of a person, oldest membership first. */
export function orgsOf(db: Db, userId: string): readonly OrgRow[] {
  return db
    .select({
      id: organizations.id,
      name: organizations.name,
      slug: organizations.slug,
      plan: organizations.plan,
      approval: organizations.approvalStatus,
      role: memberships.role,
      createdAt: organizations.createdAt,
    })
    .from(memberships)
    .innerJoin(organizations, eq(organizations.id, memberships.orgId))
    .where(and(eq(memberships.userId, userId), isNull(organizations.deletedAt)))
    .orderBy(asc(memberships.createdAt), asc(memberships.orgId))
    .all();
}

/**
 * The organization that a person comes into at log-in: the oldest of theirs, or a new one of their own when they are in none (any more).
 */
export function homeOrgOf(tx: Tx, user: { id: string; email: string; name: string }, rules: NewOrgRules): OrgRow {
  const home = orgsOf(tx.db, user.id)[0];
  if (home !== undefined) return home;
  const name = user.name === '' ? (user.email.split('@')[0] ?? user.email) : user.name;
  const made = insertOrganization(tx, { name, ownerId: user.id }, rulesFor(tx, user.id, rules));
  const entry = { action: 'org.create', resourceType: 'organization', resourceId: made.id } as const;
  recordAudit(tx, { kind: 'system', orgId: made.id }, entry);
  return made;
}

/**
 * What an organization of an existing user starts with: it waits for an operator where another that they own was suspended, also
 * once that is deleted.
 */
export function rulesFor(tx: Tx, userId: string, rules: NewOrgRules): NewOrgRules {
  const suspended = tx.db
    .select({ id: organizations.id })
    .from(memberships)
    .innerJoin(organizations, eq(organizations.id, memberships.orgId))
    .where(
      and(eq(memberships.userId, userId), eq(memberships.role, 'owner'), eq(organizations.approvalStatus, 'suspended')),
    )
    .limit(1)
    .get();
  return suspended === undefined ? rules : { ...rules, approval: 'pending' };
}

/** Makes an organization with its owner, and what handlers of `orgCreated` give it. The name need not be unique; the slug is made so. */
export function insertOrganization(tx: Tx, input: { name: string; ownerId: string }, rules: NewOrgRules): OrgRow {
  const org: OrgRow = {
    id: uuidv7(),
    name: input.name,
    slug: freeSlug(tx, input.name),
    plan: rules.plan,
    approval: rules.approval,
    role: 'owner',
    createdAt: tx.now,
  };
  tx.db
    .insert(organizations)
    .values({
      id: org.id,
      name: org.name,
      slug: org.slug,
      plan: org.plan,
      approvalStatus: org.approval,
      createdAt: org.createdAt,
    })
    .run();
  tx.db.insert(memberships).values({ orgId: org.id, userId: input.ownerId, role: 'owner', createdAt: tx.now }).run();
  tx.emit(orgCreated, { orgId: org.id });
  return org;
}

/** Another name, and the slug that goes with it: for an unused organization, for links to it hold the slug. */
export function renameOrganization(tx: Tx, org: OrgRow, name: string): void {
  if (org.name === name) return;
  updateOrganization(tx, org.id, { name, slug: freeSlug(tx, name) });
}

export function updateOrganization(tx: Tx, orgId: string, change: Partial<OrganizationRow>): void {
  tx.db.update(organizations).set(change).where(eq(organizations.id, orgId)).run();
}

/** Deletes the organizations of users who never logged in, for good. These have no other members. */
export function forgetOrganizations(tx: Tx, userIds: readonly string[]): void {
  const mine = inArray(memberships.userId, userIds);
  const orgIds = tx.db
    .select({ id: memberships.orgId })
    .from(memberships)
    .where(mine)
    .all()
    .map(({ id }) => id);
  tx.db.delete(memberships).where(mine).run();
  tx.emit(orgForgotten, { orgIds });
  tx.db.delete(organizations).where(inArray(organizations.id, orgIds)).run();
}

function freeSlug(tx: Tx, name: string): string {
  const plain =
    name
      .toLowerCase()
      .replaceAll(/[^a-z0-9]+/g, '-')
      .slice(0, MAX_SLUG)
      .replaceAll(/^-+|-+$/g, '') || 'org';
  const taken = tx.db.select({ id: organizations.id }).from(organizations).where(eq(organizations.slug, plain)).get();
  return taken === undefined ? plain : `${plain}-${randomBytes(4).toString('hex')}`;
}
