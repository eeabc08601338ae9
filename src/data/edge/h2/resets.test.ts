/** Streams that a visitor resets: what they held is free at once, whatever they were doing and whatever code is given. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { suite, type TestContext, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { rounds } from '../../../base/testing.ts';
import {
  FLAG,
  FRAME,
  type Fields,
  FrameVisitor,
  frame,
  literals,
  request,
  u32,
} from '../../../../test/harness/h2-frames.ts';
import { type Logger, silentLog } from '../../../base/log.ts';
import { HTTP2_ENGINES } from '../testing/http2-engines.ts';
import { Http2Visitor } from '../testing/http2-visitor.ts';
import { httpOrigin, Rig } from '../testing/rig.ts';

const WITHIN = { timeout: 120_000 };
const PIECE = 16_384;

/** Fails the test where the edge logs a fault of its own. */
const failing: Logger = {
  ...silentLog,
  error: (fields, message) => assert.fail(`${message}: ${JSON.stringify(fields)}`),
  child: () => failing,
};

/** A service that reads nothing of its first connection, and answers on others. */
async function deafOrigin(t: TestContext): Promise<number> {
  const sockets: Socket[] = [];
  const server = createServer({ pauseOnConnect: true }, (socket) => {
    socket.on('error', () => undefined);
    if (sockets.push(socket) > 1) socket.end('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

/** Sends DATA on stream `id` until the edge gives no window for half a second. */
async function fill(visitor: FrameVisitor, id: number): Promise<void> {
  let window = 262_144;
  let seen = 0;
  for (let still = 0; still < 50; ) {
    for (; seen < visitor.frames.length; seen++) {
      const got = visitor.frames[seen];
      if (got?.type === FRAME.window && got.stream === id) window += got.payload.readUInt32BE(0);
    }
    if (window < PIECE) {
      still++;
      await setTimeout(10);
      continue;
    }
    still = 0;
    window -= PIECE;
    visitor.send(FRAME.data, 0, id, Buffer.alloc(PIECE));
  }
}

for (const http2 of HTTP2_ENGINES)
  suite(`HTTP/2 (${http2})`, () => {
    for (const method of ['POST', 'HEAD']) {
      for (const code of [0, 8]) {
        test(
          `a paused upload (${method}) that is reset with code ${code} frees its stream and the agent’s connection`,
          WITHIN,
          async (t) => {
            const rig = await Rig.start(t, { http2, log: failing, limits: { http2MaxStreams: 1 } });
            const agent = await rig.serve('shop', await deafOrigin(t));
            const resting = agent.session.streamCount;
            const visitor = await FrameVisitor.open(rig.httpsPort);
            t.after(() => visitor.socket.destroy());
            visitor.ask(1, request(method, '/'), 0);
            await fill(visitor, 1);
            visitor.send(FRAME.rst, 0, 1, u32(code));
            while (agent.session.streamCount > resting) await setTimeout(10);
            visitor.ask(3);
            assert.equal(await visitor.endOf(3), null, 'the one stream that may be open is free');
            assert.equal(visitor.bodies.get(3), 'ok');
          },
        );
      }
    }

    test('each request that is refused is counted, and a head of 60 KB is answered', WITHIN, async (t) => {
      const rig = await Rig.start(t, { http2, log: failing });
      const origin = await httpOrigin(t, (incoming, response) => {
        incoming.on('error', () => undefined);
        incoming.resume().on('end', () => response.end('ok'));
      });
      await rig.serve('shop', origin.port);
      const visitor = await FrameVisitor.open(rig.httpsPort);
      t.after(() => visitor.socket.destroy());
      const pairs = (count: number, size: number): Fields =>
        Array.from({ length: count }, (_, i) => [`a${i}`, 'b'.repeat(size)] as const);
      const long = literals(request('GET', '/', ...pairs(6, 10_000)));
      visitor.send(FRAME.headers, FLAG.endStream, 1, long.subarray(0, 16_000));
      for (let at = 16_000; at < long.length; at += 16_000)
        visitor.send(
          FRAME.continuation,
          at + 16_000 < long.length ? 0 : FLAG.endHeaders,
          1,
          long.subarray(at, at + 16_000),
        );
      assert.equal(await visitor.endOf(1), null);
      assert.match(visitor.bodies.get(1) ?? '', /head_too_large/);
      assert.equal(rig.node.stats().dropped['h2_headers'], 1);
      visitor.ask(3, request('GET', '/', ...pairs(600, 1)));
      visitor.ask(5, request('GET', '/', ['X-Upper', 'a']));
      visitor.ask(7, request('GET', '/', ['connection', 'close']));
      visitor.ask(9, [[':method', 'GET']]);
      // Answered or reset, by what reads them; one that is answered and malformed is reset behind its answer (RFC 9113 §8.1.1).
      for (const id of [3, 5, 7, 9])
        if ((await visitor.endOf(id)) === null) assert.match(visitor.bodies.get(id) ?? '', /"error"/);
      for (const id of [5, 7, 9]) await visitor.until((got) => got.type === FRAME.rst && got.stream === id);
      visitor.ask(11);
      assert.equal(await visitor.endOf(11), null, 'the connection goes on');
      assert.equal(rig.node.stats().dropped['h2_headers'], 5);
      // Less body than its length.
      const fields = literals(request('POST', '/', ['content-length', '9']));
      visitor.raw(
        Buffer.concat([frame(FRAME.headers, FLAG.endHeaders, 13, fields), frame(FRAME.data, FLAG.endStream, 13, 'x')]),
      );
      assert.equal(await visitor.endOf(13), 1);
      while (rig.node.stats().dropped['h2_protocol'] === 0) await setTimeout(20);
      // The last one, with none behind it.
      visitor.ask(15, request('GET', '/', ['X-Upper', 'a']));
      while (rig.node.stats().dropped['h2_headers'] === 5) await setTimeout(20);
      assert.equal(rig.node.stats().dropped['h2_headers'], 6);
    });

    test('a flood of WINDOW_UPDATE, and of DATA with a byte in each frame, ends the connection', WITHIN, async (t) => {
      const rig = await Rig.start(t, { http2, log: failing });
      await rig.serve('shop', await deafOrigin(t));
      for (const piece of [frame(FRAME.window, 0, 0, u32(1)), frame(FRAME.data, 0, 1, 'x')]) {
        const before = rig.node.stats().dropped['h2_overhead'] ?? 0;
        const visitor = await FrameVisitor.open(rig.httpsPort);
        t.after(() => visitor.socket.destroy());
        visitor.ask(1, request('POST', '/'), 0);
        const flood = Buffer.concat(Array.from({ length: 5_000 }, () => piece));
        for (let sent = 0; sent < 12 << 20 && !visitor.isOver; sent += flood.length) {
          visitor.raw(flood);
          await setTimeout(1);
        }
        await visitor.over();
        if (piece.length > 10) assert.equal(rig.node.stats().dropped['h2_overhead'], before + 1);
      }
    });

    test('uploads and downloads as they come are no flood', WITHIN, async (t) => {
      const rig = await Rig.start(t, { http2, log: failing });
      const origin = await httpOrigin(t, (incoming, response) => {
        if (incoming.url === '/refused') {
          response.writeHead(413).end();
          return;
        }
        incoming.resume();
        incoming.on('end', () => response.end(Buffer.alloc(8 << 20)));
      });
      await rig.serve('shop', origin.port);
      const visitor = await Http2Visitor.open(t, rig);
      for (let i = 0; i < rounds(2, 4); i++)
        assert.equal((await visitor.ask({ ':method': 'POST', ':path': '/' }, Buffer.alloc(8 << 20))).status, 200);
      // Each gets a reset with most of it under way.
      for (let i = 0; i < rounds(2, 5); i++)
        await Promise.allSettled(
          Array.from({ length: 40 }, () =>
            visitor.ask({ ':method': 'POST', ':path': '/refused' }, Buffer.alloc(150_000)),
          ),
        );
      await setTimeout(1_500);
      assert.equal(rig.node.stats().dropped['h2_overhead'], 0);
      assert.equal(visitor.session.destroyed, false);
    });
  });
