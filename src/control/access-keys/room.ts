/**
 * How many tokens an organization has: of the live ones so many by people and so many by master keys, which thus leave people their room;
 * of those that have ended the last thousand, for a month (core/retention.ts). What one minter may take of it is limits/mint-limits.ts.
 */
import { and, asc, count, eq, inArray, isNotNull, isNull, lt, notExists, or, type SQL } from 'drizzle-orm';
import { alias } from 'drizzle-orm/sqlite-core';
import { AppError } from '../../base/errors.ts';
import { liveTokens } from '../db/gone.ts';
import { capabilityTokens } from '../db/schema.ts';
import type { Tx } from '../db/tx.ts';
import { keysForgotten } from './events.ts';

/** Live tokens of one organization that people minted, and as many that master keys minted. */
export const MAX_LIVE_TOKENS = 1_000;
/** Predecessors of a token that may have their grace at one time. */
export const MAX_GRACES = 2;
/** All that can live at one time, for lists: people's and master keys', each with those in their grace. */
export const MOST_LIVE = 2 * MAX_LIVE_TOKENS * (1 + MAX_GRACES);
/** Tokens of one organization that have ended: more are forgotten, oldest first. */
export const MAX_ENDED_TOKENS = 1_000;
/** Rows that give way at once: more than one, so that not every mint counts to a thousand and deletes. */
const GIVE_WAY = 50;
/** A token that has just ended is not forgotten: what its agents used is still being reported. */
const REPORTED_MS = 600_000;

/** Throws `conflict` when the organization has no room for one more live token. `byMaster`: a master key mints it. */
export function checkRoom(tx: Tx, orgId: string, byMaster: boolean): void {
  const { parentId, graceEndsAt } = capabilityTokens;
  const pool = and(
    eq(capabilityTokens.orgId, orgId),
    byMaster ? isNotNull(parentId) : isNull(parentId),
    isNull(graceEndsAt),
    liveTokens(tx.now),
  );
  if (countWhere(tx, pool) < MAX_LIVE_TOKENS) return;
  const whose = byMaster ? ' of its master keys' : '';
  throw new AppError(
    'conflict',
    `Your organization has ${MAX_LIVE_TOKENS} valid access keys${whose}, which is the limit. Revoke some first.`,
  );
}

/** Forgets the oldest of the organization's tokens that have ended when there are more than a list shows. */
export function forgetOldest(tx: Tx, orgId: string): void {
  const { revokedAt, expiresAt } = capabilityTokens;
  const past = tx.now - REPORTED_MS;
  const ended = and(eq(capabilityTokens.orgId, orgId), or(lt(revokedAt, past), lt(expiresAt, past)));
  if (countWhere(tx, ended) > MAX_ENDED_TOKENS) forgetTokens(tx, ended, GIVE_WAY);
}

/**
 * Deletes tokens of this kind, oldest first; returns how many. Children go before the master key that minted them: a token whose parent is
 * unknown could not die with it.
 */
export function forgetTokens(tx: Tx, which: SQL | undefined, most: number): number {
  const { db } = tx;
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
  if (ids.length === 0) return 0;
  tx.emit(keysForgotten, { ids });
  return db.delete(capabilityTokens).where(inArray(capabilityTokens.id, ids)).run().changes;
}

function countWhere({ db }: Tx, which: SQL | undefined): number {
  return db.select({ n: count() }).from(capabilityTokens).where(which).get()?.n ?? 0;
}
