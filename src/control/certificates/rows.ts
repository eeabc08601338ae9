/** The rows of certificates, their keys sealed. Not to be called from outside certificates/. */
import { X509Certificate } from 'node:crypto';
import { and, asc, count, desc, eq, gt, isNotNull, isNull, like, lte, min, or, sql } from 'drizzle-orm';
import type { EdgeCertificate } from '../../plane/certificates.ts';
import { certificates } from '../db/schema.ts';
import type { Db, Tx } from '../db/tx.ts';
import type { Sealer } from '../core/secrets/sealing.ts';
import { comesFirst, ownerOfRow, type Ranks, type Taken } from './precedence.ts';

export type CertificateRow = typeof certificates.$inferSelect;
/** What waits besides: a bound for a list that is read whole. */
const MAX_ROWS = 20_000;

export function certificateNamed(db: Db, name: string): CertificateRow | undefined {
  return db.select().from(certificates).where(eq(certificates.name, name)).get();
}

/** By name, those behind `after`. */
export function certificatesFrom(db: Db, after: string | undefined, limit: number): readonly CertificateRow[] {
  return db
    .select()
    .from(certificates)
    .where(after === undefined ? undefined : gt(certificates.name, after))
    .orderBy(asc(certificates.name))
    .limit(limit)
    .all();
}

/** As `viewOf` tells it, but for orders that are under way. */
export type StoredState = 'valid' | 'pending' | 'failed';

/** Those that have one, by its end, and of how many they are the first. Chains stay where they are: they are long. */
export function certificatesByEnd(db: Db, { now, limit }: { readonly now: number; readonly limit: number }) {
  const { name, expiresAt } = certificates;
  const hasEnd = isNotNull(expiresAt);
  const rows = db
    .select({ name, expiresAt: sql<number>`${expiresAt}`, state: stateAt(now) })
    .from(certificates)
    .where(hasEnd)
    .orderBy(asc(expiresAt))
    .limit(limit)
    .all();
  return { rows, withEnd: db.select({ n: count() }).from(certificates).where(hasEnd).get()?.n ?? 0 };
}

/** How many there are of each state. */
export function countByState(db: Db, now: number): Readonly<Record<StoredState, number>> {
  const state = stateAt(now);
  const rows = db.select({ state, n: count() }).from(certificates).groupBy(state).all();
  return { valid: 0, pending: 0, failed: 0, ...Object.fromEntries(rows.map((row) => [row.state, row.n])) };
}

function stateAt(now: number) {
  return sql<StoredState>`CASE WHEN chain IS NOT NULL AND expires_at > ${now} THEN 'valid' WHEN last_error IS NULL THEN 'pending' ELSE 'failed' END`;
}

/** A name that is asked for from now on; of a row that is there already its owner alone changes. */
export function insertCertificate(tx: Tx, { name, orgId }: { name: string; orgId: string | null }): CertificateRow {
  tx.db
    .insert(certificates)
    .values({ name, orgId, nextAt: tx.now, createdAt: tx.now })
    .onConflictDoUpdate({ target: certificates.name, set: { orgId } })
    .run();
  const row = certificateNamed(tx.db, name);
  if (row === undefined) throw new Error('a row that was just inserted');
  return row;
}

export function updateCertificate(tx: Tx, name: string, change: Partial<CertificateRow>): void {
  tx.db.update(certificates).set(change).where(eq(certificates.name, name)).run();
}

/** Makes due whatever was interrupted, up to `most` times in a row. Returns how many. */
export function resumeInterrupted(tx: Tx, most: number): number {
  const { interruptions, nextAt } = certificates;
  return tx.db
    .update(certificates)
    .set({ nextAt: tx.now })
    .where(and(gt(interruptions, 0), lte(interruptions, most), gt(nextAt, tx.now)))
    .run().changes;
}

export function deleteCertificate(tx: Tx, name: string): void {
  tx.db.delete(certificates).where(eq(certificates.name, name)).run();
}

/** Names below edge.domain that were first asked for since then, oldest first. */
export function newNamesSince(db: Db, ranks: Ranks, since: number): readonly Taken[] {
  return db
    .select({ ownerId: ownerOfRow(), isFirst: comesFirst(ranks), at: certificates.createdAt })
    .from(certificates)
    .where(
      and(
        like(certificates.name, `%.${ranks.edgeDomain}`),
        gt(certificates.createdAt, since),
        isNotNull(certificates.lastAttemptAt),
      ),
    )
    .orderBy(asc(certificates.createdAt))
    .all()
    .map((row) => ({ ...row, isFirst: row.isFirst === 1 }));
}

/** Orders since then for names that had no certificate, as far as the table says: the last of each name, oldest first. */
export function lastOrdersSince(db: Db, ranks: Ranks, since: number): ReadonlyArray<Taken & { failed: boolean }> {
  const { lastAttemptAt: at, chain, createdAt, expiresAt } = certificates;
  return db
    .select({
      ownerId: ownerOfRow(),
      at: sql<number>`${at}`,
      isFirst: comesFirst(ranks),
      failed: sql<number>`failures > 0`,
    })
    .from(certificates)
    .where(and(gt(at, since), or(isNull(chain), lte(expiresAt, at), gt(createdAt, since))))
    .orderBy(asc(at))
    .all()
    .map(({ isFirst, failed, ...row }) => ({ ...row, isFirst: isFirst === 1, failed: failed === 1 }));
}

/** Everything that can be shown at `now`, wildcards first: the edge takes the first of two for one name. */
export function shownCertificates(db: Db, now: number, sealer: Sealer): ReadonlyMap<string, EdgeCertificate> {
  const rows = db
    .select()
    .from(certificates)
    .where(and(isNotNull(certificates.chain), gt(certificates.expiresAt, now)))
    .orderBy(desc(like(certificates.name, '*.%')), asc(certificates.name))
    .limit(MAX_ROWS)
    .all();
  return new Map(
    rows.flatMap(({ name, chain, sealedKey }) =>
      chain === null || sealedKey === null
        ? []
        : [[name, { cert: chain, key: sealer.open(keyPurpose(name), sealedKey).toString() }]],
    ),
  );
}

/** Those whose certificates have run out. */
export function endedNames(db: Db, now: number): readonly string[] {
  const { name, expiresAt } = certificates;
  return db
    .select({ name })
    .from(certificates)
    .where(lte(expiresAt, now))
    .all()
    .map((row) => row.name);
}

/**
 * Rows that a clock has written which was ahead become due: nothing was tried later than now, nothing waits for longer than `maxWaitMs` without
 * a certificate, and none is renewed after its end.
 */
export function mistimed(tx: Tx, maxWaitMs: number): void {
  const { now } = tx;
  const past = (column: typeof certificates.lastAttemptAt | typeof certificates.createdAt) =>
    sql`min(${column}, ${now})`;
  const { nextAt, lastAttemptAt, createdAt, expiresAt } = certificates;
  tx.db
    .update(certificates)
    .set({ nextAt: now, lastAttemptAt: past(lastAttemptAt), createdAt: past(createdAt) })
    .where(
      or(
        gt(lastAttemptAt, now),
        gt(createdAt, now),
        and(gt(nextAt, now + maxWaitMs), or(isNull(expiresAt), lte(expiresAt, now))),
        and(gt(expiresAt, now), gt(nextAt, expiresAt)),
      ),
    )
    .run();
}

/** Has it a certificate that is good at `now`? */
export function isGood({ chain, expiresAt }: CertificateRow, now: number): boolean {
  return chain !== null && expiresAt !== null && expiresAt > now;
}

/** When the first of those ends that are good at `now`; infinity without any. */
export function firstEnd(db: Db, now: number): number {
  const { expiresAt } = certificates;
  return (
    db
      .select({ at: min(expiresAt) })
      .from(certificates)
      .where(gt(expiresAt, now))
      .get()?.at ?? Infinity
  );
}

/** Certificate and key as the table has them. */
export function sealedPair(name: string, { cert, key }: EdgeCertificate, sealer: Sealer) {
  return { chain: cert, sealedKey: sealer.seal(keyPurpose(name), Buffer.from(key)) };
}

/** From its first to its last instant, milliseconds. */
export function lifetimeOf(chain: string): { readonly notBefore: number; readonly notAfter: number } {
  const { validFromDate, validToDate } = new X509Certificate(chain);
  return { notBefore: validFromDate.getTime(), notAfter: validToDate.getTime() };
}

function keyPurpose(name: string): string {
  return `certificates/${name}`;
}
