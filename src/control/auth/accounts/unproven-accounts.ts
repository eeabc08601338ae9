/**
 * Accounts with an unproven address are deleted after a while, with their organization: otherwise sign-ups with made-up addresses fill
 * the tables, and the server keeps names of people who never came. Called by core/retention.ts.
 */
import { and, eq, inArray, isNull, lt, ne, notExists } from 'drizzle-orm';
import { alias } from 'drizzle-orm/sqlite-core';
import { DAY_MS } from '../../../base/clock.ts';
import { emailCodes, identities, memberships, passwordResets, users } from '../../db/schema.ts';
import type { Db, Tx } from '../../db/tx.ts';
import { forgetOrganizations } from '../../organizations/rows.ts';

/** Since the last sign-up with the address. */
const UNPROVEN_MS = 30 * DAY_MS;
/** Each takes an organization, a project and a membership along. */
const BATCH = 100;

/** These were never logged in to, so that their organization has a default project and one member, and nothing else refers to it. */
export function forgetUnproven(tx: Tx): void {
  const { db, now } = tx;
  const dead = db
    .select({ id: users.id })
    .from(users)
    .where(
      and(
        isNull(users.emailVerifiedAt),
        lt(users.createdAt, now - UNPROVEN_MS),
        eq(users.isSuperadmin, false),
        // A code or a link that is under way may prove it in the next minutes.
        notExists(db.select({ id: emailCodes.userId }).from(emailCodes).where(eq(emailCodes.userId, users.id))),
        notExists(
          db.select({ id: passwordResets.hash }).from(passwordResets).where(eq(passwordResets.userId, users.id)),
        ),
        notExists(db.select({ id: identities.id }).from(identities).where(eq(identities.userId, users.id))),
        notExists(companions(db)),
      ),
    )
    .limit(BATCH)
    .all();
  const ids = dead.map(({ id }) => id);
  forgetOrganizations(tx, ids);
  db.delete(users).where(inArray(users.id, ids)).run();
}

/** Others in the organizations of the user of the outer query. */
function companions(db: Db) {
  const other = alias(memberships, 'other');
  return db
    .select({ id: other.userId })
    .from(memberships)
    .innerJoin(other, and(eq(other.orgId, memberships.orgId), ne(other.userId, memberships.userId)))
    .where(eq(memberships.userId, users.id));
}
