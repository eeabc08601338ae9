/**
 * What stays of tokens that end before the time which is signed in them: nonces for the list of revocations (revocations.ts). Entries are
 * written with the end of a token (service.ts) and go when the token would have run out.
 */
import { and, desc, eq, gt, inArray, lte, sql } from 'drizzle-orm';
import { HOUR_MS } from '../../../base/clock.ts';
import { revokedNonces } from '../../db/schema.ts';
import type { Tx } from '../../db/tx.ts';
import type { TokenRow } from '../rows.ts';

/** An entry that its master key stands for stays this long beside it: far longer than it takes to read the table in slices. */
const BESIDE_MS = HOUR_MS;
/** Entries that `forgetNonces` deletes at once. */
const BATCH = 1_000;

/**
 * Enters tokens that are not to be believed from `from` (ms) on. Call it for a master key no later than for what that minted: an entry of the
 * master key stands for them all.
 */
export function enterNonces(tx: Tx, tokens: readonly TokenRow[], from: number): void {
  const alive = tokens.filter((token) => token.expiresAt > Math.max(tx.now, from));
  insertNonces(
    tx,
    alive.filter(({ parentId }) => parentId === null),
    from,
  );
  const children = alive.filter(({ parentId }) => parentId !== null);
  const entered = enteredParents(tx, children, from);
  insertNonces(
    tx,
    children.filter(({ parentId }) => !entered.has(parentId ?? '')),
    from,
  );
}

function insertNonces({ db }: Tx, tokens: readonly TokenRow[], from: number): void {
  if (tokens.length === 0) return;
  db.insert(revokedNonces)
    .values(
      tokens.map((token) => ({
        tokenId: token.id,
        nonce: token.nonce,
        minterId: token.parentId ?? token.createdBy,
        from,
        until: token.expiresAt,
      })),
    )
    .onConflictDoUpdate({
      target: revokedNonces.tokenId,
      set: { from: sql`min(${revokedNonces.from}, excluded.from_at)` },
    })
    .run();
  const masters = tokens.filter(({ kind }) => kind === 'master').map(({ id }) => id);
  if (masters.length === 0) return;
  db.update(revokedNonces)
    .set({ until: sql`min(${revokedNonces.until}, ${from + BESIDE_MS})` })
    .where(inArray(revokedNonces.minterId, masters))
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

/** Which of the master keys that minted these are in the list from then on or earlier? */
function enteredParents({ db }: Tx, children: readonly TokenRow[], from: number): ReadonlySet<string> {
  const parents = [...new Set(children.flatMap(({ parentId }) => parentId ?? []))];
  if (parents.length === 0) return new Set();
  const found = db
    .select({ tokenId: revokedNonces.tokenId })
    .from(revokedNonces)
    .where(and(inArray(revokedNonces.tokenId, parents), lte(revokedNonces.from, from)))
    .all();
  return new Set(found.map(({ tokenId }) => tokenId));
}
