/** Requests that wait for a service: all of them get there, however many they are. */
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
