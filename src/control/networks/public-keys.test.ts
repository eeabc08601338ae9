import assert from 'node:assert/strict';
import { createPublicKey, diffieHellman, generateKeyPairSync } from 'node:crypto';
import { test } from 'node:test';
import { publicKeyFrom } from './public-keys.ts';

/** What stands before the 32 bytes of an X25519 key in DER (RFC 8410). */
const SPKI = Buffer.from('302a300506032b656e032100', 'hex');
const { publicKey, privateKey } = generateKeyPairSync('x25519');
const raw = publicKey.export({ type: 'spki', format: 'der' }).subarray(SPKI.length);
const from = (key: Buffer) => publicKeyFrom(key.toString('base64'), 'public_key');

/** p = 2^255 - 19, little-endian. */
const PRIME = Buffer.from(`ed${'ff'.repeat(30)}7f`, 'hex');
const primePlus = (n: number): Buffer => Buffer.from([(PRIME[0] ?? 0) + n, ...PRIME.subarray(1)]);
const SMALL_ORDER = [
  Buffer.alloc(32),
  Buffer.from([1, ...Buffer.alloc(31)]),
  Buffer.from('e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800', 'hex'),
  Buffer.from('5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157', 'hex'),
  primePlus(-1),
  primePlus(0),
  primePlus(1),
];

test('a key of a pair is taken, in the spelling that it has, and with any highest bit', () => {
  assert.equal(from(raw), raw.toString('base64'));
  const odd = Buffer.from(raw);
  odd[31] = (odd[31] ?? 0) | 0x80;
  assert.equal(from(odd), odd.toString('base64'));
});

test('what is not base64 of 32 bytes is refused', () => {
  const text = raw.toString('base64');
  const last = Buffer.from(raw);
  for (const wrong of [
    '',
    'x',
    text.slice(0, -1),
    `${text}=`,
    `${text}\n`,
    ` ${text}`,
    raw.toString('base64url'),
    raw.toString('hex'),
    raw.subarray(1).toString('base64'),
    Buffer.concat([raw, Buffer.of(0)]).toString('base64'),
    // The same bytes in another spelling: of the last character two bits count for nothing.
    `${Buffer.concat([last.subarray(0, 31), Buffer.of(0)])
      .toString('base64')
      .slice(0, -2)}B=`,
    'ü'.repeat(44),
  ]) {
    if (wrong === text) continue;
    assert.throws(() => publicKeyFrom(wrong, 'public_key'), { code: 'invalid_public_key' }, wrong);
  }
});

test('public keys: every point of small order is refused, as OpenSSL does', () => {
  for (const point of SMALL_ORDER) {
    for (const top of [0, 0x80]) {
      const key = Buffer.from(point);
      key[31] = (key[31] ?? 0) | top;
      const asKey = createPublicKey({ key: Buffer.concat([SPKI, key]), format: 'der', type: 'spki' });
      assert.throws(() => diffieHellman({ privateKey, publicKey: asKey }), key.toString('hex'));
      assert.throws(() => from(key), { code: 'invalid_public_key' }, key.toString('hex'));
    }
  }
});
