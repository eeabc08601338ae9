/**
 * Rows of second factors: is there one, which codes fit, forget it. Not to be called from outside the services; the rules are in mfa.ts
 * (turning it on and off) and mfa-login.ts (log-in).
 */
import { eq } from 'drizzle-orm';
import { mfaFactors, recoveryCodes } from '../db/schema.ts';
import type { Db, Tx } from '../db/tx.ts';

export type FactorRow = typeof mfaFactors.$inferSelect;

/** Must every way into this account ask for a second factor? */
export function isMfaEnabled(db: Db, userId: string): boolean {
  return findFactor(db, userId) !== undefined;
}

export function findFactor(db: Db, userId: string): FactorRow | undefined {
  return db.select().from(mfaFactors).where(eq(mfaFactors.userId, userId)).get();
}

/** Forgets the factor and its recovery codes. False when there was none. */
export function removeFactor(tx: Tx, userId: string): boolean {
  tx.db.delete(recoveryCodes).where(eq(recoveryCodes.userId, userId)).run();
  return tx.db.delete(mfaFactors).where(eq(mfaFactors.userId, userId)).run().changes === 1;
}
