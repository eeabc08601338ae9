/**
 * A JWT as it came (RFC 7515 §3.1, RFC 7519), and whether a key has signed it. By `crypto.verify`, which computes at once: WebCrypto, and so jose,
 * waits for a thread of the pool that the whole process shares, where a slow disk or another tenant's keys held up visitors for seconds. What one
 * costs is bounded by the size of keys (key-set.ts): 30 to 500 µs.
 */
import { constants, type KeyObject, verify } from 'node:crypto';
import { isTooDeep } from '../../../base/json-depth.ts';

export interface TokenHeader {
  readonly alg: Algorithm;
  readonly kid: string | undefined;
  readonly typ: string | undefined;
}

export interface SignedToken {
  readonly header: TokenHeader;
  readonly claims: Readonly<Record<string, unknown>>;
  readonly signed: Buffer;
  readonly signature: Buffer;
}

interface Scheme {
  readonly kty: 'RSA' | 'EC' | 'OKP';
  readonly crv?: string;
  readonly hash: string | null;
  readonly isPss?: true;
}

/** Signatures that only the holder of a private key can make: with a shared secret, the one that checks could sign as well. */
const SCHEMES = {
  RS256: { kty: 'RSA', hash: 'sha256' },
  RS384: { kty: 'RSA', hash: 'sha384' },
  RS512: { kty: 'RSA', hash: 'sha512' },
  PS256: { kty: 'RSA', hash: 'sha256', isPss: true },
  PS384: { kty: 'RSA', hash: 'sha384', isPss: true },
  PS512: { kty: 'RSA', hash: 'sha512', isPss: true },
  ES256: { kty: 'EC', crv: 'P-256', hash: 'sha256' },
  ES384: { kty: 'EC', crv: 'P-384', hash: 'sha384' },
  ES512: { kty: 'EC', crv: 'P-521', hash: 'sha512' },
  EdDSA: { kty: 'OKP', crv: 'Ed25519', hash: null },
  Ed25519: { kty: 'OKP', crv: 'Ed25519', hash: null },
} as const satisfies Record<string, Scheme>;

export type Algorithm = keyof typeof SCHEMES;

const BASE64URL = /^[\w-]+$/;

export function schemeOf(algorithm: Algorithm): Scheme {
  return SCHEMES[algorithm];
}

/** null: it is no token that could be signed by a public key's owner. Nothing of it has been checked. */
export function parseToken(text: string): SignedToken | null {
  const [head = '', body = '', signature = '', ...more] = text.split('.');
  if (more.length > 0 || ![head, body, signature].every((part) => BASE64URL.test(part))) return null;
  const written = objectOf(head);
  const claims = objectOf(body);
  if (written === null || claims === null) return null;
  const { alg, kid, typ, crit, b64 } = written;
  // RFC 7515 §4.1.11: what must be understood and is not makes it invalid. No extension is understood here.
  if (crit !== undefined || b64 !== undefined || !isAlgorithm(alg)) return null;
  return {
    header: { alg, kid: textOf(kid), typ: textOf(typ) },
    claims,
    signed: Buffer.from(`${head}.${body}`, 'latin1'),
    signature: Buffer.from(signature, 'base64url'),
  };
}

export function isSignedBy({ header, signed, signature }: SignedToken, key: KeyObject): boolean {
  const { hash, isPss }: Scheme = SCHEMES[header.alg];
  const padding = isPss
    ? { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST }
    : {};
  try {
    return verify(hash, signed, { key, dsaEncoding: 'ieee-p1363', ...padding }, signature);
  } catch {
    return false; // the signature has another length than the key makes
  }
}

function isAlgorithm(name: unknown): name is Algorithm {
  return typeof name === 'string' && Object.hasOwn(SCHEMES, name);
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function objectOf(part: string): Record<string, unknown> | null {
  try {
    const json = Buffer.from(part, 'base64url');
    if (isTooDeep(json)) return null;
    const value: unknown = JSON.parse(json.toString('utf8'));
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : null;
  } catch {
    return null;
  }
}
