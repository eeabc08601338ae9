import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { type Answer, type Harness, LOOSE, startHarness } from '../../core/testing/harness.ts';

let h: Harness;
const start = async (extra?: string): Promise<void> => {
  h = await startHarness(extra);
};
beforeEach(() => start(LOOSE));
afterEach(() => h.close());

const cookieOf = (answer: Answer): string =>
  /qnt_refresh=([^;]*)/.exec(answer.headers.get('set-cookie') ?? '')?.[1] ?? '';
const refresh = (cookie: string, headers = {}) =>
  h.call('POST', '/auth/refresh', { headers: { cookie: `qnt_refresh=${cookie}`, ...headers } });
const ownerPassword = (): string => h.server.firstOwner?.password.reveal() ?? '';
const login = (email: string, password: string, headers = {}) =>
  h.call('POST', '/auth/login', { body: { email, password }, headers });

test('login: the first owner logs in, in any case of the address', async () => {
  const answer = await login('Admin@LocalHost', ownerPassword());
  assert.equal(answer.status, 200);
  assert.deepEqual(Object.keys(answer.body).sort(), ['access_token', 'active_org', 'is_superadmin', 'user']);
  assert.equal(answer.body['is_superadmin'], true);
  const cookie = answer.headers.get('set-cookie') ?? '';
  for (const flag of ['HttpOnly', 'SameSite=Lax', 'Path=/']) assert.ok(cookie.includes(flag), cookie);
  assert.ok(!cookie.includes('Secure') && !cookie.includes('Domain'), cookie);
  const me = await h.call('GET', '/auth/me', { as: String(answer.body['access_token']) });
  assert.equal((me.body['entitlements'] as { plan: string }).plan, 'enterprise');
  assert.equal((me.body['active_org'] as { role: string }).role, 'owner');
});

test('an unknown address and a wrong password get the same answer', async () => {
  const wrong = await login('admin@localhost', 'not the password');
  const unknown = await login('absent@localhost', 'not the password');
  assert.equal(wrong.status, 401);
  assert.equal(wrong.text, unknown.text);
});

test('claims of the access token are those of the contract', async () => {
  const [, payload = ''] = h.owner.split('.');
  const claims = JSON.parse(Buffer.from(payload, 'base64url').toString()) as Record<string, unknown>;
  assert.deepEqual(Object.keys(claims).sort(), ['aud', 'exp', 'iat', 'iss', 'jti', 'org', 'role', 'sa', 'sid', 'sub']);
  assert.equal(Number(claims['exp']) - Number(claims['iat']), 900);
  assert.equal(claims['iss'], h.server.apiUrl);
});

test('a changed access token is refused', async () => {
  const [header = '', payload = '', signature = ''] = h.owner.split('.');
  const none = Buffer.from('{"alg":"none"}').toString('base64url');
  const flipped = `${signature[0] === 'A' ? 'B' : 'A'}${signature.slice(1)}`;
  for (const as of [
    `${header}.${payload}.${flipped}`,
    `${none}.${payload}.`,
    `${none}.${payload}.${signature}`,
    `${header}.${payload}`,
    '',
  ]) {
    assert.equal((await h.call('GET', '/auth/me', { as })).status, 401, as);
  }
});

test('refresh rotates the cookie, and an old one that comes back ends the session', async () => {
  const first = await login('admin@localhost', ownerPassword());
  const second = await refresh(cookieOf(first));
  assert.equal(second.status, 200);
  assert.deepEqual(Object.keys(second.body), ['access_token']);
  assert.notEqual(cookieOf(second), cookieOf(first));
  const as = String(second.body['access_token']);
  assert.equal((await h.call('GET', '/auth/me', { as })).status, 200);
  assert.equal((await refresh(cookieOf(first))).status, 401);
  assert.equal((await refresh(cookieOf(second))).status, 401, 'the thief and the owner are both out');
  assert.equal((await h.call('GET', '/auth/me', { as })).status, 401);
  assert.equal((await h.call('GET', '/auth/me', { as: h.owner })).status, 200, 'other sessions go on');
});

test('log-out ends the session at once, by bearer or by cookie, and clears the cookie', async () => {
  const one = await login('admin@localhost', ownerPassword());
  const as = String(one.body['access_token']);
  const out = await h.call('POST', '/auth/logout', { as });
  assert.equal(out.status, 200);
  assert.match(out.headers.get('set-cookie') ?? '', /qnt_refresh=;.*Max-Age=0/);
  assert.equal((await h.call('GET', '/auth/me', { as })).status, 401);
  assert.equal((await refresh(cookieOf(one))).status, 401);
  const two = await login('admin@localhost', ownerPassword());
  assert.equal(
    (await h.call('POST', '/auth/logout', { headers: { cookie: `qnt_refresh=${cookieOf(two)}` } })).status,
    200,
  );
  assert.equal((await refresh(cookieOf(two))).status, 401);
  assert.equal((await h.call('POST', '/auth/logout')).status, 401);
});

test('five attempts at once, then one per twelve seconds, per true source address', async () => {
  await h.close();
  await start('[limits]\nauth_burst = 5');
  // The harness has logged in once from 127.0.0.1, a trusted proxy; these come through it.
  const from = (ip: string) => login('admin@localhost', 'wrong', { 'x-forwarded-for': ip });
  const statuses: number[] = [];
  for (let i = 0; i < 6; i++) statuses.push((await from('203.0.113.7')).status);
  assert.deepEqual(statuses, [401, 401, 401, 401, 401, 429]);
  const refused = await from('198.51.100.1, 203.0.113.7');
  assert.equal(refused.status, 429, 'what a visitor writes to the left changes nothing');
  assert.equal(refused.body['error'], 'rate_limited');
  const wait = Number(refused.body['retry_after_seconds']);
  assert.ok(wait >= 11 && wait <= 12, String(wait));
  assert.equal(refused.headers.get('retry-after'), String(wait));
  assert.equal((await from('203.0.113.8')).status, 401);
  assert.equal((await from('2001:db8::1')).status, 401);
  for (let i = 2; i < 6; i++) await from(`2001:db8::${i}`);
  assert.equal((await from('2001:db8::ffff')).status, 429, 'one /64 is one source');
  assert.equal((await from('2001:db8:0:1::1')).status, 401);
});

test('what checks no secret takes nothing from the limit', async () => {
  await h.close();
  await start('[limits]\nauth_burst = 5');
  const headers = { 'x-forwarded-for': '203.0.113.9' };
  const one = await login('admin@localhost', ownerPassword(), headers);
  let cookie = cookieOf(one);
  for (let i = 0; i < 4; i++) assert.equal((await login('admin@localhost', 'wrong', headers)).status, 401);
  assert.equal((await login('admin@localhost', ownerPassword(), headers)).status, 429);
  for (let i = 0; i < 8; i++) {
    assert.equal((await h.call('GET', '/auth/me', { as: String(one.body['access_token']), headers })).status, 200);
    const next = await refresh(cookie, headers);
    assert.equal(next.status, 200);
    cookie = cookieOf(next);
  }
  assert.equal((await h.call('GET', '/auth/me', { as: 'rubbish', headers })).status, 429);
  assert.equal((await refresh('rubbish', headers)).status, 429);
  assert.equal((await h.call('GET', '/health', { headers })).status, 200);
  assert.equal(
    (await h.call('GET', '/tunnels', { as: 'rubbish', headers })).status,
    401,
    'the limit is for /auth alone',
  );
});
