/** Posts to addresses that strangers have chosen: where they go, and what is read of the response. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { guardedPost, urlProblem } from './guarded-post.ts';

const LAX = { allowPrivate: true };
const POST = { headers: { 'Content-Type': 'text/plain' }, body: 'hello' };

async function serve(t: TestContext, listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

test('guarded post: public HTTPS addresses alone, unless private ones are allowed', () => {
  for (const [url, strict, lax] of [
    ['https://hooks.example.com/x?y=1', null, null],
    ['http://hooks.example.com/', 'must start with https://', null],
    ['https://192.168.1.5/', 'must lead to a public address', null],
    ['https://0x7f.1/', 'must lead to a public address', null],
    ['https://[fd00::1]/', 'must lead to a public address', null],
    ['https://[::ffff:127.0.0.1]/', 'must lead to a public address', null],
    ['https://metadata.localhost/', 'must lead to a public address', null],
    [
      'https://u:p@hooks.example.com/',
      'must not contain a user name or a password',
      'must not contain a user name or a password',
    ],
    ['file:///etc/passwd', 'must start with https://', 'must start with https://'],
    ['hooks', 'must be a URL that starts with https://', 'must be a URL that starts with https://'],
    [
      `https://hooks.example.com/${'x'.repeat(2048)}`,
      'must be a URL that starts with https://',
      'must be a URL that starts with https://',
    ],
  ] as const) {
    assert.equal(urlProblem(url, { allowPrivate: false }), strict, url);
    assert.equal(urlProblem(url, LAX), lax, url);
  }
});

test('guarded post: a private address that is not allowed is not connected to', async (t) => {
  let asked = 0;
  const url = await serve(t, (_, response) => {
    asked++;
    response.end();
  });
  await assert.rejects(guardedPost(url.replace('http:', 'https:'), POST, { allowPrivate: false }), /public address/);
  assert.equal(asked, 0);
});

test('guarded post: the response is its status and how long to wait; redirects are not followed', async (t) => {
  const got: string[] = [];
  const url = await serve(t, (request, response) => {
    request.on('data', (part: Buffer) => got.push(part.toString()));
    request.on('end', () => response.writeHead(307, { Location: '/else', 'Retry-After': '7' }).end('x'));
  });
  assert.deepEqual(await guardedPost(url, POST, LAX), { status: 307, retryAfterSeconds: 7 });
  assert.deepEqual(got, ['hello']);
});

test('guarded post: a response without an end, or of too many bytes, is a failure', async (t) => {
  const endless = await serve(t, (_, response) => void response.writeHead(200).write(Buffer.alloc(70_000)));
  await assert.rejects(guardedPost(endless, POST, LAX), /larger than 64 KB/);
  const cut = await serve(t, (request) => request.socket.destroy());
  await assert.rejects(guardedPost(cut, POST, LAX), /^Error: 127\.0\.0\.1 closed the connection without a response$/);
  const silent = await serve(t, () => {});
  await assert.rejects(guardedPost(silent, { ...POST, signal: AbortSignal.timeout(50) }, LAX));
});
