/**
 * Who comes first when there is not room for all: paid plans, names that an organization has reserved, and the server's own wildcard. Accounts
 * of the Free plan cost nothing where sign-up is open, so what all of them together may take is bounded, however many there are.
 */
import { type SQL, sql } from 'drizzle-orm';
import type { Db } from '../db/tx.ts';
import { founderOf } from '../core/rules/founder.ts';

/** The last third of what there is goes to owners that had fewer than this many of it, where there are several. */
const FAIR_SHARE = 5;

/** What names are ranked by. */
export interface Ranks {
  readonly edgeDomain: string;
  /** A plan was paid for, or given by an operator. False where all plans are free: then all are equal. */
  readonly plansCount: boolean;
}

/** Owners of organizations that may have tunnels. */
export interface Population {
  readonly paid: number;
  readonly free: number;
}

export function populationOf(db: Db, { plansCount }: Ranks): Population {
  const [one] = db.all<Population>(sql`
    SELECT count(DISTINCT CASE WHEN isPaid THEN owner END) AS paid, count(DISTINCT CASE WHEN isPaid THEN NULL ELSE owner END) AS free
    FROM (
      SELECT plan <> 'free' AND ${plansCount ? 1 : 0} AS isPaid, ${founderOf(sql`organizations.id`)} AS owner
      FROM organizations WHERE deleted_at IS NULL AND approval_status = 'approved'
    )`);
  return one ?? { paid: 0, free: 0 };
}

/** 1 or 0 for a row of `certificates`, in a query that has no other name for that table. */
export function comesFirst({ edgeDomain, plansCount }: Ranks): SQL<number> {
  if (!plansCount) return sql<number>`(certificates.org_id IS NULL)`;
  const suffix = `.${edgeDomain}`;
  // A reserved name is below edge.domain, and of the organization that has reserved it.
  return sql<number>`(certificates.org_id IS NULL
    OR EXISTS (SELECT 1 FROM organizations o WHERE o.id = certificates.org_id AND o.plan <> 'free')
    OR EXISTS (SELECT 1 FROM reserved_subdomains r
      WHERE r.subdomain = substr(certificates.name, 1, length(certificates.name) - ${suffix.length})
      AND r.org_id = certificates.org_id AND certificates.name = r.subdomain || ${suffix}))`;
}

/** Of a row of `certificates`, likewise: null for the server's own. */
export function ownerOfRow(): SQL<string | null> {
  return founderOf(sql`certificates.org_id`);
}

/** One that had a part of what there is. */
export interface Taken {
  /** Of its organization. Null: the server's own. */
  readonly ownerId: string | null;
  readonly isFirst: boolean;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** Why a certificate is refused. */
export interface NoRoom {
  readonly why: 'all' | 'half' | 'share';
  /** When that was taken which must be over before there may be some; null when there never is any. */
  readonly since: number | null;
}

/**
 * Null: there is some for this one. `taken` is what was taken of `most`, oldest first. While one organization pays, all organizations of the Free plan
 * together have half of it; and within the free ones, or the others, an owner that had much leaves the last third to those that had little.
 */
export function roomFor(
  who: Omit<Taken, 'at'>,
  of: { readonly taken: readonly Taken[]; readonly most: number; readonly population: Population },
): NoRoom | null {
  const { taken, most, population } = of;
  const free = population.paid > 0 ? taken.filter((one) => !one.isFirst) : [];
  const isFree = population.paid > 0 && !who.isFirst;
  const peers = isFree ? free : population.paid > 0 ? taken.filter((one) => one.isFirst) : taken;
  const room = isFree ? halfOf(most) : most - free.length;
  if (taken.length >= most) return { why: 'all', since: taken[0]?.at ?? null };
  const since = peers[0]?.at ?? null;
  if (peers.length >= room) return { why: 'half', since };
  // Free organizations leave some for those who come tomorrow.
  const hasRivals = isFree || (population.paid > 0 ? population.paid : population.free) > 1;
  const own = taken.filter((one) => one.ownerId === who.ownerId).length;
  const isLastThird = peers.length >= Math.ceil((room * 2) / 3);
  return hasRivals && isLastThird && own >= FAIR_SHARE ? { why: 'share', since } : null;
}

/** What organizations of the Free plan may take together while one organization pays. */
export function halfOf(most: number): number {
  return Math.floor(most / 2);
}
