/** WebSockets to services that speak HTTP/2: as streams (RFC 8441), by HTTP/1.1, or refused. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createSecureServer, type ServerHttp2Stream } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { WebSocket, WebSocketServer } from 'ws';
import { testCertificate } from '../../fixtures/certificate.ts';
import { Rig } from '../testing/rig.ts';
import { http2Origin, http2Target } from '../../../agent/http2/testing.ts';

const WITHIN = { timeout: 120_000 };
const SETTINGS = { enableConnectProtocol: true };

test('websocket: a service that takes it as a stream gets it as one', WITHIN, async (t) => {
  const rig = await Rig.start(t);
  const opened: ServerHttp2Stream[] = [];
  const origin = await http2Origin(
    t,
    (stream, headers) => {
      assert.deepEqual([headers[':method'], headers[':protocol'], headers[':path']], ['CONNECT', 'websocket', '/chat']);
      assert.equal(headers['sec-websocket-key'], undefined);
      assert.equal(headers['sec-websocket-version'], '13');
      stream.respond({ ':status': 200 });
      // A frame of the server, unmasked; then whatever the visitor sends is counted.
      stream.write(Buffer.from([0x81, 5, ...Buffer.from('hello')]));
      stream.once('data', (frame: Buffer) => stream.end(Buffer.from([0x81, 1, 48 + (frame.length % 10)])));
      opened.push(stream);
    },
    { settings: SETTINGS },
  );
  await rig.serve('shop', http2Target(origin.port));
  const socket = new WebSocket(`ws://127.0.0.1:${rig.port}/chat`, { headers: { host: 'shop.example.test' } });
  const texts: string[] = [];
  socket.on('message', (text: Buffer) => {
    texts.push(text.toString());
    if (texts.length === 1) socket.send('x');
  });
  await once(socket, 'close');
  assert.deepEqual(texts, ['hello', '7']);
  assert.equal(opened.length, 1);
});

test('websocket: a service without them is a 502 that says so', WITHIN, async (t) => {
  const rig = await Rig.start(t);
  const origin = await http2Origin(t, () => assert.fail('it is not asked'));
  await rig.serve('shop', http2Target(origin.port));
  const wire = await rig.visit();
  wire.ask(
    'GET /chat',
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
  );
  const { status, body } = await wire.response();
  assert.equal(status, 502);
  assert.match(body, /RFC 8441/);
});

test('websocket: under auto a service gets it in HTTP/1.1', WITHIN, async (t) => {
  const rig = await Rig.start(t);
  const server = createSecureServer({ ...(await testCertificate()), allowHTTP1: true }, (_request, response) => {
    response.end('h2');
  });
  server.on('session', (session) => session.on('error', () => undefined)); // the agent cuts it at the end
  const sockets = new WebSocketServer({ noServer: true });
  server.on('upgrade', (request, socket, head) => {
    sockets.handleUpgrade(request, socket, head, (webSocket) => {
      webSocket.on('message', (text: Buffer) => webSocket.send(`echo ${text.toString()}`));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    for (const client of sockets.clients) client.terminate();
    server.close();
  });
  await rig.serve('shop', http2Target((server.address() as AddressInfo).port, 'auto', 'https'));
  const wire = await rig.visit();
  wire.ask('GET /');
  await wire.until('h2');
  const socket = new WebSocket(`ws://127.0.0.1:${rig.port}/chat`, { headers: { host: 'shop.example.test' } });
  await once(socket, 'open');
  socket.send('x');
  const [text] = await once(socket, 'message');
  assert.equal((text as Buffer).toString(), 'echo x');
  socket.terminate();
});
