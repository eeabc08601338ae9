/** Public Ed25519 keys as senders show them, and the check of a signature by one. */
import { createPublicKey, type KeyObject, verify } from 'node:crypto';

const KEY_BYTES = 32;
const SIGNATURE_BYTES = 64;
/** What stands before the 32 bytes of such a key in DER (RFC 8410). */
const DER_HEAD = Buffer.from('302a300506032b6570032100', 'hex');

/** Hex, base64 of the key or of its DER, or PEM; undefined: it is none of them. */
export function publicKeyOf(text: string): KeyObject | undefined {
  const bytes = bytesOf(text.replace(/-----[A-Z ]+-----|\s/g, ''));
  if (bytes === undefined) return undefined;
  const raw = bytes.length === KEY_BYTES + DER_HEAD.length ? withoutHead(bytes) : bytes;
  if (raw?.length !== KEY_BYTES) return undefined;
  return createPublicKey({ key: Buffer.concat([DER_HEAD, raw]), format: 'der', type: 'spki' });
}

/** Is this the signature (64 bytes) of the message? */
export function isSigned(key: KeyObject, message: Buffer, signature: Buffer): boolean {
  return signature.length === SIGNATURE_BYTES && verify(null, message, key, signature);
}

/** Of strict base64, with or without its padding; undefined: it is none. */
export function fromBase64(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64');
  // Node skips what is no base64: only what it writes itself is one text for one key.
  const bare = bytes.toString('base64').replace(/=+$/, '');
  return text !== '' && text.replace(/={1,2}$/, '') === bare ? bytes : undefined;
}

function bytesOf(text: string): Buffer | undefined {
  return /^[0-9a-f]{64}$/i.test(text) ? Buffer.from(text, 'hex') : fromBase64(text);
}

function withoutHead(bytes: Buffer): Buffer | undefined {
  const isKey = bytes.subarray(0, DER_HEAD.length).equals(DER_HEAD);
  return isKey ? bytes.subarray(DER_HEAD.length) : undefined;
}
