/**
 * Who comes first when there is not room for all: paid plans, names that an organization has reserved, and the server's own wildcard. Accounts
 * of the Free plan cost nothing where sign-up is open, so what all of them together may take is bounded, however many there are.
 */
import { and, count, eq, isNull, type SQL, sql } from 'drizzle-orm';
import { organizations } from '../../db/schema.ts';
import type { Db } from '../../db/tx.ts';

/** The last third of what there is goes to organizations that had fewer than this many of it, where there are several. */
const FAIR_SHARE = 5;

/** Organizations that may have tunnels. */
export interface Population {
  readonly paid: number;
  readonly free: number;
}

export function populationOf(db: Db): Population {
  const isPaid = sql<number>`${organizations.plan} <> 'free'`;
  const counts = db
    .select({ isPaid, n: count() })
    .from(organizations)
    .where(and(isNull(organizations.deletedAt), eq(organizations.approvalStatus, 'approved')))
    .groupBy(isPaid)
    .all();
  const of = (paid: number): number => counts.find((one) => one.isPaid === paid)?.n ?? 0;
  return { paid: of(1), free: of(0) };
}

/**
 * 1 or 0 for a row of `certificates`, in a query that has no other name for that table. A reserved name is below `edgeDomain` and of the
 * organization that has reserved it.
 */
export function comesFirst(edgeDomain: string): SQL<number> {
  const suffix = `.${edgeDomain}`;
  return sql<number>`(certificates.org_id IS NULL
    OR EXISTS (SELECT 1 FROM organizations o WHERE o.id = certificates.org_id AND o.plan <> 'free')
    OR EXISTS (SELECT 1 FROM reserved_subdomains r
      WHERE r.subdomain = substr(certificates.name, 1, length(certificates.name) - ${suffix.length})
      AND r.org_id = certificates.org_id AND certificates.name = r.subdomain || ${suffix}))`;
}

/** One that had a part of what there is. */
export interface Taken {
  readonly orgId: string | null;
  readonly isFirst: boolean;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** Why somebody gets none. */
export interface NoRoom {
  readonly why: 'all' | 'half' | 'share';
  /** When that was taken which must be over before there may be some; null when there never is any. */
  readonly since: number | null;
}

/**
 * Null: there is some for this one. `taken` is what was taken of `most`, oldest first. While anybody pays, all organizations of the Free plan
 * together have half of it; and within the free ones, or the others, one that had much leaves the last third to those that had little.
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
  const rivals = isFree ? population.free : population.paid > 0 ? population.paid : population.free;
  const own = taken.filter((one) => one.orgId === who.orgId).length;
  const isLastThird = peers.length >= Math.ceil((room * 2) / 3);
  return rivals > 1 && isLastThird && own >= FAIR_SHARE ? { why: 'share', since } : null;
}

/** What organizations of the Free plan may take together while anybody pays. */
export function halfOf(most: number): number {
  return Math.floor(most / 2);
}
