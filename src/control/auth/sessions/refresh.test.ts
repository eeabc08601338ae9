/**
 * The refresh cookie as browsers, tabs, thieves and pages of other sites use it.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, test } from 'node:test';
import { setImmediate, setTimeout } from 'node:timers/promises';
import { DATABASE_FILE } from '../../db/open.ts';
import { type Answer, type Harness, LOOSE, startHarness } from '../../core/testing/harness.ts';
import { Plane } from '../../core/testing/plane.ts';
import { servePlane } from '../../core/testing/plane-api.ts';

let h: Harness;
before(async () => {
  h = await startHarness(LOOSE);
});
after(() => h.close());

const cookieOf = (answer: Answer): string =>
  /qnt_refresh=([^;]*)/.exec(answer.headers.get('set-cookie') ?? '')?.[1] ?? '';
const refresh = (cookie: string, headers: Record<string, string> = {}, on = h) =>
  on.call('POST', '/auth/refresh', { headers: { cookie: `qnt_refresh=${cookie}`, ...headers } });
const login = async (headers: Record<string, string> = {}, on = h): Promise<{ cookie: string; as: string }> => {
  const body = { email: 'admin@localhost', password: on.server.firstOwner?.password.reveal() };
  const answer = await on.call('POST', '/auth/login', { body, headers });
  assert.equal(answer.status, 200);
  return { cookie: cookieOf(answer), as: String(answer.body['access_token']) };
};
const isAlive = async (as: string): Promise<boolean> => (await h.call('GET', '/auth/me', { as })).status === 200;
const actions = async (): Promise<unknown[]> => {
  const { body } = await h.call('GET', '/me/events', { as: h.owner });
  return body.map((event) => (event as { action: string }).action);
};

test('one of 20 refreshes at once succeeds, and its session lives', async () => {
  const { cookie, as } = await login();
  const answers = await Promise.all(Array.from({ length: 20 }, () => refresh(cookie)));
  const won = answers.filter(({ status }) => status === 200);
  assert.equal(won.length, 1);
  for (const lost of answers.filter(({ status }) => status !== 200)) {
    assert.equal(lost.status, 401);
    assert.equal(lost.body['error'], 'unauthorized');
    assert.equal(lost.body['retry_after_seconds'], 1);
    assert.equal(lost.headers.get('retry-after'), '1');
    assert.equal(lost.headers.get('set-cookie'), null, 'the cookie that the browser has by now stays');
  }
  assert.ok(await isAlive(as));
  const winner = won[0];
  assert.ok(winner !== undefined);
  assert.equal((await refresh(cookieOf(winner))).status, 200);
});

test('a cookie that is sent without end is swapped nevertheless', async () => {
  const { cookie } = await login();
  const first = refresh(cookie);
  const end = first.then(() => true);
  while (!(await Promise.race([end, refresh(cookie).then(() => false)])));
  assert.equal((await first).status, 200);
});

test('a cookie that is used again, right after the answer, ends its session and is in the audit log', async () => {
  const { cookie, as } = await login();
  const before = (await actions()).filter((action) => action === 'auth.refresh_reuse').length;
  const winner = await refresh(cookie);
  const thief = await refresh(cookie);
  assert.equal(thief.status, 401);
  assert.equal(thief.body['retry_after_seconds'], undefined);
  assert.ok(!(await isAlive(as)));
  assert.equal((await refresh(cookieOf(winner))).status, 401);
  assert.equal((await actions()).filter((action) => action === 'auth.refresh_reuse').length, before + 1);
});

test('a cookie from many swaps ago is still known for what it is, and costs no row', async () => {
  const { cookie, as } = await login();
  let last = await refresh(cookie);
  for (let i = 0; i < 4; i++) last = await refresh(cookieOf(last));
  assert.equal(last.status, 200);
  const db = new DatabaseSync(join(h.dataDir, DATABASE_FILE), { readOnly: true });
  const sid = (JSON.parse(Buffer.from(as.split('.')[1] ?? '', 'base64url').toString()) as { sid: string }).sid;
  const count = db.prepare('SELECT count(*) AS n FROM refresh_tokens WHERE session_id = ?').get(sid)?.['n'];
  db.close();
  assert.equal(count, 2);
  assert.equal((await refresh(cookie)).status, 401);
  assert.ok(!(await isAlive(as)));
  assert.equal((await refresh(cookieOf(last))).status, 401);
});

test('a browser that hangs up before the answer keeps its cookie', async () => {
  const { cookie } = await login();
  // Over a connection that is open: a new one may come behind the request that follows.
  const agent = new Agent({ keepAlive: true });
  const first = request(`${h.server.apiUrl}/health`, { agent }).end();
  const [health] = (await once(first, 'response')) as [IncomingMessage];
  await once(health.resume(), 'end');
  await setImmediate();
  const sent = request(`${h.server.apiUrl}/auth/refresh`, {
    method: 'POST',
    agent,
    headers: { cookie: `qnt_refresh=${cookie}`, 'content-length': 0 },
  });
  sent.on('error', () => {});
  sent.end();
  await setImmediate();
  assert.ok(sent.reusedSocket);
  assert.equal((await refresh(cookie)).body['retry_after_seconds'], 1, 'it is being served');
  sent.destroy();
  let answer = await refresh(cookie);
  for (let i = 0; i < 10 && answer.body['retry_after_seconds'] !== undefined; i++) {
    // Longer than a hold: one that comes sooner prolongs it.
    await setTimeout(150);
    answer = await refresh(cookie);
  }
  assert.equal(answer.status, 200);
});

test('tabs that lose take nothing from the limit', async () => {
  const headers = { 'x-forwarded-for': '203.0.113.20' };
  const strict = await startHarness('[limits]\nauth_burst = 2\nauth_refill_seconds = 60');
  try {
    const { cookie } = await login(headers, strict);
    const answers = await Promise.all(Array.from({ length: 10 }, () => refresh(cookie, headers, strict)));
    assert.deepEqual([...new Set(answers.map(({ status }) => status))].sort(), [200, 401]);
    assert.equal((await refresh('rubbish', headers, strict)).status, 401, 'there is one left');
    assert.equal((await refresh('rubbish', headers, strict)).status, 429);
  } finally {
    await strict.close();
  }
});

test('a page of another origin can neither refresh nor log out by the cookie', async () => {
  const { cookie, as } = await login();
  const own = new URL(h.server.apiUrl);
  const foreign: Array<Record<string, string>> = [
    { origin: 'https://evil.example' },
    { origin: 'null' },
    { origin: `https://${own.host}` },
    { origin: `http://shop.${own.host}` },
    { origin: own.origin, 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
  ];
  for (const path of ['/auth/refresh', '/auth/logout', '/api/auth/refresh']) {
    for (const headers of foreign) {
      const answer = await h.call('POST', path, { headers: { cookie: `qnt_refresh=${cookie}`, ...headers } });
      assert.equal(answer.status, 403, `${path} ${JSON.stringify(headers)}`);
      assert.equal(answer.body['error'], 'forbidden');
      assert.equal(answer.headers.get('set-cookie'), null);
    }
  }
  assert.ok(await isAlive(as), 'the session is alive');
  const mine = await refresh(cookie, { origin: own.origin, 'sec-fetch-site': 'same-origin' });
  assert.equal(mine.status, 200);
  const byBearer = await h.call('POST', '/auth/logout', { as, headers: { origin: 'https://evil.example' } });
  assert.equal(byBearer.status, 200, 'a page that has the access token needs no cookie');
});

test('refresh: a page that is late by a network round trip gets a retry, and its user stays logged in', async () => {
  const { cookie, as } = await login();
  const page = { 'sec-fetch-site': 'same-origin' };
  const winner = await refresh(cookie, page);
  assert.equal(winner.status, 200);
  for (const late of [await refresh(cookie, page), await refresh(cookie, page)]) {
    assert.equal(late.status, 401);
    assert.equal(late.body['retry_after_seconds'], 1);
    assert.equal(late.headers.get('set-cookie'), null, 'the browser has a new cookie, which must stay');
  }
  assert.ok(await isAlive(as));
  assert.equal((await refresh(cookieOf(winner), page)).status, 200);
  const thief = await refresh(cookie, page);
  assert.equal(thief.body['retry_after_seconds'], undefined, 'the new cookie has been used');
  assert.ok(!(await isAlive(as)));
});

test('only a page of this very origin is given time after the swap', async () => {
  for (const site of ['none', 'Same-Origin', 'same-origin, same-origin', '']) {
    const { cookie, as } = await login();
    assert.equal((await refresh(cookie)).status, 200);
    const thief = await refresh(cookie, site === '' ? {} : { 'sec-fetch-site': site });
    assert.equal(thief.status, 401, site);
    assert.equal(thief.body['retry_after_seconds'], undefined, site);
    assert.ok(!(await isAlive(as)), site);
  }
});

test('late pages take nothing from the limit', async () => {
  const page = { 'x-forwarded-for': '203.0.113.21', 'sec-fetch-site': 'same-origin' };
  const strict = await startHarness('[limits]\nauth_burst = 2\nauth_refill_seconds = 60');
  try {
    const { cookie } = await login(page, strict);
    assert.equal((await refresh(cookie, page, strict)).status, 200);
    for (let i = 0; i < 3; i++) assert.equal((await refresh(cookie, page, strict)).status, 401);
  } finally {
    await strict.close();
  }
});

test('the time that a late page has is five seconds', async () => {
  const plane = new Plane();
  const api = await servePlane(plane);
  try {
    const made = await plane.control.accounts.createUser({
      email: 'ann@example.com',
      name: '',
      plan: 'free',
      superadmin: false,
    });
    const body = { email: 'ann@example.com', password: made.password.reveal() };
    const page = (cookie: string) =>
      api.call('POST', '/auth/refresh', {
        headers: { cookie: `qnt_refresh=${cookie}`, 'sec-fetch-site': 'same-origin' },
      });
    const cookie = cookieOf(await api.call('POST', '/auth/login', { body }));
    const winner = await page(cookie);
    plane.now += 4_999;
    assert.equal((await page(cookie)).body['retry_after_seconds'], 1);
    plane.now += 1;
    assert.equal((await page(cookie)).body['retry_after_seconds'], undefined);
    assert.equal((await page(cookieOf(winner))).status, 401, 'the session is over');
  } finally {
    await api.close();
    plane.close();
  }
});
