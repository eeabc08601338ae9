/** Requests that wait for an agent whose session was lost a moment ago, over HTTP/1.1, HTTP/2 and as WebSockets. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { until } from '../../fixtures/gateway.ts';
import { idOf } from '../../fixtures/link.ts';
import { Http2Visitor } from '../testing/http2-visitor.ts';
import { httpOrigin, Rig, rawOrigin } from '../testing/rig.ts';

const WITHIN = { timeout: 120_000 };
/** Longer than any test takes: a request that waits this long fails it. */
const FOR_EVER = 60;
const waiting = (rig: Rig): number => rig.node.stats().holds.waiting;

function hello(t: Parameters<typeof httpOrigin>[0]) {
  return httpOrigin(t, (request, response) => request.resume().on('end', () => response.end(`hello ${request.url}`)));
}

test(
  'hold: a request waits for an agent whose session was lost, in HTTP/1.1 with and without TLS, and HTTP/2',
  WITHIN,
  async (t) => {
    const rig = await Rig.start(t, { holdSeconds: FOR_EVER });
    const origin = await hello(t);
    const agent = await rig.serve('shop', origin.port);
    const plain = await rig.visit();
    const secure = await rig.visit({ tls: true });
    const http2 = await Http2Visitor.open(t, rig);
    agent.socket.destroy();
    await until(() => !rig.node.isOnline(idOf('shop')));
    plain.ask('GET /one');
    plain.ask('GET /behind');
    secure.ask('POST /two', 'Content-Length: 3');
    secure.send('abc');
    const third = http2.ask({ ':path': '/three' });
    await until(() => waiting(rig) === 3);
    await rig.serve('shop', origin.port);
    assert.equal((await plain.response()).body, 'hello /one');
    assert.equal((await plain.response()).body, 'hello /behind');
    assert.equal((await secure.response()).body, 'hello /two');
    assert.equal((await third).body, 'hello /three');
    assert.equal(waiting(rig), 0);
    assert.equal(rig.node.stats().holds.ended['served'], 3);
  },
);

test('hold: a WebSocket upgrade waits too', WITHIN, async (t) => {
  const rig = await Rig.start(t, { holdSeconds: FOR_EVER });
  const origin = await rawOrigin(t, (socket, text) => {
    if (text.endsWith('\r\n\r\n'))
      socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n');
    else if (text.endsWith('ping')) socket.write('pong');
  });
  const agent = await rig.serve('shop', origin.port);
  agent.socket.destroy();
  await until(() => !rig.node.isOnline(idOf('shop')));
  const wire = await rig.visit();
  wire.ask('GET /', 'Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==');
  await until(() => waiting(rig) === 1);
  await rig.serve('shop', origin.port);
  await wire.until('\r\n\r\n');
  assert.match(wire.text, /^HTTP\/1\.1 101 /);
  wire.send('ping');
  await wire.until('pong');
});

test('hold: a request is refused when no agent comes in time', WITHIN, async (t) => {
  const rig = await Rig.start(t, { holdSeconds: 0.05, awaited: ['shop', 'blog'] });
  const wire = await rig.visit();
  wire.ask('GET /');
  const { status, head } = await wire.response();
  assert.equal(status, 503);
  assert.match(head, /\r\nculvert-error: tunnel_offline\r\n/);
});

test('hold: tunnels that agents served before the server started are awaited', WITHIN, async (t) => {
  const rig = await Rig.start(t, { holdSeconds: FOR_EVER, awaited: ['shop'] });
  const origin = await hello(t);
  const wire = await rig.visit();
  wire.ask('GET /');
  await until(() => waiting(rig) === 1);
  await rig.serve('shop', origin.port);
  assert.equal((await wire.response()).body, 'hello /');
});

test(
  'hold: no wait after a clean leave, an unbind, a stop, a disconnect, a revoked key, maintenance or a deletion',
  WITHIN,
  async (t) => {
    const rig = await Rig.start(t, { holdSeconds: FOR_EVER });
    const origin = await hello(t);
    const ends: Record<string, (agent: Awaited<ReturnType<Rig['serve']>>) => void> = {
      leaves: (agent) => agent.send({ type: 'drain' }),
      closes: (agent) => agent.session.close(),
      unbinds: (agent) => agent.send({ type: 'unbind', slot: 0 }),
      is_stopped: () => rig.route('shop', { stopped: true }),
      is_sent_away: () => void rig.node.disconnect(rig.node.connections()[0]?.agentId ?? ''),
      key_is_revoked: () => rig.link.change({ kind: 'revoke_token', tokenId: 'token-1', message: 'gone' }),
    };
    for (const [what, end] of Object.entries(ends)) {
      // A revoked key admits no agent again: it comes last.
      const agent = await rig.serve('shop', origin.port);
      end(agent);
      await until(() => !rig.node.isOnline(idOf('shop')) || what === 'leaves');
      if (what === 'leaves') {
        const probe = await rig.visit();
        for (let status = 200; status === 200; status = (await probe.response()).status) probe.ask('GET /probe');
      }
      const wire = await rig.visit();
      wire.ask('GET /');
      assert.equal((await wire.response()).status, 503, what);
      agent.destroy();
      await agent.closed;
      await until(() => rig.node.connections().length === 0);
      const again = await rig.visit();
      again.ask('GET /');
      assert.equal((await again.response()).status, 503, `${what}, and its connection ends`);
      if (what === 'is_stopped') rig.route('shop');
    }
    assert.equal(rig.node.stats().holds.ended['served'], 0);
  },
);

test('hold: a stop, maintenance, a deletion and a revoked key end the wait at once', WITHIN, async (t) => {
  const rig = await Rig.start(t, { holdSeconds: FOR_EVER });
  const origin = await hello(t);
  const changes: ReadonlyArray<readonly [string, () => void]> = [
    ['tunnel_offline', () => rig.route('shop', { stopped: true })],
    ['maintenance', () => rig.route('shop', { maintenance: '' })],
    ['tunnel_offline', () => rig.link.change({ kind: 'cut_org', orgId: 'org', message: 'suspended' })],
    ['tunnel_not_found', () => rig.remove('shop')],
    ['tunnel_offline', () => rig.link.change({ kind: 'revoke_token', tokenId: 'token-1', message: 'gone' })],
  ];
  for (const [code, change] of changes) {
    rig.route('shop');
    const agent = await rig.serve('shop', origin.port);
    agent.socket.destroy();
    await until(() => !rig.node.isOnline(idOf('shop')));
    const wire = await rig.visit();
    wire.ask('GET /');
    await until(() => waiting(rig) === 1);
    change();
    assert.match((await wire.response()).head, new RegExp(`\r\nculvert-error: ${code}\r\n`));
  }
});

test('hold: a policy refuses before the wait, and counts a request that waits once', WITHIN, async (t) => {
  const rig = await Rig.start(t, { holdSeconds: FOR_EVER });
  const origin = await hello(t);
  const policy = {
    setAt: 1,
    actions: [
      { kind: 'deny', enforce: true, pathPrefix: '/admin' },
      { kind: 'rate_limit', enforce: true, requestsPerMinute: 3, perClientIp: true },
    ],
  } as never;
  rig.route('shop', { policy });
  const agent = await rig.serve('shop', origin.port);
  agent.socket.destroy();
  await until(() => !rig.node.isOnline(idOf('shop')));
  const refused = await rig.visit();
  refused.ask('GET /admin');
  assert.equal((await refused.response()).status, 403);
  assert.equal(waiting(rig), 0);
  const wires = await Promise.all([1, 2, 3].map(() => rig.visit()));
  for (const wire of wires) wire.ask('GET /');
  await until(() => waiting(rig) === 3);
  const fourth = await rig.visit();
  fourth.ask('GET /');
  assert.equal((await fourth.response()).status, 429);
  await rig.serve('shop', origin.port);
  for (const wire of wires) assert.equal((await wire.response()).status, 200);
});

test('hold: a visitor that leaves frees its place, whichever way it leaves', WITHIN, async (t) => {
  const rig = await Rig.start(t, { holdSeconds: FOR_EVER, awaited: ['shop'] });
  for (const tls of [false, true])
    for (const leave of ['end', 'reset'] as const) {
      const wire = await rig.visit({ tls });
      wire.ask('GET /');
      await until(() => waiting(rig) === 1);
      if (leave === 'reset' && !tls) wire.socket.resetAndDestroy();
      else wire.socket.destroy();
      await until(() => waiting(rig) === 0);
    }
  const http2 = await Http2Visitor.open(t, rig);
  const stream = http2.session.request({ ':path': '/', ':authority': 'shop.example.test' });
  stream.on('error', () => undefined);
  await until(() => waiting(rig) === 1);
  stream.close();
  await until(() => waiting(rig) === 0);
  assert.equal(rig.node.stats().holds.ended['left'], 5);
  assert.equal(rig.node.stats().holds.bytes, 0);
});

test('hold: a half-closed visitor gets "offline" at once', WITHIN, async (t) => {
  const rig = await Rig.start(t, { holdSeconds: FOR_EVER, awaited: ['shop'] });
  const wire = await rig.visit({ allowHalfOpen: true });
  wire.ask('GET /');
  wire.socket.end();
  assert.equal((await wire.response()).status, 503);
});

test('hold: a body that is sent meanwhile is held back and arrives whole', WITHIN, async (t) => {
  const rig = await Rig.start(t, { holdSeconds: FOR_EVER, awaited: ['shop'] });
  const origin = await httpOrigin(t, (request, response) => {
    let length = 0;
    request.on('data', (chunk: Buffer) => (length += chunk.length));
    request.on('end', () => response.end(String(length)));
  });
  const wire = await rig.visit();
  const size = 8 << 20;
  wire.ask('POST /', `Content-Length: ${size}`);
  wire.send('x'.repeat(size));
  await until(() => waiting(rig) === 1);
  const turns = async (): Promise<void> => {
    for (let i = 0; i < 200; i++) await new Promise((resolve) => setImmediate(resolve));
  };
  await turns();
  assert.ok(rig.node.stats().holds.bytes < 600_000, `${rig.node.stats().holds.bytes} bytes are kept`);
  await rig.serve('shop', origin.port);
  assert.equal((await wire.response()).body, String(size));
});

test('hold: the trace of a request shows that it waited, and how it ended', WITHIN, async (t) => {
  const rig = await Rig.start(t, { holdSeconds: 1, awaited: ['shop'] });
  const origin = await hello(t);
  const wire = await rig.visit();
  wire.ask('GET /late');
  await wire.response();
  const agent = await rig.serve('shop', origin.port);
  agent.socket.destroy();
  await until(() => !rig.node.isOnline(idOf('shop')));
  wire.ask('GET /held');
  await until(() => waiting(rig) === 1);
  await rig.serve('shop', origin.port);
  assert.equal((await wire.response()).status, 200);
  await rig.node.flushInspections();
  const records = rig.link.inspections.flatMap(({ records: some }) => some);
  const stepsOf = (target: string) => records.find((record) => record.target === target)?.trace.steps;
  const shown = (target: string) => stepsOf(target)?.map(({ step, verdict, code }) => ({ step, verdict, code }));
  assert.deepEqual(shown('/late'), [{ step: 'agent_wait', verdict: 'refused', code: 'tunnel_offline' }]);
  assert.deepEqual(shown('/held'), [{ step: 'agent_wait', verdict: 'passed', code: null }]);
  assert.match(stepsOf('/held')?.[0]?.rule ?? '', /^\d+ ms$/);
});

test(
  'hold: a connection keeps its order: what was pipelined behind a held request is answered after it',
  WITHIN,
  async (t) => {
    const rig = await Rig.start(t, { holdSeconds: FOR_EVER, awaited: ['shop'] });
    const origin = await hello(t);
    const wire = await rig.visit();
    for (let i = 0; i < 5; i++) wire.ask(`GET /${i}`);
    await until(() => waiting(rig) === 1);
    wire.ask('GET /5');
    await rig.serve('shop', origin.port);
    for (let i = 0; i < 6; i++) assert.equal((await wire.response()).body, `hello /${i}`);
    wire.socket.end();
    await once(wire.socket, 'close');
  },
);
