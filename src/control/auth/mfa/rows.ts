/**
 * Rows of second factors: is there one, does a code fit, forget it. Not to be called from outside the services; the rules are in service.ts
 * (turning it on and off) and login.ts (log-in).
 */
import { and, eq, gt, lt, or } from 'drizzle-orm';
import { DAY_MS } from '../../../base/clock.ts';
import { mfaFactors, recoveryCodes } from '../../db/schema.ts';
import type { Db, Tx } from '../../db/tx.ts';
import type { Confirmed } from './pending-factors.ts';
import type { Sealer } from '../../core/secrets/sealing.ts';
import { matchingStep, stepAt } from './totp.ts';

/** After so many wrong codes in a row, over all log-ins of the account, the factor rests; and again after as many more. */
const TRIES_PER_LOCK = 5;
/**
 * Twice as long each time, up to a day: an attacker with the password alone gets 45 tries on the first day and 5 on each later one, out of a
 * million codes of which three are right.
 */
const FIRST_LOCK_MS = 5 * 60 * 1000;
const MAX_LOCK_MS = DAY_MS;
/** Of the last code, against now. More can't be while the clock goes forward: a code may be one step early, and clocks are corrected. */
const MAX_STEPS_AHEAD = 2;

/** What became of a code. `locked`: a wrong one, after which the factor rests for the first time since the last right one. */
export type CodeOutcome = 'right' | 'wrong' | 'locked';
export type FactorRow = typeof mfaFactors.$inferSelect;

export function findFactor(db: Db, userId: string): FactorRow | undefined {
  return db.select().from(mfaFactors).where(eq(mfaFactors.userId, userId)).get();
}

/** Stores a confirmed secret, sealed. The code that confirmed it counts as used. False when the account has a factor already. */
export function insertFactor(tx: Tx, sealer: Sealer, input: Confirmed & { userId: string }): boolean {
  const { userId, secret, step } = input;
  const sealedSecret = sealer.seal(sealPurpose(userId), Buffer.from(secret));
  const row = { userId, sealedSecret, createdAt: tx.now, lastStep: step };
  return tx.db.insert(mfaFactors).values(row).onConflictDoNothing().run().changes === 1;
}

/** Forgets the factor and its recovery codes. False when there was none. */
export function removeFactor(tx: Tx, userId: string): boolean {
  tx.db.delete(recoveryCodes).where(eq(recoveryCodes.userId, userId)).run();
  return tx.db.delete(mfaFactors).where(eq(mfaFactors.userId, userId)).run().changes === 1;
}

/**
 * Seconds for which no code of the factor is accepted; 0 when it does not rest. A lock that would last longer than it ever did was made
 * while the clock was ahead, and is none.
 */
export function lockedSeconds(factor: FactorRow, now: number): number {
  const left = (factor.lockedUntil ?? 0) - now;
  return left > lockMs(factor.failedAttempts) ? 0 : Math.max(0, Math.ceil(left / 1000));
}

/** How long the factor rests after so many wrong codes in a row; 0 before the first lock. */
function lockMs(failures: number): number {
  const locks = Math.floor(failures / TRIES_PER_LOCK);
  return locks === 0 ? 0 : Math.min(MAX_LOCK_MS, FIRST_LOCK_MS * 2 ** (locks - 1));
}

/**
 * Uses a code up: `right` once per code, and never for a code older than the last one, unless the clock went back. A wrong code is counted,
 * and each fifth in a row locks the factor; one that was right before is no guess, and is not. For a factor that is not locked.
 */
export function useTotpCode(tx: Tx, sealer: Sealer, input: { factor: FactorRow; code: string }): CodeOutcome {
  const { userId, sealedSecret, failedAttempts } = input.factor;
  const step = matchingStep(sealer.open(sealPurpose(userId), sealedSecret).toString(), input.code, tx.now);
  if (step === undefined) {
    const failures = failedAttempts + 1;
    const lockedUntil = failures % TRIES_PER_LOCK === 0 ? tx.now + lockMs(failures) : null;
    tx.db.update(mfaFactors).set({ failedAttempts: failures, lockedUntil }).where(eq(mfaFactors.userId, userId)).run();
    return failures === TRIES_PER_LOCK ? 'locked' : 'wrong';
  }
  const isUnused = or(lt(mfaFactors.lastStep, step), gt(mfaFactors.lastStep, stepAt(tx.now) + MAX_STEPS_AHEAD));
  const { changes } = tx.db
    .update(mfaFactors)
    .set({ lastStep: step, failedAttempts: 0, lockedUntil: null })
    .where(and(eq(mfaFactors.userId, userId), isUnused))
    .run();
  return changes === 1 ? 'right' : 'wrong';
}

function sealPurpose(userId: string): string {
  return `mfa_factors/${userId}`;
}
