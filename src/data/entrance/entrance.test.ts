/** Behind a load balancer that speaks the PROXY protocol: the allowed peers, and the use of the visitor's address. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { test, type TestContext } from 'node:test';
import { type Logger, silentLog } from '../../base/log.ts';
import { CONNECTED_REPLY, decodePreamble, type Preamble } from '../../wire/preamble.ts';
import { TestAgent } from '../fixtures/agent.ts';
import { until } from '../fixtures/gateway.ts';
import { httpOrigin, Rig, type RigOptions, Wire } from '../edge/testing/rig.ts';

const WITHIN = { timeout: 120_000 };
const LOOPBACK = ['127.0.0.0/8'];
/** TLV_SSL: by TLS, no certificate of its own. */
const SSL = '2000050100000000';
const LOCAL = Buffer.from('0d0a0d0a000d0a515549540a20000000', 'hex');

/** What a load balancer writes for a visitor of IPv4. */
function headerOf(ip: string, port = 4_711, tlvs = ''): Buffer {
  const tail = Buffer.from(tlvs, 'hex');
  const header = Buffer.alloc(28);
  header.write('0d0a0d0a000d0a515549540a2111', 'hex');
  header.writeUInt16BE(12 + tail.length, 14);
  header.set([...ip.split('.').map(Number), 192, 0, 2, 1], 16);
  header.writeUInt16BE(port, 24);
  header.writeUInt16BE(443, 26);
  return Buffer.concat([header, tail]);
}

async function behind(t: TestContext, over: RigOptions = {}): Promise<Rig> {
  const rig = await Rig.start(t, { proxyProtocolFrom: LOOPBACK, ...over });
  const origin = await httpOrigin(t, (request, response) => response.end(JSON.stringify(request.headers)));
  await rig.serve('shop', origin.port);
  return rig;
}

async function told(wire: Wire, ...fields: string[]): Promise<readonly unknown[]> {
  wire.ask('GET /', ...fields);
  const { body } = await wire.response();
  const headers = JSON.parse(body) as Record<string, string>;
  return ['x-forwarded-for', 'x-real-ip', 'x-forwarded-proto'].map((name) => headers[name]);
}

/** A TLS visitor behind a load balancer that passes TLS on, and sends the header in one packet with the visitor's first. */
async function secureVisit(t: TestContext, rig: Rig, header: Buffer): Promise<Wire> {
  const balancer = createServer((visitor) => {
    const edge = connect({ port: rig.httpsPort, host: '127.0.0.1' });
    for (const socket of [visitor, edge]) socket.on('error', () => socket.destroy());
    visitor.once('data', (first: Buffer) => {
      edge.write(Buffer.concat([header, first]));
      visitor.pipe(edge).pipe(visitor);
    });
  }).listen(0, '127.0.0.1');
  await once(balancer, 'listening');
  const { port } = balancer.address() as AddressInfo;
  const wire = await Wire.open(port, { tls: true });
  t.after(() => {
    wire.socket.destroy();
    balancer.close();
  });
  return wire;
}

test('proxy protocol: the service gets the visitor of the header, by either port', WITHIN, async (t) => {
  const rig = await behind(t);
  const plain = await rig.visit();
  plain.socket.write(headerOf('198.51.100.7'));
  assert.deepEqual(await told(plain), ['198.51.100.7', '198.51.100.7', 'http']);
  assert.deepEqual(await told(plain), ['198.51.100.7', '198.51.100.7', 'http'], 'once per connection');
  const secure = await secureVisit(t, rig, headerOf('198.51.100.8'));
  assert.deepEqual(await told(secure), ['198.51.100.8', '198.51.100.8', 'https']);
  const offloaded = await rig.visit();
  offloaded.socket.write(headerOf('198.51.100.9', 1, SSL));
  assert.deepEqual(await told(offloaded), ['198.51.100.9', '198.51.100.9', 'https'], 'the load balancer took TLS off');
  assert.equal(rig.node.stats().dropped['proxy_header'], 0);
});

test('where plain http is sent to https, who came to the load balancer by https is served', WITHIN, async (t) => {
  const rig = await behind(t, { httpsRedirectPort: 443 });
  for (const [tlvs, status] of [
    [SSL, 200],
    ['', 308],
  ] as const) {
    const wire = await rig.visit();
    wire.socket.write(headerOf('198.51.100.7', 1, tlvs));
    wire.ask('GET /');
    assert.equal((await wire.response()).status, status);
  }
});

test('what follows the header in the same packet is the request, wherever it is cut', WITHIN, async (t) => {
  const rig = await behind(t);
  const request = Buffer.from('GET / HTTP/1.1\r\nHost: shop.example.test\r\n\r\n');
  const all = Buffer.concat([headerOf('198.51.100.7'), request]);
  for (const cuts of [[], [1], [12, 16], [27], [28], [29], [40], Array.from(all.keys()).slice(1)]) {
    const wire = await rig.visit();
    let from = 0;
    for (const to of [...cuts, all.length]) {
      wire.socket.write(all.subarray(from, to));
      from = to;
      if (cuts.length < 10) await new Promise((resolve) => setTimeout(resolve, 5));
    }
    assert.match((await wire.response()).body, /198\.51\.100\.7/, String(cuts));
    wire.socket.destroy();
  }
});

test('a visitor that ends its direction at once is answered', WITHIN, async (t) => {
  const rig = await behind(t);
  const wire = await rig.visit({ allowHalfOpen: true });
  const request = 'GET / HTTP/1.1\r\nHost: shop.example.test\r\n\r\n';
  wire.socket.end(Buffer.concat([headerOf('198.51.100.7'), Buffer.from(request)]));
  assert.match((await wire.response()).body, /198\.51\.100\.7/);
});

test('a forwarded header of a visitor is not believed; of a proxy further out it is', WITHIN, async (t) => {
  const rig = await behind(t, { trustedProxies: [...LOOPBACK, '203.0.113.0/24'] });
  const liar = await rig.visit();
  liar.socket.write(headerOf('198.51.100.7'));
  const lies = ['X-Forwarded-For: 6.6.6.6', 'X-Forwarded-Proto: https', 'X-Real-IP: 6.6.6.6'];
  assert.deepEqual(await told(liar, ...lies), ['198.51.100.7', '198.51.100.7', 'http']);
  const cdn = await rig.visit();
  cdn.socket.write(headerOf('203.0.113.9'));
  assert.deepEqual(await told(cdn, 'X-Forwarded-For: 192.0.2.44'), ['192.0.2.44, 203.0.113.9', '192.0.2.44', 'http']);
});

test('a health check of the load balancer itself is served under its own address', WITHIN, async (t) => {
  const rig = await behind(t);
  const wire = await rig.visit();
  wire.socket.write(LOCAL);
  assert.deepEqual(await told(wire), ['127.0.0.1', '127.0.0.1', 'http']);
  const probe = await rig.visit();
  probe.socket.end();
  await probe.closed;
  assert.equal(rig.node.stats().dropped['proxy_header'], 0, 'one that connects and leaves is no fault');
});

test(
  'who sends no header, another one or none in time is cut, counted, and said why once a minute',
  WITHIN,
  async (t) => {
    const said: string[] = [];
    const log: Logger = { ...silentLog, warn: (_fields, message) => said.push(message), child: () => log };
    const rig = await behind(t, { log, limits: { headTimeoutSeconds: 0.2 } });
    const begins = [
      'GET / HTTP/1.1\r\nHost: shop.example.test\r\n\r\n',
      'PROXY TCP4 198.51.100.7 192.0.2.1 4711 80\r\nGET / HTTP/1.1\r\nHost: shop.example.test\r\n\r\n',
      Buffer.concat([headerOf('198.51.100.7').fill(0x12, 13, 14)]).toString('latin1'),
      headerOf('198.51.100.7').toString('latin1', 0, 27),
      '',
    ];
    for (const begin of begins) {
      for (const port of [rig.port, rig.httpsPort]) {
        const wire = await Wire.open(port);
        wire.send(begin);
        assert.equal(await wire.all(), '');
        assert.equal(await wire.closed, 'cut');
      }
    }
    const half = await rig.visit();
    half.socket.end(headerOf('198.51.100.7').subarray(0, 20));
    await half.closed;
    assert.equal(rig.node.stats().dropped['proxy_header'], begins.length * 2 + 1);
    const reasons = [
      /does not start with/,
      /has version 1\. Set the load balancer to version 2/,
      /is invalid/,
      /in time/,
      /closed before/,
    ];
    assert.equal(said.length, reasons.length, said.join('\n'));
    for (const [n, reason] of reasons.entries()) assert.match(said[n] ?? '', reason);
  },
);

test('an address that is no load balancer is cut whatever it sends', WITHIN, async (t) => {
  const rig = await behind(t, { proxyProtocolFrom: ['192.0.2.0/24', '::1/128'], trustedProxies: LOOPBACK });
  for (const port of [rig.port, rig.httpsPort]) {
    const wire = await Wire.open(port).catch(() => null);
    wire?.socket.write(headerOf('198.51.100.7'));
    await wire?.closed;
    assert.equal(wire?.text ?? '', '');
  }
  assert.equal(rig.node.stats().dropped['proxy_header'], 2);
});

test('limits per address are those of visitors, and the places come back', WITHIN, async (t) => {
  const rig = await behind(t, { limits: { maxConnectionsPerIp: 2, headTimeoutSeconds: 5 } });
  const enter = async (ip: string): Promise<Wire> => {
    const wire = await rig.visit();
    wire.socket.write(headerOf(ip));
    return wire;
  };
  const kept = [await enter('198.51.100.7'), await enter('198.51.100.7')];
  for (const wire of kept) await told(wire);
  const over = await enter('198.51.100.7');
  await over.closed;
  assert.equal(rig.node.stats().dropped['over_address'], 1);
  await told(await enter('198.51.100.8'));
  kept[0]?.socket.destroy();
  await until(() => rig.node.stats().connections.open === 2);
  await told(await enter('198.51.100.7'));
});

test('connections whose header is awaited take places in all, and give them back', WITHIN, async (t) => {
  const rig = await behind(t, { limits: { maxConnections: 3, headTimeoutSeconds: 60 } });
  const waiting = [await rig.visit(), await rig.visit(), await rig.visit()];
  await until(() => rig.node.stats().connections.open === 3);
  const over = await rig.visit().catch(() => null);
  await over?.closed;
  assert.equal(rig.node.stats().dropped['over_total'], 1);
  for (const wire of waiting) wire.socket.destroy();
  await until(() => rig.node.stats().connections.open === 0);
  await rig.visit();
  await rig.node.close();
});

test('proxy protocol: a TCP tunnel gets the visitor of the header, address and port', WITHIN, async (t) => {
  const rig = await Rig.start(t, { proxyProtocolFrom: LOOPBACK });
  const free = createServer().listen(0, '127.0.0.1');
  await once(free, 'listening');
  const { port } = free.address() as AddressInfo;
  free.close();
  await once(free, 'close');
  const agent = await TestAgent.enter(rig.node.addresses().agents.port, 'good');
  t.after(() => agent.destroy());
  const seen: Preamble[] = [];
  agent.onStream = (stream) => {
    stream.sink = {
      onData: (of, bytes, start, end) => {
        of.consumed(end - start);
        const preamble = decodePreamble(bytes, start, end);
        if (typeof preamble !== 'string') seen.push(preamble);
        stream.write(CONNECTED_REPLY);
        stream.write(Buffer.from('hello'));
        stream.end();
      },
      onEnd: () => {},
      onReset: () => {},
      onDrain: () => {},
    };
  };
  await agent.bind('db', { protocol: 'tcp', localPort: port });
  const visitor: Socket = connect(port, '127.0.0.1');
  visitor.write(headerOf('198.51.100.7', 50_123));
  const [first] = (await once(visitor, 'data')) as [Buffer];
  assert.equal(first.toString(), 'hello');
  visitor.destroy();
  assert.deepEqual(seen[0]?.visitor, { family: 4, bytes: Uint8Array.of(198, 51, 100, 7), port: 50_123 });
  const bare = new Wire(connect(port, '127.0.0.1'));
  bare.send('SSH-2.0-x\r\n');
  assert.equal(await bare.closed, 'cut');
  assert.equal(rig.node.stats().dropped['proxy_header'], 1);
});
