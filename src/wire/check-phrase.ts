/**
 * Three plain words that a terminal and a page show for the same device code, so that users see that they authorize their own command line and not
 * a stranger's. Both sides compute them; they are never sent. The SHA-256 of the code as ASCII text (not of the 32 bytes that it encodes); its
 * first three bytes, each taken as an index into WORDS; the three words joined by "-". 24 bits: enough for an eye that compares, no secret and no
 * proof. The list is part of the contract: another order, or another word, shows another phrase than an older command line does.
 */
import { createHash } from 'node:crypto';
import { WORDS } from './check-words.ts';

export { DEVICE_CODE, WORDS } from './check-words.ts';

const PHRASE_WORDS = 3;

/** The phrase of a device code: `acorn-lemon-piano`. */
export function checkPhrase(deviceCode: string): string {
  const digest = createHash('sha256').update(deviceCode, 'ascii').digest();
  return Array.from(digest.subarray(0, PHRASE_WORDS), (byte) => WORDS[byte]).join('-');
}
