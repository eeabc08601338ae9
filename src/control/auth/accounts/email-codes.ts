/**
 * The codes that prove an e-mail address: six digits, one live one per account, ten minutes, five attempts. Called by sign-up.ts in its
 * transactions; what a code is good for is decided there.
 */
import { randomInt, timingSafeEqual } from 'node:crypto';
import { eq } from 'drizzle-orm';
import { emailCodes } from '../../db/schema.ts';
import { changeNothing } from '../../db/spent-once.ts';
import type { Tx } from '../../db/tx.ts';
import type { Sealer } from '../../core/secrets/sealing.ts';

export const CODE_SECONDS = 10 * 60;
/** One in 200,000 guesses right. They are counted over the code and not over a source: many sources get no more of them. */
const MAX_ATTEMPTS = 5;
const MAC_BYTES = 32;

export class EmailCodes {
  readonly #sealer: Sealer;

  constructor(sealer: Sealer) {
    this.#sealer = sealer;
  }

  /** A new code for the account, in the place of the one before with its attempts. */
  issue(tx: Tx, userId: string): string {
    const code = String(randomInt(1_000_000)).padStart(6, '0');
    const row = {
      codeMac: this.#mac(userId, code),
      failedAttempts: 0,
      createdAt: tx.now,
      expiresAt: tx.now + CODE_SECONDS * 1000,
    };
    tx.db
      .insert(emailCodes)
      .values({ userId, ...row })
      .onConflictDoUpdate({ target: emailCodes.userId, set: row })
      .run();
    return code;
  }

  /**
   * Uses the code up: true once. A wrong one is counted; after the fifth none is right any more. Does the same work, and writes, where
   * there is no live code, or no account (`userId` undefined).
   */
  use(tx: Tx, userId: string | undefined, code: string): boolean {
    const shown = Buffer.from(this.#mac(userId ?? '', code), 'hex');
    const mine = eq(emailCodes.userId, userId ?? '');
    const row = tx.db.select().from(emailCodes).where(mine).get();
    const isRight = timingSafeEqual(
      shown,
      row === undefined ? Buffer.alloc(MAC_BYTES) : Buffer.from(row.codeMac, 'hex'),
    );
    if (row === undefined || row.expiresAt <= tx.now || row.failedAttempts >= MAX_ATTEMPTS) {
      changeNothing(tx);
      return false;
    }
    if (isRight) tx.db.delete(emailCodes).where(mine).run();
    else
      tx.db
        .update(emailCodes)
        .set({ failedAttempts: row.failedAttempts + 1 })
        .where(mine)
        .run();
    return isRight;
  }

  #mac(userId: string, code: string): string {
    return this.#sealer.mac(`email_codes/${userId}`, code);
  }
}
