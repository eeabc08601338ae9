/** Streams that a visitor resets: what they held is free at once, whatever they were doing and whatever code is given. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { FRAME, FrameVisitor, request, u32 } from '../../../../test/harness/h2-frames.ts';
import { type Logger, silentLog } from '../../../base/log.ts';
import { Rig } from '../testing/rig.ts';

const WITHIN = { timeout: 20_000 };
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
      const frame = visitor.frames[seen];
      if (frame?.type === FRAME.window && frame.stream === id) window += frame.payload.readUInt32BE(0);
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

for (const method of ['POST', 'HEAD']) {
  for (const code of [0, 8]) {
    test(
      `a paused upload (${method}) that is reset with code ${code} frees its stream and the agent’s connection`,
      WITHIN,
      async (t) => {
        const rig = await Rig.start(t, { log: failing, limits: { http2MaxStreams: 1 } });
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
