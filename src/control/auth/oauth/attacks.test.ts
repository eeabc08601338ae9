/** What strangers try with log-ins by identity provider: forged, replayed and stolen states, other browsers, other hosts; and providers in trouble. */
import assert from 'node:assert/strict';
import { request } from 'node:http';
import { after, before, beforeEach, test } from 'node:test';
import { openDatabase } from '../../db/open.ts';
import { Browser } from '../../../../test/harness/browser.ts';
import { inReverse } from '../../../../test/harness/ends.ts';
import { type Github, githubPerson, startGithub } from '../../../../test/harness/github.ts';
import { type Oidc, startOidc } from '../../../../test/harness/oidc.ts';
import { type Harness, LOOSE, startHarness } from '../../core/testing/harness.ts';
import { OwnClock } from '../../../../test/harness/own-clock.ts';

let h: Harness;
let oidc: Oidc;
let github: Github;
const ends = inReverse({ after });
before(async () => {
  oidc = await startOidc(ends);
  github = await startGithub(ends);
  h = await startHarness(`${LOOSE}\n${oidc.settings}\n${github.settings}`);
  ends.after(() => h.close());
  oidc.register(at('/auth/oauth/google/callback'));
});
beforeEach(() => {
  github.current = githubPerson(1, 'ann@example.test');
  github.tokenError = undefined;
  github.instead.clear();
});

const at = (path: string): string => h.server.apiUrl + path;
const START = '/auth/oauth/github/start';
const isCallback = (url: URL): boolean => url.pathname.endsWith('/callback');
const isLanding = (url: URL): boolean => url.pathname.startsWith('/app/');

/** A log-in up to the address that the provider sends the browser back to. */
async function upToCallback(browser: Browser): Promise<URL> {
  return (await browser.open(at(START), isCallback)).url;
}
async function refused(browser: Browser, url: URL | string, status = 400, code = 'invalid_request') {
  const page = await browser.open(url, isLanding);
  const body = JSON.parse(page.text || '{}') as { error?: string; message?: string };
  assert.deepEqual([page.status, body.error], [status, code], page.url.href);
  assert.ok(!browser.cookies(h.server.apiUrl).has('qnt_refresh'), 'a session was opened');
  return body.message ?? '';
}
async function openCallback(browser: Browser, url: URL | string): Promise<void> {
  const page = await browser.open(url, isLanding);
  assert.ok(page.url.searchParams.has('oauth_token'), `${page.status} ${page.text}`);
}

test('an answer without state, with an empty, a foreign or a long one is refused', async () => {
  const browser = new Browser();
  const callback = await upToCallback(browser);
  const code = callback.searchParams.get('code') ?? '';
  for (const state of [undefined, '', 'x', 'A'.repeat(43), '__proto__', '../..', 'a;b', 'A'.repeat(5000)]) {
    const url = new URL(callback.origin + callback.pathname);
    url.searchParams.set('code', code);
    if (state !== undefined) url.searchParams.set('state', state);
    await refused(browser, url);
  }
  // None of that has used up the real one.
  await openCallback(browser, callback);
});

test('an answer is good once, also when its repeats race', async () => {
  const browser = new Browser();
  const callback = await upToCallback(browser);
  const cookie = [...browser.cookies(h.server.apiUrl)].map(([name, value]) => `${name}=${value}`).join('; ');
  const before = github.asked.filter((path) => path.endsWith('access_token')).length;
  const answers = await Promise.all(
    Array.from({ length: 8 }, () => fetch(callback, { redirect: 'manual', headers: { cookie } })),
  );
  assert.deepEqual(answers.map(({ status }) => status).sort(), [302, ...Array<number>(7).fill(400)]);
  assert.equal(github.asked.filter((path) => path.endsWith('access_token')).length, before + 1);
  const late = await fetch(callback, { redirect: 'manual', headers: { cookie } });
  assert.equal(late.status, 400);
});

test('provider login: no user can be made to finish a stranger’s login', async () => {
  const attacker = new Browser();
  const callback = await upToCallback(attacker);
  await refused(new Browser(), callback);
  // Not even in a browser that has a log-in of its own under way.
  const victim = new Browser();
  await upToCallback(victim);
  await refused(victim, callback);
  await openCallback(attacker, callback);
});

test('a cookie that was changed, or made for another log-in, is refused', async () => {
  const browser = new Browser();
  const one = await upToCallback(browser);
  const [[name, value] = ['', '']] = [...browser.cookies(h.server.apiUrl)];
  const other = new Browser();
  await upToCallback(other);
  const [foreign = ''] = other.cookies(h.server.apiUrl).values();
  for (const forged of ['', 'x', 's1.', `${value.slice(0, -2)}AA`, foreign, JSON.stringify({ state: one })]) {
    const copy = new Browser();
    copy.setCookie(h.server.apiUrl, name, forged);
    await refused(copy, one);
  }
});

test('a state of one provider is no state of the other, nor is one that only begins alike; neither uses up the real one', async () => {
  const browser = new Browser();
  const callback = await upToCallback(browser);
  const [[name, value] = ['', '']] = [...browser.cookies(h.server.apiUrl)];
  const state = callback.searchParams.get('state') ?? '';
  const alike = `${state.slice(0, 8)}${Buffer.from(state.slice(8)).reverse().toString()}`;
  for (const forged of [callback.href.replace('/github/', '/google/'), callback.href.replace(state, alike)]) {
    const copy = new Browser();
    copy.setCookie(h.server.apiUrl, name, value);
    await refused(copy, forged);
  }
  await openCallback(browser, callback);
});

test('a state ends with the key of the data folder: other sealed values are no states', async () => {
  const browser = new Browser();
  const callback = await upToCallback(browser);
  const [name = ''] = browser.cookies(h.server.apiUrl).keys();
  const sqlite = openDatabase(h.dataDir);
  const row = sqlite.prepare('SELECT sealed_private AS sealed FROM signing_keys').get() as { sealed: string };
  sqlite.close();
  browser.setCookie(h.server.apiUrl, name, row.sealed);
  await refused(browser, callback);
});

test('two tabs may log in at once; a browser that starts very often keeps few cookies', async () => {
  const browser = new Browser();
  const first = await upToCallback(browser);
  const second = await upToCallback(browser);
  await openCallback(browser, first);
  await openCallback(browser, second);
  const busy = new Browser();
  let last = await upToCallback(busy);
  for (let i = 0; i < 12; i++) last = await upToCallback(busy);
  assert.ok(busy.cookies(h.server.apiUrl).size <= 5, `${busy.cookies(h.server.apiUrl).size} cookies`);
  await openCallback(busy, last);
});

test('starts leave nothing in the database', async () => {
  const sqlite = openDatabase(h.dataDir);
  const rows = (): number => (sqlite.prepare('SELECT count(*) AS n FROM spent_once').get() as { n: number }).n;
  const before = rows();
  for (let i = 0; i < 5; i++) await upToCallback(new Browser());
  assert.equal(rows(), before);
  sqlite.close();
});

test('the cookie is for this host alone, out of reach of scripts, and ends after ten minutes', async () => {
  const answer = await h.call('GET', START);
  const cookie = answer.headers.getSetCookie().find((line) => line.startsWith('culvert_login_')) ?? '';
  assert.match(cookie, /; Max-Age=600; Path=\/; HttpOnly; SameSite=Lax$/);
  const sealed = /=([^;]+)/.exec(cookie)?.[1] ?? '';
  const state = new URL(answer.headers.get('location') ?? '').searchParams.get('state') ?? '';
  assert.ok(!Buffer.from(sealed, 'base64url').includes(state), 'the state is not sealed');
});

test('where codes are sent follows from the settings, whatever Host a request names', async () => {
  for (const provider of ['google', 'github']) {
    const location = await new Promise<string>((resolve, reject) => {
      const headers = { host: 'evil.test', 'x-forwarded-host': 'evil.test', 'x-forwarded-proto': 'https' };
      request(at(`/auth/oauth/${provider}/start`), { headers }, (response) => {
        response.resume();
        resolve(response.headers.location ?? '');
      })
        .on('error', reject)
        .end();
    });
    const query = new URL(location).searchParams;
    assert.equal(query.get('redirect_uri'), at(`/auth/oauth/${provider}/callback`));
    assert.equal(query.get('code_challenge_method'), 'S256');
    assert.ok((query.get('state') ?? '').length >= 43);
  }
});

test('every start has a state, a nonce and a challenge of its own', async () => {
  const seen = new Set<string>();
  for (let i = 0; i < 10; i++) {
    const { headers } = await h.call('GET', '/auth/oauth/google/start');
    const query = new URL(headers.get('location') ?? '').searchParams;
    for (const name of ['state', 'nonce', 'code_challenge']) seen.add(query.get(name) ?? '');
  }
  assert.equal(seen.size, 30);
});

test('provider login: a user who declines at the provider gets a message, and can start again', async () => {
  github.current = null;
  const browser = new Browser();
  assert.match(await refused(browser, await upToCallback(browser)), /You did not allow GitHub/);
  assert.equal(browser.cookies(h.server.apiUrl).size, 0);
  const other = new Browser();
  await refused(other, await oidc.cancel(other, at('/auth/oauth/google/start')));
  github.current = githubPerson(1, 'ann@example.test');
  await openCallback(browser, await upToCallback(browser));
});

test('an `error` without a state of this browser says no more than any other forged answer', async () => {
  const text = await refused(new Browser(), at('/auth/oauth/github/callback?error=access_denied&state=x'));
  assert.match(text, /started in another browser/);
});

test('a code that the provider does not know, and an answer without one, are refused', async () => {
  for (const change of [
    (url: URL) => url.searchParams.set('code', 'guessed'),
    (url: URL) => url.searchParams.delete('code'),
    (url: URL) => url.searchParams.append('code', 'second'),
  ]) {
    const browser = new Browser();
    const callback = await upToCallback(browser);
    change(callback);
    await refused(browser, callback);
  }
});

test('a code stolen from another log-in does not fit the verifier of this one', async () => {
  const victim = await upToCallback(new Browser());
  const attacker = new Browser();
  const callback = await upToCallback(attacker);
  callback.searchParams.set('code', victim.searchParams.get('code') ?? '');
  await refused(attacker, callback);
});

test('a provider that fails, answers nonsense, too much, or not at all is 503, and the server goes on', async () => {
  const json = { 'content-type': 'application/json' };
  const rows: ReadonlyArray<readonly [string, Parameters<Github['instead']['set']>[1]]> = [
    ['/login/oauth/access_token', (response) => response.writeHead(500).end('oops')],
    ['/login/oauth/access_token', (response) => response.writeHead(200, json).end('{')],
    ['/login/oauth/access_token', (response) => response.writeHead(302, { location: 'http://evil.test/' }).end()],
    ['/login/oauth/access_token', (response) => response.destroy()],
    ['/api/user', (response) => response.writeHead(500).end()],
    ['/api/user', (response) => response.writeHead(200, json).end('{"id":"7"}')],
    ['/api/user', (response) => response.writeHead(200, json).end('null')],
    ['/api/user', (response) => response.writeHead(200, json).end(JSON.stringify({ id: 1, bio: 'x'.repeat(600_000) }))],
    ['/api/user/emails', (response) => response.writeHead(404, json).end('{}')],
  ];
  for (const [path, answer] of rows) {
    github.instead.clear();
    github.instead.set(path, answer);
    const browser = new Browser();
    await refused(browser, await upToCallback(browser), 503, 'unavailable');
  }
  for (const error of ['incorrect_client_credentials', 'redirect_uri_mismatch']) {
    github.instead.clear();
    github.tokenError = error;
    const browser = new Browser();
    await refused(browser, await upToCallback(browser), 503, 'unavailable');
  }
  github.tokenError = undefined;
  const browser = new Browser();
  await openCallback(browser, await upToCallback(browser));
});

test('a provider that never answers costs its caller some seconds, not a hang', async () => {
  github.instead.set('/api/user', () => {});
  const browser = new Browser();
  const callback = await upToCallback(browser);
  const own = new OwnClock();
  await refused(browser, callback, 503, 'unavailable');
  assert.ok(own.ms < 8_000, `${own.ms} ms`);
});

test('starts and answers count against the limit on /auth/*; the list of login options does not', async (t) => {
  const strict = await startHarness(`[limits]\nauth_burst = 3\n${github.settings}`);
  t.after(() => strict.close());
  const headers = { 'x-forwarded-for': '198.51.100.7' };
  const statuses: number[] = [];
  for (const path of [START, START, '/auth/oauth/github/callback?state=x', START]) {
    statuses.push((await strict.call('GET', path, { headers })).status);
  }
  assert.deepEqual(statuses, [302, 302, 400, 429]);
  assert.equal((await strict.call('GET', '/auth/providers', { headers })).status, 200);
});
