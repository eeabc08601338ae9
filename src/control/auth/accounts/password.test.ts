/** Forgotten and changed passwords over HTTP, on a clock that the test moves; emails are read in the outbox. */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, mock, test } from 'node:test';
import { eq } from 'drizzle-orm';
import { auditEvents, memberships, organizations, passwordResets, users } from '../../db/schema.ts';
import { Passwords } from '../../core/secrets/passwords.ts';
import type { Answer } from '../../core/testing/harness.ts';
import { MfaPerson } from '../mfa/testing.ts';
import { type PlaneApi, servePlane } from '../../core/testing/plane-api.ts';
import { Plane, START } from '../../core/testing/plane.ts';
import { kindsTo, lastEmail, emailsTo } from '../../core/testing/outbox.ts';

const ANN = 'ann@example.test';
const NEW = 'seven green bottles';
const NEWER = 'eight blue bottles';
const MINUTE = 60_000;

let plane: Plane;
let api: PlaneApi;
/** Ann's first password, and a session of hers. */
let password = '';
let token = '';
let cookie = '';
beforeEach(async () => {
  plane = new Plane();
  api = await servePlane(plane);
  const made = await plane.control.accounts.createUser({ email: ANN, name: 'Ann', plan: 'free', superadmin: false });
  password = made.password.reveal();
  const session = await login();
  token = String(session.body['access_token']);
  cookie = cookieOf(session);
});
afterEach(async () => {
  mock.restoreAll();
  await api.close();
  plane.close();
});

const post = (path: string, body: object, as?: string): Promise<Answer> =>
  api.call('POST', path, { body, ...(as === undefined ? {} : { as }) });
const login = (text = password, email = ANN): Promise<Answer> => post('/auth/login', { email, password: text });
const forgot = (email = ANN): Promise<Answer> => post('/auth/forgot', { email });
const reset = (link: string, text = NEW): Promise<Answer> => post('/auth/reset', { token: link, new_password: text });
const change = (current: string, next = NEW, as: string | undefined = token): Promise<Answer> =>
  post('/auth/password', { current_password: current, new_password: next }, as);
const me = (as: string): Promise<Answer> => api.call('GET', '/auth/me', { as });
const refresh = (value: string): Promise<Answer> =>
  api.call('POST', '/auth/refresh', { headers: { cookie: `qnt_refresh=${value}` } });
const linkOf = (email = ANN): string => lastEmail(plane, email, 'password_reset').token;
const cookieOf = ({ headers }: Answer): string =>
  /qnt_refresh=([^;]*)/.exec(headers.get('set-cookie') ?? '')?.[1] ?? '';
const errorOf = ({ status, body }: Answer): string => `${status} ${String(body['error'])}`;
const db = () => plane.control.store.db;
const actions = (): string[] =>
  db()
    .select()
    .from(auditEvents)
    .all()
    .map((row) => row.action);

test('a link from the mail sets a new password, ends every session, and is good once', async () => {
  const asked = await forgot('Ann@Example.test');
  assert.equal(asked.status, 202);
  assert.deepEqual(asked.body, { status: 'accepted' });
  const link = linkOf();
  assert.match(link, /^[\w-]{43}$/);
  const stored = db().select().from(passwordResets).all();
  assert.ok(stored.every(({ hash }) => /^[0-9a-f]{64}$/.test(hash)));
  const done = await reset(link);
  assert.equal(done.status, 200);
  assert.deepEqual(done.body, { status: 'password_changed' });
  assert.equal((await me(token)).status, 401);
  assert.equal((await refresh(cookie)).status, 401);
  assert.equal((await login()).status, 401);
  assert.equal((await login(NEW)).status, 200);
  assert.equal(errorOf(await reset(link, NEWER)), '400 invalid_code');
  assert.equal((await login(NEWER)).status, 401);
  assert.deepEqual(kindsTo(plane, ANN), ['password_reset', 'password_changed']);
  assert.deepEqual(actions().slice(-5), [
    'auth.password_forgot',
    'auth.password_reset',
    'auth.login_failed',
    'auth.login',
    'auth.login_failed',
  ]);
});

test('20 uses of one link at once: one sets the password', async () => {
  await forgot();
  const link = linkOf();
  const passwords = Array.from({ length: 20 }, (_, i) => `green bottles, number ${i}`);
  const answers = await Promise.all(passwords.map((text) => reset(link, text)));
  const failed = answers.filter(({ status }) => status !== 200);
  assert.equal(failed.length, 19);
  assert.deepEqual([...new Set(failed.map(errorOf))], ['400 invalid_code']);
  const winner = passwords[answers.findIndex(({ status }) => status === 200)] ?? '';
  assert.equal((await login(winner)).status, 200);
  assert.equal(kindsTo(plane, ANN).filter((kind) => kind === 'password_changed').length, 1);
});

test('every link that fails does so alike: unknown, used, run out, older than the change', async () => {
  await forgot();
  const older = linkOf();
  await forgot();
  const used = linkOf();
  assert.notEqual(older, used);
  assert.equal((await reset(used)).status, 200);
  await forgot();
  const late = linkOf();
  plane.now += 60 * MINUTE;
  const answers = [await reset('x'), await reset(older, NEWER), await reset(used, NEWER), await reset(late, NEWER)];
  assert.equal(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size, 1);
  assert.equal(errorOf(answers[0] as Answer), '400 invalid_code');
  assert.equal((await login(NEW)).status, 200);
  plane.now += 1;
  plane.control.retention.sweep();
  assert.equal(db().select().from(passwordResets).all().length, 0);
});

test('a link is good until its hour is over', async () => {
  await forgot();
  plane.now += 60 * MINUTE - 1;
  assert.equal((await reset(linkOf())).status, 200);
});

test('a body that is not as documented changes nothing', async () => {
  await forgot();
  for (const [path, body] of [
    ['/auth/forgot', {}],
    ['/auth/forgot', { email: 7 }],
    ['/auth/reset', { token: linkOf() }],
    ['/auth/reset', { token: linkOf(), new_password: 'a'.repeat(11) }],
    ['/auth/reset', { token: linkOf(), new_password: 'a'.repeat(257) }],
    ['/auth/reset', { new_password: NEW }],
    ['/auth/reset', { token: '', new_password: NEW }],
    ['/auth/password', { current_password: password, new_password: 'short' }],
    ['/auth/password', { new_password: NEW }],
  ] as const) {
    assert.equal(errorOf(await post(path, body, token)), '400 invalid_request', JSON.stringify(body));
  }
  assert.equal((await login()).status, 200);
  assert.equal((await reset(linkOf())).status, 200, 'a refused password does not use the link up');
});

test('a link to an address that was not verified verifies it, and its code is void', async () => {
  await post('/auth/signup', { email: 'bob@example.test', password: 'a stranger typed this' });
  await forgot('bob@example.test');
  assert.equal((await reset(linkOf('bob@example.test'))).status, 200);
  const { code } = lastEmail(plane, 'bob@example.test', 'verify_email');
  assert.equal(errorOf(await post('/auth/verify-email-otp', { email: 'bob@example.test', code })), '400 invalid_code');
  assert.equal((await login('a stranger typed this', 'bob@example.test')).status, 401);
  assert.equal((await login(NEW, 'bob@example.test')).status, 200);
});

test('a link sets the first password of an account that had none', async () => {
  db().update(users).set({ passwordHash: null }).run();
  assert.equal((await login()).status, 401);
  assert.equal(errorOf(await change('anything')), '409 conflict');
  await forgot();
  assert.equal((await reset(linkOf())).status, 200);
  assert.equal((await login(NEW)).status, 200);
});

test('a reset keeps the second factor, and a challenge from before it opens nothing', async () => {
  const bob = await MfaPerson.protected(plane, api, 'bob@example.test');
  const before = await login(bob.password, bob.email);
  assert.equal(before.body['mfa_required'], true);
  await forgot(bob.email);
  plane.now += 1;
  assert.equal((await reset(linkOf(bob.email))).status, 200);
  const redeemed = await post('/auth/login/mfa', {
    challenge_token: before.body['challenge_token'],
    recovery_code: bob.codes[0],
  });
  assert.equal(redeemed.status, 401);
  assert.equal((await login(NEW, bob.email)).body['mfa_required'], true);
});

test('an address is not flooded with links: five at once, then one in twenty minutes', async () => {
  for (let i = 0; i < 10; i++) assert.equal((await forgot()).status, 202);
  assert.equal(emailsTo(plane, ANN).length, 5);
  plane.now += 20 * MINUTE;
  for (let i = 0; i < 3; i++) await forgot();
  assert.equal(emailsTo(plane, ANN).length, 6);
  assert.equal((await forgot('absent@example.test')).status, 202);
  assert.equal(emailsTo(plane, 'absent@example.test').length, 0);
  assert.equal((await reset(linkOf())).status, 200);
});

test('mail goes to the address of the account, not to one that only compares equal to it', async () => {
  await plane.control.accounts.createUser({ email: 'kim@example.test', name: '', plan: 'free', superadmin: false });
  // U+212A, the Kelvin sign, becomes k in lower case, and is another mailbox.
  await forgot('\u212aim@example.test');
  assert.deepEqual(kindsTo(plane, 'kim@example.test'), ['password_reset']);
  assert.deepEqual(kindsTo(plane, '\u212aim@example.test'), []);
});

test('a log-in that a reset overtakes opens no session', async () => {
  await forgot();
  const link = linkOf();
  const { verify } = Passwords.prototype;
  mock.method(
    Passwords.prototype,
    'verify',
    async function (this: Passwords, stored: string | null, text: string): Promise<boolean> {
      const fits = await verify.call(this, stored, text);
      assert.equal((await reset(link)).status, 200);
      return fits;
    },
    { times: 1 },
  );
  const answer = await login();
  assert.equal(errorOf(answer), '401 unauthorized');
  assert.equal(answer.headers.get('set-cookie'), null);
});

test('the current password sets a new one; the other sessions and the links end, this session goes on', async () => {
  const other = await login();
  await forgot();
  assert.equal((await post('/auth/password', { current_password: password, new_password: NEW })).status, 401);
  assert.equal(errorOf(await change('not the password')), '401 unauthorized');
  assert.equal((await login()).status, 200, 'a wrong current password changes nothing');
  const done = await change(password);
  assert.equal(done.status, 200);
  assert.deepEqual(done.body, { status: 'password_changed' });
  assert.equal((await me(token)).status, 200);
  assert.equal((await refresh(cookie)).status, 200);
  assert.equal((await me(String(other.body['access_token']))).status, 401);
  assert.equal((await refresh(cookieOf(other))).status, 401);
  assert.equal(errorOf(await reset(linkOf(), NEWER)), '400 invalid_code');
  assert.equal((await login()).status, 401);
  assert.equal((await login(NEW)).status, 200);
  assert.deepEqual(kindsTo(plane, ANN), ['password_reset', 'password_changed']);
  assert.equal(db().select().from(users).get()?.passwordChangedAt, START);
  assert.ok(actions().includes('auth.password_change'));
});

test('of many changes from the same password one is made', async () => {
  const answers = await Promise.all(Array.from({ length: 8 }, (_, i) => change(password, `green bottles ${i}`)));
  const statuses = answers.map(({ status }) => status).sort();
  assert.deepEqual(statuses, [200, ...Array<number>(7).fill(401)]);
});

test('guessing the current password runs into the limit of /auth', async () => {
  await api.close();
  api = await servePlane(plane, { authLimit: { burst: 5, refillSeconds: 12 } });
  const statuses: number[] = [];
  for (let i = 0; i < 6; i++) statuses.push((await change('not the password')).status);
  assert.deepEqual(statuses, [401, 401, 401, 401, 401, 429]);
});

test('a person changes their name', async () => {
  const rename = (name: unknown, as?: string): Promise<Answer> =>
    api.call('PATCH', '/auth/me', { body: { name }, ...(as === undefined ? {} : { as }) });
  assert.equal((await rename('Bob')).status, 401);
  for (const name of [undefined, 7, 'two\nlines', 'a'.repeat(101)]) {
    assert.equal(errorOf(await rename(name, token)), '400 invalid_request', String(name));
  }
  const done = await rename('  Ann Lee ', token);
  assert.equal((done.body as Record<string, Record<string, unknown>>)['user']?.['name'], 'Ann Lee');
  assert.deepEqual(done.body, (await me(token)).body);
  assert.equal((await rename('', token)).status, 200);
  assert.equal(actions().filter((action) => action === 'user.update').length, 2);
});

test('password login: a user without an organization gets a new one', async () => {
  db().delete(memberships).run();
  assert.equal((await me(token)).status, 401);
  const { status, body } = await login();
  assert.equal(status, 200);
  assert.deepEqual(
    { ...(body['active_org'] as object), id: '' },
    {
      id: '',
      name: 'Ann',
      slug: (body['active_org'] as { slug: string }).slug,
      role: 'owner',
      approval_status: 'approved',
    },
  );
  await login();
  assert.equal(db().select().from(organizations).all().length, 2, 'once');
  assert.ok(actions().includes('org.create'));
});

test('the new organization waits for approval where new ones do', async () => {
  const { dataDir } = plane;
  await api.close();
  plane.control.close();
  plane = new Plane(dataDir, { newOrg: { plan: 'free', approval: 'pending' } });
  api = await servePlane(plane);
  db().delete(memberships).run();
  assert.equal(((await login()).body['active_org'] as { approval_status: string }).approval_status, 'pending');
});

test('password login: a failure without an organization is still in the audit log', async () => {
  db().delete(memberships).run();
  await login('not the password');
  const row = db().select().from(auditEvents).where(eq(auditEvents.action, 'auth.login_failed')).get();
  assert.equal(row?.resourceId, db().select().from(users).get()?.id);
});
