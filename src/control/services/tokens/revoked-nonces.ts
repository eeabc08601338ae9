/**
 * What stays of tokens that end before the time which is signed in them: nonces for the list of revocations (revocations.ts). Entries are
 * written with the end of a token (token-ends.ts) and go when the token would have run out.
 */
import { and, desc, eq, gt, inArray, lte, sql } from 'drizzle-orm';
import { HOUR_MS } from '../../../base/clock.ts';
import { revokedNonces } from '../../db/schema.ts';
import type { Tx } from '../../db/tx.ts';
import type { TokenRow } from './token-rows.ts';

/** An entry that its master key stands for stays this long beside it: far longer than it takes to read the table in slices. */
const BESIDE_MS = HOUR_MS;
/** Entries that `forgetNonces` deletes at once. */
const BATCH = 1_000;

/**
 * Enters a token that is not to be believed from `from` (ms) on. Call it for a master key before it is called for what that minted: an entry
 * of the master key stands for them all.
 */
export function enterNonce(tx: Tx, token: TokenRow, from: number): void {
  const { db, now } = tx;
  if (token.expiresAt <= Math.max(now, from) || hasParentEntry(tx, token, from)) return;
  db.insert(revokedNonces)
    .values({
      tokenId: token.id,
      nonce: token.nonce,
      minterId: token.parentId ?? token.createdBy,
      from,
      until: token.expiresAt,
    })
    .onConflictDoUpdate({
      target: revokedNonces.tokenId,
      set: { from: sql`min(${revokedNonces.from}, excluded.from_at)` },
    })
    .run();
  if (token.kind !== 'master') return;
  db.update(revokedNonces)
    .set({ until: sql`min(${revokedNonces.until}, ${from + BESIDE_MS})` })
    .where(eq(revokedNonces.minterId, token.id))
    .run();
}

/**
 * Has this minter (a master key or a person) so many entries or more? Milliseconds until there are fewer; undefined when there are fewer now.
 */
export function waitForFewer({ db, now }: Tx, minterId: string, most: number): number | undefined {
  const { until } = revokedNonces;
  const last = db
    .select({ until })
    .from(revokedNonces)
    .where(and(eq(revokedNonces.minterId, minterId), gt(until, now)))
    .orderBy(desc(until))
    .limit(1)
    .offset(most - 1)
    .get();
  return last === undefined ? undefined : last.until - now;
}

/** Deletes a batch of entries that are not needed any more. */
export function forgetNonces({ db, now }: Tx): void {
  const { tokenId, until } = revokedNonces;
  const past = db.select({ tokenId }).from(revokedNonces).where(lte(until, now)).limit(BATCH);
  db.delete(revokedNonces).where(inArray(tokenId, past)).run();
}

/** Is the master key that minted the token in the list from then on or earlier? */
function hasParentEntry({ db }: Tx, { parentId }: TokenRow, from: number): boolean {
  if (parentId === null) return false;
  const found = db
    .select({ tokenId: revokedNonces.tokenId })
    .from(revokedNonces)
    .where(and(eq(revokedNonces.tokenId, parentId), lte(revokedNonces.from, from)))
    .get();
  return found !== undefined;
}
