/** Log-in with a second factor: what counts once does so against requests that race, and what is guessed is counted per account. */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { auditEvents, outgoingMails } from '../../db/schema.ts';
import type { Answer } from '../../core/testing/harness.ts';
import { MfaPerson } from './testing.ts';
import { Plane, VISIT } from '../../core/testing/plane.ts';
import { type PlaneApi, servePlane } from '../../core/testing/plane-api.ts';
import { said } from '../../core/testing/team.ts';

const STEP = 30_000;
const MINUTE = 60_000;

let plane: Plane;
let api: PlaneApi;
let ann: MfaPerson;
beforeEach(async () => {
  plane = new Plane();
  api = await servePlane(plane);
  ann = await MfaPerson.protected(plane, api, 'ann@example.test');
});
afterEach(async () => {
  await api.close();
  plane.close();
});

const REFUSED = [401, 'unauthorized'];
const statuses = (answers: readonly Answer[]): Record<number, number> =>
  Object.fromEntries([...Map.groupBy(answers, ({ status }) => status)].map(([status, all]) => [status, all.length]));
const challenges = (n: number): Promise<string[]> => Promise.all(Array.from({ length: n }, () => ann.challenge()));
const claimsOf = (jwt: string): Record<string, unknown> =>
  JSON.parse(Buffer.from(jwt.split('.')[1] ?? '', 'base64url').toString()) as Record<string, unknown>;
const emails = () =>
  plane.control.store.db
    .select()
    .from(outgoingMails)
    .orderBy(outgoingMails.id)
    .all()
    .map((row) => plane.control.outbox.open(row));
const left = async (): Promise<unknown> => (await ann.get('/auth/mfa')).body['recovery_codes_left'];

test('the password alone gives a challenge and no session; code and challenge give what every log-in gives', async () => {
  const first = await ann.login();
  assert.equal(first.status, 200);
  assert.deepEqual(Object.keys(first.body).sort(), ['challenge_token', 'mfa_required']);
  assert.equal(first.headers.get('set-cookie'), null);
  plane.now += STEP;
  const done = await ann.second({ code: ann.code() }, String(first.body['challenge_token']));
  assert.equal(done.status, 200, done.text);
  assert.deepEqual(Object.keys(done.body).sort(), ['access_token', 'active_org', 'is_superadmin', 'user']);
  assert.match(done.headers.get('set-cookie') ?? '', /^qnt_refresh=[\w.-]{43,};.*HttpOnly/);
  assert.equal((await api.call('GET', '/auth/me', { as: String(done.body['access_token']) })).status, 200);
});

test('exactly one of code and recovery code is asked for', async () => {
  const challenge_token = await ann.challenge();
  for (const body of [
    { challenge_token },
    { challenge_token, code: null, recovery_code: null },
    { challenge_token, code: ann.code(1), recovery_code: ann.codes[0] },
    { challenge_token, code: '', recovery_code: ann.codes[0] },
    { challenge_token, code: 123456 },
    { challenge_token, recovery_code: [ann.codes[0]] },
    { code: ann.code(1) },
    { challenge_token: null, code: ann.code(1) },
  ]) {
    assert.deepEqual(said(await api.call('POST', '/auth/login/mfa', { body })), [400, 'invalid_request']);
  }
  assert.equal(await left(), 10);
  assert.equal((await ann.second({ code: ann.code(1) }, challenge_token)).status, 200, 'nothing of it was counted');
});

test('the one that is not shown may be null', async () => {
  assert.equal((await ann.second({ code: null, recovery_code: ann.codes[0] })).status, 200);
  assert.equal((await ann.second({ code: ann.code(1), recovery_code: null })).status, 200);
});

test('text that can be no code is refused as a wrong one is, and is no guess', async () => {
  const challenge = await ann.challenge();
  for (const code of ['', '12345', '1234567', '12345a', ' 123456', '１２３４５６', 'x'.repeat(10_000)]) {
    assert.deepEqual(said(await ann.second({ code }, challenge)), REFUSED, code.slice(0, 20));
  }
  for (const recovery_code of ['', 'x'.repeat(65), '\u0000', 'İ'.repeat(10_000)]) {
    assert.deepEqual(said(await ann.second({ recovery_code }, challenge)), REFUSED, recovery_code.slice(0, 20));
  }
  assert.equal((await ann.second({ code: ann.code(1) }, challenge)).status, 200);
});

test('a challenge is no access token, an access token no challenge, and a changed one nothing', async () => {
  const challenge = await ann.challenge();
  for (const path of ['/auth/me', '/tunnels', '/auth/mfa']) {
    assert.deepEqual(said(await api.call('GET', path, { as: challenge })), REFUSED);
  }
  const [header = '', payload = '', signature = ''] = challenge.split('.');
  const bob = await MfaPerson.create(plane, api, 'bob@example.test');
  const claims = claimsOf(challenge);
  assert.deepEqual(Object.keys(claims).sort(), ['aud', 'exp', 'iat', 'iss', 'jti', 'pwd', 'sub']);
  assert.notEqual(claims['aud'], claimsOf(ann.token)['aud']);
  const forged = Buffer.from(JSON.stringify({ ...claims, sub: bob.id })).toString('base64url');
  const none = Buffer.from('{"alg":"none"}').toString('base64url');
  for (const token of [
    ann.token,
    `${header}.${forged}.${signature}`,
    `${none}.${payload}.`,
    `${header}.${payload}.`,
    'x',
  ]) {
    assert.deepEqual(said(await ann.second({ recovery_code: ann.codes[0] }, token)), REFUSED);
  }
  assert.equal(await left(), 10);
});

test('a challenge lives five minutes', async () => {
  const challenge = await ann.challenge();
  plane.now += 5 * MINUTE - 1;
  assert.deepEqual(said(await ann.second({ code: ann.wrongCode() }, challenge)), REFUSED);
  assert.equal((await ann.second({ code: ann.code() }, challenge)).status, 200, 'a wrong code did not use it up');
  const other = await ann.challenge();
  plane.now += 5 * MINUTE;
  assert.deepEqual(said(await ann.second({ code: ann.code() }, other)), REFUSED);
});

test('a password reset leaves the factor on, and ends the challenges that the old password gave', async () => {
  const before = await ann.challenge();
  plane.now += 1;
  plane.control.passwordReset.forgot(ann.email, VISIT);
  const mail = emails().at(-1);
  assert.ok(mail?.kind === 'password_reset');
  ann.password = 'another correct horse';
  const reset = { token: mail.token, new_password: ann.password };
  assert.equal((await api.call('POST', '/auth/reset', { body: reset })).status, 200);
  const after = await ann.challenge();
  assert.deepEqual(said(await ann.second({ recovery_code: ann.codes[0] }, before)), REFUSED);
  assert.equal((await ann.second({ recovery_code: ann.codes[0] }, after)).status, 200);
});

test('a challenge ends with the factor', async () => {
  const pending = await ann.challenge();
  assert.equal((await ann.post('/auth/mfa/disable', { password: ann.password })).status, 200);
  plane.now += STEP;
  assert.deepEqual(said(await ann.second({ code: ann.code() }, pending)), REFUSED);
});

test('the code of the enrolment is used up, and so is every code after its log-in', async () => {
  assert.deepEqual(said(await ann.second({ code: ann.code() })), REFUSED);
  plane.now += STEP;
  assert.equal((await ann.second({ code: ann.code() })).status, 200);
  assert.deepEqual(said(await ann.second({ code: ann.code() })), REFUSED);
  plane.now += STEP;
  assert.deepEqual(said(await ann.second({ code: ann.code(-1) })), REFUSED, 'also in the step after it');
  assert.equal((await ann.second({ code: ann.code() })).status, 200);
});

test('a clock may be one step off, not two, and no code older than the last one counts', async () => {
  plane.now += 10 * STEP;
  for (const steps of [-2, 2]) assert.deepEqual(said(await ann.second({ code: ann.code(steps) })), REFUSED);
  assert.equal((await ann.second({ code: ann.code(-1) })).status, 200);
  assert.equal((await ann.second({ code: ann.code(1) })).status, 200);
  assert.deepEqual(said(await ann.second({ code: ann.code() })), REFUSED);
});

test('of 20 log-ins at once with the same code one succeeds, and the others are no guesses', async () => {
  plane.now += STEP;
  const tokens = await challenges(20);
  const code = ann.code();
  const answers = await Promise.all(tokens.map((token) => ann.second({ code }, token)));
  assert.deepEqual(statuses(answers), { 200: 1, 401: 19 });
  plane.now += STEP;
  assert.equal((await ann.second({ code: ann.code() })).status, 200, 'the factor is not locked');
});

test('of 20 uses at once of one recovery code one succeeds', async () => {
  const tokens = await challenges(20);
  const answers = await Promise.all(tokens.map((token) => ann.second({ recovery_code: ann.codes[0] }, token)));
  assert.deepEqual(statuses(answers), { 200: 1, 401: 19 });
  assert.equal(await left(), 9);
});

test('of ten uses at once of one challenge one succeeds, and the others use nothing up', async () => {
  const token = await ann.challenge();
  const answers = await Promise.all(ann.codes.map((recovery_code) => ann.second({ recovery_code }, token)));
  assert.deepEqual(statuses(answers), { 200: 1, 401: 9 });
  assert.equal(await left(), 9);
  plane.now += STEP;
  assert.deepEqual(said(await ann.second({ code: ann.code() }, token)), REFUSED);
  assert.equal((await ann.second({ code: ann.code() })).status, 200, 'the code was not used up with it');
});

test('50 wrong codes at once lock the factor exactly at the fifth, over all log-ins of the account', async () => {
  plane.now += STEP;
  const tokens = await challenges(50);
  const code = ann.wrongCode();
  const answers = await Promise.all(tokens.map((token) => ann.second({ code }, token)));
  assert.deepEqual(statuses(answers), { 401: 5, 429: 45 });
  const refused = await ann.second({ code: ann.code() });
  assert.deepEqual(said(refused), [429, 'rate_limited'], 'the right one neither');
  assert.equal(refused.body['retry_after_seconds'], 300);
  assert.equal(refused.headers.get('retry-after'), '300');
  assert.equal((await ann.second({ recovery_code: ann.codes[0] })).status, 200, 'a recovery code is a way in');
  assert.deepEqual(said(await ann.second({ code: ann.code() })), [429, 'rate_limited'], 'and lifts nothing');

  const bob = await MfaPerson.protected(plane, api, 'bob@example.test');
  plane.now += 5 * MINUTE - 1;
  assert.equal((await bob.second({ code: bob.code() })).status, 200, 'another account is not concerned');
  assert.deepEqual((await ann.second({ code: ann.code() })).body['retry_after_seconds'], 1);
  plane.now += 1;
  assert.equal((await ann.second({ code: ann.code() })).status, 200);
});

async function wrong(n: number): Promise<void> {
  for (let i = 0; i < n; i++) assert.deepEqual(said(await ann.second({ code: ann.wrongCode() })), REFUSED);
}
const wait = async (): Promise<unknown> => (await ann.second({ code: ann.wrongCode() })).body['retry_after_seconds'];

test('a right code ends the row of wrong ones; after a lock five more lock again', async () => {
  plane.now += STEP;
  await wrong(4);
  assert.equal((await ann.second({ code: ann.code() })).status, 200);
  plane.now += STEP;
  await wrong(4);
  assert.equal((await ann.second({ code: ann.code() })).status, 200);
  for (const minutes of [5, 10]) {
    await wrong(5);
    assert.deepEqual(said(await ann.second({ code: ann.wrongCode() })), [429, 'rate_limited']);
    plane.now += minutes * MINUTE;
  }
});

test('each lock is twice as long, up to a day, until a right code comes', async () => {
  plane.now += STEP;
  for (const minutes of [5, 10, 20, 40, 80, 160, 320, 640, 1280, 1440, 1440]) {
    await wrong(5);
    assert.equal(await wait(), minutes * 60);
    plane.now += minutes * MINUTE;
  }
  await wrong(4);
  assert.equal((await ann.second({ code: ann.code() })).status, 200);
  plane.now += STEP;
  await wrong(5);
  assert.equal(await wait(), 300, 'it begins anew');
});

test('a log-in by recovery code does not make the next lock shorter', async () => {
  plane.now += STEP;
  await wrong(5);
  assert.equal((await ann.second({ recovery_code: ann.codes[0] })).status, 200);
  plane.now += 5 * MINUTE;
  await wrong(5);
  assert.equal(await wait(), 600);
});

test('second factor: the owner is notified of the first lock alone', async () => {
  const told = (): unknown[] => emails().filter(({ kind }) => kind === 'mfa_locked');
  plane.now += STEP;
  await wrong(4);
  assert.deepEqual(told(), []);
  await wrong(1);
  assert.deepEqual(told(), [{ kind: 'mfa_locked', to: ann.email }]);
  plane.now += 5 * MINUTE;
  await wrong(5);
  assert.equal(told().length, 1);
  plane.now += 10 * MINUTE;
  assert.equal((await ann.second({ code: ann.code() })).status, 200);
  await wrong(5);
  assert.equal(told().length, 2, 'a right code has come since');
});

test('second factor: a clock that was a year ahead blocks no user once it is right', async () => {
  plane.ahead = 365 * 24 * 60 * MINUTE;
  assert.equal((await ann.second({ code: ann.code(plane.ahead / STEP) })).status, 200);
  plane.control.passwordReset.forgot(ann.email, VISIT);
  const mail = emails().at(-1);
  assert.ok(mail?.kind === 'password_reset');
  ann.password = 'another correct horse';
  await plane.control.passwordReset.reset({ token: mail.token, newPassword: ann.password }, VISIT);
  await wrong(5);
  plane.ahead = 0;
  const code = ann.code();
  assert.equal((await ann.second({ code })).status, 200);
  assert.deepEqual(said(await ann.second({ code })), REFUSED, 'it is used up as ever');
});

test('a clock that is corrected by a step gives no code a second life', async () => {
  plane.now += 10 * STEP;
  plane.ahead = STEP;
  const early = ann.code(2);
  assert.equal((await ann.second({ code: early })).status, 200, 'an app that is a step ahead of the server');
  plane.ahead = 0;
  assert.deepEqual(said(await ann.second({ code: ann.code(1) })), REFUSED, 'older than the last one');
  plane.now += STEP;
  assert.deepEqual(said(await ann.second({ code: early })), REFUSED);
});

test('wrong recovery codes are not counted', async () => {
  for (let i = 0; i < 12; i++) {
    assert.deepEqual(said(await ann.second({ recovery_code: `0000-0000-000${i % 10}` })), REFUSED);
  }
  plane.now += STEP;
  assert.equal((await ann.second({ code: ann.code() })).status, 200);
});

test('a recovery code is read as people type it', async () => {
  const typed: ReadonlyArray<(code: string) => string> = [
    (code) => code.toUpperCase(),
    (code) => code.replaceAll('-', ''),
    (code) => code.replaceAll('-', ' '),
    (code) => ` ${code.replaceAll('-', ' – ')}\n`,
    (code) => code.replaceAll('0', 'O').replaceAll('1', 'l'),
    (code) => code.replaceAll('0', 'o').replaceAll('1', 'I'),
  ];
  for (const [i, type] of typed.entries()) {
    const code = type(ann.codes[i] ?? '');
    assert.equal((await ann.second({ recovery_code: code })).status, 200, code);
  }
  const whole = ann.codes[6] ?? '';
  for (const rest of [whole.slice(0, -1), `${whole}0`, '-', 'ſ', `${whole.slice(0, -1)}u`]) {
    assert.deepEqual(said(await ann.second({ recovery_code: rest })), REFUSED, rest);
  }
  assert.equal(await left(), 4);
});

test('second factor: the audit log has wrong codes, recovery codes and logins; an email reports recovery codes', async () => {
  const auditLog = (): string[] =>
    plane.control.store.db
      .select()
      .from(auditEvents)
      .orderBy(auditEvents.id)
      .all()
      .filter(({ actorId }) => actorId === ann.id)
      .map(({ action }) => action);
  const known = auditLog().length;
  const challengeToken = await ann.challenge();
  const complete = (proof: { code: string } | { recoveryCode: string }) =>
    plane.control.mfaLogin.complete({ challengeToken, proof }, VISIT);
  await assert.rejects(complete({ code: ann.wrongCode() }), { code: 'unauthorized' });
  const emailsBefore = emails().length;
  await complete({ recoveryCode: ann.codes[0] ?? '' });
  assert.deepEqual(emails().slice(emailsBefore), [{ kind: 'recovery_code_used', to: ann.email, left: 9 }]);
  assert.deepEqual(auditLog().slice(known), ['auth.login_failed', 'auth.login', 'auth.mfa_recovery']);
});
