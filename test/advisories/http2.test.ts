// alone: it reads how much memory its process holds
/**
 * Attacks on servers of HTTP/2, each under the number that it is known by, with frames written by hand: the connection is ended or the request
 * refused, nothing piles up, and other visitors are served meanwhile.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type TestContext, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { rounds } from '../../src/base/testing.ts';
import { Http2Visitor } from '../../src/data/edge/testing/http2-visitor.ts';
import type { DropReason } from '../../src/data/faults/drops.ts';
import { httpOrigin, Rig, type RigOptions } from '../../src/data/edge/testing/rig.ts';
import {
  FLAG,
  FRAME,
  type Fields,
  FrameVisitor,
  frame,
  indexedLiteral,
  literals,
  request,
  setting,
  u32,
} from '../harness/h2-frames.ts';

const WITHIN = { timeout: 30_000 };
/** What a whole attack may add to this process, which is visitor, edge, agent and service in one. */
const MAX_GROWTH = 96 << 20;
const BIG = Buffer.alloc(8 << 20);
/** More than the window of one stream: the visitor holds what a visitor of one answer can. */
const MODEST = Buffer.alloc(512 << 10);

/** How often one of these has ended or refused something. */
function dropped(rig: Rig, ...reasons: DropReason[]): number {
  const counts = rig.node.stats().dropped;
  return reasons.reduce((sum, reason) => sum + (counts[reason] ?? 0), 0);
}

interface Fixture {
  readonly rig: Rig;
  /** Requests that the service was sent, and what it was sent of their bodies. */
  readonly asked: string[];
  readonly bodies: Map<string, { text: string; end: 'whole' | 'cut' | 'open'; isOver: boolean }>;
  attack(options?: { settings?: Buffer }): Promise<FrameVisitor>;
  /** Another visitor is served, and this process has not grown by much. */
  fine(): Promise<void>;
}

/** An edge, a service that answers `/slow…` never and `/big…` with as much as is taken, and an attacker. */
async function fixture(t: TestContext, options: RigOptions = {}): Promise<Fixture> {
  const rig = await Rig.start(t, { sweepMs: 100, ...options });
  const asked: string[] = [];
  const bodies: Fixture['bodies'] = new Map();
  const origin = await httpOrigin(t, (incoming, response) => {
    const url = incoming.url ?? '';
    asked.push(url);
    const body = { text: '', end: 'open' as 'whole' | 'cut' | 'open', isOver: false };
    bodies.set(url, body);
    incoming.on('data', (piece: Buffer) => {
      body.text += piece.toString('latin1');
    });
    incoming.on('end', () => (body.end = 'whole'));
    incoming.on('error', () => (body.end = 'cut'));
    response.on('close', () => (body.isOver = true));
    if (url.startsWith('/big')) response.end(BIG);
    else if (url === '/modest') response.end(MODEST);
    else if (url.startsWith('/events')) response.write('data: 1\n\n');
    else if (!url.startsWith('/slow')) response.end('ok');
  });
  await rig.serve('shop', origin.port);
  const other = await Http2Visitor.open(t, rig);
  assert.equal((await other.ask({})).body, 'ok');
  asked.length = 0;
  const before = process.memoryUsage().rss;
  return {
    rig,
    asked,
    bodies,
    attack: async (how = {}) => {
      const visitor = await FrameVisitor.open(rig.httpsPort, how);
      t.after(() => visitor.socket.destroy());
      return visitor;
    },
    fine: async () => {
      assert.equal((await other.ask({ ':path': '/other' })).body, 'ok', 'another visitor is served');
      const grown = process.memoryUsage().rss - before;
      assert.ok(grown < MAX_GROWTH, `grown by ${grown >> 20} MB`);
    },
  };
}

test(
  'CVE-2023-44487 rapid reset: streams that are opened and reset all the time end the connection',
  WITHIN,
  async (t) => {
    const { rig, attack, fine, asked } = await fixture(t);
    const visitor = await attack();
    // In one write: reset before the edge has looked at them.
    for (let id = 1; id < rounds(10_000, 40_000) && !visitor.isOver; id += 2) {
      visitor.ask(id, request('GET', '/slow'));
      visitor.send(FRAME.rst, 0, id, u32(8));
    }
    await visitor.over();
    assert.ok(asked.length < 1_000, `${asked.length} came to the service`);
    await fine();
    // One by one, each given to the service before it is reset.
    const patient = await attack();
    let resets = 0;
    const began = performance.now();
    for (let id = 1; !patient.isOver && resets < 1_000; id += 2, resets++) {
      const came = asked.length;
      patient.ask(id, request('GET', '/slow'));
      while (asked.length === came && !patient.isOver) await setTimeout(1);
      patient.send(FRAME.rst, 0, id, u32(8));
    }
    await patient.over();
    // Two hundred at once and twenty a second, by default; the last look may come a second late.
    const allowed = 200 + (20 * (performance.now() - began)) / 1_000 + 100;
    assert.ok(resets < allowed, `${resets} resets`);
    assert.ok(dropped(rig, 'h2_reset_flood') >= 1);
    await fine();
  },
);

test('CVE-2025-8671 MadeYouReset: streams that the server is made to reset count as resets', WITHIN, async (t) => {
  const { attack, fine } = await fixture(t);
  const visitor = await attack();
  let opened = 0;
  for (let id = 1; !visitor.isOver && opened < 1_000; id += 2, opened++) {
    visitor.ask(id, request('POST', '/slow', ['content-length', '1']), 0);
    visitor.send(FRAME.data, FLAG.endStream, id, 'xx');
    await Promise.race([once(visitor.news, 'moved'), visitor.over()]);
  }
  await visitor.over();
  assert.ok(opened < 400, `${opened} streams`);
  await fine();
});

test('a visitor that leaves a page, a hundred streams at once, may go on with the next page', WITHIN, async (t) => {
  const { attack } = await fixture(t);
  const visitor = await attack();
  for (let i = 0; i < 100; i++) visitor.ask(2 * i + 1, request('GET', '/slow'));
  const leave = Array.from({ length: 100 }, (_, i) => frame(FRAME.rst, 0, 2 * i + 1, u32(8)));
  const next = Array.from({ length: 50 }, (_, i) =>
    frame(FRAME.headers, FLAG.endHeaders | FLAG.endStream, 201 + 2 * i, literals(request())),
  );
  visitor.raw(Buffer.concat(leave));
  // Node frees their places in the turn after: what comes in the same read would be refused.
  visitor.send(FRAME.ping, 0, 0, '12345678');
  await visitor.until((f) => f.type === FRAME.ping);
  visitor.raw(Buffer.concat(next));
  for (let i = 0; i < 50; i++) assert.equal(await visitor.endOf(201 + 2 * i), null, `stream ${201 + 2 * i}`);
});

test(
  'CVE-2024-27316, CVE-2024-28182, CVE-2024-27983 and their like: endless CONTINUATION frames end the connection',
  WITHIN,
  async (t) => {
    for (const piece of [literals([['x', 'y'.repeat(1_000)]]), Buffer.alloc(0)]) {
      const { rig, attack, fine, asked } = await fixture(t);
      const visitor = await attack();
      visitor.send(FRAME.headers, 0, 1, literals(request()));
      for (let i = 0; i < 20_000 && !visitor.isOver; i++) visitor.send(FRAME.continuation, 0, 1, piece);
      await visitor.over();
      assert.deepEqual(asked, []);
      assert.equal(dropped(rig, 'h2_continuation'), 1);
      await fine();
    }
  },
);

test('CVE-2019-9515 and CVE-2019-9512: floods of SETTINGS and PING end the connection', WITHIN, async (t) => {
  const { rig, attack, fine } = await fixture(t);
  for (const [type, payload] of [
    [FRAME.settings, setting(3, 100)],
    [FRAME.ping, '12345678'],
  ] as const) {
    const visitor = await attack();
    // Its answers are not read.
    visitor.socket.pause();
    const flood = Buffer.concat(Array.from({ length: 1_000 }, () => frame(type, 0, 0, payload)));
    for (let i = 0; i < 50 && !visitor.isOver; i++) visitor.raw(flood);
    visitor.socket.resume();
    await visitor.over();
  }
  assert.equal(dropped(rig, 'h2_pings', 'h2_settings'), 2);
  await fine();
});

test('a SETTINGS frame with too many entries ends the connection', WITHIN, async (t) => {
  const { attack, fine } = await fixture(t);
  const visitor = await attack();
  visitor.send(FRAME.settings, 0, 0, Buffer.concat(Array.from({ length: 1_000 }, () => setting(3, 100))));
  await visitor.over();
  await fine();
});

test('CVE-2019-9518 and padding: DATA without data ends the connection, or its time', WITHIN, async (t) => {
  const { attack, fine } = await fixture(t, { limits: { bodyIdleTimeoutSeconds: 1 } });
  const empty = await attack();
  empty.ask(1, request('POST', '/slow'), 0);
  for (let i = 0; i < 20_000 && !empty.isOver; i++) empty.send(FRAME.data, 0, 1);
  await empty.over();
  const padded = await attack();
  padded.ask(1, request('POST', '/slow-2'), 0);
  const trickle = setInterval(() => padded.send(FRAME.data, FLAG.padded, 1, Buffer.alloc(256).fill(255, 0, 1)), 100);
  t.after(() => clearInterval(trickle));
  const end = await padded.until((f) => f.stream === 1 && (f.type === FRAME.headers || f.type === FRAME.rst));
  assert.equal(end.type, FRAME.headers, 'request_timeout');
  await fine();
});

test('CVE-2019-9513: a flood of PRIORITY, and of unknown frames, ends the connection', WITHIN, async (t) => {
  const { attack, fine } = await fixture(t);
  for (const type of [FRAME.priority, 0x77]) {
    const visitor = await attack();
    const flood = Buffer.concat(
      Array.from({ length: 1_000 }, (_, i) => frame(type, 0, 2 * i + 1, Buffer.from([0, 0, 0, 0, 1]))),
    );
    for (let i = 0; i < 500 && !visitor.isOver; i++) visitor.raw(flood);
    await visitor.over();
  }
  await fine();
});

test('CVE-2016-1544 and CVE-2025-53020: a header bomb is refused, and its table stays small', WITHIN, async (t) => {
  const { attack, fine, asked } = await fixture(t);
  const visitor = await attack();
  // 4 KB in the table, named ten thousand times: 40 MB of fields in 14 KB.
  const bomb = Buffer.concat([
    literals(request()),
    indexedLiteral('x', 'y'.repeat(4_000)),
    Buffer.alloc(10_000, 0x80 | 62),
  ]);
  visitor.send(FRAME.headers, FLAG.endHeaders | FLAG.endStream, 1, bomb);
  assert.equal(await visitor.endOf(1), null);
  assert.match(visitor.bodies.get(1) ?? '', /head_too_large/);
  assert.deepEqual(asked, []);
  await fine();
});

test('CVE-2019-9516: fields without name or value don’t pile up', WITHIN, async (t) => {
  const { attack, fine } = await fixture(t);
  const visitor = await attack();
  visitor.send(
    FRAME.headers,
    FLAG.endHeaders | FLAG.endStream,
    1,
    Buffer.concat([literals(request()), Buffer.alloc(15_000)]),
  );
  await Promise.race([visitor.endOf(1).catch(() => null), visitor.over()]);
  await fine();
});

test('heads beyond 100 fields or 32 KB get 431, cookies in crumbs count as one', WITHIN, async (t) => {
  const { rig, attack, asked } = await fixture(t);
  const visitor = await attack();
  const many = (count: number, size = 1): Fields =>
    Array.from({ length: count }, (_, i) => [`x${i}`, 'y'.repeat(size)] as const);
  const crumbs: Fields = Array.from({ length: 150 }, (_, i) => ['cookie', `c${i}=1`] as const);
  visitor.ask(1, request('GET', '/crumbs', ...crumbs));
  visitor.ask(3, request('GET', '/fields', ...many(101)));
  assert.equal(await visitor.endOf(1), null);
  assert.equal(await visitor.endOf(3), null);
  assert.match(visitor.bodies.get(3) ?? '', /head_too_large/);
  // More than one frame holds is sent in two.
  const head = literals(request('GET', '/large', ...many(40, 900)));
  visitor.send(FRAME.headers, FLAG.endStream, 5, head.subarray(0, 16_000));
  visitor.send(FRAME.continuation, 0, 5, head.subarray(16_000, 32_000));
  visitor.send(FRAME.continuation, FLAG.endHeaders, 5, head.subarray(32_000));
  assert.equal(await visitor.endOf(5), null);
  assert.match(visitor.bodies.get(5) ?? '', /head_too_large/);
  visitor.ask(7, request('GET', `/${'a'.repeat(16_001)}`.slice(0, 16_300)));
  assert.equal(await visitor.endOf(7), null);
  assert.deepEqual(
    asked.filter((path) => path !== '/crumbs' && !path.startsWith('/aaa')),
    [],
  );
  assert.equal(dropped(rig, 'h2_headers'), 2);
});

test(
  'CVE-2019-9511 and CVE-2019-9517: a visitor that takes nothing of its answers is cut in time, and holds little',
  WITHIN,
  async (t) => {
    const { rig, attack, fine } = await fixture(t, { limits: { bodyIdleTimeoutSeconds: 2 } });
    // A window of 1 byte, for a hundred answers of 8 MB.
    const visitor = await attack({ settings: setting(4, 1) });
    for (let i = 0; i < 100; i++) visitor.ask(2 * i + 1, request('GET', `/big-${i}`));
    await visitor.until((f) => f.type === FRAME.data);
    await fine();
    for (let i = 0; i < 100; i++) assert.equal(await visitor.endOf(2 * i + 1), 2, 'INTERNAL_ERROR');
    assert.equal(dropped(rig, 'slow_reader'), 100);
    // And one whose window is open but who does not read its socket.
    const deaf = await attack({ settings: setting(4, 0x7fff_ffff) });
    deaf.send(FRAME.window, 0, 0, u32(0x7fff_0000));
    deaf.socket.pause();
    deaf.ask(1, request('GET', '/big-deaf'));
    await fine();
    while (dropped(rig, 'slow_reader') < 101) await setTimeout(200);
    await fine();
  },
);

test('windows that overflow end the connection or the stream', WITHIN, async (t) => {
  const { attack, fine } = await fixture(t);
  const visitor = await attack();
  visitor.ask(1, request('GET', '/slow'));
  visitor.send(FRAME.window, 0, 1, u32(0x7fff_ffff));
  await Promise.race([visitor.endOf(1), visitor.over()]).catch(() => null);
  visitor.send(FRAME.window, 0, 0, u32(0x7fff_ffff));
  await visitor.over();
  await fine();
});

test('more streams than are allowed are refused, and may be asked for again', WITHIN, async (t) => {
  const { attack, fine, asked, bodies } = await fixture(t);
  const visitor = await attack();
  for (let i = 0; i < 1_000; i++) visitor.ask(2 * i + 1, request('GET', i < 100 ? `/slow-${i}` : `/refused-${i}`));
  for (let i = 100; i < 1_000; i++) assert.equal(await visitor.endOf(2 * i + 1), 7, 'REFUSED_STREAM');
  while (asked.length < 100) await setTimeout(10);
  assert.ok(asked.every((path) => path.startsWith('/slow')));
  visitor.send(FRAME.rst, 0, 1, u32(8));
  while (bodies.get('/slow-0')?.isOver !== true) await setTimeout(10);
  visitor.ask(2_001, request('GET', '/again'));
  assert.equal(await visitor.endOf(2_001), null);
  await fine();
});

test('a head that is never completed, and a connection that asks nothing, end in time', WITHIN, async (t) => {
  const { rig, attack } = await fixture(t, { limits: { idleTimeoutSeconds: 1 } });
  const half = await attack();
  half.send(FRAME.headers, 0, 1, literals(request()));
  const silent = await attack();
  const pinging = await attack();
  const pings = setInterval(() => pinging.send(FRAME.ping, 0, 0, '12345678'), 200);
  t.after(() => clearInterval(pings));
  await Promise.all([half.over(), silent.over(), pinging.over()]);
  assert.ok(dropped(rig, 'idle') >= 3);
});

test('an upload that is broken off, however it is said, is never a whole request', WITHIN, async (t) => {
  const { attack, bodies } = await fixture(t);
  for (const [path, end] of [
    ['/slow-no-error', (v: FrameVisitor): void => v.send(FRAME.rst, 0, 1, u32(0))],
    ['/slow-cancel', (v: FrameVisitor): void => v.send(FRAME.rst, 0, 1, u32(8))],
    ['/slow-goaway', (v: FrameVisitor): void => void v.socket.destroy()],
    ['/slow-end', (v: FrameVisitor): void => void v.socket.end()],
  ] as const) {
    const visitor = await attack();
    visitor.ask(1, request('POST', path), 0);
    visitor.send(FRAME.data, 0, 1, 'half');
    while (bodies.get(path)?.text !== 'half') await setTimeout(20);
    end(visitor);
    while (bodies.get(path)?.end === 'open') await setTimeout(20);
    assert.equal(bodies.get(path)?.text, 'half', path);
    assert.equal(bodies.get(path)?.end, 'cut', path);
  }
});

test('a length that the body does not have never completes a request', WITHIN, async (t) => {
  const { attack, bodies, asked, fine } = await fixture(t);
  for (const [path, length, body] of [
    ['/slow-more', '3', 'abcdefGET /smuggled HTTP/1.1\r\n\r\n'],
    ['/slow-less', '30', 'abc'],
  ] as const) {
    const visitor = await attack();
    visitor.ask(1, request('POST', path, ['content-length', length]), 0);
    visitor.send(FRAME.data, FLAG.endStream, 1, body);
    await Promise.race([visitor.over(), visitor.endOf(1)]);
    await fine();
    assert.notEqual(bodies.get(path)?.end, 'whole', path);
  }
  assert.ok(!asked.includes('/smuggled'));
});

test('what waits in all streams together is bounded: who holds most gives way, others go on', WITHIN, async (t) => {
  const { rig, attack, fine } = await fixture(t, { limits: { http2MemoryMb: 4 } });
  // Another visitor that takes nothing, of one answer.
  const modest = await attack({ settings: setting(4, 1) });
  modest.ask(1, request('GET', '/modest'));
  const visitor = await attack({ settings: setting(4, 1) });
  for (let i = 0; i < 100; i++) visitor.ask(2 * i + 1, request('GET', `/big-${i}`));
  await visitor.over();
  assert.equal(dropped(rig, 'h2_memory'), 1);
  assert.equal(modest.isOver, false);
  await fine();
});

test('a visitor that does not read its socket at all keeps neither streams nor connection', WITHIN, async (t) => {
  const { rig, attack } = await fixture(t, { limits: { bodyIdleTimeoutSeconds: 1, idleTimeoutSeconds: 1 } });
  const deaf = await attack({ settings: setting(4, 0x7fff_ffff) });
  deaf.send(FRAME.window, 0, 0, u32(0x7fff_0000));
  deaf.socket.pause();
  for (let i = 0; i < 20; i++) deaf.ask(2 * i + 1, request('GET', `/big-${i}`));
  while (dropped(rig, 'slow_reader') === 0) await setTimeout(100);
  while (rig.node.stats().connections.http > 0) await setTimeout(100);
  while (rig.node.stats().connections.open > 0) await setTimeout(100);
});

test('a visitor that has ended its direction keeps no event stream for ever', WITHIN, async (t) => {
  const { attack, bodies } = await fixture(t, { limits: { idleTimeoutSeconds: 1 } });
  const visitor = await attack();
  visitor.ask(1, request('GET', '/events'));
  await visitor.until((f) => f.type === FRAME.data);
  visitor.socket.end();
  while (bodies.get('/events')?.isOver !== true) await setTimeout(50);
  await visitor.over();
});
