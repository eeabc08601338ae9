/** `/auth/cli/*` and the page of it over HTTP: statuses, shapes, twenty at once, held requests, and the limit on `/auth/*`. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { type IncomingMessage, request } from 'node:http';
import { after, before, test } from 'node:test';
import { LOOPBACK, NetworkSet } from '../../../base/net/addr.ts';
import { silentLog } from '../../../base/log.ts';
import { buildApi } from '../../core/http/app.ts';
import { listenApi } from '../../core/http/listener/listener.ts';
import { checkPhrase } from '../../../wire/check-phrase.ts';
import { type Answer, type Harness, LOOSE, startHarness } from '../../core/testing/harness.ts';
import { Plane, VISIT } from '../../core/testing/plane.ts';
import { OwnClock } from '../../../../test/harness/own-clock.ts';

let h: Harness;
before(async () => {
  h = await startHarness();
});
after(() => h.close());

const newCode = (): string => randomBytes(32).toString('base64url');
const approve = (code: string, as = h.owner): Promise<Answer> =>
  h.call('POST', '/auth/cli/authorize', { as, body: { device_code: code } });
const pickUp = (code: string, more: object = {}): Promise<Answer> =>
  h.call('POST', '/auth/cli/token', { body: { device_code: code, ...more } });
const codeOf = ({ status, body }: Answer): string => `${status} ${String(body['error'])}`;

test('approve, then fetch: both name the key and its label, and the second fetch is pending again', async () => {
  const code = newCode();
  assert.equal(codeOf(await pickUp(code)), '400 authorization_pending');
  const approved = await approve(code);
  assert.equal(approved.status, 200);
  assert.deepEqual(Object.keys(approved.body).sort(), ['label', 'wire_bytes_b64']);
  const fetched = await pickUp(code);
  assert.deepEqual([fetched.status, fetched.body], [200, approved.body]);
  assert.equal(fetched.body['label'], `cli-${checkPhrase(code)}`);
  assert.equal(codeOf(await pickUp(code)), '400 authorization_pending');
  assert.equal(codeOf(await approve(code)), '409 conflict');
  const { body } = await h.call('GET', '/tokens', { as: h.owner });
  const token = body.find((row) => (row as { name: string }).name === fetched.body['label']) as Record<string, number>;
  assert.equal(token['kind'], 'cli');
  assert.equal((token['expiresAt'] ?? 0) - (token['issuedAt'] ?? 0), 90 * 24 * 3600);
});

test('only a bearer approves, and only a code of 43 characters', async () => {
  assert.equal(
    codeOf(await h.call('POST', '/auth/cli/authorize', { body: { device_code: newCode() } })),
    '401 unauthorized',
  );
  for (const wrong of ['', 'short', `${newCode()}A`, `${newCode().slice(1)}=`, 43, null]) {
    const body = { device_code: wrong };
    assert.equal(codeOf(await h.call('POST', '/auth/cli/authorize', { as: h.owner, body })), '400 invalid_request');
    assert.equal(codeOf(await h.call('POST', '/auth/cli/token', { body })), '400 invalid_request');
  }
  for (const wait of [-1, 31, 1.5, '5']) assert.equal(codeOf(await pickUp(newCode(), { wait })), '400 invalid_request');
});

test('twenty fetches at once: one gets the key', async () => {
  const code = newCode();
  await approve(code);
  const answers = await Promise.all(Array.from({ length: 20 }, () => pickUp(code, { session: true })));
  assert.deepEqual(answers.map(({ status }) => status).filter((status) => status === 200).length, 1);
  assert.deepEqual(new Set(answers.map(codeOf)), new Set(['200 undefined', '400 authorization_pending']));
});

test('twenty approvals at once: one token', async () => {
  const code = newCode();
  const answers = await Promise.all(Array.from({ length: 20 }, () => approve(code)));
  assert.equal(answers.filter(({ status }) => status === 200).length, 1);
  assert.equal(answers.filter(({ status }) => status === 409).length, 19);
});

test('a held request is answered by the approval; without one at the end of its wait', async () => {
  const code = newCode();
  const held = pickUp(code, { wait: 30 });
  await approve(code);
  assert.equal((await held).status, 200);
  const start = performance.now();
  assert.equal(codeOf(await pickUp(newCode(), { wait: 1 })), '400 authorization_pending');
  assert.ok(performance.now() - start > 900);
});

test('a client that goes away is forgotten, and the key stays for its next request', { timeout: 120_000 }, async () => {
  const plane = new Plane();
  const owner = await plane.person('ann@example.test');
  const { deviceLogins } = plane.control;
  const api = await listenApi(
    buildApi({
      ...plane.control,
      version: '9.9.9',
      writes: plane.control.store,
      discovery: () => undefined,
      publicUrl: () => 'http://api.test',
      trustedProxies: new NetworkSet([]),
      corsOrigins: [],
      authLimit: { burst: 100, refillSeconds: 1 },
      monotonic: () => performance.now(),
      log: silentLog,
    }),
    { host: '127.0.0.1', port: 0 },
    { exempt: new NetworkSet(LOOPBACK), monotonic: () => performance.now(), log: silentLog },
  );
  const holds = async (count: number): Promise<void> => {
    while (deviceLogins.waiting !== count) await new Promise((resolve) => setImmediate(resolve));
  };
  try {
    const code = newCode();
    const leaver = request(`http://127.0.0.1:${api.address.port}/auth/cli/token`, {
      method: 'POST',
      agent: false,
      headers: { 'content-type': 'application/json' },
    });
    leaver.on('error', () => {}); // it is we who cut it
    leaver.end(JSON.stringify({ device_code: code, wait: 30 }));
    await holds(1);
    leaver.destroy();
    await holds(0);
    deviceLogins.authorize(owner, code);
    const input = { deviceCode: code, waitSeconds: 0, session: false };
    assert.ok((await deviceLogins.fetch(input, VISIT, new AbortController().signal)).wire.length > 0);
  } finally {
    await api.close();
    plane.close();
  }
});

test('`session`: a session of the person that is listed, can be used, and can be revoked', async () => {
  const code = newCode();
  await approve(code);
  const fetched = await h.call('POST', '/auth/cli/token', {
    body: { device_code: code, session: true },
    headers: { 'user-agent': 'culvert on laptop' },
  });
  assert.deepEqual(Object.keys(fetched.body).sort(), [
    'account',
    'expires_at',
    'label',
    'organization',
    'refresh_token',
    'wire_bytes_b64',
  ]);
  assert.equal(fetched.body['account'], 'admin@localhost');
  const cookie = `qnt_refresh=${String(fetched.body['refresh_token'])}`;
  const refreshed = await h.call('POST', '/auth/refresh', { headers: { cookie, 'user-agent': 'culvert on laptop' } });
  assert.equal(refreshed.status, 200, refreshed.text);
  const mine = await h.call('GET', '/auth/me', { as: String(refreshed.body['access_token']) });
  assert.equal((mine.body['user'] as { email: string }).email, 'admin@localhost');
  const list = await h.call('GET', '/auth/sessions', { as: h.owner });
  const session = (list.body['sessions'] as Record<string, string>[]).find(
    (row) => row['user_agent'] === 'culvert on laptop',
  );
  assert.ok(session !== undefined, list.text);
  assert.equal((await h.call('DELETE', `/auth/sessions/${session['id']}`, { as: h.owner })).status, 200);
  const after = await h.call('GET', '/auth/me', { as: String(refreshed.body['access_token']) });
  assert.equal(after.status, 401);
});

test('the key ends itself; nothing else does', async () => {
  const code = newCode();
  await approve(code);
  const { body } = await pickUp(code);
  const logOut = (wire: unknown) => h.call('POST', '/auth/cli/logout', { body: { wire_bytes_b64: wire } });
  assert.equal((await logOut(body['wire_bytes_b64'])).status, 200);
  assert.equal(codeOf(await logOut(body['wire_bytes_b64'])), '401 unauthorized');
  const agent = await h.call('POST', '/tokens', { as: h.owner, body: {} });
  for (const field of ['wireBytes', 'apiKey'])
    assert.equal(codeOf(await logOut(agent.body[field])), '401 unauthorized');
});

test('waiting, loading the page and approving leave the whole limit to the log-in itself', async () => {
  const tight = await startHarness('[limits]\nauth_burst = 5\nauth_refill_seconds = 1000');
  try {
    // One of the five was the log-in of the harness. The terminal waits with the second.
    const code = newCode();
    const held = tight.call('POST', '/auth/cli/token', { body: { device_code: code, wait: 30 } });
    for (const path of ['/app/cli', '/app/page.css']) assert.equal((await tight.call('GET', path)).status, 200);
    // A wrong password twice, then the right one.
    for (const password of ['wrong', 'wrong again']) {
      const answer = await tight.call('POST', '/auth/login', { body: { email: 'admin@localhost', password } });
      assert.equal(answer.status, 401);
    }
    const password = tight.server.firstOwner?.password.reveal();
    const login = await tight.call('POST', '/auth/login', { body: { email: 'admin@localhost', password } });
    assert.equal(login.status, 200);
    const as = String(login.body['access_token']);
    assert.equal((await tight.call('POST', '/auth/cli/authorize', { as, body: { device_code: code } })).status, 200);
    assert.equal((await held).status, 200);
    // The bucket is empty now: what would check a secret waits.
    assert.equal(
      codeOf(await tight.call('POST', '/auth/cli/token', { body: { device_code: code } })),
      '429 rate_limited',
    );
    assert.equal(
      codeOf(await tight.call('POST', '/auth/cli/logout', { body: { wire_bytes_b64: 'AAAA' } })),
      '429 rate_limited',
    );
  } finally {
    await tight.close();
  }
});

test('a stop answers those who wait, and is not held up by them', async () => {
  const own = await startHarness(LOOSE);
  const { promise: arrived, resolve } = Promise.withResolvers<void>();
  const onRequest = (message: unknown): void => {
    if ((message as { request: IncomingMessage }).request.url === '/auth/cli/token') resolve();
  };
  subscribe('http.server.request.start', onRequest);
  const held = own.call('POST', '/auth/cli/token', { body: { device_code: newCode(), wait: 30 } });
  await arrived;
  unsubscribe('http.server.request.start', onRequest);
  await own.call('GET', '/health'); // by then the other one is held
  const clock = new OwnClock();
  await own.server.drain();
  assert.equal(codeOf(await held), '400 authorization_pending');
  assert.ok(clock.ms < 5_000, `${clock.ms} ms`);
  await own.close();
});

test('what stands in the address never becomes part of the page', async () => {
  const evil = '"><img src=x onerror=alert(1)>';
  for (const prefix of ['', '/api']) {
    const query = `device_code=${encodeURIComponent(evil)}&error=${encodeURIComponent(evil)}`;
    const page = await h.call('GET', `${prefix}/app/cli?${query}`);
    assert.equal(page.status, 200);
    assert.ok(!page.text.includes('onerror'));
    const code = newCode();
    const usual = await h.call('GET', `${prefix}/app/cli?device_code=${code}`);
    assert.ok(!usual.text.includes(code) && !usual.text.includes(checkPhrase(code)));
    assert.equal(usual.headers.get('referrer-policy'), 'no-referrer');
    assert.equal(usual.headers.get('cache-control'), 'no-store');
  }
});
