/**
 * How many tokens an organization may have, dead ones too. A dead token stays until it has run out, for the list of revocations must name
 * it, and then for 90 days (retention.ts); minting makes room among those that have run out when there are too many.
 */
import { and, asc, count, eq, inArray, lte, notExists, type SQL } from 'drizzle-orm';
import { alias } from 'drizzle-orm/sqlite-core';
import { AppError } from '../../../base/errors.ts';
import { capabilityTokens, tunnels } from '../../db/schema.ts';
import type { Tx } from '../../db/tx.ts';
import { areLive } from './token-rows.ts';

/** Live tokens of one organization: a bound for lists, far above need. */
export const MAX_LIVE_TOKENS = 1_000;
/** Rows of one organization. Who mints and revokes in a loop waits at the latest when so many have not run out yet. */
export const MAX_TOKEN_ROWS = 10_000;
/** Rows that give way per mint: more than one, so that a full table shrinks. */
const GIVE_WAY = 20;

/** Throws `conflict` when the organization has no room for one more token. */
export function checkRoom(tx: Tx, orgId: string): void {
  const own = eq(capabilityTokens.orgId, orgId);
  if (countWhere(tx, and(own, areLive(tx.now))) >= MAX_LIVE_TOKENS) {
    throw new AppError('conflict', `Your organization has ${MAX_LIVE_TOKENS} live tokens. Revoke some first.`);
  }
  if (countWhere(tx, own) < MAX_TOKEN_ROWS) return;
  if (forgetTokens(tx, and(own, lte(capabilityTokens.expiresAt, tx.now)), GIVE_WAY) > 0) return;
  throw new AppError(
    'conflict',
    `Your organization has ${MAX_TOKEN_ROWS} tokens that have not run out, most of them revoked. Wait until some have.`,
  );
}

/**
 * Deletes tokens of this kind, oldest first; returns how many. Children go before the master key that minted them: a token whose parent is
 * unknown could not die with it.
 */
export function forgetTokens({ db }: Tx, which: SQL | undefined, most: number): number {
  const child = alias(capabilityTokens, 'child');
  const isParent = db.select({ id: child.id }).from(child).where(eq(child.parentId, capabilityTokens.id));
  const ids = db
    .select({ id: capabilityTokens.id })
    .from(capabilityTokens)
    .where(and(which, notExists(isParent)))
    .orderBy(asc(capabilityTokens.id))
    .limit(most)
    .all()
    .map(({ id }) => id);
  db.update(tunnels).set({ tokenId: null }).where(inArray(tunnels.tokenId, ids)).run();
  return db.delete(capabilityTokens).where(inArray(capabilityTokens.id, ids)).run().changes;
}

function countWhere({ db }: Tx, which: SQL | undefined): number {
  return db.select({ n: count() }).from(capabilityTokens).where(which).get()?.n ?? 0;
}
