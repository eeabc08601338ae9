/** A service that speaks TLS behind a tunnel for plain HTTP: the first visitor gets that error, and other silent services don't. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { WAIT_MS } from '../../../agent/local/tls-probe.ts';
import { testCertificate } from '../../fixtures/certificate.ts';
import { httpOrigin, perHead, rawOrigin, Rig } from '../testing/rig.ts';
import { OwnClock } from '../../../../test/harness/own-clock.ts';

const WITHIN = { timeout: 120_000 };

async function tlsOrigin(t: TestContext): Promise<Server & { port: number }> {
  const server = createServer(await testCertificate(), (_request, response) => response.end('over TLS'));
  server.on('tlsClientError', () => undefined); // plain HTTP
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return Object.assign(server, { port: (server.address() as AddressInfo).port });
}

async function codeOf(rig: Rig, line = 'GET /'): Promise<string> {
  const wire = await rig.visit();
  wire.ask(line);
  const { status, head } = await wire.response();
  return `${status} ${/culvert-error: (\S+)/i.exec(head)?.[1] ?? ''}`.trim();
}

test('speaks TLS: an https service behind an http tunnel gets an error that names it', WITHIN, async (t) => {
  const rig = await Rig.start(t);
  const origin = await tlsOrigin(t);
  await rig.serve('shop', origin.port);
  for (let i = 0; i < 3; i++) assert.equal(await codeOf(rig), '502 local_speaks_tls');
  const wire = await rig.visit();
  wire.ask('GET /', 'Accept: text/html');
  assert.match((await wire.response()).body, /culvert https/);
});

test('speaks TLS: an alert is enough', WITHIN, async (t) => {
  const rig = await Rig.start(t);
  const alert = Buffer.from([0x15, 0x03, 0x01, 0x00, 0x02, 0x02, 0x46]);
  const origin = await rawOrigin(
    t,
    perHead((socket) => socket.end(alert)),
  );
  await rig.serve('shop', origin.port);
  assert.equal(await codeOf(rig), '502 local_speaks_tls');
  assert.equal(origin.sockets.length, 1, 'no handshake is tried');
});

test('speaks TLS: a plain service that closes without a word is asked once, and is not accused', WITHIN, async (t) => {
  const rig = await Rig.start(t);
  const origin = await rawOrigin(t, (socket) => socket.end());
  await rig.serve('shop', origin.port);
  for (let i = 0; i < 3; i++) assert.equal(await codeOf(rig), '502 local_closed');
  assert.equal(origin.sockets.length, 4, 'three requests and one handshake');
});

test('speaks TLS: no visitor waits for a handshake that a plain service does not answer', WITHIN, async (t) => {
  const rig = await Rig.start(t, { tlsWaitMs: WAIT_MS });
  let connections = 0;
  // It closes on each request, and takes the handshake for a request whose end is still to come.
  const origin = await rawOrigin(t, (socket) => {
    if (++connections !== 2) socket.end();
  });
  await rig.serve('shop', origin.port);
  const own = new OwnClock();
  assert.equal(await codeOf(rig), '502 local_closed');
  assert.equal(await codeOf(rig), '502 local_closed');
  // The handshake itself ends after a second, when it is looked at.
  assert.ok(own.ms < 950, `${own.ms} ms`);
});

test('speaks TLS: a service that has spoken HTTP is never asked', WITHIN, async (t) => {
  const rig = await Rig.start(t);
  const origin = await rawOrigin(
    t,
    perHead((socket, _head, count) => {
      if (count === 1) socket.end('HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n');
      else socket.end();
    }),
  );
  await rig.serve('shop', origin.port);
  assert.equal(await codeOf(rig), '200');
  assert.equal(await codeOf(rig, 'POST /'), '502 local_closed');
  assert.equal(origin.sockets.length, 2);
});

test('speaks TLS: a service that turns to plain HTTP is served', WITHIN, async (t) => {
  const rig = await Rig.start(t);
  const tls = await tlsOrigin(t);
  await rig.serve('shop', tls.port);
  assert.equal(await codeOf(rig), '502 local_speaks_tls');
  tls.closeAllConnections();
  tls.close();
  await once(tls, 'close');
  const plain = await httpOrigin(t, (_request, response) => response.end('plain'));
  plain.close();
  await once(plain, 'close');
  plain.listen(tls.port, '127.0.0.1');
  await once(plain, 'listening');
  assert.equal(await codeOf(rig), '200');
});
