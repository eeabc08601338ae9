import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { test } from 'node:test';
import { keySetOf } from './key-set.ts';

/** A number of so many bits in base64url, odd. */
function number(bits: number): string {
  const bytes = Buffer.alloc(Math.ceil(bits / 8), 0xff);
  bytes[0] = 0xff >> ((8 - (bits % 8)) % 8);
  return bytes.toString('base64url');
}

function isTaken(key: object): boolean {
  const set = keySetOf({ keys: [{ kty: 'RSA', kid: 'a', alg: 'RS256', use: 'sig', ...key }] });
  return set.keyOf({ alg: 'RS256', kid: 'a' }) !== 'none';
}

test('a modulus of 2,048 to 4,096 bits is taken, one below or above is left out', () => {
  for (const bits of [2_048, 3_072, 4_096]) assert.ok(isTaken({ n: number(bits), e: 'AQAB' }), `${bits}`);
  for (const bits of [0, 512, 2_047, 4_097, 8_192]) assert.ok(!isTaken({ n: number(bits), e: 'AQAB' }), `${bits}`);
  const padded = Buffer.concat([Buffer.alloc(1), Buffer.from(number(2_048), 'base64url')]).toString('base64url');
  assert.ok(isTaken({ n: padded, e: 'AQAB' }), 'a zero before it is no bit of it');
  const long = Buffer.concat([Buffer.alloc(600), Buffer.from(number(2_048), 'base64url')]).toString('base64url');
  assert.ok(!isTaken({ n: long, e: 'AQAB' }), 'a text that is too long is not read at all');
});

test('an exponent of more than 32 bits, or of none, is left out', () => {
  const n = number(2_048);
  for (const e of ['Aw', 'AQAB', number(32)]) assert.ok(isTaken({ n, e }), e);
  for (const e of ['', 'AQ', number(33), number(41), number(1_536), undefined]) assert.ok(!isTaken({ n, e }), `${e}`);
});

test('a key as it is usually made is taken, and so are those that are no RSA', () => {
  const { publicKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
  assert.ok(isTaken(publicKey.export({ format: 'jwk' })));
  const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({ format: 'jwk' });
  assert.equal(keyOf([{ ...ec, kid: 'b', alg: 'ES256' }], 'ES256', 'b'), 'ec');
});

/** What kind of key is found; or that there is none, or no single one. */
function keyOf(keys: readonly object[], alg: 'ES256' | 'ES384' | 'RS256' | 'PS256', kid?: string): string | null {
  const found = keySetOf({ keys }).keyOf({ alg, kid });
  return found === null || found === 'none' ? found : (found.asymmetricKeyType ?? '');
}

test('the key must fit what the header says: algorithm, curve, use and name', () => {
  const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({ format: 'jwk' });
  const other = generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({ format: 'jwk' });
  assert.equal(keyOf([ec], 'ES256'), 'ec', 'one without a name fits a token without one');
  assert.equal(keyOf([ec], 'ES384'), 'none', 'another curve');
  assert.equal(keyOf([ec], 'RS256'), 'none', 'another kind');
  assert.equal(keyOf([{ ...ec, alg: 'ES384' }], 'ES256'), 'none');
  assert.equal(keyOf([{ ...ec, use: 'enc' }], 'ES256'), 'none');
  assert.equal(keyOf([{ ...ec, kid: 'a' }], 'ES256', 'b'), 'none');
  assert.equal(keyOf([ec, other], 'ES256'), null, 'both fit');
  assert.equal(
    keyOf(
      [
        { ...ec, kid: 'a' },
        { ...other, kid: 'b' },
      ],
      'ES256',
      'b',
    ),
    'ec',
  );
  assert.equal(keyOf([{ ...ec, y: ec.x }], 'ES256'), null, 'a point that is not on the curve is no key');
});
