/**
 * Rows of second factors: is there one, does a code fit, forget it. Not to be called from outside the services; the rules are in mfa.ts
 * (turning it on and off) and mfa-login.ts (log-in).
 */
import { and, eq, lt } from 'drizzle-orm';
import { mfaFactors, recoveryCodes } from '../db/schema.ts';
import type { Db, Tx } from '../db/tx.ts';
import type { Confirmed } from './pending-factors.ts';
import type { Sealer } from './sealing.ts';
import { matchingStep } from './totp.ts';

/** Wrong codes in a row, over all log-ins of the account, until the factor rests. */
const MAX_FAILURES = 5;
const LOCK_MS = 5 * 60 * 1000;

export type FactorRow = typeof mfaFactors.$inferSelect;

/** Must every way into this account ask for a second factor? */
export function isMfaEnabled(db: Db, userId: string): boolean {
  return findFactor(db, userId) !== undefined;
}

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

/** Seconds for which no code of the factor is accepted; 0 when it does not rest. */
export function lockedSeconds(factor: FactorRow, now: number): number {
  return Math.max(0, Math.ceil(((factor.lockedUntil ?? 0) - now) / 1000));
}

/**
 * Uses a code up: true once per code, and never for a code older than the last one. A wrong code is counted, and the fifth in a row locks
 * the factor; a right one that was used before is no guess, and is not. For a factor that is not locked.
 */
export function useTotpCode(tx: Tx, sealer: Sealer, input: { factor: FactorRow; code: string }): boolean {
  const { userId, sealedSecret, failedAttempts } = input.factor;
  const step = matchingStep(sealer.open(sealPurpose(userId), sealedSecret).toString(), input.code, tx.now);
  if (step === undefined) {
    const failures = failedAttempts + 1;
    const counted =
      failures < MAX_FAILURES ? { failedAttempts: failures } : { failedAttempts: 0, lockedUntil: tx.now + LOCK_MS };
    tx.db.update(mfaFactors).set(counted).where(eq(mfaFactors.userId, userId)).run();
    return false;
  }
  const { changes } = tx.db
    .update(mfaFactors)
    .set({ lastStep: step, failedAttempts: 0, lockedUntil: null })
    .where(and(eq(mfaFactors.userId, userId), lt(mfaFactors.lastStep, step)))
    .run();
  return changes === 1;
}

function sealPurpose(userId: string): string {
  return `mfa_factors/${userId}`;
}
