/**
 * The wire form of a capability token: a CWT (RFC 8392) in COSE_Sign1 (RFC 9052), EdDSA. Pure coding and signature.
 *   61( 18( [ protected {1: -8 (EdDSA), 4: kid}, unprotected {}, payload {claims}, signature ] ) )
 * Exactly one byte string is valid per token: protected key id, empty unprotected map, canonical encoding.
 * Reasons: docs/decisions/0011-capability-tokens.md.
 */
import { type KeyObject, sign, verify } from 'node:crypto';
import { decode, encode, rfc8949EncodeOptions, Tagged } from 'cborg';

const TAG_CWT = 61;
const TAG_SIGN1 = 18;
const HEADER = { alg: 1, kid: 4 } as const;
const EDDSA = -8;
/** A token is about 250 bytes; a list of 100 subdomains takes 6 KiB. */
export const MAX_WIRE_BYTES = 8192;

const STRICT = {
  strict: true,
  useMaps: true,
  rejectDuplicateMapKeys: true,
  allowIndefinite: false,
  allowUndefined: false,
  allowNaN: false,
  allowInfinity: false,
} as const;

export type Claims = ReadonlyMap<number, unknown>;

export interface SignedCwt {
  readonly wire: Uint8Array;
  readonly signature: Uint8Array;
}

/** Signs the claims. `kid` is the hex id of the key. */
export function signCwt(claims: Claims, kid: string, privateKey: KeyObject): SignedCwt {
  const header = canonical(
    new Map<number, unknown>([
      [HEADER.alg, EDDSA],
      [HEADER.kid, Buffer.from(kid, 'hex')],
    ]),
  );
  const payload = canonical(claims);
  const signature = new Uint8Array(sign(null, toBeSigned(header, payload), privateKey));
  const wire = canonical(new Tagged(TAG_CWT, new Tagged(TAG_SIGN1, [header, new Map(), payload, signature])));
  return { wire, signature };
}

/** The claims, or undefined when the bytes are not exactly a token that one of our keys signed. Does not look at the expiry. */
export function verifyCwt(wire: Uint8Array, keyOf: (kid: string) => KeyObject | undefined): Claims | undefined {
  if (wire.length > MAX_WIRE_BYTES) return undefined;
  try {
    return readCwt(wire, keyOf);
  } catch {
    // The decoder throws on anything that is not strict CBOR; the bytes are a stranger's and the reason is of no use.
    return undefined;
  }
}

function readCwt(wire: Uint8Array, keyOf: (kid: string) => KeyObject | undefined): Claims | undefined {
  const tags = Tagged.preserve(TAG_SIGN1, TAG_CWT);
  const outer: unknown = decode(wire, { ...STRICT, tags });
  if (!(outer instanceof Tagged) || outer.tag !== TAG_CWT) return undefined;
  const inner: unknown = outer.value;
  if (!(inner instanceof Tagged) || inner.tag !== TAG_SIGN1 || !Array.isArray(inner.value) || inner.value.length !== 4)
    return undefined;
  const [header, unprotectedHeader, payload, signature] = inner.value as readonly unknown[];
  if (!(header instanceof Uint8Array) || !(payload instanceof Uint8Array) || !(signature instanceof Uint8Array))
    return undefined;
  if (!(unprotectedHeader instanceof Map) || unprotectedHeader.size !== 0) return undefined;
  if (Buffer.compare(canonical(outer), wire) !== 0) return undefined;
  const key = keyOf(keyIdOf(header) ?? '');
  if (key === undefined || !verify(null, toBeSigned(header, payload), key, signature)) return undefined;
  const claims: unknown = decode(payload, STRICT);
  return claims instanceof Map ? claims : undefined;
}

function keyIdOf(header: Uint8Array): string | undefined {
  const map: unknown = decode(header, STRICT);
  if (!(map instanceof Map) || map.size !== 2 || map.get(HEADER.alg) !== EDDSA) return undefined;
  const kid: unknown = map.get(HEADER.kid);
  return kid instanceof Uint8Array ? Buffer.from(kid).toString('hex') : undefined;
}

function toBeSigned(header: Uint8Array, payload: Uint8Array): Uint8Array {
  return canonical(['Signature1', header, new Uint8Array(0), payload]);
}

function canonical(value: unknown): Uint8Array {
  return encode(value, rfc8949EncodeOptions);
}
