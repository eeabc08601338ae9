/**
 * A set of public keys as issuers publish it (RFC 7517), cut down to what can verify a signature here.
 */
import { createLocalJWKSet, type JWK, type JWTVerifyGetKey } from 'jose';

/** Keys of one set: real ones have fewer than ten. What is more is left out. */
const MAX_KEYS = 64;
/** Base64url of 8,192 bits: a longer modulus is work for the server and for nobody else. */
const MAX_MODULUS = 1_366;
const MAX_MEMBER = 256;
const TYPES = new Set(['RSA', 'EC', 'OKP']);
/** All of a public key that counts. What else an issuer writes is not kept. */
const MEMBERS = ['kty', 'crv', 'x', 'y', 'e', 'kid', 'alg', 'use'] as const;

/** Finds the key of a token by its header. Throws on what is no key set. */
export function keySetOf(document: unknown): JWTVerifyGetKey {
  const { keys } = (document ?? {}) as { keys?: unknown };
  if (!Array.isArray(keys)) throw new Error('the answer is no set of keys');
  return createLocalJWKSet({
    keys: keys
      .map(publicKey)
      .filter((key) => key !== null)
      .slice(0, MAX_KEYS),
  });
}

function publicKey(written: unknown): JWK | null {
  if (typeof written !== 'object' || written === null) return null;
  const from = written as Record<string, unknown>;
  const key: JWK = {};
  for (const name of MEMBERS) {
    const value = from[name];
    if (typeof value === 'string' && value.length <= MAX_MEMBER) key[name] = value;
  }
  const { n } = from;
  if (typeof n === 'string' && n.length <= MAX_MODULUS) key['n'] = n;
  const { kty = '' } = key;
  return TYPES.has(kty) && (kty !== 'RSA' || key['n'] !== undefined) ? key : null;
}
