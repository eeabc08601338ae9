/** What each version of HTTP, and TCP, counts of requests: on real sockets, read from the report that a node sends when it closes. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../../../test/harness/config.ts';
import { cellMiddle, type LatencyEvent, STATUS_CLASSES } from '../../plane/latency.ts';
import { Http2Visitor, readAnswer } from '../edge/testing/http2-visitor.ts';
import { httpOrigin, rawOrigin, Rig } from '../edge/testing/rig.ts';
import type { Http2Engine } from '../node-settings.ts';

const WITHIN = { timeout: 120_000 };
/** A head, then the rest. */
const HEAD_MS = 60;
const REST_MS = 120;

type Serve = (request: IncomingMessage, response: ServerResponse, isRead: () => Promise<unknown>) => unknown;

const served: Record<string, Serve> = {
  '/quick': (_request, response) => response.end('ok'),
  '/lost': (_request, response) => response.writeHead(404).end('no'),
  '/slow': async (_request, response, isRead) => {
    await sleep(HEAD_MS);
    response.writeHead(200, { 'content-length': 4 }).write('ab');
    // From the visitor's first byte on: on a busy machine it comes later than it was sent.
    await isRead();
    await sleep(REST_MS);
    response.end('cd');
  },
  '/cut': async (_request, response) => {
    response.writeHead(200, { 'content-length': 4 }).write('ab');
    await sleep(20);
    response.destroy();
  },
  '/broken': (request) => request.socket.destroy(),
  '/never': (request) => request.resume(),
};

/** A tunnel `shop` that denies /admin; `summed` closes the node and adds up its reports. */
async function shop(t: TestContext, http2: Http2Engine = 'own') {
  const rig = await Rig.start(t, { http2 });
  const asked: string[] = [];
  const origin = await httpOrigin(t, (request, response) => {
    asked.push(request.url ?? '');
    void served[request.url ?? '']?.(request, response, () => once(origin, 'read'));
    request.socket.once('close', () => origin.emit('left'));
    origin.emit('asked');
  });
  const agent = await rig.serve('shop', origin.port);
  const actions = [{ kind: 'deny' as const, pathPrefix: '/admin', enforce: true }];
  rig.route('shop', { policy: { setAt: 1, actions } });
  return { rig, agent, origin, asked, summed: () => sumOf(rig) };
}

interface Sum {
  readonly status: Record<string, number>;
  /** Milliseconds. */
  readonly firstByte: readonly number[];
  readonly total: readonly number[];
  readonly connections: number;
  readonly bytesIn: number;
  readonly bytesOut: number;
}

async function sumOf(rig: Rig): Promise<Sum> {
  await rig.close();
  const events = rig.link.batches
    .flatMap(({ events: all }) => all)
    .filter((one): one is LatencyEvent => one.kind === 'latency');
  const spread = (pairs: readonly number[]): number[] =>
    pairs.flatMap((cell, i) => (i % 2 === 1 ? [] : Array.from({ length: pairs[i + 1] ?? 0 }, () => cellMiddle(cell))));
  const sum = (of: (event: LatencyEvent) => number) => events.reduce((all, event) => all + of(event), 0);
  const classes = STATUS_CLASSES.map((name, i) => [name, sum(({ status }) => status[i] ?? 0)] as const);
  return {
    status: Object.fromEntries(classes.filter(([, count]) => count > 0)),
    firstByte: events.flatMap(({ firstByte }) => spread(firstByte)),
    total: events.flatMap(({ total }) => spread(total)),
    connections: sum(({ connections }) => connections),
    bytesIn: sum(({ bytesIn }) => bytesIn),
    bytesOut: sum(({ bytesOut }) => bytesOut),
  };
}

type Ask = (path: string, onBody?: () => void) => Promise<number>;

/** Asks over HTTP/1.1, or HTTP/2 by this engine; rejects when the response is cut. `onBody`: called when the body `ab…` begins. */
async function asking(t: TestContext, rig: Rig, http2?: Http2Engine): Promise<Ask> {
  if (http2 !== undefined) {
    const visitor = await Http2Visitor.open(t, rig);
    return async (path, onBody = () => undefined) => {
      const stream = visitor.stream({ ':path': path });
      stream.once('data', onBody);
      return (await readAnswer(stream)).status;
    };
  }
  let wire = await rig.visit();
  return async (path, onBody) => {
    if (wire.socket.closed) wire = await rig.visit();
    wire.ask(`GET ${path}`);
    if (onBody !== undefined) await wire.until('\r\n\r\nab').then(onBody);
    return (await wire.response()).status;
  };
}

for (const http2 of [undefined, 'own', 'node'] as const) {
  const name = http2 === undefined ? 'HTTP/1.1' : `HTTP/2 (${http2})`;

  test(`${name}: a slow response has its first byte and its last one in the histograms`, WITHIN, async (t) => {
    const { rig, origin, summed } = await shop(t, http2);
    const ask = await asking(t, rig, http2);
    await ask('/slow', () => origin.emit('read'));
    const sum = await summed();
    assert.deepEqual(sum.status, { '2xx': 1 });
    assert.deepEqual([sum.firstByte.length, sum.total.length], [1, 1]);
    const [first = 0] = sum.firstByte;
    const [last = 0] = sum.total;
    // A cell's middle is up to 3 % away from its durations, and timers fire a little early.
    assert.ok(first >= HEAD_MS * 0.96, `${first}`);
    assert.ok(last >= (first + REST_MS) * 0.93, `${last} behind ${first}`);
    assert.ok(sum.bytesIn > 0 && sum.bytesOut > 0);
  });

  test(`${name}: each response is in both histograms, and counts by its status`, WITHIN, async (t) => {
    const { rig, summed } = await shop(t, http2);
    const ask = await asking(t, rig, http2);
    for (const path of ['/quick', '/quick', '/lost']) await ask(path);
    const { status, firstByte, total } = await summed();
    assert.deepEqual([status, firstByte.length, total.length], [{ '2xx': 2, '4xx': 1 }, 3, 3]);
  });

  test(`${name}: a blocked request counts by its status, and has no latency`, WITHIN, async (t) => {
    const { rig, agent, asked, summed } = await shop(t, http2);
    const ask = await asking(t, rig, http2);
    assert.equal(await ask('/admin'), 403);
    agent.destroy();
    while (rig.node.isOnline(rig.link.routes.keys().next().value ?? '')) await sleep(5);
    assert.equal(await ask('/quick'), 503);
    assert.deepEqual(asked, []);
    const { status, firstByte, total } = await summed();
    assert.deepEqual({ status, firstByte, total }, { status: { '4xx': 1, '5xx': 1 }, firstByte: [], total: [] });
  });

  test(
    `${name}: a service that breaks off is a 5xx with latency; a response that was cut has no last byte`,
    WITHIN,
    async (t) => {
      const { rig, summed } = await shop(t, http2);
      const ask = await asking(t, rig, http2);
      assert.equal(await ask('/broken'), 502);
      await assert.rejects(ask('/cut'));
      const { status, firstByte, total } = await summed();
      assert.deepEqual(status, { '2xx': 1, '5xx': 1 });
      assert.deepEqual([firstByte.length, total.length], [2, 1]);
    },
  );
}

test('a visitor that leaves before the response is canceled', WITHIN, async (t) => {
  const { rig, origin, summed } = await shop(t);
  const wire = await rig.visit();
  wire.ask('GET /never');
  await once(origin, 'asked');
  // An end alone would still get its response.
  wire.socket.resetAndDestroy();
  await once(origin, 'left');
  const visitor = await Http2Visitor.open(t, rig);
  const stream = visitor.stream({ ':path': '/never' });
  await once(origin, 'asked');
  stream.close(8);
  await once(origin, 'left');
  const { status, firstByte, total } = await summed();
  assert.deepEqual({ status, firstByte, total }, { status: { canceled: 2 }, firstByte: [], total: [] });
});

test('a request that waits for an agent is timed from its first reading', WITHIN, async (t) => {
  const rig = await Rig.start(t, { holdSeconds: 20, awaited: ['shop'] });
  const origin = await httpOrigin(t, (_request, response) => response.end('ok'));
  const wire = await rig.visit();
  wire.ask('GET /');
  while (rig.node.stats().holds.waiting === 0) await sleep(5);
  await sleep(HEAD_MS);
  await rig.serve('shop', origin.port);
  assert.equal((await wire.response()).status, 200);
  const { firstByte } = await sumOf(rig);
  assert.equal(firstByte.length, 1);
  assert.ok((firstByte[0] ?? 0) >= HEAD_MS * 0.96, String(firstByte));
});

test('a WebSocket is a connection with a first byte and no last one', WITHIN, async (t) => {
  const rig = await Rig.start(t);
  const origin = await rawOrigin(t, (socket, text) => {
    if (text.endsWith('\r\n\r\n'))
      socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n');
  });
  await rig.serve('shop', origin.port);
  const wire = await rig.visit();
  wire.ask('GET /', 'Connection: Upgrade', 'Upgrade: websocket');
  await wire.until('101');
  wire.socket.destroy();
  const { status, connections, firstByte, total } = await sumOf(rig);
  assert.deepEqual([status, connections, firstByte.length, total], [{ '1xx': 1 }, 1, 1, []]);
});

test('connections of a TCP tunnel are counted, and their bytes', WITHIN, async (t) => {
  const rig = await Rig.start(t);
  const port = await freePort();
  const origin = await rawOrigin(t, (socket, text) => socket.end(text));
  rig.route('db', { protocol: 'tcp', tcpPort: port });
  await rig.serve('db', origin.port, 'http', { protocol: 'tcp' });
  for (const _ of [1, 2]) {
    const socket = connect(port, '127.0.0.1');
    socket.end('hello');
    await once(socket.resume(), 'close');
  }
  const { status, connections, bytesIn, bytesOut } = await sumOf(rig);
  assert.deepEqual([status, connections, bytesIn, bytesOut], [{}, 2, 10, 10]);
});
