/** However a connection of HTTP/2 ends: a visitor that keeps its side of the TCP connection open gets no place for ever, and harms no others. */
import assert from 'node:assert/strict';
import { suite, type TestContext, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { FRAME, FrameVisitor, request, setting, u32 } from '../../../../test/harness/h2-frames.ts';
import { type Logger, silentLog } from '../../../base/log.ts';
import type { Http2Engine } from '../../node-settings.ts';
import { HTTP2_ENGINES } from '../testing/http2-engines.ts';
import { httpOrigin, Rig } from '../testing/rig.ts';
import { OwnClock } from '../../../../test/harness/own-clock.ts';

const WITHIN = { timeout: 120_000 };
const LIMITS = { idleTimeoutSeconds: 1, lingerTimeoutSeconds: 1, bodyIdleTimeoutSeconds: 1 };
const BIG = Buffer.alloc(16 << 20);

/** Fails the test where the edge logs a fault of its own. */
const failing: Logger = {
  ...silentLog,
  error: (fields, message) => assert.fail(`${message}: ${JSON.stringify(fields)}`),
  child: () => failing,
};

async function begin(
  t: TestContext,
  http2: Http2Engine,
  settings?: Buffer,
): Promise<{ rig: Rig; visitor: FrameVisitor }> {
  const rig = await Rig.start(t, { http2, log: failing, limits: LIMITS, sweepMs: 100 });
  const origin = await httpOrigin(t, ({ url }, response) => response.end(url === '/big' ? BIG : 'ok'));
  await rig.serve('shop', origin.port);
  const visitor = await FrameVisitor.open(rig.httpsPort, settings === undefined ? {} : { settings });
  visitor.socket.allowHalfOpen = true;
  t.after(() => visitor.socket.destroy());
  return { rig, visitor };
}

/** Resolves once the connection's place is free. Its visitor has not let go of it. */
async function freed(rig: Rig): Promise<void> {
  const { connections } = rig.node.stats();
  assert.equal(connections.open, 1);
  while (rig.node.stats().connections.open > 0) await setTimeout(50);
}

// They wait, and share nothing.
for (const http2 of HTTP2_ENGINES)
  suite(`the end of a connection of HTTP/2 (${http2})`, { concurrency: true }, () => {
    for (const code of [0, 2, 11]) {
      test(`a visitor that says GOAWAY with code ${code} and stays is cut`, WITHIN, async (t) => {
        const { rig, visitor } = await begin(t, http2);
        visitor.send(FRAME.goaway, 0, 0, Buffer.concat([u32(0), u32(code)]));
        await freed(rig);
      });
    }

    test('a visitor that stays idle after GOAWAY is cut', WITHIN, async (t) => {
      const { rig, visitor } = await begin(t, http2);
      visitor.ask(1);
      assert.equal(await visitor.endOf(1), null);
      await freed(rig);
      assert.equal(visitor.goaway, 0, 'it got GOAWAY');
      assert.deepEqual([rig.node.stats().dropped['idle'], rig.node.stats().dropped['linger']], [1, 1]);
    });

    // node:http2 waits for the edge's own limits.
    if (http2 === 'own')
      test(
        'a visitor that leaves in a download whose window is used up is cut at once, and its service hears of it',
        WITHIN,
        async (t) => {
          const rig = await Rig.start(t, { http2, log: failing, sweepMs: 100 });
          const { promise: left, resolve } = Promise.withResolvers<void>();
          const origin = await httpOrigin(t, (_, response) => {
            response.once('close', resolve);
            response.write(BIG);
          });
          await rig.serve('shop', origin.port);
          const visitor = await FrameVisitor.open(rig.httpsPort);
          visitor.socket.allowHalfOpen = true;
          t.after(() => visitor.socket.destroy());
          visitor.ask(1, request('GET', '/big'));
          // The 64 KB that it has let come; it will let no more.
          await visitor.until((got) => got.type === FRAME.data);
          await setTimeout(300);
          const from = performance.now();
          visitor.socket.end();
          await left;
          while (rig.node.stats().connections.open > 0) await setTimeout(50);
          assert.ok(performance.now() - from < 20_000, 'no limit of a minute had to end it');
        },
      );

    test('a visitor that ends its direction and takes nothing of its answer is cut', WITHIN, async (t) => {
      const { rig, visitor } = await begin(t, http2, setting(4, 0x7fff_ffff));
      visitor.send(FRAME.window, 0, 0, u32(0x7fff_0000));
      visitor.socket.pause();
      visitor.ask(1, request('GET', '/big'));
      await setTimeout(300);
      visitor.socket.end();
      await freed(rig);
    });

    test('a visitor that takes nothing of its answer is cut', WITHIN, async (t) => {
      const { rig, visitor } = await begin(t, http2, setting(4, 0x7fff_ffff));
      visitor.send(FRAME.window, 0, 0, u32(0x7fff_0000));
      visitor.socket.pause();
      visitor.ask(1, request('GET', '/big'));
      await freed(rig);
      assert.equal(rig.node.stats().dropped['slow_reader'], 1);
    });

    test('a visitor that has ended its direction gets its answer, and its place is free', WITHIN, async (t) => {
      const { rig, visitor } = await begin(t, http2);
      visitor.ask(1);
      visitor.socket.end();
      assert.equal(await visitor.endOf(1), null);
      assert.equal(visitor.bodies.get(1), 'ok');
      while (rig.node.stats().connections.open > 0) await setTimeout(50);
      assert.equal(rig.node.stats().dropped['linger'], 0);
    });

    test('a drain ends in good time whatever visitors do, and tells all of them', WITHIN, async (t) => {
      const { rig, visitor } = await begin(t, http2);
      const other = await FrameVisitor.open(rig.httpsPort);
      t.after(() => other.socket.destroy());
      visitor.send(FRAME.goaway, 0, 0, Buffer.concat([u32(0), u32(0)]));
      await visitor.until((frame) => frame.type === FRAME.goaway);
      const own = new OwnClock();
      await rig.node.drain(15_000);
      assert.ok(own.ms < 8_000, `${own.ms} ms`);
      assert.equal(other.goaway, 0, 'the one behind it got GOAWAY');
      // The one that stays is waited for a moment more.
      while (rig.node.stats().connections.open > 0) await setTimeout(50);
    });
  });
