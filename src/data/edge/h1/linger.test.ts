/**
 * Answers that come before the visitor has sent all of its request (RFC 9112 §9.6): it must be able to read them, also when it first
 * sends and then reads. One that was closed at once would answer the next byte with a reset, and the reset throws away what the
 * visitor has yet to read.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { perHead, rawOrigin, Rig, type Wire } from '../testing/rig.ts';

const WITHIN = { timeout: 120_000 };
const HELLO = 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello';
const TOO_BIG = 'HTTP/1.1 413 Content Too Large\r\nContent-Length: 3\r\nConnection: close\r\n\r\nbig';
const CHUNK = `1000\r\n${'x'.repeat(4_096)}\r\n`;
const CHUNKS = 200;

/** What a service does when a head has come and the body has not. */
const SERVICES: ReadonlyArray<readonly [string, (socket: Socket) => void, RegExp]> = [
  ['ends without a word', (socket) => socket.end(), /^HTTP\/1.1 502 [^]*culvert-error: local_closed/],
  ['resets', (socket) => socket.resetAndDestroy(), /^HTTP\/1.1 502 [^]*culvert-error: local_closed/],
  ['answers and closes', (socket) => socket.end(TOO_BIG), /^HTTP\/1.1 413 [^]*big$/],
  ['answers and goes on reading', (socket) => void socket.write(HELLO), /^HTTP\/1.1 200 [^]*hello$/],
  ['answers nonsense', (socket) => void socket.write('nonsense'), /^HTTP\/1.1 502 [^]*local_bad_response/],
];

for (const tls of [false, true]) {
  for (const [name, act, answer] of SERVICES) {
    for (const kept of [false, true]) {
      const way = `${kept ? 'a kept connection' : 'a new connection'}, ${tls ? 'TLS' : 'plain'}`;
      test(
        `a visitor that reads only when it has sent everything gets its answer: the service ${name} (${way})`,
        WITHIN,
        async (t) => {
          const rig = await Rig.start(t);
          const origin = await rawOrigin(
            t,
            perHead((socket, head) => {
              if (head.startsWith('POST')) act(socket);
              else if (head.startsWith('GET')) socket.write(HELLO);
            }),
          );
          await rig.serve('shop', origin.port);
          const wire = await rig.visit({ tls, allowHalfOpen: true });
          // A service that has not spoken yet is tried with TLS first, and then the request is complete before its response.
          const first = kept ? wire : await rig.visit();
          first.ask('GET /');
          await first.response();
          await sendAllThenRead(wire);
          assert.match(await wire.all(), answer);
          assert.equal(await wire.closed, 'end');
          assert.equal(origin.texts.filter((text) => text.includes('POST')).length, 1);
        },
      );
    }
  }
}

test(
  'a visitor with more under way than the edge reads after its answer can read that answer all the same',
  WITHIN,
  async (t) => {
    const rig = await Rig.start(t);
    const origin = await rawOrigin(
      t,
      perHead((socket, head) => (head.startsWith('GET') ? socket.write(HELLO) : socket.end())),
    );
    await rig.serve('shop', origin.port);
    // A service that has not spoken yet is tried with TLS first.
    const first = await rig.visit();
    first.ask('GET /');
    await first.response();
    for (const tls of [false, true]) {
      const wire = await rig.visit({ tls, allowHalfOpen: true });
      wire.socket.pause();
      wire.ask('POST /', 'Content-Length: 500000000');
      // Until nothing moves any more: the edge has stopped reading.
      const piece = Buffer.alloc(65_536);
      let sent = 0;
      for (; sent < 1 << 28; sent += piece.length) if (!wire.socket.write(piece) && !(await drains(wire.socket))) break;
      assert.ok(sent > 16 << 20 && sent < 1 << 27, `${sent} bytes`);
      wire.socket.resume();
      assert.match(await wire.all(), /^HTTP\/1.1 502 [^]*culvert-error: local_closed/);
    }
  },
);

/** Whether the socket takes more within a moment: in thirty turns of the loop, for after a stop of the process timers come before sockets. */
async function drains(socket: Socket): Promise<boolean> {
  const drained = once(socket, 'drain');
  for (let turn = 0; turn < 30 && socket.writableNeedDrain; turn++) await Promise.race([drained, pause(10)]);
  return !socket.writableNeedDrain;
}

/** A chunked upload piece by piece, without a look at what comes back. */
async function sendAllThenRead(wire: Wire): Promise<void> {
  const { socket } = wire;
  socket.pause();
  wire.ask('POST /', 'Transfer-Encoding: chunked');
  for (let i = 0; i < CHUNKS; i++) {
    if (!socket.write(CHUNK)) await once(socket, 'drain');
    await new Promise((resolve) => setImmediate(resolve));
  }
  await new Promise<void>((resolve, reject) =>
    socket.write('0\r\n\r\n', (error) => (error ? reject(error) : resolve())),
  );
  socket.resume();
}
