/** WebSockets over HTTP/2 of which one side has ended: the other half goes on, and is whole at its end. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import type { ClientHttp2Stream, IncomingHttpHeaders } from 'node:http2';
import type { Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { FLAG, FRAME, frame, literals, u32 } from '../../../../test/harness/h2-frames.ts';
import { RawClient } from '../../../../test/http2/raw-client.ts';
import { Http2Visitor } from '../testing/http2-visitor.ts';
import { Rig, type RigOptions, rawOrigin } from '../testing/rig.ts';

const WITHIN = { timeout: 60_000 };
const CONNECT = { ':method': 'CONNECT', ':protocol': 'websocket', ':path': '/', 'sec-websocket-version': '13' };

interface Sides {
  readonly rig: Rig;
  readonly stream: ClientHttp2Stream;
  readonly service: Socket;
  /** What the service has got behind the head. */
  got(): string;
}

/** An upgraded stream, and the service's end of it. */
async function upgraded(t: TestContext, options: RigOptions = {}): Promise<Sides> {
  const rig = await Rig.start(t, options);
  const origin = await rawOrigin(t, () => undefined);
  await rig.serve('shop', origin.port);
  const visitor = await Http2Visitor.open(t, rig);
  if (visitor.session.remoteSettings?.enableConnectProtocol !== true) await once(visitor.session, 'remoteSettings');
  const stream = visitor.stream(CONNECT, false);
  const response = once(stream, 'response') as Promise<[IncomingHttpHeaders]>;
  const head = await origin.arrived(/\r\n\r\n$/);
  const service = origin.sockets[0] ?? assert.fail('no connection came');
  service.write(switching(head));
  assert.equal((await response)[0][':status'], 200);
  return { rig, stream, service, got: () => (origin.texts[0] ?? '').slice(head.length) };
}

function switching(head: string): string {
  const key = /\r\nsec-websocket-key: (.*)\r\n/i.exec(head)?.[1] ?? '';
  const proof = createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64');
  return `HTTP/1.1 101 Go\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: ${proof}\r\n\r\n`;
}

function closed(stream: ClientHttp2Stream): Promise<number> {
  return new Promise((resolve) => void stream.once('close', () => resolve(stream.rstCode)));
}

test('WebSocket over HTTP/2: the visitor goes on after the service has ended its half', WITHIN, async (t) => {
  const { rig, stream, service, got } = await upgraded(t);
  const over = closed(stream);
  let text = '';
  stream.setEncoding('latin1').on('data', (piece: string) => (text += piece));
  service.end('bye');
  await once(stream, 'end');
  assert.equal(text, 'bye');
  await pause(100);
  assert.equal(stream.closed, false, 'no reset follows the end');
  const serviceEnd = once(service, 'end');
  stream.write('still ');
  while (got() !== 'still ') await pause(5);
  stream.end('here');
  await serviceEnd;
  assert.equal(got(), 'still here');
  assert.equal(await over, 0);
  assert.equal(rig.node.stats().dropped['h2_protocol'], 0);
});

test('WebSocket over HTTP/2: what the service has yet to take arrives whole after both ends', WITHIN, async (t) => {
  const { stream, service, got } = await upgraded(t);
  const over = closed(stream);
  stream.resume();
  const ended = once(stream, 'end');
  service.pause();
  service.end();
  await ended;
  const sent = Buffer.alloc(8_000_000, 'upload ').toString('latin1');
  stream.end(sent);
  await pause(500);
  const serviceEnd = once(service, 'end');
  service.resume();
  await serviceEnd;
  assert.equal(got().length, sent.length);
  assert.ok(got() === sent);
  assert.equal(await over, 0);
});

test('WebSocket over HTTP/2: a reset behind the end of the service cuts it', WITHIN, async (t) => {
  const rig = await Rig.start(t);
  const origin = await rawOrigin(t, () => undefined);
  await rig.serve('shop', origin.port);
  // By hand: node:http2 ends its half before it resets a stream.
  const visitor = await RawClient.connect(rig.httpsPort);
  t.after(() => visitor.destroy());
  await visitor.handshake();
  const fields = Object.entries({ ':scheme': 'https', ':authority': 'shop.example.test', ...CONNECT });
  visitor.send(frame(FRAME.headers, FLAG.endHeaders, 1, literals(fields)));
  const head = await origin.arrived(/\r\n\r\n$/);
  const service = origin.sockets[0] ?? assert.fail('no connection came');
  const cut = new Promise<string>((resolve) => {
    service.once('error', () => resolve('cut'));
    service.once('end', () => resolve('end'));
  });
  service.end(switching(head));
  await visitor.expectEnd(1);
  visitor.send(frame(FRAME.data, 0, 1, 'x'), frame(FRAME.rst, 0, 1, u32(8)));
  assert.equal(await cut, 'cut');
});

test('WebSocket over HTTP/2: a visitor that never ends its half is cut when it is idle', WITHIN, async (t) => {
  const { rig, stream, service } = await upgraded(t, { limits: { idleTimeoutSeconds: 1 }, sweepMs: 50 });
  const over = closed(stream);
  stream.resume();
  service.end();
  assert.equal(await over, 2, 'INTERNAL_ERROR');
  assert.equal(rig.node.stats().dropped['idle'], 1);
});
