/** By a real listener and sockets: readers that take it, that go, and that take nothing. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import { createServer } from 'node:http';
import { type TestContext, test } from 'node:test';
import { getRequestListener } from '@hono/node-server';
import { Hono } from 'hono';
import type { ApiEnv } from '../context.ts';
import { writtenInParts } from './written-in-parts.ts';

const WITHIN = { timeout: 120_000 };

/** Serves these parts; `over` resolves when an answer is over. */
async function serve(
  t: TestContext,
  parts: readonly Buffer[],
  withinMs: number,
): Promise<{ port: number; over: Promise<void>; ended: () => number }> {
  const { promise, resolve } = Promise.withResolvers<void>();
  let ended = 0;
  const app = new Hono<ApiEnv>();
  const byteLength = parts.reduce((sum, part) => sum + part.length, 0);
  app.get('/', (c) => {
    const afterwards = (): void => {
      ended += 1;
      resolve();
    };
    return writtenInParts(c, { parts, byteLength }, { withinMs, afterwards });
  });
  const server = createServer((incoming, outgoing) => void getRequestListener(app.fetch)(incoming, outgoing));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  return { port: (server.address() as AddressInfo).port, over: promise, ended: () => ended };
}

/** More than the buffers of a connection take. */
const LONG = Array.from({ length: 64 }, (_, i) => Buffer.alloc(1024 * 1024, i));

test('a reader gets every byte in order, and its length before', WITHIN, async (t) => {
  const { port, over, ended } = await serve(t, LONG, 50_000);
  const answer = await fetch(`http://127.0.0.1:${port}/`);
  assert.equal(answer.headers.get('content-length'), String(64 * 1024 * 1024));
  assert.ok(Buffer.from(await answer.arrayBuffer()).equals(Buffer.concat(LONG)));
  await over;
  const short = await fetch(`http://127.0.0.1:${port}/`, { method: 'HEAD' });
  assert.equal(short.status, 200);
  while (ended() < 2) await new Promise(setImmediate);
});

test('a reader that goes in the middle ends it', WITHIN, async (t) => {
  const { port, over, ended } = await serve(t, LONG, 50_000);
  const socket = connect(port, '127.0.0.1');
  socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  await once(socket, 'data');
  assert.equal(ended(), 0);
  socket.destroy();
  await over;
  assert.equal(ended(), 1);
});

test('a reader that takes nothing is cut off in time', WITHIN, async (t) => {
  const { port, over, ended } = await serve(t, LONG, 300);
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => {});
  t.after(() => socket.destroy());
  socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  await once(socket, 'readable');
  await over;
  assert.equal(ended(), 1);
  let bytes = 0;
  socket.on('data', (chunk: Buffer) => (bytes += chunk.length));
  await once(socket, 'close');
  assert.ok(bytes < 64 * 1024 * 1024, 'it has not got all');
});
