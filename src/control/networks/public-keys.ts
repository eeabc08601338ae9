/**
 * WireGuard public keys (Curve25519, RFC 7748 §6.1), as people hand them in. The private halves never come here.
 */
import { AppError } from '../../base/errors.ts';

const BYTES = 32;
/** 32 bytes in base64. */
const TEXT = /^[A-Za-z0-9+/]{43}=$/;

/**
 * Points of small order, and the spellings of them above the prime: with any private key they give the same secret, zero, so that any attacker can
 * speak for their owner. WireGuard itself refuses a handshake with them. Little-endian; the highest bit does not count.
 */
const SMALL_ORDER: ReadonlySet<string> = new Set([
  '00'.repeat(BYTES),
  `01${'00'.repeat(BYTES - 1)}`,
  'e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800',
  '5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157',
  `ec${'ff'.repeat(BYTES - 2)}7f`,
  `ed${'ff'.repeat(BYTES - 2)}7f`,
  `ee${'ff'.repeat(BYTES - 2)}7f`,
]);

/** The key as it was given. `path`: the field of the body that it stood in. Throws `invalid_public_key`. */
export function publicKeyFrom(text: string, path: string): string {
  const key = Buffer.from(TEXT.test(text) ? text : '', 'base64');
  // The last character has two bits that stand for nothing: a key has one spelling.
  if (key.length !== BYTES || key.toString('base64') !== text) {
    throw invalidKey(path, 'It is not 32 bytes in base64. Copy the output of "wg pubkey".');
  }
  const value = Buffer.from(key);
  value.writeUInt8(value.readUInt8(BYTES - 1) & 0x7f, BYTES - 1);
  if (SMALL_ORDER.has(value.toString('hex'))) {
    throw invalidKey(path, 'It is unsafe: its shared secret is always the same. Create a pair with "wg genkey".');
  }
  return text;
}

/** What is said about a key that can't be used. */
export function invalidKey(path: string, why: string): AppError {
  return new AppError('invalid_public_key', `The public key is invalid. ${why}`, {
    details: [{ path, message: why }],
  });
}
