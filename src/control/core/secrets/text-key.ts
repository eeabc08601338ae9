/** Text keys: a prefix that tells what a key is for, and 256 bits of chance. Stored as their SHA-256 (secret-hash.ts), never in clear. */
import { randomBytes } from 'node:crypto';

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const KEY_BYTES = 32;
/** Digits that 32 bytes need: 256 / log2(62), rounded up. Padded, so that all keys have one length. */
const KEY_DIGITS = 43;

/** A new one. */
export function newTextKey(prefix: string): string {
  let rest = BigInt(`0x${randomBytes(KEY_BYTES).toString('hex')}`);
  let digits = '';
  for (let i = 0; i < KEY_DIGITS; i++) {
    digits = (BASE62[Number(rest % 62n)] ?? '') + digits;
    rest /= 62n;
  }
  return prefix + digits;
}
