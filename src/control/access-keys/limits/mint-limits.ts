/**
 * How much one minter may mint, a person or a master key, so that none takes the room of the others: who has reached a bound is refused
 * alone. What an organization may have in all is room.ts.
 */
import { and, count, eq, isNull, type SQL } from 'drizzle-orm';
import { AppError } from '../../../base/errors.ts';
import { liveTokens } from '../../db/gone.ts';
import { capabilityTokens } from '../../db/schema.ts';
import type { Tx } from '../../db/tx.ts';
import { checkDailyLimit, idOf } from '../../core/rules/daily-limit.ts';
import type { Minter } from '../minter.ts';
import { waitForFewer } from '../ends/revoked-nonces.ts';
import { checkRoom } from '../room.ts';

/** Mints in any 24 hours, by one person or one master key. */
export const MINTS_PER_DAY = 500;
/** The same of rotations: an incident may concern many tokens at once. */
export const ROTATIONS_PER_DAY = 500;
/**
 * Tokens of one minter that are revoked and have not run out: each is in the list of revocations until then. A master key that has so many
 * mints no more until some have run out; a user, who can't be replaced by a rotation, a few a day.
 */
export const MAX_UNDEAD = 1_000;
export const PER_DAY_BEYOND = 25;
/** Live tokens that one person has minted in an organization, or one master key. */
export const MAX_LIVE_OF_ONE = 250;
/** Live master keys of one person, in all organizations. */
export const MAX_MASTERS_OF_ONE = 20;

/** Throws `rate_limited` or `conflict` when the minter has minted enough, `conflict` when the organization has no room. */
export function checkMint(tx: Tx, minter: Minter): void {
  const { actor, master } = minter;
  checkPace(tx, minter, 'token.mint');
  checkRoom(tx, actor.orgId, master !== null);
  const isTheirs =
    master === null
      ? and(eq(capabilityTokens.createdBy, minter.createdBy ?? ''), isNull(capabilityTokens.parentId))
      : eq(capabilityTokens.parentId, master.id);
  // A token in its grace has a successor, which counts.
  const live = and(eq(capabilityTokens.orgId, actor.orgId), isTheirs, isNull(capabilityTokens.graceEndsAt));
  if (countLive(tx, live) < MAX_LIVE_OF_ONE) return;
  const whose = master === null ? 'You created' : 'This master key created';
  throw new AppError(
    'conflict',
    `${whose} ${MAX_LIVE_OF_ONE} valid access keys, which is the limit. Revoke some first.`,
  );
}

/** Throws `conflict` when the person has minted as many master keys as one may have. */
export function checkMasters(tx: Tx, userId: string): void {
  const theirs = and(
    eq(capabilityTokens.createdBy, userId),
    eq(capabilityTokens.kind, 'master'),
    isNull(capabilityTokens.graceEndsAt),
  );
  if (countLive(tx, theirs) < MAX_MASTERS_OF_ONE) return;
  throw new AppError(
    'conflict',
    `You created ${MAX_MASTERS_OF_ONE} valid master keys, which is the limit. Revoke one first.`,
  );
}

/** Throws `rate_limited` when the minter has rotated enough today. */
export function checkRotation(tx: Tx, minter: Minter): void {
  checkPace(tx, minter, 'token.rotate');
}

function checkPace(tx: Tx, { actor, master }: Minter, action: 'token.mint' | 'token.rotate'): void {
  const isMint = action === 'token.mint';
  const wait = waitForFewer(tx, idOf(actor), MAX_UNDEAD);
  if (wait !== undefined && master !== null) {
    throw new AppError(
      'rate_limited',
      `${MAX_UNDEAD} revoked access keys of this master key have not expired yet, which is the limit. Create keys with a shorter lifetime, or rotate the master key.`,
      { retryAfterSeconds: Math.ceil(wait / 1000) },
    );
  }
  const usual = isMint ? MINTS_PER_DAY : ROTATIONS_PER_DAY;
  const perDay = wait === undefined ? usual : PER_DAY_BEYOND;
  checkDailyLimit(tx, actor, {
    action,
    perDay,
    message: `You reached the limit of ${perDay} ${isMint ? 'new' : 'rotated'} access keys a day. Try again tomorrow.`,
  });
}

function countLive({ db, now }: Tx, which: SQL | undefined): number {
  return (
    db
      .select({ n: count() })
      .from(capabilityTokens)
      .where(and(which, liveTokens(now)))
      .get()?.n ?? 0
  );
}
