import assert from 'node:assert/strict';
import { createPublicKey } from 'node:crypto';
import { test } from 'node:test';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { isSignedBy, parseToken } from './signed-token.ts';

const ALGORITHMS = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
];
const part = (json: unknown): string => Buffer.from(JSON.stringify(json)).toString('base64url');

for (const alg of ALGORITHMS)
  test(`${alg}: what jose signs is good, and no other byte is`, async () => {
    const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true });
    const text = await new SignJWT({ sub: 'ann' }).setProtectedHeader({ alg, kid: 'k', typ: 'JWT' }).sign(privateKey);
    const key = createPublicKey({ key: await exportJWK(publicKey), format: 'jwk' });
    const token = parseToken(text);
    assert.ok(token !== null);
    assert.deepEqual(token.header, { alg, kid: 'k', typ: 'JWT' });
    assert.deepEqual(token.claims, { sub: 'ann' });
    assert.ok(isSignedBy(token, key));
    const [head, , signature] = text.split('.');
    const forged = parseToken(`${head}.${part({ sub: 'eve' })}.${signature}`);
    assert.ok(forged !== null && !isSignedBy(forged, key));
    for (const at of [0, token.signature.length >> 1, token.signature.length - 1]) {
      const changed: Buffer = Buffer.from(token.signature);
      changed[at] = (changed[at] as number) ^ 1;
      assert.ok(!isSignedBy({ ...token, signature: changed }, key));
    }
    for (const length of [0, 1, token.signature.length - 1])
      assert.ok(!isSignedBy({ ...token, signature: token.signature.subarray(0, length) }, key));
    assert.ok(!isSignedBy({ ...token, signature: Buffer.concat([token.signature, Buffer.alloc(1)]) }, key));
  });

test('what is no token of three parts, or asks for what is not understood, is none', () => {
  const head = part({ alg: 'ES256' });
  const body = part({ sub: 'ann' });
  assert.ok(parseToken(`${head}.${body}.AA`) !== null);
  for (const text of [
    '',
    'a.b.c',
    `${head}.${body}`,
    `${head}.${body}.`,
    `${head}.${body}.AA.AA`,
    `${head}.${body}.A+`,
    `${head}.${body}=.AA`,
    `${head}.${part([1])}.AA`,
    `${head}.${part(null)}.AA`,
    `${part('ES256')}.${body}.AA`,
    `${part({ alg: 'none' })}.${body}.AA`,
    `${part({ alg: 'HS256' })}.${body}.AA`,
    `${part({ alg: 'toString' })}.${body}.AA`,
    `${part({ alg: ['ES256'] })}.${body}.AA`,
    `${part({})}.${body}.AA`,
    `${part({ alg: 'ES256', crit: ['exp'] })}.${body}.AA`,
    `${part({ alg: 'ES256', b64: false, crit: ['b64'] })}.${body}.AA`,
  ])
    assert.equal(parseToken(text), null, text);
});

test('token: a header or claims that are nested too deep make it none', () => {
  const part = (value: string): string => Buffer.from(value).toString('base64url');
  const token = (head: string, claims: string): string => `${part(head)}.${part(claims)}.c2ln`;
  const head = '{"alg":"RS256"}';
  const nested = (levels: number): string => `{"a":${'['.repeat(levels)}${']'.repeat(levels)}}`;
  assert.notEqual(parseToken(token(head, nested(31))), null);
  assert.equal(parseToken(token(head, nested(32))), null);
  assert.equal(parseToken(token(`{"alg":"RS256","x":${'['.repeat(8_000)}${']'.repeat(8_000)}}`, '{}')), null);
});
