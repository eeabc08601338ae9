/**
 * Whose password a code confirms: sign-ups of one address by several people, and what a user learns who signs up with the address of
 * another and tries to log in.
 */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { auditEvents, sessions, users } from '../../db/schema.ts';
import type { Answer } from '../../core/testing/harness.ts';
import { type PlaneApi, servePlane } from '../../core/testing/plane-api.ts';
import { Plane } from '../../core/testing/plane.ts';
import { kindsTo, lastEmail, emailsTo } from '../../core/testing/outbox.ts';

const ANN = 'ann@example.test';
/** What Ann types, what another user types, and what Ann sets by the link. */
const ANNS = 'correct horse battery';
const EVES = 'seven green bottles';
const NEW = 'eight blue bottles';

let plane: Plane;
let api: PlaneApi;
beforeEach(async () => {
  plane = new Plane();
  api = await servePlane(plane);
});
afterEach(async () => {
  await api.close();
  plane.close();
});

const post = (path: string, body: object): Promise<Answer> => api.call('POST', path, { body });
const signUp = async (password: string, email = ANN): Promise<void> =>
  assert.equal((await post('/auth/signup', { email, password })).status, 201);
const verify = async (code: string): Promise<void> =>
  assert.equal((await post('/auth/verify-email-otp', { email: ANN, code })).status, 200);
/** `200`, or the status with the code of the error. */
const login = async (password: string, email = ANN): Promise<string> => {
  const { status, body } = await post('/auth/login', { email, password });
  return status === 200 ? '200' : `${status} ${String(body['error'])}`;
};
const newestCode = (): string => {
  const mail = emailsTo(plane, ANN).findLast((one) => 'code' in one);
  assert.ok(mail !== undefined && 'code' in mail);
  return mail.code;
};

async function restart(): Promise<void> {
  const { dataDir } = plane;
  await api.close();
  plane.control.close();
  plane = new Plane(dataDir);
  api = await servePlane(plane);
}

// biome-ignore format: a table
const orders: ReadonlyArray<[what: string, act: () => Promise<void>]> = [
  ['another user came first', async () => { await signUp(EVES); await signUp(ANNS); }],
  ['another user came after', async () => { await signUp(ANNS); await signUp(EVES); }],
  ['another user came first and used up the emails', async () => { for (let i = 0; i < 5; i++) await signUp(EVES); await signUp(ANNS); }],
  ['another user came after and the emails were used up', async () => { for (let i = 0; i < 5; i++) await signUp(ANNS); await signUp(EVES); }],
  ['another user came before and after', async () => { await signUp(EVES); await signUp(ANNS); await signUp(EVES); await signUp(EVES); }],
  ['the owner came before and after', async () => { await signUp(ANNS); await signUp(EVES); await signUp(ANNS); await signUp(ANNS); }],
  ['a code was asked for between', async () => { await signUp(EVES); await post('/auth/resend-verify-otp', { email: ANN }); await signUp(ANNS); }],
  ['the server was started again between', async () => { await signUp(EVES); await restart(); await signUp(ANNS); }],
  ['the other user came back after a restart of the server', async () => { await signUp(EVES); await signUp(ANNS); await restart(); await signUp(EVES); await signUp(EVES); }],
];
for (const [what, act] of orders) {
  test(`contested address: a code confirms no password where two were typed, although ${what}`, async () => {
    await act();
    await verify(newestCode());
    for (const password of [ANNS, EVES]) assert.equal(await login(password), '401 unauthorized');
    assert.equal(plane.control.store.db.select().from(sessions).all().length, 0);
    await post('/auth/forgot', { email: ANN });
    const { token } = lastEmail(plane, ANN, 'password_reset');
    assert.equal((await post('/auth/reset', { token, new_password: NEW })).status, 200);
    assert.equal(await login(NEW), '200');
    for (const password of [ANNS, EVES]) assert.equal(await login(password), '401 unauthorized');
  });
}

test('contested address: the email has a link that proves it and sets the password', async () => {
  await signUp(EVES);
  await signUp(ANNS);
  assert.deepEqual(kindsTo(plane, ANN), ['verify_email', 'verify_contested']);
  const { token } = lastEmail(plane, ANN, 'verify_contested');
  assert.equal((await post('/auth/reset', { token, new_password: NEW })).status, 200);
  assert.equal(await login(NEW), '200');
  assert.equal(await login(ANNS), '401 unauthorized');
});

test('a code that is asked for later comes with a link too', async () => {
  await signUp(EVES);
  await signUp(ANNS);
  await post('/auth/resend-verify-otp', { email: ANN });
  assert.deepEqual(kindsTo(plane, ANN), ['verify_email', 'verify_contested', 'verify_contested']);
});

test('contested address: the same password contests nothing, however the keyboard writes it', async () => {
  await signUp('Zu\u0308rich-stra\u00dfe-\uff11\uff12');
  await signUp('Z\u00fcrich-stra\u00dfe-12', 'ANN@example.test');
  const mail = lastEmail(plane, 'ANN@example.test', 'verify_email');
  await verify(mail.code);
  assert.equal(await login('Z\u00fcrich-stra\u00dfe-12'), '200');
});

test('a password that an operator has set is not replaced by one that was typed before', async () => {
  await signUp(EVES);
  const id = plane.control.store.db.select().from(users).get()?.id ?? '';
  const made = await plane.control.passwordReset.replace(
    { kind: 'operator', orgId: null, userId: null, label: 'operator', ipAddress: '' },
    id,
  );
  await signUp(EVES);
  await verify(newestCode());
  assert.equal(await login(EVES), '401 unauthorized');
  assert.equal(await login(made.password.reveal()), '401 unauthorized', 'contested');
});

test('contested address: a login with the address of another user looks the same as with a new one', async () => {
  await plane.control.accounts.createUser({ email: 'has@example.test', name: '', plan: 'free', superadmin: false });
  await signUp(ANNS, 'waits@example.test');
  const seen = async (email: string): Promise<string[]> => {
    const said: string[] = [];
    for (const typed of [EVES, 'another, typed after', EVES, EVES]) {
      await signUp(typed, email);
      for (const password of [EVES, 'another, typed after', 'never typed at all'])
        said.push(await login(password, email));
    }
    for (let i = 0; i < 6; i++) await signUp(NEW, email);
    return [...said, await login(NEW, email), await login(EVES, email)];
  };
  const fresh = await seen('new@example.test');
  assert.ok(fresh.includes('403 email_not_verified') && fresh.includes('401 unauthorized'));
  for (const email of ['has@example.test', 'waits@example.test']) assert.deepEqual(await seen(email), fresh, email);
  assert.equal(plane.control.store.db.select().from(sessions).all().length, 0);
});

test('contested address: such a login is in the audit log of the account, and the owner gets in as ever', async () => {
  const made = await plane.control.accounts.createUser({ email: ANN, name: '', plan: 'free', superadmin: false });
  await signUp(EVES);
  assert.equal(await login(EVES), '403 email_not_verified');
  const actions = plane.control.store.db
    .select()
    .from(auditEvents)
    .all()
    .map(({ action }) => action);
  assert.equal(actions.filter((action) => action === 'auth.login_failed').length, 1);
  assert.equal(await login(made.password.reveal()), '200');
});

test('a password that was changed after the proof is no longer known', async () => {
  await signUp(ANNS);
  await verify(newestCode());
  const { body } = await post('/auth/login', { email: ANN, password: ANNS });
  const changed = await api.call('POST', '/auth/password', {
    as: String(body['access_token']),
    body: { current_password: ANNS, new_password: NEW },
  });
  assert.equal(changed.status, 200);
  assert.equal(await login(ANNS), '401 unauthorized');
  assert.equal(await login(NEW), '200');
});
