/**
 * Bytes behind a response, which its service should never have sent, reach no visitor: whatever holds them back on their way (the stream's window, a
 * bandwidth limit, the agent's queue, the service itself), they never answer the request of the next visitor.
 */
import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { Http2Visitor } from '../../src/data/edge/testing/http2-visitor.ts';
import { heldLink } from '../harness/held-link.ts';
import { type RawOrigin, Rig, perHead, rawOrigin } from '../../src/data/edge/testing/rig.ts';
import { REST_MS } from '../../src/data/edge/exchange/upstream.ts';
import { testGrant } from '../../src/data/fixtures/link.ts';
import { INITIAL_WINDOW } from '../../src/mux/frame.ts';
import { CONNECTED_REPLY } from '../../src/wire/preamble.ts';

const WITHIN = { timeout: 120_000 };
const OWN = 'HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nown';
const PLANTED = 'HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\nplanted';

/** A response whose head and body are `length` bytes together. */
function ofLength(length: number): string {
  const head = (body: number): string => `HTTP/1.1 200 OK\r\nContent-Length: ${body}\r\n\r\n`;
  const body = length - head(length).length;
  const text = head(body) + 'x'.repeat(body);
  return text.length === length ? text : head(body + 1) + 'x'.repeat(body + 1);
}

/** `/own` is answered as it should be; `/more` by `more`, which writes one response too many. */
async function fixture(
  t: TestContext,
  more: (socket: Socket, head: string) => void,
  over: Parameters<typeof testGrant>[1] = {},
): Promise<{ rig: Rig; origin: RawOrigin }> {
  const rig = await Rig.start(t);
  rig.link.grants.set('good', testGrant('token-1', { tunnelQuota: 50, ...over }));
  const origin = await rawOrigin(
    t,
    perHead((socket, head) => {
      if (head.includes('/more')) more(socket, head);
      else socket.write(OWN);
    }),
  );
  await rig.serve('shop', origin.port);
  return { rig, origin };
}

/** What has gone through the stream of `/own` and then of `/more`, when the agent's window is used up to the last byte. */
const TO_THE_EDGE = INITIAL_WINDOW - CONNECTED_REPLY.length - OWN.length;

for (const bytes of [TO_THE_EDGE - 1, TO_THE_EDGE, TO_THE_EDGE + 1, TO_THE_EDGE - 100, 131_072, 65_536, 400]) {
  test(`a response of ${bytes} bytes with another one behind it`, WITHIN, async (t) => {
    const { rig } = await fixture(t, (socket) => socket.write(ofLength(bytes) + PLANTED));
    for (let round = 0; round < 4; round++) {
      const wire = await rig.visit();
      // The first makes the stream; the third waits right behind the second, as another visitor's may.
      wire.ask('GET /own');
      assert.equal((await wire.response()).body, 'own');
      wire.ask('GET /more');
      wire.ask('GET /own');
      assert.match((await wire.response()).body, /^x+$/);
      assert.equal((await wire.response()).body, 'own');
      wire.socket.destroy();
    }
  });
}

test('the same for visitors of HTTP/2', WITHIN, async (t) => {
  const { rig } = await fixture(t, (socket) => socket.write(ofLength(TO_THE_EDGE) + PLANTED));
  for (let round = 0; round < 4; round++) {
    const visitor = await Http2Visitor.open(t, rig);
    const other = await Http2Visitor.open(t, rig);
    assert.equal((await visitor.ask({ ':path': '/own' })).body, 'own');
    const stream = visitor.stream({ ':path': '/more' });
    const answers: Promise<string>[] = [];
    stream.on('data', () => undefined);
    const ended = new Promise<void>((resolve) => stream.on('close', resolve));
    stream.on('end', () => {
      for (let i = 0; i < 4; i++) answers.push(other.ask({ ':path': '/own' }).then(({ body }) => body));
    });
    await ended;
    assert.deepEqual(await Promise.all(answers), ['own', 'own', 'own', 'own']);
    visitor.session.destroy();
    other.session.destroy();
  }
});

test('the same in the pieces of a bandwidth limit', WITHIN, async (t) => {
  for (const bytes of [12_500, 25_000, 100_000]) {
    const { rig } = await fixture(t, (socket) => socket.write(ofLength(bytes) + PLANTED), { bandwidthLimitMbps: 10 });
    const wire = await rig.visit();
    wire.ask('GET /own');
    assert.equal((await wire.response()).body, 'own');
    wire.ask('GET /more');
    for (let i = 0; i < 3; i++) wire.ask('GET /own');
    assert.match((await wire.response()).body, /^x+$/);
    for (let i = 0; i < 3; i++) assert.equal((await wire.response()).body, 'own');
    wire.socket.destroy();
  }
});

for (const [what, line, answer] of [
  ['HEAD', 'HEAD /more', 'HTTP/1.1 200 OK\r\nContent-Length: 48\r\n\r\n'],
  ['HEAD, chunked', 'HEAD /more', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n'],
  ['304', 'GET /more', 'HTTP/1.1 304 Not Modified\r\nContent-Length: 48\r\n\r\n'],
] as const) {
  test(`a body behind a response to ${what}, which has none, at once or a moment later`, WITHIN, async (t) => {
    for (const delayMs of [0, 2]) {
      const { rig } = await fixture(t, (socket) => {
        socket.write(answer);
        if (delayMs === 0) socket.write(PLANTED);
        else setTimeout(() => socket.write(PLANTED), delayMs);
      });
      for (let round = 0; round < 4; round++) {
        const wire = await rig.visit();
        wire.ask(line);
        wire.ask('GET /own');
        await wire.response(true);
        assert.equal((await wire.response()).body, 'own');
        wire.socket.destroy();
      }
    }
  });
}

test('a response that comes before its request is whole, with another one behind it', WITHIN, async (t) => {
  const { rig } = await fixture(t, (socket) => socket.write(ofLength(TO_THE_EDGE) + PLANTED));
  for (let round = 0; round < 4; round++) {
    const wire = await rig.visit();
    wire.ask('GET /own');
    assert.equal((await wire.response()).body, 'own');
    wire.ask('POST /more', 'Content-Length: 5');
    const { body } = await wire.response();
    assert.match(body, /^x+$/);
    const other = await rig.visit();
    wire.send('hello');
    other.ask('GET /own');
    assert.equal((await other.response()).body, 'own');
    wire.socket.destroy();
    other.socket.destroy();
  }
});

test('bytes that come while a stream waits end it', WITHIN, async (t) => {
  let service: Socket | undefined;
  const { rig, origin } = await fixture(t, (socket) => {
    service = socket;
    socket.write(ofLength(400));
  });
  const wire = await rig.visit();
  wire.ask('GET /more');
  await wire.response();
  service?.write(PLANTED);
  while (origin.sockets[0]?.destroyed !== true) await pause(5);
  wire.ask('GET /own');
  assert.equal((await wire.response()).body, 'own');
  assert.equal(origin.sockets.length, 2);
});

test(
  "a response of any length leaves its stream to its visitor's next request, once the agent says that nothing is behind it",
  WITHIN,
  async (t) => {
    for (const bytes of [100, 65_536, INITIAL_WINDOW, TO_THE_EDGE, 1 << 20, 5_000_000]) {
      const { rig, origin } = await fixture(t, (socket) => socket.write(ofLength(bytes)));
      const wire = await rig.visit();
      for (let round = 0; round < 4; round++) {
        wire.ask('GET /more');
        assert.ok((await wire.response()).body.length > bytes - 100);
        await pause(50);
      }
      assert.equal(origin.sockets.length, 1, `${bytes} bytes`);
    }
  },
);

/**
 * As a system with Nagle's algorithm does: what is behind a response waits until that is acknowledged, with the bytes of the next request or
 * by itself 40 ms later.
 */
function nagle(socket: Socket, behind: string): void {
  const send = (): void => {
    clearTimeout(timer);
    socket.off('data', send);
    socket.write(behind);
  };
  const timer = setTimeout(send, 40);
  socket.prependListener('data', send);
}

for (const visitors of ['HTTP/1.1', 'HTTP/2'] as const) {
  test(`next visitor: bytes that come only once the next request is there (${visitors})`, WITHIN, async (t) => {
    const { rig, origin } = await fixture(t, (socket) => {
      socket.write(ofLength(400));
      nagle(socket, PLANTED);
    });
    for (let round = 0; round < 10; round++) {
      const wire = await rig.visit();
      wire.ask('GET /more');
      assert.match((await wire.response()).body, /^x+$/);
      if (visitors === 'HTTP/1.1') {
        const other = await rig.visit();
        other.ask('GET /own');
        assert.equal((await other.response()).body, 'own');
        other.socket.destroy();
      } else {
        const other = await Http2Visitor.open(t, rig);
        assert.equal((await other.ask({ ':path': '/own' })).body, 'own');
      }
      wire.socket.destroy();
    }
    assert.ok(origin.sockets.length > 10, 'no stream of such a response has gone on to another visitor');
  });
}

test('next visitor: a stream that has rested serves another one', WITHIN, async (t) => {
  const { rig, origin } = await fixture(t, () => undefined);
  for (let round = 0; round < 3; round++) {
    const wire = await rig.visit();
    wire.ask('GET /own');
    assert.equal((await wire.response()).body, 'own');
    wire.socket.destroy();
    await pause(REST_MS + 100);
  }
  assert.equal(origin.sockets.length, 1);
});

for (const visitors of ['HTTP/1.1', 'HTTP/2'] as const) {
  test(
    `next visitor: bytes under way from the agent when the next request goes out are dropped (${visitors})`,
    WITHIN,
    async (t) => {
      const rig = await Rig.start(t);
      const link = await heldLink(t, rig.node.addresses().agents.port);
      rig.agentPort = link.port;
      let service: Socket | undefined;
      const origin = await rawOrigin(
        t,
        perHead((socket) => {
          service ??= socket;
          socket.write(OWN);
        }),
      );
      await rig.serve('shop', origin.port);
      const wire = await rig.visit();
      wire.ask('GET /own');
      assert.equal((await wire.response()).body, 'own');
      // Kept, said to be clear, and free for others: only then does the service send more.
      await pause(REST_MS + 100);
      await link.quiet();
      link.hold();
      service?.write(PLANTED);
      await link.holds(PLANTED.length);
      const answer =
        visitors === 'HTTP/1.1'
          ? rig.visit().then((other) => {
              other.ask('GET /own');
              return other.response();
            })
          : Http2Visitor.open(t, rig).then((other) => other.ask({ ':path': '/own' }));
      await link.sent();
      link.release();
      assert.equal((await answer).body, 'own');
      assert.equal(origin.sockets.length, 2, 'it went once more, on a fresh connection');
    },
  );
}

test('next visitor: a request that may not be sent twice gets 502 when such bytes come', WITHIN, async (t) => {
  const rig = await Rig.start(t);
  const link = await heldLink(t, rig.node.addresses().agents.port);
  rig.agentPort = link.port;
  const origin = await rawOrigin(
    t,
    perHead((socket) => socket.write(OWN)),
  );
  await rig.serve('shop', origin.port);
  const wire = await rig.visit();
  wire.ask('GET /own');
  assert.equal((await wire.response()).body, 'own');
  await link.quiet();
  link.hold();
  origin.sockets[0]?.write(PLANTED);
  await link.holds(PLANTED.length);
  wire.ask('POST /own', 'Content-Length: 2');
  wire.send('hi');
  await link.sent();
  link.release();
  const reply = await wire.response();
  assert.equal(reply.status, 502);
  assert.doesNotMatch(reply.body, /planted/);
});
