/**
 * Recovery codes: ten per account, each good for one use. Written to be typed from paper: 60 random bits in an alphabet without
 * look-alikes (Crockford's base32). The table keeps a keyed hash that is bound to the account.
 */
import { randomBytes } from 'node:crypto';
import { and, count, eq } from 'drizzle-orm';
import { recoveryCodes } from '../../db/schema.ts';
import type { Db, Tx } from '../../db/tx.ts';
import type { Sealer } from '../../core/secrets/sealing.ts';

export const RECOVERY_CODES = 10;
const SYMBOLS = '0123456789abcdefghjkmnpqrstvwxyz';
const CODE = new RegExp(`^[${SYMBOLS}]{12}$`);
const GROUPS = /.{4}(?=.)/g;

export class RecoveryCodes {
  readonly #sealer: Sealer;

  constructor(deps: { sealer: Sealer }) {
    this.#sealer = deps.sealer;
  }

  /** Ten new codes in place of all earlier ones: the only time that they can be read. */
  replace(tx: Tx, userId: string): string[] {
    tx.db.delete(recoveryCodes).where(eq(recoveryCodes.userId, userId)).run();
    const codes = Array.from({ length: RECOVERY_CODES }, newCode);
    tx.db
      .insert(recoveryCodes)
      .values(codes.map((code) => ({ mac: this.#mac(userId, code), userId })))
      .run();
    return codes.map((code) => code.replaceAll(GROUPS, '$&-'));
  }

  /** Uses a code up. False when it is none of this account, or was used: one statement decides a race. */
  use(tx: Tx, userId: string, typed: string): boolean {
    const code = asMeant(typed);
    if (!CODE.test(code)) return false;
    const mine = and(eq(recoveryCodes.mac, this.#mac(userId, code)), eq(recoveryCodes.userId, userId));
    return tx.db.delete(recoveryCodes).where(mine).run().changes === 1;
  }

  /** How many have not been used. */
  left(db: Db, userId: string): number {
    return db.select({ n: count() }).from(recoveryCodes).where(eq(recoveryCodes.userId, userId)).get()?.n ?? 0;
  }

  #mac(userId: string, code: string): string {
    return this.#sealer.mac(`recovery_codes/${userId}`, code);
  }
}

function newCode(): string {
  // 256 is a multiple of 32: each symbol is as likely as any other.
  return Array.from(randomBytes(12), (byte) => SYMBOLS[byte % SYMBOLS.length]).join('');
}

/** What people type for what is on the paper: any case, spaces, other dashes or none, a letter (O, I) for the digit that it looks like. */
function asMeant(typed: string): string {
  return typed
    .toLowerCase()
    .replaceAll(/[\s\p{Dash}]/gu, '')
    .replaceAll('o', '0')
    .replaceAll(/[il]/g, '1');
}
