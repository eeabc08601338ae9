import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Harness, startHarness } from '../../core/testing/harness.ts';

let h: Harness;
before(async () => {
  h = await startHarness();
});
after(() => h.close());

const asBrowser = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };

test('a browser that a provider sends back in vain gets a page, a program gets JSON, both the same status', async () => {
  for (const [path, status, code] of [
    ['/auth/oauth/google/start', 503, 'not_configured'],
    ['/auth/oauth/google/callback?state=x&error=access_denied', 503, 'not_configured'],
    ['/auth/oauth/google/callback', 400, 'invalid_request'],
    ['/auth/oauth/absent/start', 404, 'not_found'],
  ] as const) {
    for (const base of ['', '/api']) {
      const page = await h.call('GET', base + path, { headers: asBrowser });
      assert.equal(page.status, status, path);
      assert.match(page.headers.get('content-type') ?? '', /^text\/html/);
      assert.match(page.headers.get('content-security-policy') ?? '', /default-src 'none'/);
      assert.ok(page.text.includes(code), page.text);
      const style = new URL(/href="([^"]+\.css)"/.exec(page.text)?.[1] ?? '', h.server.apiUrl + base + path);
      assert.equal((await h.call('GET', style.pathname)).status, 200, style.pathname);
    }
    const plain = await h.call('GET', path);
    assert.deepEqual([plain.status, plain.body['error']], [status, code]);
  }
});

test('nothing of the request becomes markup, and other paths keep their JSON', async () => {
  const hostile = encodeURIComponent('<script>alert(1)</script>');
  const page = await h.call('GET', `/auth/oauth/google/callback?state=${hostile}&error=${hostile}`, {
    headers: asBrowser,
  });
  assert.ok(!page.text.includes('<script'), page.text);
  const json = await h.call('GET', '/auth/me', { headers: asBrowser });
  assert.deepEqual([json.status, json.body['error']], [401, 'unauthorized']);
});
