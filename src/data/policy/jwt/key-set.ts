/**
 * A set of public keys as issuers publish it (RFC 7517), cut down to what can verify a signature here.
 */
import { createPublicKey, type JsonWebKeyInput, type KeyObject } from 'node:crypto';
import { schemeOf, type TokenHeader } from './signed-token.ts';

/** Keys of one set: real ones have fewer than ten. What is more is left out. */
const MAX_KEYS = 64;
/**
 * Bits of an RSA modulus (RFC 7518 §3.3 asks for 2,048). A longer one, or an exponent of more than 32 bits, is work for the server that the owner of
 * the tunnel chooses: an exponent of 1,536 bits took the API of other organizations from 16 to 500 ms.
 */
const MIN_MODULUS_BITS = 2_048;
const MAX_MODULUS_BITS = 4_096;
const MAX_EXPONENT_BITS = 32;
/** Base64url of the longest modulus, and room for zeros before it. */
const MAX_MODULUS = 700;
const MAX_MEMBER = 256;
const TYPES = new Set(['RSA', 'EC', 'OKP']);
/** All of a public key that counts. What else an issuer writes is not kept. */
const MEMBERS = ['kty', 'crv', 'x', 'y', 'e', 'kid', 'alg', 'use'] as const;

type JsonWebKey = JsonWebKeyInput['key'] & { kid?: string; alg?: string; use?: string };

/** A public key, as published; made into one that verifies when a token first names it. */
interface PublishedKey {
  readonly jwk: JsonWebKey;
  /** null: it is none. */
  made: KeyObject | null | undefined;
}

export class KeySet {
  readonly #keys: readonly PublishedKey[];

  constructor(keys: readonly JsonWebKey[]) {
    this.#keys = keys.map((jwk) => ({ jwk, made: undefined }));
  }

  /** The one key that fits the header of a token; 'none' when there is none, null when several fit, or it is no key. */
  keyOf({ alg, kid }: Pick<TokenHeader, 'alg' | 'kid'>): KeyObject | 'none' | null {
    const { kty, crv } = schemeOf(alg);
    const fitting = this.#keys.filter(
      ({ jwk }) =>
        jwk.kty === kty &&
        (crv === undefined || jwk.crv === crv) &&
        (kid === undefined || jwk.kid === kid) &&
        (jwk.alg === undefined || jwk.alg === alg) &&
        (jwk.use === undefined || jwk.use === 'sig'),
    );
    const [first] = fitting;
    if (first === undefined) return 'none';
    if (fitting.length > 1) return null;
    if (first.made === undefined) first.made = keyFrom(first.jwk);
    return first.made;
  }
}

/** Throws on what is no key set. */
export function keySetOf(document: unknown): KeySet {
  const { keys } = (document ?? {}) as { keys?: unknown };
  if (!Array.isArray(keys)) throw new Error('the response is not a JSON Web Key Set');
  return new KeySet(
    keys
      .map(publicKey)
      .filter((key) => key !== null)
      .slice(0, MAX_KEYS),
  );
}

function keyFrom(jwk: JsonWebKey): KeyObject | null {
  try {
    return createPublicKey({ key: jwk, format: 'jwk' });
  } catch {
    return null; // a point that is not on its curve
  }
}

function publicKey(written: unknown): JsonWebKey | null {
  if (typeof written !== 'object' || written === null) return null;
  const from = written as Record<string, unknown>;
  const key: JsonWebKey = {};
  for (const name of MEMBERS) {
    const value = from[name];
    if (typeof value === 'string' && value.length <= MAX_MEMBER) key[name] = value;
  }
  const { n } = from;
  if (typeof n === 'string' && n.length <= MAX_MODULUS) key.n = n;
  const { kty = '' } = key;
  return TYPES.has(kty) && (kty !== 'RSA' || isCheap(key)) ? key : null;
}

function isCheap({ n, e }: JsonWebKey): boolean {
  const modulus = bitsOf(n);
  const exponent = bitsOf(e);
  return modulus >= MIN_MODULUS_BITS && modulus <= MAX_MODULUS_BITS && exponent > 1 && exponent <= MAX_EXPONENT_BITS;
}

/** Length of the number, without zeros before it; 0: there is none. */
function bitsOf(base64url: string | undefined): number {
  const bytes = Buffer.from(base64url ?? '', 'base64url');
  const first = bytes.findIndex((byte) => byte !== 0);
  return first < 0 ? 0 : (bytes.length - first) * 8 - (Math.clz32(bytes[first] as number) - 24);
}
