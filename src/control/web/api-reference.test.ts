import assert from 'node:assert/strict';
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import { after, before, test } from 'node:test';
import { type Harness, startHarness } from '../core/testing/harness.ts';

let h: Harness;
before(async () => {
  h = await startHarness();
});
after(() => h.close());

test('API reference: the page and its files are public, cached and of the right type, also under /api', async () => {
  for (const base of ['', '/api']) {
    for (const [path, type] of [
      ['/docs/api/', 'text/html'],
      ['/docs/api/start.js', 'text/javascript'],
      ['/docs/api/swagger-ui-bundle.js', 'text/javascript'],
      ['/docs/api/swagger-ui.css', 'text/css'],
    ] as const) {
      const answer = await h.call('GET', base + path);
      assert.equal(answer.status, 200, path);
      assert.ok(answer.headers.get('content-type')?.startsWith(type), path);
    }
  }
  const page = await h.call('GET', '/docs/api/');
  const policy = page.headers.get('content-security-policy') ?? '';
  assert.match(policy, /default-src 'none'/);
  assert.match(policy, /frame-ancestors 'none'/);
  assert.doesNotMatch(policy, /script-src[^;]*unsafe/);
  const file = await h.call('GET', '/docs/api/swagger-ui.css');
  const etag = file.headers.get('etag') ?? '';
  assert.equal((await h.call('GET', '/docs/api/swagger-ui.css', { headers: { 'if-none-match': etag } })).status, 304);
  for (const path of ['/docs/api/nothing.js', '/docs/api/constructor', '/docs/api/..%2f..%2fpackage.json'])
    assert.equal((await h.call('GET', path)).status, 404, path);
});

test('API reference: a client without gzip gets the plain file, with the same bytes', async () => {
  // `fetch` would unpack by itself.
  const fetched = async (encoding: string): Promise<Buffer> => {
    const request = get(`${h.server.apiUrl}/docs/api/swagger-ui.css`, { headers: { 'accept-encoding': encoding } });
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    return buffer(response);
  };
  const plain = await fetched('identity');
  const packed = await fetched('gzip');
  assert.ok(packed.length < plain.length / 2);
  assert.deepEqual(gunzipSync(packed), plain);
});
