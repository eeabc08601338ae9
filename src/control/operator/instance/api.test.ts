/** Settings that operators set in the dashboard: what they change at once, what the settings file keeps, and what never comes out. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { inReverse } from '../../../../test/harness/ends.ts';
import { makeQuickHasher } from '../../../../test/harness/quick-hasher.ts';
import { OIDC_CLIENT, type Oidc, startOidc } from '../../../../test/harness/oidc.ts';
import { type Smtp, startSmtp } from '../../../../test/harness/smtp.ts';
import { silentLog } from '../../../base/log.ts';
import { startServer } from '../../../server/start.ts';
import { callerOf, FakeNode, type Harness, LOOSE, startHarness } from '../../core/testing/harness.ts';

interface Setting {
  readonly key: string;
  readonly value: unknown;
  readonly is_set: boolean;
  readonly source: string;
  readonly locked_by: string | null;
}

const ends = inReverse({ after });
const USER = { name: 'culvert', password: 'mail-pass-4711' };
let h: Harness;
let owner: string;
let smtp: Smtp;
let closedPort: number;
let oidc: Oidc;
before(async () => {
  smtp = await startSmtp(ends, { user: USER });
  oidc = await startOidc(ends);
  const gone = await startSmtp(ends);
  closedPort = gone.port;
  await gone.close();
  h = await startHarness(`${LOOSE}\n[plans]\ndefault = "team"`, 'allow_private_jwks = true');
  owner = h.owner;
  ends.after(() => h.close());
});

const patch = (settings: object, as = owner) => h.call('PATCH', '/superadmin/instance', { as, body: { settings } });
async function settings(): Promise<ReadonlyMap<string, Setting>> {
  const { body } = await h.call('GET', '/superadmin/instance', { as: owner });
  return new Map((body['settings'] as Setting[]).map((one) => [one.key, one]));
}
const mailSettings = () => ({ 'mail.transport': 'smtp', 'mail.smtp_url': smtp.url, 'mail.from': 'a@example.test' });

test('instance: a key that the settings file sets is shown as such and cannot be changed', async () => {
  const plan = (await settings()).get('plans.default');
  assert.deepEqual([plan?.value, plan?.source, plan?.locked_by], ['team', 'file', 'plans.default']);
  const { status, body } = await patch({ 'plans.default': 'pro' });
  assert.deepEqual([status, body['error']], [409, 'conflict']);
  assert.match(String(body['message']), /^plans\.default is set in the settings file\. Change it there/);
});

test('instance: sign-up and approval change at once, and go back to their defaults', async () => {
  const signUp = (email: string) =>
    h.call('POST', '/auth/signup', { body: { email, password: 'correct horse battery staple' } });
  assert.equal((await signUp('one@example.test')).status, 201);
  assert.equal((await patch({ 'accounts.signup': 'closed' })).status, 200);
  assert.equal((await signUp('two@example.test')).status, 403);
  assert.equal((await h.call('GET', '/auth/providers')).body['signup'], 'closed');
  assert.equal((await settings()).get('accounts.signup')?.source, 'dashboard');
  assert.equal((await patch({ 'accounts.signup': null, 'server.name': 'Tunnels of Ann' })).status, 200);
  assert.equal((await signUp('three@example.test')).status, 201);
  assert.equal((await h.call('GET', '/auth/providers')).body['name'], 'Tunnels of Ann');
});

test('instance: what does not fit is refused whole, with the key', async () => {
  for (const [changes, path] of [
    [{ 'accounts.signup': 'ajar', 'server.name': 'x' }, 'settings.accounts.signup'],
    [{ 'mail.transport': 'smtp' }, 'settings.mail.transport'],
    [{ 'oauth.google.client_id': 'x' }, 'settings.oauth.google.client_id'],
    [{ 'oauth.google.issuer': 'http://id.example.com' }, 'settings.oauth.google.issuer'],
    [{ 'edge.domain': 'example.com' }, 'settings.edge.domain'],
  ] as const) {
    const { status, body } = await patch(changes);
    assert.equal(status, 400, JSON.stringify(body));
    assert.deepEqual((body['details'] as Array<{ path: string }>)[0]?.path, path);
  }
  assert.equal((await settings()).get('server.name')?.value, 'Tunnels of Ann');
});

test('instance: mail that is set in the dashboard leaves at once, and its password never comes out', async () => {
  const before = await h.call('POST', '/superadmin/instance/mail/test', { as: owner, body: {} });
  assert.equal(before.body['ok'], false);
  const tried = await h.call('POST', '/superadmin/instance/mail/test', {
    as: owner,
    body: { to: 'try@example.test', settings: mailSettings() },
  });
  assert.deepEqual([tried.status, tried.body['ok']], [200, true], tried.text);
  assert.match((await smtp.nextMail('try@example.test')).subject, /Test email/);
  assert.equal((await settings()).get('mail.transport')?.value, 'log', 'a test saves nothing');

  const saved = await patch(mailSettings());
  assert.equal(saved.status, 200, saved.text);
  assert.equal(saved.body['mail'], 'on');
  const shown = (saved.body['settings'] as Setting[]).find(({ key }) => key === 'mail.smtp_url');
  assert.equal(shown?.value, `smtp://${USER.name}@127.0.0.1:${smtp.port}`);
  await h.call('POST', '/auth/signup', {
    body: { email: 'late@example.test', password: 'correct horse battery staple' },
  });
  assert.match((await smtp.nextMail('late@example.test')).subject, /is your Culvert code/);

  const wrong = { 'mail.smtp_url': `smtp://culvert:wrong@127.0.0.1:${smtp.port}` };
  const refused = await h.call('POST', '/superadmin/instance/mail/test', {
    as: owner,
    body: { to: 'x@example.test', settings: wrong },
  });
  assert.equal(refused.body['ok'], false);
  assert.match(String(refused.body['detail']), /wrong user or password/);
  const events = await h.call('GET', '/superadmin/events', { as: owner });
  for (const text of [saved.text, tried.text, refused.text, events.text]) assert.ok(!text.includes(USER.password));
  await h.server.close();
  const stored = readFileSync(join(h.dataDir, 'culvert.db')).toString('latin1');
  assert.ok(!stored.includes(USER.password));
});

test('instance: what was set holds after a restart', async () => {
  const again = await startServer(h.settings, {
    version: '9.9.9',
    log: silentLog,
    startNode: new FakeNode().start,
    makeHasher: makeQuickHasher,
  });
  ends.after(() => again.close());
  const call = callerOf(again.apiUrl);
  Object.assign(h, { call });
  oidc.register(`${again.apiUrl}/auth/oauth/google/callback`);
  assert.equal((await call('GET', '/auth/providers')).body['mail'], 'on');
  const { firstOwner } = h.server;
  const login = { email: firstOwner?.email, password: firstOwner?.password.reveal() };
  // The port is another one, and with it the issuer of access tokens.
  owner = String((await call('POST', '/auth/login', { body: login })).body['access_token']);
  assert.equal((await settings()).get('server.name')?.value, 'Tunnels of Ann');
});

test('instance: a provider is tested before it is saved, and log-ins use it at once', async () => {
  const { id, secret } = OIDC_CLIENT;
  const google = {
    'oauth.google.client_id': id,
    'oauth.google.client_secret': secret,
    'oauth.google.issuer': oidc.issuer,
  };
  const check = async (changes: object) =>
    (await h.call('POST', '/superadmin/instance/providers/google/test', { as: owner, body: { settings: changes } }))
      .body;
  assert.equal((await check({}))['ok'], false);
  assert.deepEqual((await check(google))['ok'], true, JSON.stringify(await check(google)));
  const wrong = await check({ ...google, 'oauth.google.client_secret': 'not it' });
  assert.equal(wrong['ok'], false);
  assert.match(String(wrong['detail']), /rejects the client id or the secret/);
  assert.match(
    String((await check({ ...google, 'oauth.google.issuer': `http://127.0.0.1:${closedPort}` }))['detail']),
    /ECONNREFUSED/,
  );

  const saved = await patch(google);
  assert.equal(saved.status, 200, saved.text);
  assert.ok(!saved.text.includes(secret));
  assert.equal(saved.body['restart_needed'], true, 'visitor login has no provider yet');
  const options = (await h.call('GET', '/auth/providers')).body['providers'] as Array<{ id: string }>;
  assert.deepEqual(
    options.map((one) => one.id),
    ['google'],
  );
  const started = await h.call('GET', '/auth/oauth/google/start');
  assert.ok(started.headers.get('location')?.startsWith(oidc.issuer));

  const moved = { 'oauth.google.issuer': 'https://id.elsewhere.example' };
  const refused = await patch(moved);
  assert.equal(refused.status, 400, 'the kept secret would go to another server');
  assert.equal(
    (await h.call('POST', '/superadmin/instance/providers/google/test', { as: owner, body: { settings: moved } }))
      .status,
    400,
  );
  assert.equal((await patch({ ...moved, 'oauth.google.client_secret': 'another' })).status, 200);
});

test('instance: each change is in the audit log with its key, from what to what', async () => {
  const events = (await h.call('GET', '/superadmin/events?limit=200', { as: owner })).body as unknown as Array<{
    action: string;
    resourceId: string;
    resourceName: string | null;
    changes: readonly object[];
  }>;
  const of = (key: string) =>
    events
      .filter((one) => one.action === 'instance.update' && one.resourceName === key)
      .flatMap(({ changes }) => changes)
      .toReversed();
  const signup = 'accounts.signup';
  assert.deepEqual(of(signup), [
    { field: signup, from: 'open', to: 'closed' },
    { field: signup, from: 'closed', to: 'open' },
  ]);
  const secret = 'oauth.google.client_secret';
  assert.deepEqual(of(secret), [
    { field: secret, from: null, to: 'set' },
    { field: secret, from: null, to: 'changed' },
  ]);
  assert.ok(events.some((one) => one.action === 'instance.test' && one.resourceId === 'mail'));
});

test('instance: a provider of the dashboard needs a public address unless the file allows others', async (t) => {
  const strict = await startHarness();
  t.after(() => strict.close());
  const first = await strict.call('GET', '/superadmin/instance', { as: strict.owner });
  assert.equal(first.body['first_run'], true);
  const changes = {
    'oauth.google.client_id': 'x',
    'oauth.google.client_secret': 'y',
    'oauth.google.issuer': oidc.issuer,
  };
  const before = oidc.asked.length;
  const { body } = await strict.call('POST', '/superadmin/instance/providers/google/test', {
    as: strict.owner,
    body: { settings: changes },
  });
  assert.equal(body['ok'], false);
  assert.match(String(body['detail']), /has a private address/);
  assert.equal(oidc.asked.length, before);
  await strict.call('PATCH', '/superadmin/instance', { as: strict.owner, body: { settings: {} } });
  const after = await strict.call('GET', '/superadmin/instance', { as: strict.owner });
  assert.equal(after.body['first_run'], false);
});

test('instance: a secret of the file keeps where it is sent', async (t) => {
  const fixed = await startHarness(`${LOOSE}\n[oauth.google]\nclient_id = "a"\nclient_secret = "in-the-file"`);
  t.after(() => fixed.close());
  const { status, body } = await fixed.call('PATCH', '/superadmin/instance', {
    as: fixed.owner,
    body: { settings: { 'oauth.google.issuer': 'https://id.elsewhere.example' } },
  });
  assert.deepEqual([status, body['error']], [409, 'conflict']);
  assert.match(
    String(body['message']),
    /^oauth\.google\.issuer can't be changed here: oauth\.google\.client_secret of the settings file would be sent/,
  );
  const own = await fixed.call('PATCH', '/superadmin/instance', {
    as: fixed.owner,
    body: { settings: { 'oauth.google.client_id': 'b' } },
  });
  assert.match(String(own.body['message']), /^oauth\.google\.client_id is set in the settings file\. Change it there/);
});
