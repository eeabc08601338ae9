import assert from 'node:assert/strict';
import { generateKeyPairSync, sign } from 'node:crypto';
import { test } from 'node:test';
import { encode, rfc8949EncodeOptions, Tagged } from 'cborg';
import fc from 'fast-check';
import { MAX_WIRE_BYTES, signCwt, verifyCwt } from './cwt.ts';

const { publicKey, privateKey } = generateKeyPairSync('ed25519');
const KID = '0011223344556677';
const keyOf = (kid: string) => (kid === KID ? publicKey : undefined);
const CLAIMS = new Map<number, unknown>([
  [1, 'culvert'],
  [4, 1_800_000_000],
  [7, Buffer.alloc(16, 7)],
  [-65539, ['shop', 'pr-*']],
]);
const { wire } = signCwt(CLAIMS, KID, privateKey);
const enc = (value: unknown): Uint8Array => encode(value, rfc8949EncodeOptions);

/** A token with any part replaced, signed over what it says. */
function forge(part: {
  header?: unknown;
  unprotected?: Map<unknown, unknown>;
  claims?: unknown;
  tags?: readonly [number, number];
}): Uint8Array {
  const header = enc(
    part.header ??
      new Map<number, unknown>([
        [1, -8],
        [4, Buffer.from(KID, 'hex')],
      ]),
  );
  const payload = enc(part.claims ?? CLAIMS);
  const signature = sign(null, enc(['Signature1', header, new Uint8Array(0), payload]), privateKey);
  const [outer, inner] = part.tags ?? [61, 18];
  return enc(
    new Tagged(outer, new Tagged(inner, [header, part.unprotected ?? new Map(), payload, new Uint8Array(signature)])),
  );
}

test('what was signed is read back', () => {
  const claims = verifyCwt(wire, keyOf);
  assert.equal(claims?.get(1), 'culvert');
  assert.deepEqual(claims?.get(-65539), ['shop', 'pr-*']);
  assert.deepEqual(verifyCwt(forge({}), keyOf), claims, 'the forge of this test makes what the signer makes');
});

test('no token survives the flip of any one bit', () => {
  for (let bit = 0; bit < wire.length * 8; bit++) {
    const bent = Buffer.from(wire);
    bent[bit >> 3] = (bent[bit >> 3] ?? 0) ^ (1 << (bit & 7));
    assert.equal(verifyCwt(bent, keyOf), undefined, `bit ${bit}`);
  }
});

test('no other bytes are the token: cut, lengthened, changed in several places', () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.nat(wire.length - 1), fc.integer({ min: 1, max: 255 })), { minLength: 1, maxLength: 6 }),
      (edits) => {
        const bent = Buffer.from(wire);
        for (const [at, xor] of edits) bent[at] = (bent[at] ?? 0) ^ xor;
        return Buffer.compare(bent, wire) === 0 || verifyCwt(bent, keyOf) === undefined;
      },
    ),
    { numRuns: 500 },
  );
  for (let end = 0; end < wire.length; end++) assert.equal(verifyCwt(wire.subarray(0, end), keyOf), undefined);
  assert.equal(verifyCwt(Buffer.concat([wire, Buffer.from([0])]), keyOf), undefined);
  fc.assert(fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => verifyCwt(bytes, keyOf) === undefined));
});

test('refuses other headers, tags, keys and encodings, even when the signature fits', () => {
  const kid = Buffer.from(KID, 'hex');
  const cases: ReadonlyArray<readonly [string, Uint8Array]> = [
    ['something in the unprotected header', forge({ unprotected: new Map([[4, kid]]) })],
    [
      'another algorithm',
      forge({
        header: new Map<number, unknown>([
          [1, -7],
          [4, kid],
        ]),
      }),
    ],
    ['no key id', forge({ header: new Map<number, unknown>([[1, -8]]) })],
    [
      'one more header',
      forge({
        header: new Map<number, unknown>([
          [1, -8],
          [3, 0],
          [4, kid],
        ]),
      }),
    ],
    [
      'an unknown key',
      forge({
        header: new Map<number, unknown>([
          [1, -8],
          [4, Buffer.alloc(8)],
        ]),
      }),
    ],
    ['a claims set that is no map', forge({ claims: ['culvert'] })],
    ['a COSE_Mac0 tag', forge({ tags: [61, 17] })],
    ['no CWT tag', forge({ tags: [60, 18] })],
    ['more than any token needs', forge({ claims: new Map([[1, 'x'.repeat(MAX_WIRE_BYTES)]]) })],
  ];
  for (const [what, bytes] of cases) assert.equal(verifyCwt(bytes, keyOf), undefined, what);
  const other = generateKeyPairSync('ed25519').publicKey;
  assert.equal(
    verifyCwt(wire, () => other),
    undefined,
  );
});
