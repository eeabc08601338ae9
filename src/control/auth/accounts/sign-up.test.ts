/** Sign-up and e-mail codes over HTTP, on a clock that the test moves; emails are read in the outbox. */
import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { afterEach, beforeEach, mock, test } from 'node:test';
import { eq } from 'drizzle-orm';
import { auditEvents, emailCodes, organizations, projects, sessions, users } from '../../db/schema.ts';
import { Passwords } from '../../core/secrets/passwords.ts';
import type { Answer } from '../../core/testing/harness.ts';
import { type PlaneApi, servePlane } from '../../core/testing/plane-api.ts';
import { Plane } from '../../core/testing/plane.ts';
import { kindsTo, lastEmail, emailsTo } from '../../core/testing/outbox.ts';

const ANN = 'ann@example.test';
const PASSWORD = 'correct horse battery';
const OTHER = 'seven green bottles';
const MINUTE = 60_000;

let plane: Plane;
let api: PlaneApi;
beforeEach(async () => {
  plane = new Plane();
  api = await servePlane(plane);
});
afterEach(async () => {
  mock.restoreAll();
  await api.close();
  plane.close();
});

const post = (path: string, body: object): Promise<Answer> => api.call('POST', path, { body });
const signUp = (more: object = {}): Promise<Answer> =>
  post('/auth/signup', { email: ANN, password: PASSWORD, ...more });
const login = (password = PASSWORD, email = ANN): Promise<Answer> => post('/auth/login', { email, password });
const verify = (code: string, email = ANN): Promise<Answer> => post('/auth/verify-email-otp', { email, code });
const resend = (email = ANN): Promise<Answer> => post('/auth/resend-verify-otp', { email });
const codeOf = (email = ANN): string => lastEmail(plane, email, 'verify_email').code;
const wrongCode = (right = codeOf(), by = 1): string => String((Number(right) + by) % 1_000_000).padStart(6, '0');
const errorOf = ({ status, body }: Answer): string => `${status} ${String(body['error'])}`;
const db = () => plane.control.store.db;
const attempts = (): number | undefined => db().select().from(emailCodes).get()?.failedAttempts;

test('sign-up: a user who shows the code of the email has an account, an organization and a default project', async () => {
  const answer = await signUp({ name: ' Ann ', organization_name: 'Acme' });
  assert.equal(answer.status, 201);
  assert.deepEqual(answer.body, { status: 'pending_email_verification' });
  assert.equal(errorOf(await login()), '403 email_not_verified');
  assert.equal(errorOf(await login('not the password')), '401 unauthorized', 'only the right password learns of it');
  assert.match(codeOf(), /^\d{6}$/);
  const verified = await verify(codeOf());
  assert.equal(verified.status, 200);
  assert.deepEqual(verified.body, { status: 'verified' });
  const me = await api.call('GET', '/auth/me', { as: String((await login()).body['access_token']) });
  const { user, active_org: org, entitlements } = me.body as Record<string, Record<string, unknown>>;
  assert.equal(user?.['email'], ANN);
  assert.equal(user?.['name'], 'Ann');
  assert.equal(user?.['email_verified'], true);
  assert.deepEqual(
    { ...org, id: '' },
    { id: '', name: 'Acme', slug: 'acme', role: 'owner', approval_status: 'approved' },
  );
  assert.equal(entitlements?.['plan'], 'free');
  const made = db()
    .select()
    .from(projects)
    .where(eq(projects.orgId, String(org?.['id'])))
    .all();
  assert.deepEqual(
    made.map(({ slug, isDefault }) => ({ slug, isDefault })),
    [{ slug: 'default', isDefault: true }],
  );
  const actions = db()
    .select()
    .from(auditEvents)
    .where(eq(auditEvents.actorLabel, ANN))
    .all()
    .map((row) => row.action);
  assert.deepEqual(actions, ['auth.signup', 'auth.login_failed', 'auth.email_verify', 'auth.login']);
});

test('an organization without a name is called after the person, or the address', async () => {
  await signUp({ name: 'Ann Lee', organization_name: '' });
  await signUp({ email: 'bob.b@example.test' });
  const names = db()
    .select()
    .from(organizations)
    .all()
    .map(({ name }) => name);
  assert.deepEqual(names, ['Ann Lee', 'bob.b']);
});

test('the code is not stored as it is, and is no good for another account', async () => {
  await signUp();
  await signUp({ email: 'bob@example.test' });
  const row = db().select().from(emailCodes).all();
  assert.equal(row.length, 2);
  assert.ok(row.every(({ codeMac }) => /^[0-9a-f]{64}$/.test(codeMac)));
  const anns = db().select().from(users).where(eq(users.email, ANN)).get();
  const mac = row.find(({ userId }) => userId === anns?.id)?.codeMac ?? '';
  db().update(emailCodes).set({ codeMac: mac }).run();
  assert.equal(errorOf(await verify(codeOf(), 'bob@example.test')), '400 invalid_code', 'a copied row opens nothing');
});

// biome-ignore format: a table
const refused: ReadonlyArray<[what: string, change: object, field: string]> = [
  ['no address', { email: undefined }, 'email'],
  ['an address without a domain', { email: 'ann' }, 'email'],
  ['two addresses', { email: 'ann@example.test,bob@example.test' }, 'email'],
  ['a list before the @', { email: 'bob,ann@example.test' }, 'email'],
  ['a display name', { email: 'Ann <ann@example.test>' }, 'email'],
  ['a line break in the address', { email: 'ann@example.test\r\nBcc: x@y' }, 'email'],
  ['an address of look-alikes', { email: '\u212aate@example.test' }, 'email'],
  ['an address that is too long', { email: `${'a'.repeat(250)}@b.test` }, 'email'],
  ['no password', { password: undefined }, 'password'],
  ['11 characters', { password: 'a'.repeat(11) }, 'password'],
  ['11 characters of two units each', { password: '\u{1f511}'.repeat(11) }, 'password'],
  ['257 characters', { password: 'a'.repeat(257) }, 'password'],
  ['a password that is no text', { password: 123_456_789_012 }, 'password'],
  ['a name of two lines', { name: 'Ann\nBcc: x@y' }, 'name'],
  ['a name that is too long', { name: 'a'.repeat(101) }, 'name'],
  ['an organization of two lines', { organization_name: 'Acme\r\nX' }, 'organization_name'],
];
for (const [what, change, field] of refused) {
  test(`sign-up refuses ${what}`, async () => {
    const answer = await signUp(change);
    assert.equal(errorOf(answer), '400 invalid_request');
    assert.deepEqual(
      (answer.body['details'] as Array<{ path: string }>).map(({ path }) => path),
      [field],
    );
    assert.equal(db().select().from(users).all().length, 0);
  });
}

// biome-ignore format: a table
const taken: ReadonlyArray<[what: string, change: object]> = [
  ['12 characters', { password: 'a'.repeat(12) }],
  ['256 characters of two units each', { password: '\u{1f511}'.repeat(256) }],
  ['spaces around the address', { email: ` ${ANN} ` }],
  ['an address of a local network', { email: 'ann@corp' }],
  ['null for what may be left out', { name: null, organization_name: null }],
  ['fields that it does not know', { superadmin: true, plan: 'enterprise' }],
];
for (const [what, change] of taken) {
  test(`sign-up takes ${what}`, async () => {
    assert.equal((await signUp(change)).status, 201);
    assert.equal(db().select().from(users).all()[0]?.isSuperadmin, false);
    assert.equal(db().select().from(organizations).all()[0]?.plan, 'free');
  });
}

test('sign-up: an address in use gets an email that says so, and its account stays as it is', async () => {
  const first = await signUp({ name: 'Ann' });
  await verify(codeOf());
  const again = await signUp({ email: 'ANN@example.test', password: OTHER, name: 'Eve' });
  assert.deepEqual([again.status, again.text], [first.status, first.text]);
  assert.deepEqual(kindsTo(plane, ANN), ['verify_email', 'already_registered']);
  assert.equal((await login()).status, 200);
  assert.equal(errorOf(await login(OTHER)), '403 email_not_verified', 'as with a new address');
  assert.equal(db().select().from(users).get()?.name, 'Ann');
  assert.equal(db().select().from(organizations).all().length, 1);
});

test('sign-up: an unproven address is signed up again: names and code are replaced', async () => {
  await signUp({ name: 'Eve', organization_name: 'Evil Corp' });
  const before = codeOf();
  await signUp({ email: 'Ann@example.test', name: 'Ann', organization_name: 'Acme' });
  const after = codeOf('Ann@example.test');
  assert.equal(db().select().from(users).all().length, 1);
  assert.deepEqual(
    db()
      .select()
      .from(organizations)
      .all()
      .map(({ name, slug }) => `${name} ${slug}`),
    ['Acme acme'],
  );
  if (before !== after) assert.equal(errorOf(await verify(before)), '400 invalid_code');
  assert.equal((await verify(after)).status, 200);
  assert.equal((await login()).status, 200);
});

test('the account is there when the answer is: the next request of the same client finds it', async () => {
  for (let i = 0; i < 10; i++) {
    const email = `quick-${i}@example.test`;
    assert.equal((await signUp({ email })).status, 201);
    assert.equal(errorOf(await login(PASSWORD, email)), '403 email_not_verified', `after ${i}`);
    await resend(email);
    assert.equal(emailsTo(plane, email).length, 2);
    assert.equal((await verify(codeOf(email), email)).status, 200);
  }
});

test('the account is made also when the client hangs up before the answer', async () => {
  const { promise: hashed, resolve } = Promise.withResolvers<void>();
  mock.method(Passwords.prototype, 'hash', async () => {
    socket.destroy();
    await hungUp;
    // The server has read what came before the end of this exchange: it knows that the caller is gone.
    await api.call('GET', '/health');
    resolve();
    return 'a hash';
  });
  const body = JSON.stringify({ email: ANN, password: PASSWORD });
  const socket = connect(api.port, '127.0.0.1');
  const hungUp = new Promise((resolve) => socket.once('close', resolve));
  socket.write(
    `POST /auth/signup HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  );
  await hungUp;
  await hashed;
  await api.call('GET', '/health');
  assert.deepEqual(kindsTo(plane, ANN), ['verify_email']);
});

test('four wrong codes leave the right one good; five burn it, and it fails as a wrong one does', async () => {
  await signUp();
  for (let i = 0; i < 4; i++) assert.equal(errorOf(await verify(wrongCode())), '400 invalid_code');
  assert.equal((await verify(codeOf())).status, 200);
  await signUp({ email: 'bob@example.test' });
  const code = codeOf('bob@example.test');
  const wrong: Answer[] = [];
  for (let i = 0; i < 5; i++) wrong.push(await verify(wrongCode(code), 'bob@example.test'));
  const burned = await verify(code, 'bob@example.test');
  assert.deepEqual([burned.status, burned.text], [wrong[0]?.status, wrong[0]?.text]);
  await resend('bob@example.test');
  assert.equal(
    (await verify(codeOf('bob@example.test'), 'bob@example.test')).status,
    200,
    'a new code has new attempts',
  );
});

test('50 wrong codes at once burn the code at exactly five', async () => {
  await signUp();
  const wrong = Array.from({ length: 50 }, (_, i) => verify(wrongCode(codeOf(), i + 1)));
  const answers = await Promise.all(wrong);
  assert.deepEqual([...new Set(answers.map(errorOf))], ['400 invalid_code']);
  assert.equal(attempts(), 5);
  assert.equal(errorOf(await verify(codeOf())), '400 invalid_code');
  assert.equal(attempts(), 5);
});

test('20 uses of the right code at once: one is taken', async () => {
  await signUp();
  const code = codeOf();
  const statuses = (await Promise.all(Array.from({ length: 20 }, () => verify(code)))).map(({ status }) => status);
  assert.deepEqual(statuses.sort(), [200, ...Array<number>(19).fill(400)]);
});

test('a code lives for ten minutes', async () => {
  await signUp();
  plane.now += 10 * MINUTE;
  assert.equal(errorOf(await verify(codeOf())), '400 invalid_code');
  await resend();
  plane.now += 10 * MINUTE - 1;
  assert.equal((await verify(codeOf())).status, 200);
});

test('a new code voids the last one, and there is one live code however many are asked for at once', async () => {
  await signUp();
  await Promise.all(Array.from({ length: 50 }, () => resend()));
  assert.equal(db().select().from(emailCodes).all().length, 1);
  const codes = emailsTo(plane, ANN).map((mail) => (mail.kind === 'verify_email' ? mail.code : ''));
  const last = codes.at(-1) ?? '';
  for (const code of new Set(codes.slice(0, -1))) {
    if (code !== last) assert.equal(errorOf(await verify(code)), '400 invalid_code');
  }
  assert.equal((await verify(last)).status, 200);
});

test('an address is not flooded: five codes at once, then one in twenty minutes, and beyond that nothing changes', async () => {
  await signUp();
  for (let i = 0; i < 10; i++) assert.equal((await resend()).status, 200);
  assert.equal(emailsTo(plane, ANN).length, 5);
  const code = codeOf();
  assert.equal((await signUp({ name: 'Eve' })).status, 201);
  assert.equal(db().select().from(users).get()?.name, '');
  assert.equal(emailsTo(plane, ANN).length, 5);
  assert.equal(codeOf(), code);
  plane.now += 5 * MINUTE;
  assert.equal((await verify(code)).status, 200);
  assert.equal((await login()).status, 200);
  for (let i = 0; i < 10; i++) await signUp({ password: OTHER });
  assert.equal(kindsTo(plane, ANN).filter((kind) => kind === 'already_registered').length, 5);
  plane.now += 20 * MINUTE;
  for (let i = 0; i < 3; i++) await signUp({ password: OTHER });
  assert.equal(kindsTo(plane, ANN).filter((kind) => kind === 'already_registered').length, 6);
});

test('nothing is sent to an address that is verified or unknown when a code is asked for', async () => {
  await signUp();
  await verify(codeOf());
  assert.deepEqual((await resend()).body, { ok: true });
  assert.deepEqual((await resend('absent@example.test')).body, { ok: true });
  assert.equal(emailsTo(plane, ANN).length, 1);
  assert.equal(emailsTo(plane, 'absent@example.test').length, 0);
});

test('whatever text is shown as address or code, it fails as a wrong code does', async () => {
  await signUp();
  const wrong = await verify(wrongCode());
  for (const [code, email] of [
    ['', ANN],
    ['x'.repeat(60_000), ANN],
    [` ${codeOf()}`, ANN],
    [codeOf(), ''],
    [codeOf(), 'a'.repeat(60_000)],
    [codeOf(), `${ANN}\0`],
    ['\ud800', '\ud800'],
  ] as const) {
    const answer = await verify(code, email);
    assert.deepEqual([answer.status, answer.text], [wrong.status, wrong.text], `${code} ${email}`.slice(0, 50));
  }
});

test('a body that is not as documented is refused by the code routes too', async () => {
  for (const [path, body] of [
    ['/auth/verify-email-otp', { email: ANN }],
    ['/auth/verify-email-otp', { email: ANN, code: 123_456 }],
    ['/auth/verify-email-otp', { code: '123456' }],
    ['/auth/resend-verify-otp', {}],
    ['/auth/resend-verify-otp', { email: ['a@b.test'] }],
  ] as const) {
    assert.equal(errorOf(await post(path, body)), '400 invalid_request', JSON.stringify(body));
  }
});

test('sign-up: closed, it refuses every address, and nothing is computed or stored', async () => {
  await api.close();
  plane.close();
  plane = new Plane(undefined, { signup: 'closed' });
  api = await servePlane(plane);
  await plane.control.accounts.createUser({ email: ANN, name: '', plan: 'free', superadmin: false });
  const hashed = mock.method(Passwords.prototype, 'hash');
  const [known, unknown] = [await signUp(), await signUp({ email: 'new@example.test' })];
  assert.equal(errorOf(known), '403 forbidden');
  assert.match(String(known.body['message']), /Ask an operator/);
  assert.equal(known.text, unknown.text);
  assert.equal(hashed.mock.callCount(), 0);
  assert.equal(db().select().from(users).all().length, 1);
  assert.equal(kindsTo(plane, ANN).length, 0);
});

test('where organizations need approval a new one may log in and look, and open nothing', async () => {
  await api.close();
  plane.close();
  plane = new Plane(undefined, { newOrg: { plan: 'team', approval: 'pending' } });
  api = await servePlane(plane);
  await signUp();
  await verify(codeOf());
  const { body } = await login();
  assert.equal((body['active_org'] as { approval_status: string }).approval_status, 'pending');
  const as = String(body['access_token']);
  const me = await api.call('GET', '/auth/me', { as });
  assert.equal((me.body['entitlements'] as { plan: string }).plan, 'team');
  assert.equal((await api.call('GET', '/tunnels', { as })).status, 200);
  assert.equal(errorOf(await api.call('POST', '/tokens', { as, body: { name: 'x' } })), '403 forbidden');
  assert.equal(errorOf(await api.call('POST', '/tunnels', { as, body: { localPort: 1 } })), '403 forbidden');
});

test('no session is opened by signing up or by proving the address', async () => {
  const answers = [await signUp(), await verify(codeOf())];
  for (const { headers } of answers) assert.equal(headers.get('set-cookie'), null);
  assert.equal(db().select().from(sessions).all().length, 0);
});

test('a password fits however the keyboard writes its characters', async () => {
  await signUp({ password: 'Zu\u0308rich-stra\u00dfe-\uff11\uff12' });
  await verify(codeOf());
  assert.equal((await login('Z\u00fcrich-stra\u00dfe-12')).status, 200);
  assert.equal((await login('Zurich-stra\u00dfe-12')).status, 401);
});

test('sign-up: an unproven account is deleted after 30 days, organization and all', async () => {
  const day = 24 * 60 * MINUTE;
  const emails = (): string[] =>
    db()
      .select()
      .from(users)
      .all()
      .map((row) => row.email);
  await signUp();
  await signUp({ email: 'bob@example.test' });
  await verify(codeOf('bob@example.test'), 'bob@example.test');
  await signUp({ email: 'cid@example.test' });
  plane.now += day;
  await signUp({ email: 'cid@example.test' });
  plane.now += 29 * day;
  await signUp({ email: 'dan@example.test' });
  await resend();
  plane.now += 1;
  plane.control.retention.sweep();
  assert.deepEqual(emails(), [ANN, 'bob@example.test', 'cid@example.test', 'dan@example.test'], 'a code is under way');
  plane.now += 10 * MINUTE;
  plane.control.retention.sweep();
  assert.deepEqual(emails(), ['bob@example.test', 'cid@example.test', 'dan@example.test']);
  for (const table of [organizations, projects]) assert.equal(db().select().from(table).all().length, 3);
  assert.equal((await login(PASSWORD, 'bob@example.test')).status, 200);
  assert.equal((await signUp()).status, 201, 'and may come again');
  assert.equal((await verify(codeOf())).status, 200);
});
