/** The second factor on and off: enrolment, recovery codes, storage, notifications. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { auditEvents, mfaFactors, outgoingMails, recoveryCodes } from '../../db/schema.ts';
import type { Actor } from '../../core/rules/actor.ts';
import { base32Bytes, codeAt } from '../../../../test/harness/authenticator.ts';
import { MfaPerson } from './testing.ts';
import { Plane } from '../../core/testing/plane.ts';
import { type PlaneApi, servePlane } from '../../core/testing/plane-api.ts';
import { said } from '../../core/testing/team.ts';

const MINUTE = 60_000;

let plane: Plane;
let api: PlaneApi;
let ann: MfaPerson;
beforeEach(async () => {
  plane = new Plane();
  api = await servePlane(plane);
  ann = await MfaPerson.create(plane, api, 'ann@example.test');
});
afterEach(async () => {
  await api.close();
  plane.close();
});

const verify = (code: string, as = ann.token) => ann.post('/auth/mfa/enroll/verify', { code }, as);
const rowsOf = (table: typeof mfaFactors | typeof recoveryCodes) => plane.control.store.db.select().from(table).all();
const actions = (): string[] =>
  plane.control.store.db
    .select()
    .from(auditEvents)
    .all()
    .map(({ action }) => action);
const emails = () =>
  plane.control.store.db
    .select()
    .from(outgoingMails)
    .orderBy(outgoingMails.id)
    .all()
    .map((row) => plane.control.outbox.open(row));
async function turnOn(): Promise<void> {
  await ann.enroll();
  const answer = await verify(ann.code());
  assert.equal(answer.status, 200, answer.text);
  ann.codes = answer.body['recovery_codes'] as string[];
}

test('enrolment gives a secret and stores nothing; its code turns the factor on and gives ten recovery codes', async () => {
  assert.deepEqual((await ann.get('/auth/mfa')).body, { enabled: false, enabled_at: null, recovery_codes_left: 0 });
  const enrolled = await ann.enroll();
  assert.deepEqual(Object.keys(enrolled.body).sort(), ['otpauth_uri', 'secret_base32']);
  const uri = new URL(String(enrolled.body['otpauth_uri']));
  assert.equal(decodeURIComponent(uri.pathname), '/Culvert:ann@example.test');
  assert.equal(uri.searchParams.get('secret'), ann.secret);
  assert.deepEqual([rowsOf(mfaFactors), rowsOf(recoveryCodes)], [[], []]);
  assert.equal(((await ann.get('/auth/me')).body['user'] as { mfa_enabled: boolean }).mfa_enabled, false);

  const answer = await verify(ann.code());
  assert.equal(answer.status, 200);
  const codes = answer.body['recovery_codes'] as string[];
  assert.equal(new Set(codes).size, 10);
  for (const code of codes) assert.match(code, /^[0-9a-hjkmnp-tv-z]{4}(-[0-9a-hjkmnp-tv-z]{4}){2}$/);
  assert.equal(((await ann.get('/auth/me')).body['user'] as { mfa_enabled: boolean }).mfa_enabled, true);
  const enabled_at = new Date(plane.now).toISOString();
  assert.deepEqual((await ann.get('/auth/mfa')).body, { enabled: true, enabled_at, recovery_codes_left: 10 });
  assert.ok(actions().includes('auth.mfa_enable'));
  assert.deepEqual(emails(), [{ kind: 'mfa_changed', to: 'ann@example.test', enabled: true }]);
});

test('none of the routes is open to the anonymous', async () => {
  for (const [method, path, body] of [
    ['GET', '/auth/mfa', undefined],
    ['POST', '/auth/mfa/enroll', undefined],
    ['POST', '/auth/mfa/enroll/verify', { code: '123456' }],
    ['POST', '/auth/mfa/recovery-codes', { password: 'x' }],
    ['POST', '/auth/mfa/disable', { password: 'x' }],
  ] as const) {
    assert.deepEqual(said(await api.call(method, path, { body })), [401, 'unauthorized'], path);
  }
});

test('what is no code of six digits is invalid_request, what is the wrong one invalid_code', async () => {
  assert.deepEqual(said(await verify('123456')), [400, 'invalid_code'], 'nothing is pending');
  await ann.enroll();
  for (const code of ['', '12345', '1234567', '12345a', ' 12345', '١٢٣٤٥٦', 123456, null, undefined]) {
    const answer = await ann.post('/auth/mfa/enroll/verify', { code });
    assert.deepEqual(said(answer), [400, 'invalid_request'], String(code));
  }
  assert.deepEqual(said(await verify(ann.wrongCode())), [400, 'invalid_code']);
  assert.deepEqual(rowsOf(mfaFactors), []);
  assert.equal((await verify(ann.code())).status, 200, 'a slip is no end');
});

test('ten wrong codes burn the pending secret', async () => {
  await ann.enroll();
  const wrong = ann.wrongCode();
  for (let i = 0; i < 10; i++) assert.deepEqual(said(await verify(wrong)), [400, 'invalid_code']);
  assert.deepEqual(said(await verify(ann.code())), [400, 'invalid_code']);
  await turnOn();
});

test('a pending secret lives ten minutes, and belongs to its session', async () => {
  await ann.enroll();
  const other = String((await ann.login()).body['access_token']);
  assert.deepEqual(said(await verify(ann.code(), other)), [400, 'invalid_code'], 'of another session');
  plane.now += 10 * MINUTE - 1;
  const still = ann.code();
  plane.now += 1;
  assert.deepEqual(said(await verify(still)), [400, 'invalid_code'], 'too late');
  ann.token = String((await ann.login()).body['access_token']);
  await ann.enroll();
  plane.now += 10 * MINUTE - 1;
  assert.equal((await verify(ann.code())).status, 200);
});

test('a second enrolment takes the place of the first', async () => {
  await ann.enroll();
  const first = ann.code();
  await ann.enroll();
  assert.deepEqual(said(await verify(first)), [400, 'invalid_code']);
  assert.equal((await verify(ann.code())).status, 200);
});

test('a restart between enrolment and confirmation forgets the secret', async () => {
  await ann.enroll();
  await api.close();
  plane.control.close();
  const { now, dataDir } = plane;
  plane = new Plane(dataDir);
  plane.now = now;
  api = await servePlane(plane);
  const again = (path: string, body?: object) =>
    api.call('POST', path, { as: ann.token, ...(body === undefined ? {} : { body }) });
  assert.deepEqual(said(await again('/auth/mfa/enroll/verify', { code: ann.code() })), [400, 'invalid_code']);
  const secret = String((await again('/auth/mfa/enroll')).body['secret_base32']);
  assert.notEqual(secret, ann.secret);
  assert.equal((await again('/auth/mfa/enroll/verify', { code: codeAt(secret, now) })).status, 200);
});

test('the same confirmation sent 20 times at once turns the factor on once', async () => {
  await ann.enroll();
  const answers = await Promise.all(Array.from({ length: 20 }, () => verify(ann.code())));
  const good = answers.filter(({ status }) => status === 200);
  assert.equal(good.length, 1);
  for (const bad of answers) if (bad !== good[0]) assert.deepEqual(said(bad), [400, 'invalid_code']);
  assert.equal(rowsOf(recoveryCodes).length, 10);
});

test('with a factor on, there is no second one', async () => {
  const other = String((await ann.login()).body['access_token']);
  const pending = String((await ann.post('/auth/mfa/enroll', undefined, other)).body['secret_base32']);
  await turnOn();
  assert.deepEqual(said(await ann.post('/auth/mfa/enroll')), [409, 'conflict']);
  assert.deepEqual(said(await verify(codeAt(pending, plane.now), other)), [409, 'conflict']);
  assert.equal(rowsOf(mfaFactors).length, 1);
  assert.equal((await api.call('GET', '/auth/me', { as: other })).status, 200, 'other sessions live on');
});

test('neither secret nor recovery code is in any file in clear', async () => {
  await turnOn();
  await ann.second({ recovery_code: ann.codes[0] });
  const secrets = [
    ann.secret,
    base32Bytes(ann.secret),
    ...ann.codes.flatMap((code) => [code, code.replaceAll('-', '')]),
  ];
  const files = readdirSync(plane.dataDir).map((name) => join(plane.dataDir, name));
  const all = files.map((file) => readFileSync(file));
  assert.ok(
    all.some((bytes) => bytes.includes('ann@example.test')),
    'the search finds what is there',
  );
  for (const bytes of all) for (const secret of secrets) assert.ok(!bytes.includes(secret));
});

test('a secret that was moved to another account does not open', async () => {
  await turnOn();
  const bob = await MfaPerson.protected(plane, api, 'bob@example.test');
  const mine = rowsOf(mfaFactors).find((row) => row.userId === ann.id) as typeof mfaFactors.$inferSelect;
  plane.control.store.db.update(mfaFactors).set({ sealedSecret: mine.sealedSecret }).run();
  plane.now += 30_000;
  assert.equal((await ann.second({ code: ann.code() })).status, 200);
  assert.deepEqual(said(await bob.second({ code: ann.code() })), [500, 'internal']);
});

test('password or recovery code turns it off: both, or none, is invalid', async () => {
  await turnOn();
  const disable = (body?: object) => ann.post('/auth/mfa/disable', body);
  assert.deepEqual(said(await disable()), [400, 'invalid_request'], 'no body');
  const neither = { password: null, recovery_code: null };
  for (const body of [{}, neither, { password: ann.password, recovery_code: ann.codes[0] }, { code: ann.code() }]) {
    assert.deepEqual(said(await disable(body)), [400, 'invalid_request'], JSON.stringify(body));
  }
  assert.deepEqual(said(await disable({ password: 'not the password' })), [401, 'unauthorized']);
  assert.deepEqual(said(await disable({ recovery_code: '0000-0000-0000' })), [401, 'unauthorized']);
  assert.equal(rowsOf(mfaFactors).length, 1);

  assert.deepEqual((await disable({ password: ann.password, recovery_code: null })).body, { status: 'disabled' });
  assert.deepEqual([rowsOf(mfaFactors), rowsOf(recoveryCodes)], [[], []]);
  assert.deepEqual(said(await disable({ password: ann.password })), [409, 'conflict']);
  assert.deepEqual(said(await disable({ recovery_code: ann.codes[0] })), [401, 'unauthorized']);
  assert.equal((await ann.login()).body['mfa_required'], undefined);
  assert.ok(actions().includes('auth.mfa_disable'));
  assert.deepEqual(
    emails().map((email) => 'enabled' in email && email.enabled),
    [true, false],
  );

  await turnOn();
  assert.equal((await disable({ password: null, recovery_code: ann.codes[3] })).status, 200);
  assert.deepEqual(rowsOf(mfaFactors), []);
});

test('a recovery code of one account is none of another', async () => {
  await turnOn();
  const bob = await MfaPerson.protected(plane, api, 'bob@example.test');
  assert.deepEqual(said(await bob.second({ recovery_code: ann.codes[0] })), [401, 'unauthorized']);
  assert.deepEqual(said(await bob.post('/auth/mfa/disable', { recovery_code: ann.codes[0] })), [401, 'unauthorized']);
  assert.equal((await ann.second({ recovery_code: ann.codes[0] })).status, 200);
});

test('a recovery code that was moved to another account is none', async () => {
  await turnOn();
  const bob = await MfaPerson.protected(plane, api, 'bob@example.test');
  plane.control.store.db.update(recoveryCodes).set({ userId: bob.id }).run();
  assert.deepEqual(said(await bob.second({ recovery_code: ann.codes[0] })), [401, 'unauthorized']);
  assert.equal((await bob.second({ recovery_code: bob.codes[0] })).status, 200);
});

test('what checks no secret takes nothing from the limit on log-ins; what checks one does', async () => {
  const strict = await servePlane(plane, { authLimit: { burst: 1, refillSeconds: 60 } });
  const call = (method: string, path: string, body?: object) =>
    strict.call(method, path, { as: ann.token, ...(body === undefined ? {} : { body }) });
  try {
    for (let i = 0; i < 5; i++) {
      assert.equal((await call('GET', '/auth/mfa')).status, 200);
      assert.equal((await call('POST', '/auth/mfa/enroll')).status, 200);
    }
    assert.deepEqual(said(await call('POST', '/auth/mfa/enroll/verify', { code: '123456' })), [400, 'invalid_code']);
    for (const [path, body] of [
      ['/auth/mfa/enroll/verify', { code: '123456' }],
      ['/auth/mfa/disable', { password: ann.password }],
      ['/auth/mfa/recovery-codes', { password: ann.password }],
      ['/auth/login/mfa', { challenge_token: 'x', code: '123456' }],
    ] as const) {
      assert.deepEqual(said(await call('POST', path, body)), [429, 'rate_limited'], path);
    }
  } finally {
    await strict.close();
  }
});

test('new recovery codes take the place of the old ones, for the password alone', async () => {
  const renew = (body: object) => ann.post('/auth/mfa/recovery-codes', body);
  assert.deepEqual(said(await renew({ password: ann.password })), [409, 'conflict'], 'there is no factor');
  await turnOn();
  assert.deepEqual(said(await renew({ password: 'wrong' })), [401, 'unauthorized']);
  assert.deepEqual(said(await renew({ recovery_code: ann.codes[0] })), [400, 'invalid_request']);
  const answer = await renew({ password: ann.password });
  const fresh = answer.body['recovery_codes'] as string[];
  assert.equal(new Set([...fresh, ...ann.codes]).size, 20);
  assert.deepEqual(said(await ann.second({ recovery_code: ann.codes[0] })), [401, 'unauthorized']);
  assert.equal((await ann.second({ recovery_code: fresh[0] })).status, 200);
  assert.ok(actions().includes('auth.mfa_recovery_renew'));
});

test('second factor: only an operator resets it for a user who lost app and codes', async () => {
  await turnOn();
  const operator: Actor = { kind: 'operator', orgId: null, userId: null, label: 'operator', ipAddress: '127.0.0.1' };
  const person = await plane.person('mallory@example.test');
  assert.throws(() => plane.control.mfa.reset(person, ann.id), { code: 'forbidden' });
  assert.throws(() => plane.control.mfa.reset(operator, person.orgId), { code: 'not_found' });
  assert.equal(plane.control.mfa.reset(operator, ann.id), true);
  assert.equal(plane.control.mfa.reset(operator, ann.id), false);
  assert.deepEqual([rowsOf(mfaFactors), rowsOf(recoveryCodes)], [[], []]);
  assert.equal((await ann.login()).body['mfa_required'], undefined);
  assert.equal(actions().filter((action) => action === 'user.mfa_reset').length, 1);
  assert.deepEqual(emails().at(-1), { kind: 'mfa_changed', to: 'ann@example.test', enabled: false });
});
