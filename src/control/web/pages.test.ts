/** The pages under `/app/` as they come over HTTP. What they do in a browser is in test/flows. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Harness, startHarness } from '../core/testing/harness.ts';
import { Plane } from '../core/testing/plane.ts';
import { servePlane } from '../core/testing/plane-api.ts';

let h: Harness;
before(async () => {
  h = await startHarness();
});
after(() => h.close());

const PAGES = ['/app/', '/app/reset?token=abc', '/app/invite', '/app/cli', '/app/signup', '/app/tunnels/some-id'];

test('every page allows its own scripts and styles alone, may not be framed, and is not cached', async () => {
  const nonces = new Set<string>();
  for (const path of PAGES.flatMap((page) => [page, `/api${page}`])) {
    const page = await h.call('GET', path);
    assert.equal(page.status, 200, path);
    assert.equal(page.headers.get('content-type'), 'text/html; charset=utf-8', path);
    assert.equal(page.headers.get('x-frame-options'), 'DENY', path);
    assert.equal(page.headers.get('referrer-policy'), 'no-referrer', path);
    assert.equal(page.headers.get('cache-control'), 'no-store', path);
    const policy = (page.headers.get('content-security-policy') ?? '').split('; ');
    const wanted = [
      "default-src 'none'",
      "script-src 'self'",
      "form-action 'none'",
      "base-uri 'none'",
      "frame-ancestors 'none'",
    ];
    for (const part of wanted) assert.ok(policy.includes(part), `${path}: ${part}`);
    const nonce = /name="csp-nonce" content="([\w-]{22})"/.exec(page.text)?.[1] ?? '';
    assert.ok(policy.includes(`style-src 'self' 'nonce-${nonce}'`), policy.join('; '));
    nonces.add(nonce);
    assert.doesNotMatch(policy.join(), /unsafe|https?:|\*/, path);
    assert.doesNotMatch(page.text, /<script>|<style|style=|\son\w+=|="https?:/, path);
  }
  assert.equal(nonces.size, PAGES.length * 2, 'each answer has a nonce of its own');
});

test('the live feed may be asked on the own host alone', async () => {
  const policy = (await h.call('GET', '/app/')).headers.get('content-security-policy') ?? '';
  const { host } = new URL(h.server.apiUrl);
  assert.ok(policy.split('; ').includes(`connect-src 'self' ws://${host}`), policy);
});

test('whatever a page or a script asks for is there, as every browser takes it, and may be kept for ever', async () => {
  for (const base of ['', '/api']) {
    const wanted = new Set<string>();
    for (const path of PAGES) {
      const { text } = await h.call('GET', base + path);
      for (const [, file = ''] of text.matchAll(/<(?:script|link)[^>]* (?:src|href)="([^":]+)"/g))
        wanted.add(new URL(file, new URL(base + path, h.server.apiUrl)).pathname);
    }
    assert.ok(
      [...wanted].every((file) => file.startsWith(`${base}/app/assets/`)),
      [...wanted].join(),
    );
    // A set visits what is added while it is gone through: scripts name the code of the pages that come later.
    for (const file of wanted) {
      const plain = await h.call('GET', file, { headers: { 'accept-encoding': 'identity' } });
      assert.equal(plain.status, 200, file);
      const type = file.endsWith('.css') ? 'text/css' : 'text/javascript';
      assert.equal(plain.headers.get('content-type'), `${type}; charset=utf-8`, file);
      assert.equal(plain.headers.get('cache-control'), 'public, max-age=31536000, immutable', file);
      assert.equal(plain.headers.get('content-encoding'), null, file);
      for (const [, next = ''] of plain.text.matchAll(/(?:from|import)\s*\(?["']\.\/([\w.-]+\.js)["']/g))
        wanted.add(`${base}/app/assets/${next}`);
    }
    assert.ok(wanted.size > 30, `${wanted.size} files`);
  }
});

test('a file is packed as the browser takes it, and is the same whichever way', async () => {
  const { text } = await h.call('GET', '/app/');
  const script = /src="(assets\/main-[\w-]+\.js)"/.exec(text)?.[1] ?? assert.fail(text);
  const seen = new Map<string, string>();
  for (const [accept, coding] of [
    ['gzip, deflate, br, zstd', 'br'],
    ['gzip', 'gzip'],
    ['br;q=0, GZIP', 'gzip'],
    ['deflate', null],
    ['br;q=0.0, gzip; q=0', null],
  ] as const) {
    const answer = await h.call('GET', `/app/${script}`, { headers: { 'accept-encoding': accept } });
    assert.equal(answer.headers.get('content-encoding'), coding, accept);
    assert.equal(answer.headers.get('vary'), 'Accept-Encoding', accept);
    // fetch has unpacked it.
    seen.set(accept, answer.text);
  }
  assert.equal(new Set(seen.values()).size, 1);
});

test('the style of the pages beside the dashboard is there; what is no file of it is not', async () => {
  for (const base of ['', '/api']) {
    const style = await h.call('GET', `${base}/app/page.css`);
    assert.deepEqual([style.status, style.headers.get('content-type')], [200, 'text/css; charset=utf-8']);
  }
  for (const path of [
    '/app/nothing.js',
    '/app/cli.js',
    '/app/page.css/',
    '/app/..%2fhealth',
    '/app/assets/',
    '/app/assets/constructor',
    '/app/assets/files.json',
    '/app/assets/..%2ffiles.json',
    '/app/assets/main.js',
  ])
    assert.equal((await h.call('GET', path)).status, 404, path);
});

test('the page says whether the browser has a session', async () => {
  const none = await h.call('GET', '/app/');
  assert.match(none.text, /name="culvert-session" content="none"/);
  const forged = await h.call('GET', '/app/', { headers: { cookie: 'qnt_refresh=made-up' } });
  assert.match(forged.text, /name="culvert-session" content="none"/);
  const body = { email: 'admin@localhost', password: h.server.firstOwner?.password.reveal() };
  const login = await h.call('POST', '/auth/login', { body });
  const cookie = (login.headers.getSetCookie()[0] ?? '').split(';', 1)[0] ?? '';
  const live = await h.call('GET', '/app/', { headers: { cookie } });
  assert.match(live.text, /name="culvert-session" content="live"/);
  assert.ok(!live.text.includes('admin@localhost'));
});

test('what stands in the address is on no page', async () => {
  const evil = '"><img src=x onerror=alert(1)>';
  for (const path of ['/app/', '/app/reset', '/app/invite', '/app/cli']) {
    const query = ['token', 'device_code', 'oauth_token', 'mfa_challenge', 'error']
      .map((name) => `${name}=${encodeURIComponent(evil)}`)
      .join('&');
    const { status, text } = await h.call('GET', `${path}?${query}`);
    assert.equal(status, 200, path);
    assert.ok(!text.includes('onerror'), path);
  }
});

test('pages: / redirects to /app/, with the query, whatever the Host', async () => {
  for (const [path, accept, location] of [
    ['/', 'text/html', '/app/'],
    ['/', 'application/json', '/app/'],
    ['/?oauth_token=a%2Fb&x=1', '*/*', '/app/?oauth_token=a%2Fb&x=1'],
    ['/?next=//evil.test', '*/*', '/app/?next=//evil.test'],
    ['/api', '*/*', '/app/'],
    ['/api/', '*/*', '/app/'],
    ['/app', '*/*', '/app/'],
    ['/api/app?x', '*/*', '/app/?x'],
  ] as const) {
    for (const method of ['GET', 'HEAD']) {
      const headers = { accept, 'x-forwarded-host': 'evil.test' };
      const answer = await h.call(method, path, { headers });
      assert.deepEqual([answer.status, answer.headers.get('location')], [302, location], `${method} ${path} ${accept}`);
    }
  }
  assert.equal((await h.call('POST', '/')).status, 405);
});

test('where the public URL has a path, / leads there, on the host that was asked', async () => {
  const plane = new Plane();
  const api = await servePlane(plane, { publicUrl: () => 'https://example.test/tunnels' });
  try {
    assert.equal((await api.call('GET', '/?x=1')).headers.get('location'), '/tunnels/app/?x=1');
  } finally {
    await api.close();
    plane.close();
  }
});
