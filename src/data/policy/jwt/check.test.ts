import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose';
import { silentLog } from '../../../base/log.ts';
import type { AccessKey } from '../../../plane/access-keys.ts';
import type { JwtAction } from '../../../plane/policy.ts';
import { TestIssuer } from '../../fixtures/issuer.ts';
import { JwtCheck } from './check.ts';
import { KeySources } from './key-sources.ts';

const SECOND = 1_000;

interface Fixture {
  readonly issuer: TestIssuer;
  readonly check: JwtCheck;
  pass(ms: number): void;
  find(token: string, over?: Partial<JwtAction>): Promise<string>;
}

/** A check against an issuer, by its key set unless an action says otherwise. The test moves the clock. */
async function fixture(t: TestContext): Promise<Fixture> {
  const issuer = await TestIssuer.start(t);
  let passedMs = 0;
  const startMs = Date.now();
  const clock = { now: () => startMs + passedMs, monotonic: () => passedMs };
  const check = new JwtCheck(new KeySources({ allowPrivate: true, ca: issuer.ca }, { clock, log: silentLog }), clock);
  return {
    issuer,
    check,
    pass: (ms) => (passedMs += ms),
    find: async (token, over = {}) => {
      const any = { allowedIssuers: [], allowedAudiences: [], jwksUrl: issuer.jwksUrl };
      return (await check.find(token, { kind: 'jwt_validation', enforce: true, ...any, ...over }, 'org')).kind;
    },
  };
}

const seconds = (): number => Math.floor(Date.now() / SECOND);
const part = (json: object): string => Buffer.from(JSON.stringify(json)).toString('base64url');

test('a signed token that has not run out is good; changed, expired, early and endless ones are not', async (t) => {
  const { issuer, find, pass } = await fixture(t);
  const token = await issuer.sign();
  assert.equal(await find(token), 'good');
  const [head, , signature] = token.split('.');
  assert.equal(await find(`${head}.${part({ sub: 'eve', exp: seconds() + 60 })}.${signature}`), 'bad');
  assert.equal(await find(await issuer.sign({ exp: seconds() - 1 })), 'bad');
  assert.equal(await find(await issuer.sign({ nbf: seconds() + 60 })), 'bad');
  assert.equal(await find(await issuer.sign({ exp: undefined } as unknown as JWTPayload)), 'bad');
  for (const nonsense of ['x', 'a.b', 'a.b.c', '..', token.slice(0, -9)]) assert.equal(await find(nonsense), 'bad');
  pass(3_601 * SECOND);
  assert.equal(await find(token), 'bad');
});

test('no algorithm but asymmetric ones: not none, and no public key as a shared secret', async (t) => {
  const { issuer, find } = await fixture(t);
  const claims = { iss: issuer.url, exp: seconds() + 60 };
  assert.equal(await find(`${part({ alg: 'none', kid: 'one' })}.${part(claims)}.`), 'bad');
  const secret = Buffer.from('a secret that is long enough for HS256');
  issuer.keys.push({ kty: 'oct', k: secret.toString('base64url'), kid: 'shared', alg: 'HS256' });
  for (const [kid, key] of [
    ['shared', secret],
    ['one', Buffer.from(JSON.stringify(issuer.keys[0]))],
  ] as const) {
    const token = await new SignJWT(claims).setProtectedHeader({ alg: 'HS256', kid }).sign(key);
    assert.equal(await find(token), 'bad', kid);
  }
  for (const alg of ['RS256', 'PS256', 'ES384', 'EdDSA']) {
    const of = await fixture(t);
    await of.issuer.rotate('k', alg);
    assert.equal(await of.find(await of.issuer.sign()), 'good', alg);
  }
});

test('where a header says that its key is counts for nothing', async (t) => {
  const { issuer, find } = await fixture(t);
  const evil = await TestIssuer.start(t);
  const [jwk] = evil.keys;
  const token = await evil.sign({}, { jku: evil.jwksUrl, x5u: evil.url, jwk });
  assert.equal(await find(token), 'bad');
  assert.deepEqual(evil.asked, []);
  assert.equal(await find(await issuer.sign({}, { jku: evil.jwksUrl })), 'good');
});

test('issuers and audiences are those of the policy; an empty list allows all; aud may be a list', async (t) => {
  const { issuer, find } = await fixture(t);
  const token = await issuer.sign({ aud: ['shop', 'blog'] });
  assert.equal(await find(token, { allowedIssuers: ['https://other.test'] }), 'bad');
  assert.equal(await find(token, { allowedIssuers: ['https://other.test', issuer.url] }), 'good');
  assert.equal(await find(token, { allowedAudiences: ['wiki'] }), 'bad');
  assert.equal(await find(token, { allowedAudiences: ['wiki', 'blog'] }), 'good');
  assert.equal(await find(await issuer.sign({ aud: 'blog' }), { allowedAudiences: ['blog'] }), 'good');
  assert.equal(await find(await issuer.sign(), { allowedAudiences: ['blog'] }), 'bad');
});

test('without a key set the issuer is asked where its keys are, if the policy allows it', async (t) => {
  const { issuer, find } = await fixture(t);
  const evil = await TestIssuer.start(t);
  const over = { jwksUrl: null, allowedIssuers: [issuer.url] };
  assert.equal(await find(await issuer.sign(), over), 'good');
  assert.deepEqual(issuer.asked, ['/.well-known/openid-configuration', '/keys']);
  assert.equal(await find(await evil.sign(), over), 'bad');
  assert.equal(await find(await evil.sign({ iss: issuer.url }), over), 'bad');
  assert.equal(await find(await issuer.sign(), { jwksUrl: null, allowedIssuers: [] }), 'bad');
  assert.deepEqual(evil.asked, []);
});

test('a key that is not known is asked for, but not more often than every 30 s', async (t) => {
  const { issuer, find, pass } = await fixture(t);
  assert.equal(await find(await issuer.sign()), 'good');
  await issuer.rotate('two');
  const token = await issuer.sign();
  for (let i = 0; i < 5; i++) assert.equal(await find(token), 'bad');
  assert.equal(issuer.asked.length, 1);
  pass(30 * SECOND);
  assert.deepEqual(await Promise.all([find(token), find(token), find(token)]), ['good', 'good', 'good']);
  assert.equal(issuer.asked.length, 2);
  pass(30 * SECOND);
  for (let i = 0; i < 5; i++) assert.equal(await find(await issuer.sign({}, { kid: `made-up-${i}` })), 'bad');
  assert.equal(issuer.asked.length, 3);
});

test('keys that were never had are unknown; those that were had are good for an hour of outage', async (t) => {
  const { issuer, find, pass } = await fixture(t);
  issuer.isDown = true;
  const token = await issuer.sign({ exp: seconds() + 100_000 });
  assert.equal(await find(token), 'unknown');
  issuer.isDown = false;
  assert.equal(await find(token), 'unknown', 'the floor counts failed attempts');
  assert.equal(issuer.asked.length, 1);
  pass(30 * SECOND);
  assert.equal(await find(token), 'good');
  issuer.isDown = true;
  pass(3_599 * SECOND);
  assert.equal(await find(token), 'good');
  assert.equal(issuer.asked.length, 3, 'tried anew after ten minutes');
  pass(SECOND);
  assert.equal(await find(token), 'unknown');
  issuer.isDown = false;
  issuer.keys = [];
  pass(30 * SECOND);
  assert.equal(await find(token), 'bad', 'a key that was withdrawn');
});

test('this server’s access tokens are good where no other keys are named, in their own organization, and nothing else that it signs', async (t) => {
  const { issuer, check, find } = await fixture(t);
  const { publicKey, privateKey } = await generateKeyPair('EdDSA', { extractable: true });
  check.useOwnKeys([{ ...(await exportJWK(publicKey)), kid: 'own', alg: 'EdDSA', use: 'sig' } as unknown as AccessKey]);
  const own = (typ: string, aud: string, org?: unknown): Promise<string> =>
    new SignJWT({ iss: 'https://api.test', aud, org, exp: seconds() + 60 })
      .setProtectedHeader({ alg: 'EdDSA', kid: 'own', typ })
      .sign(privateKey);
  const access = await own('at+jwt', 'culvert-api', 'org');
  const over = { jwksUrl: null };
  assert.equal(await find(access, over), 'good');
  assert.equal(await find(access, { ...over, allowedIssuers: ['https://api.test', issuer.url] }), 'good');
  assert.equal(await find(access, { ...over, allowedIssuers: [issuer.url] }), 'bad');
  assert.equal(await find(access), 'bad', 'a policy with a key set of its own');
  for (const org of [undefined, 'another org', ['org'], ''])
    assert.equal(await find(await own('at+jwt', 'culvert-api', org), over), 'bad', `organization ${org}`);
  for (const [typ, aud] of [
    ['mfa-challenge+jwt', 'culvert-mfa'],
    ['checkout+jwt', 'culvert-checkout'],
    ['at+jwt', 'culvert-mfa'],
    ['mfa-challenge+jwt', 'culvert-api'],
  ] as const)
    assert.equal(await find(await own(typ, aud, 'org'), over), 'bad', typ);
  check.useOwnKeys([]);
  assert.equal(await find(access, over), 'bad');
});

test('places that are many or slow cost the other organizations nothing', async (t) => {
  const issuer = await TestIssuer.start(t);
  const slow = await TestIssuer.start(t);
  const gate = Promise.withResolvers<void>();
  slow.hold = gate.promise;
  const clock = { now: () => Date.now(), monotonic: () => 0 };
  const sources = new KeySources({ allowPrivate: true, ca: issuer.ca }, { clock, log: silentLog });
  const place = { jwksUrl: issuer.jwksUrl };
  const good = await sources.keysAt('ann', place);
  assert.ok(good !== null);
  // More than one organization may have, and more fetches at once than it may have.
  const asked = Array.from({ length: 1_200 }, (_, n) => sources.keysAt('eve', { jwksUrl: `${slow.jwksUrl}?${n}` }));
  assert.ok((await sources.keysAt('bob', place)) !== null, 'there is room for a fetch');
  assert.equal(await sources.keysAt('ann', place), good, 'nothing was forgotten');
  assert.equal(issuer.asked.length, 2);
  gate.resolve();
  const had = (await Promise.all(asked)).filter((keys) => keys !== null);
  assert.ok(had.length <= 4, `${had.length} fetches of one organization`);
});

test('of a thousand places each organization keeps its own until others have more', async (t) => {
  const issuer = await TestIssuer.start(t);
  const clock = { now: () => Date.now(), monotonic: () => 0 };
  const sources = new KeySources({ allowPrivate: true, ca: issuer.ca }, { clock, log: silentLog });
  const place = { jwksUrl: issuer.jwksUrl };
  const first = await sources.keysAt('first', place);
  issuer.isDown = true;
  for (let org = 0; org < 12; org++)
    for (let n = 0; n < 100; n++) void sources.keysAt(`org ${org}`, { jwksUrl: `http://nowhere.test/${n}` });
  assert.equal(await sources.keysAt('first', place), first);
});
