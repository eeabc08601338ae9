/** Visitors and services that take time, room or turns from others: each is bounded, refused by name, and the others are served meanwhile. */
import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { test } from 'node:test';
import { until } from '../../src/data/fixtures/gateway.ts';
import { httpOrigin, rawOrigin, Rig } from '../../src/data/edge/testing/rig.ts';
import { answersIn, edgeFixture, request, say } from './fixture.ts';
import { OwnClock } from '../harness/own-clock.ts';

const WITHIN = { timeout: 120_000 };
const edge = edgeFixture({
  limits: { headTimeoutSeconds: 1, bodyIdleTimeoutSeconds: 1, localTimeoutSeconds: 1, maxConnectionsPerIp: 60 },
});
const isServed = async (): Promise<void> =>
  assert.deepEqual(answersIn(await say(edge().rig.port, request('GET /'))), ['200']);

test('Node llhttp CVE-2020-8251: heads and bodies that never end get a 408', WITHIN, async () => {
  const { rig, take } = edge();
  const slow = [
    'GET / HTTP/1.1\r\nHost: shop.ex',
    `${request('POST /', 'Content-Length: 100')}half`,
    request('GET /').slice(0, -2),
    'G',
  ];
  const wires = await Promise.all(slow.map(() => rig.visit()));
  for (const [i, wire] of wires.entries()) wire.send(slow[i] ?? '');
  await isServed();
  // A byte now and then does not begin the time anew.
  const [first] = wires;
  const drip = setInterval(() => first?.send('a'), 200);
  const texts = await Promise.all(wires.map((wire) => wire.all()));
  clearInterval(drip);
  for (const [i, text] of texts.entries())
    assert.match(answersIn(text).join(), /^(408 request_timeout)?$/, slow[i] ?? '');
  assert.ok(texts.some((text) => text.startsWith('HTTP/1.1 408 ')));
  await isServed();
  take();
});

test(
  'class 11 resource exhaustion: heads of any size are refused at the bound, by what is too much of them',
  WITHIN,
  async () => {
    const { rig, take } = edge();
    const fields = (count: number): string[] => Array.from({ length: count }, (_, i) => `X-${i}: y`);
    for (const [what, text, expected] of [
      ['a field of 40 KB', request('GET /', `X: ${'y'.repeat(40_000)}`), '431 head_too_large'],
      ['a name of 40 KB', request('GET /', `${'X'.repeat(40_000)}: y`), '431 head_too_large'],
      ['150 fields', request('GET /', ...fields(150)), '431 head_too_large'],
      ['a target of 20 KB', request(`GET /${'x'.repeat(20_000)}`), '414 uri_too_long'],
      ['a method of 20 KB', request(`${'G'.repeat(20_000)} /`), '400 bad_request'],
      ['a head without end', `GET / HTTP/1.1\r\n${'X: y\r\n'.repeat(100_000)}`, '431 head_too_large'],
      ['a name without end', `GET / HTTP/1.1\r\n${'X'.repeat(300_000)}`, '431 head_too_large'],
    ] as const)
      assert.deepEqual(answersIn(await say(rig.port, text)), [expected], what);
    assert.deepEqual(take(), []);
    assert.deepEqual(answersIn(await say(rig.port, request('GET /', ...fields(80)))), ['200']);
  },
);

test(
  'class 11 resource exhaustion: one address holds its share of connections, and one that leaves makes room',
  WITHIN,
  async (t) => {
    const { rig } = edge();
    const sockets = Array.from({ length: 80 }, () => connect(rig.port, '127.0.0.1').on('error', () => {}));
    t.after(() => {
      for (const socket of sockets) socket.destroy();
    });
    const open = (): number => sockets.filter((socket) => !socket.destroyed).length;
    await until(() => open() <= 60);
    await new Promise((done) => setTimeout(done, 300));
    assert.ok(open() > 0, 'no more are closed than must be');
    for (const socket of sockets) socket.destroy();
    await until(() => rig.node.stats().connections.open === 0);
    await isServed();
  },
);

test(
  'class 11 resource exhaustion: a service that answers slowly, or not at all, delays no other',
  WITHIN,
  async (t) => {
    const { rig } = edge();
    const silent = await rawOrigin(t, () => {});
    await rig.serve('mute', silent.port);
    const waiting = Array.from({ length: 40 }, () => say(rig.port, request('GET /', 'Host: mute.example.test')));
    await silent.arrived(/GET/);
    const own = new OwnClock();
    for (let i = 0; i < 5; i++) await isServed();
    assert.ok(own.ms < 1_500, `a neighbour is served meanwhile: ${own.ms} ms`);
    for (const text of await Promise.all(waiting)) assert.deepEqual(answersIn(text), ['504 local_timeout']);
  },
);

test(
  'class 11 resource exhaustion: a visitor that reads nothing holds a window, and not what a service has to say',
  WITHIN,
  async (t) => {
    const { rig } = edge();
    let sent = 0;
    const origin = await httpOrigin(t, (_got, response) => {
      const more = (): void => {
        let isRoom = true;
        while (isRoom && !response.destroyed) {
          isRoom = response.write(Buffer.alloc(65_536));
          sent += 65_536;
        }
        response.once('drain', more);
      };
      more();
    });
    await rig.serve('flood', origin.port);
    const deaf = connect({ port: rig.port, host: '127.0.0.1' }).on('error', () => {});
    deaf.pause();
    deaf.write(request('GET /', 'Host: flood.example.test'));
    let last = -1;
    while (last !== sent) {
      last = sent;
      await new Promise((done) => setTimeout(done, 200));
    }
    assert.ok(sent > 65_536 && sent < 64 * 1024 * 1024, `${sent} bytes were taken from the service`);
    await isServed();
    deaf.destroy();
  },
);

test(
  'class 11 resource exhaustion: a pipeline without end is answered in turn, from one connection to the service',
  WITHIN,
  async () => {
    const { rig, take } = edge();
    take();
    const answers = answersIn(await say(rig.port, request('GET /').repeat(500)));
    assert.equal(answers.length, 500);
    assert.ok(answers.every((answer) => answer === '200'));
    assert.equal(take().length, 500);
  },
);

test('class 11 resource exhaustion: paths that are hard to read are refused sooner than read', WITHIN, async () => {
  const { rig, take } = edge();
  const actions = Array.from(
    { length: 16 },
    (_, i) => ({ kind: 'deny', pathPrefix: `/admin${i}`, enforce: true }) as const,
  );
  rig.route('shop', { policy: { setAt: 1, actions } });
  const hard = request(`GET /${'a%2f../;\\'.repeat(1_500)}`);
  const own = new OwnClock();
  const answers = answersIn(await say(rig.port, hard.repeat(40)));
  assert.ok(own.ms < 2_000, `${own.ms} ms`);
  assert.deepEqual([...new Set(answers)], ['403 denied']);
  assert.deepEqual(take(), []);
  rig.route('shop');
});

test(
  'NetBird SelfTargetLoopReturns421: a tunnel that leads to the edge itself comes to an end alone',
  WITHIN,
  async () => {
    const { rig } = edge();
    await rig.serve('loop', rig.port);
    const own = new OwnClock();
    const answers = answersIn(await say(rig.port, request('GET /', 'Host: loop.example.test')));
    // The agent's address holds its share of connections, and then its connection is refused.
    assert.match(answers.join(), /^50\d/);
    assert.ok(own.ms < 5_000, `${own.ms} ms`);
    await until(() => rig.node.stats().connections.open < 60);
    await isServed();
  },
);

test(
  'NetBird SelfTargetLoopReturns421: behind a proxy that is trusted, too, where an address may hold any number of connections',
  WITHIN,
  async (t) => {
    const rig = await Rig.start(t, { trustedProxies: ['127.0.0.0/8'] });
    await rig.serve('loop', rig.port);
    const text = await say(rig.port, request('GET /', 'Host: loop.example.test', 'X-Forwarded-For: 203.0.113.1'));
    assert.match(text, /^HTTP\/1\.1 508 Loop Detected\r\n/);
    assert.match(text, /"error":"loop_detected"/);
    const { port } = await httpOrigin(t, (got, response) => response.end(got.headers['x-forwarded-for']));
    await rig.serve('shop', port);
    const hops = (count: number): string => Array.from({ length: count }, () => '10.0.0.1').join(', ');
    assert.match(await say(rig.port, request('GET /', `X-Forwarded-For: ${hops(32)}`)), /^HTTP\/1\.1 200 /);
    for (const fields of [
      [`X-Forwarded-For: ${hops(33)}`],
      [`X-Forwarded-For: ${hops(20)}`, `X-Forwarded-For: ${hops(13)}`],
    ])
      assert.deepEqual(answersIn(await say(rig.port, request('GET /', ...fields))), ['508 loop_detected']);
  },
);
