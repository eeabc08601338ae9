// alone: it reads how much memory its process holds, after a collection
/** Uploads that a service, or a tunnel's policy, makes wait: in order, whole, and in as much memory as they have bytes. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { suite, type TestContext, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { hashSync } from '@node-rs/argon2';
import { FLAG, FRAME, FrameVisitor, frame, request } from '../../../../test/harness/h2-frames.ts';
import { HTTP2_ENGINES } from '../testing/http2-engines.ts';
import { Http2Visitor } from '../testing/http2-visitor.ts';
import { httpOrigin, Rig } from '../testing/rig.ts';

const WITHIN = { timeout: 30_000 };
const MB = 1 << 20;
/** As much as a visitor may send before it is read on. */
const WINDOW = 262_144;

/** A service that reads only what `read` lets it, a stream's worth at a time, and answers with the hash of what it got. */
async function slowOrigin(t: TestContext): Promise<{ port: number; read(): void }> {
  let isOpen = false;
  const origin = await httpOrigin(t, (incoming, response) => {
    const hash = createHash('sha256');
    const start = (): void => {
      incoming.on('data', (piece: Buffer) => hash.update(piece));
      incoming.on('end', () => response.end(hash.digest('hex')));
    };
    if (isOpen) start();
    else origin.once('read', start);
  });
  origin.setMaxListeners(0);
  const read = (): void => {
    isOpen = true;
    origin.emit('read');
  };
  return { port: origin.port, read };
}

/** Sends on stream `id` until half a window is shut for a third of a second. */
async function fill(visitor: FrameVisitor, id: number, sent: (bytes: Buffer) => void): Promise<number> {
  let window = WINDOW;
  let seen = 0;
  for (let still = 0; still < 30; ) {
    for (; seen < visitor.frames.length; seen++) {
      const got = visitor.frames[seen];
      if (got?.type === FRAME.window && got.stream === id) window += got.payload.readUInt32BE(0);
    }
    if (window < WINDOW / 2) {
      still++;
      await setTimeout(10);
      continue;
    }
    still = 0;
    const bytes = Buffer.alloc(8_192, still + (window % 251));
    window -= bytes.length;
    sent(bytes);
    visitor.send(FRAME.data, 0, id, bytes);
  }
  return window;
}

function heap(): number {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
  return process.memoryUsage().heapUsed;
}

for (const http2 of HTTP2_ENGINES)
  suite(`HTTP/2 (${http2})`, () => {
    test(
      'an upload that waits for its service comes whole and in order, and short frames cost no object each',
      WITHIN,
      async (t) => {
        const rig = await Rig.start(t, { http2 });
        const slow = await slowOrigin(t);
        await rig.serve('shop', slow.port);
        const visitor = await FrameVisitor.open(rig.httpsPort);
        t.after(() => visitor.socket.destroy());
        const hash = createHash('sha256');
        visitor.ask(1, request('POST', '/'), 0);
        const left = await fill(visitor, 1, (bytes) => hash.update(bytes));
        const before = heap();
        const body = Buffer.from(Array.from({ length: left }, (_, i) => i % 251));
        hash.update(body);
        // Shorter ones are a flood to our own code.
        const size = http2 === 'own' ? 64 : 1;
        const frames = Buffer.concat(
          Array.from({ length: left / size }, (_, i) =>
            frame(FRAME.data, 0, 1, body.subarray(i * size, (i + 1) * size)),
          ),
        );
        visitor.raw(frames);
        // All of it has been read once this is answered.
        visitor.send(FRAME.ping, 0, 0, '12345678');
        await visitor.until((got) => got.type === FRAME.ping);
        const grown = heap() - before;
        assert.ok(grown < 4 * MB, `${left} bytes take ${grown / MB} MB of objects`);
        slow.read();
        visitor.send(FRAME.data, FLAG.endStream, 1);
        assert.equal(await visitor.endOf(1), null);
        assert.equal(visitor.bodies.get(1), hash.digest('hex'));
      },
    );

    test('uploads that wait while a password is checked come whole', WITHIN, async (t) => {
      const rig = await Rig.start(t, { http2 });
      const slow = await slowOrigin(t);
      slow.read();
      await rig.serve('shop', slow.port);
      const passwordHash = hashSync('open sesame', { memoryCost: 1_024, timeCost: 1, parallelism: 1 });
      rig.route('shop', { gate: { username: 'ann', passwordHash, version: '1' } });
      const visitor = await Http2Visitor.open(t, rig);
      const authorization = `Basic ${Buffer.from('ann:open sesame').toString('base64')}`;
      for (const size of [0, 1, 5_000, 200_000, 1_000_000]) {
        const body = Buffer.from(Array.from({ length: size }, (_, i) => i % 253));
        const answer = await visitor.ask({ ':method': 'POST', authorization, 'x-size': size }, body);
        assert.equal(answer.body, createHash('sha256').update(body).digest('hex'), `${size} bytes`);
      }
    });

    test('an upload that starts and stops with its service comes whole', WITHIN, async (t) => {
      const rig = await Rig.start(t, { http2 });
      const origin = await httpOrigin(t, (incoming, response) => {
        const hash = createHash('sha256');
        incoming.on('data', (piece: Buffer) => {
          hash.update(piece);
          incoming.pause();
          setImmediate(() => incoming.resume());
        });
        incoming.on('end', () => response.end(hash.digest('hex')));
      });
      await rig.serve('shop', origin.port);
      const visitor = await Http2Visitor.open(t, rig);
      const stream = visitor.stream({ ':method': 'POST' }, false);
      const hash = createHash('sha256');
      const pieces: Buffer[] = [];
      stream.on('data', (piece: Buffer) => pieces.push(piece));
      for (let i = 0; i < 20_000; i++) {
        const bytes = Buffer.alloc(1 + ((i * 7_919) % 1_500), i % 256);
        hash.update(bytes);
        if (!stream.write(bytes)) await once(stream, 'drain');
      }
      stream.end();
      await once(stream, 'end');
      assert.equal(Buffer.concat(pieces).toString(), hash.digest('hex'));
    });
  });
