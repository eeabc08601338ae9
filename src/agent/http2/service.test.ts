/** Requests that wait for a service: all of them get there, however many they are, or hear why not. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer as createHttp2 } from 'node:http2';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { test } from 'node:test';
import { Http2Service } from './service.ts';
import { parseTarget } from '../local/target.ts';

const WAITING = 4_096;

test('as many as may wait for a service that is slow to speak get their connections', {
  timeout: 60_000,
}, async (t) => {
  const http2 = createHttp2();
  const sockets: Socket[] = [];
  const server = createServer((socket) => sockets.push(socket)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const service = new Http2Service(parseTarget(`127.0.0.1:${port}`, 'http').target, 'http2');
  t.after(() => {
    service.close();
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  let connected = 0;
  const all = new Promise<void>((resolve, reject) => {
    for (let i = 0; i < WAITING; i++) {
      service.connect({
        onConnected: () => {
          if (++connected === WAITING) resolve();
        },
        onFault: ({ text }) => reject(new Error(text)),
      });
    }
  });
  await once(server, 'connection');
  for (const socket of sockets) http2.emit('connection', socket);
  await all;
  assert.equal(connected, WAITING);
});

test('a service that takes no stream and hangs up is not dialled for ever', { timeout: 60_000 }, async (t) => {
  const http2 = createHttp2({ settings: { maxConcurrentStreams: 0 } });
  let dialled = 0;
  http2.on('session', (session) => {
    dialled++;
    session.on('error', () => undefined);
    session.on('localSettings', () => session.close());
  });
  http2.listen(0, '127.0.0.1');
  await once(http2, 'listening');
  const { port } = http2.address() as AddressInfo;
  const service = new Http2Service(parseTarget(`127.0.0.1:${port}`, 'http').target, 'http2');
  t.after(() => {
    service.close();
    http2.close();
  });
  const ask = (): Promise<string> =>
    new Promise((resolve) => {
      service.connect({ onConnected: () => resolve('connected'), onFault: ({ text }) => resolve(text) });
    });
  for (let asked = 1; asked <= 3; asked++) {
    assert.match(await ask(), /closed its connection before it took a request/);
    assert.equal(dialled, asked);
  }
  service.close();
  assert.match(await ask(), /the agent is ending/);
  assert.equal(dialled, 3);
});
