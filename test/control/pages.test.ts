/** The pages under `/app/` as they come over HTTP. What they do in a browser is in test/flows. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Harness, startHarness } from './harness.ts';
import { Plane } from './plane.ts';
import { servePlane } from './plane-api.ts';

let h: Harness;
before(async () => {
  h = await startHarness();
});
after(() => h.close());

const PAGES = ['/app/', '/app/reset?token=abc', '/app/reset', '/app/invite?token=abc', '/app/invite', '/app/cli'];

test('every page allows its own scripts and style alone, nobody may frame it, and nothing of it is kept', async () => {
  for (const path of PAGES.flatMap((page) => [page, `/api${page}`])) {
    const page = await h.call('GET', path);
    assert.equal(page.status, 200, path);
    assert.equal(page.headers.get('content-type'), 'text/html; charset=utf-8', path);
    assert.equal(page.headers.get('x-frame-options'), 'DENY', path);
    assert.equal(page.headers.get('referrer-policy'), 'no-referrer', path);
    assert.equal(page.headers.get('cache-control'), 'no-store', path);
    const policy = (page.headers.get('content-security-policy') ?? '').split('; ');
    for (const part of ["default-src 'none'", "script-src 'self'", "style-src 'self'", "frame-ancestors 'none'"])
      assert.ok(policy.includes(part), `${path}: ${part}`);
    assert.doesNotMatch(policy.join(), /unsafe|https?:/, path);
    assert.doesNotMatch(page.text, /<script>|<style|style=|\son\w+=|https?:/, path);
  }
});

test('whatever a page or a script asks for is there, beside it', async () => {
  for (const base of ['', '/api']) {
    const wanted = new Set<string>();
    for (const path of PAGES) {
      const { text } = await h.call('GET', base + path);
      for (const [, file = ''] of text.matchAll(/<(?:script|link)[^>]* (?:src|href)="([^":]+)"/g)) wanted.add(file);
    }
    const seen = new Set<string>();
    // A set visits what is added while it is gone through.
    for (const file of wanted) {
      seen.add(file);
      const answer = await h.call('GET', `${base}/app/${file}`);
      assert.equal(answer.status, 200, file);
      const type = file.endsWith('.css') ? 'text/css' : 'text/javascript';
      assert.equal(answer.headers.get('content-type'), `${type}; charset=utf-8`, file);
      for (const [, next = ''] of answer.text.matchAll(/from '\.\/([\w.-]+)'/g)) wanted.add(next);
    }
    assert.equal(seen.size, 10, [...seen].join());
  }
  for (const path of ['/app/nothing.js', '/app/constructor', '/app/page.css/', '/app/..%2fhealth'])
    assert.equal((await h.call('GET', path)).status, 404, path);
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

test('the server leads everybody from / to /app/, with the query, whatever the Host', async () => {
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
