/** The user who created an organization. One user may create many, and counts once where there is not enough for all. */
import { type SQL, sql } from 'drizzle-orm';
import type { Db } from '../../db/tx.ts';

/** Its first owner, also of one that is gone; itself where it has none. In a query that has no other name for `memberships`. */
export function founderOf(orgId: SQL): SQL<string> {
  return sql<string>`coalesce((SELECT m.user_id FROM memberships m WHERE m.org_id = ${orgId} AND m.role = 'owner'
    ORDER BY m.created_at, m.user_id LIMIT 1), ${orgId})`;
}

/** All organizations of this one's founder, itself and deleted ones included. */
export function organizationsOfFounder(db: Db, orgId: string): ReadonlySet<string> {
  const founder = founderOf(sql`${orgId}`);
  const rows = db.all<{ orgId: string }>(sql`
    SELECT own.org_id AS orgId FROM memberships own
    WHERE own.role = 'owner' AND own.user_id = ${founder} AND ${founderOf(sql`own.org_id`)} = own.user_id`);
  return new Set([orgId, ...rows.map((row) => row.orgId)]);
}

/** Whether all organizations of the server have the same founder. */
export function isOnlyFounder(db: Db, orgId: string): boolean {
  const others = db.all(sql`
    SELECT 1 FROM organizations
    WHERE deleted_at IS NULL AND ${founderOf(sql`organizations.id`)} <> ${founderOf(sql`${orgId}`)} LIMIT 1`);
  return others.length === 0;
}
