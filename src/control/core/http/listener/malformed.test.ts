import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { after, before, test } from 'node:test';
import { OpenAPIHono } from '@hono/zod-openapi';
import { LOOPBACK, NetworkSet } from '../../../../base/net/addr.ts';
import { silentLog } from '../../../../base/log.ts';
import type { ApiEnv } from '../context.ts';
import { type ApiListener, listenApi } from './listener.ts';

let listener: ApiListener;
before(async () => {
  const app = new OpenAPIHono<ApiEnv>();
  app.get('/ok', (c) => c.text('fine'));
  app.get('/slow', (c) => {
    const stream = new ReadableStream({
      async start(out) {
        out.enqueue('begun');
        await new Promise((resolve) => setTimeout(resolve, 50));
        out.enqueue('ended');
        out.close();
      },
    });
    return c.body(stream);
  });
  listener = await listenApi(
    app,
    { host: '127.0.0.1', port: 0 },
    { exempt: new NetworkSet(LOOPBACK), monotonic: () => performance.now(), log: silentLog },
  );
});
after(() => listener.close());

/** Sends the bytes, and the other ones once an answer has begun, and returns all that comes back until the server closes. */
async function exchange(bytes: string, onceAnswered?: string): Promise<{ status: number; head: string; body: string }> {
  const socket = connect(listener.address.port, '127.0.0.1');
  let seen = '';
  socket.setEncoding('latin1').on('data', (text) => {
    seen += text;
  });
  socket.on('error', () => {});
  socket.write(bytes);
  if (onceAnswered !== undefined) socket.once('data', () => socket.write(onceAnswered));
  await once(socket, 'close');
  const [head = '', ...rest] = seen.split('\r\n\r\n');
  return { status: Number(head.split(' ')[1]), head, body: rest.join('\r\n\r\n') };
}

for (const [what, bytes, status, error] of [
  ['bytes that are no HTTP', 'hello\r\n\r\n', 400, 'invalid_request'],
  ['a header that is none', 'GET /ok HTTP/1.1\r\nHost: a\r\nbad header\r\n\r\n', 400, 'invalid_request'],
  [
    'two lengths',
    'POST /ok HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nx',
    400,
    'invalid_request',
  ],
  [
    'headers that are too large',
    `GET /ok HTTP/1.1\r\nHost: a\r\nX-Long: ${'x'.repeat(20_000)}\r\n\r\n`,
    431,
    'payload_too_large',
  ],
  ['a missing Host', 'GET /ok HTTP/1.1\r\nConnection: close\r\n\r\n', 400, 'invalid_request'],
  ['a Host that is none', 'GET /ok HTTP/1.1\r\nHost: a b\r\nConnection: close\r\n\r\n', 400, 'invalid_request'],
  ['a target that is no path', 'GET ok HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n', 400, 'invalid_request'],
  ['an expectation', 'GET /ok HTTP/1.1\r\nHost: a\r\nExpect: wonders\r\n\r\n', 417, 'invalid_request'],
] as const) {
  test(`${what}: ${status}, with a body like every other failure, and the connection ends`, async () => {
    const answer = await exchange(bytes);
    assert.equal(answer.status, status);
    assert.match(answer.head, /\r\ncontent-type: application\/json/i);
    assert.match(answer.head, /\r\nconnection: close/i);
    const body = JSON.parse(answer.body) as Record<string, unknown>;
    assert.deepEqual(Object.keys(body), ['error', 'message']);
    assert.equal(body['error'], error);
    assert.equal(Buffer.byteLength(answer.body), Number(/content-length: (\d+)/i.exec(answer.head)?.[1]));
  });
}

test('a malformed request behind one that is being answered cuts that answer and adds nothing to it', async () => {
  const answer = await exchange('GET /slow HTTP/1.1\r\nHost: a\r\n\r\n', 'rubbish\r\n\r\n');
  assert.equal(answer.status, 200);
  assert.match(answer.body, /begun/);
  assert.ok(!answer.body.includes('invalid_request') && !answer.body.includes('ended'), answer.body);
});

test('HTTP/1.0 needs no Host', async () => {
  for (const path of ['/ok', '/ok?a=b']) {
    const answer = await exchange(`GET ${path} HTTP/1.0\r\n\r\n`);
    assert.equal(answer.status, 200);
    assert.equal(answer.body, 'fine');
  }
  assert.equal((await exchange('GET /ok HTTP/1.0\r\nHost: a\r\n\r\n')).status, 200);
  assert.equal((await exchange('GET /ok HTTP/1.0\r\nHost: a b\r\n\r\n')).status, 400);
});

test('good requests are served', async () => {
  const answer = await exchange('GET /ok HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
  assert.equal(answer.status, 200);
  assert.match(answer.body, /fine/);
});
