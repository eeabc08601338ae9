/**
 * What hostile visitors do with connections as such, one test per class: too many, silent, half open, slow at their handshake. Each ends at a
 * bound and is counted by its reason, and an honest visitor is served meanwhile.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { test, type TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';
import { rounds } from '../../base/testing.ts';
import { freePort } from '../../../test/harness/config.ts';
import { type Logger, silentLog } from '../../base/log.ts';
import { until } from '../fixtures/gateway.ts';
import { httpOrigin, Rig, type RigOptions, Wire } from './testing/rig.ts';

const WITHIN = { timeout: 120_000 };

async function startShop(t: TestContext, options: RigOptions = {}): Promise<Rig> {
  const rig = await Rig.start(t, options);
  const origin = await httpOrigin(t, (_request, response) => response.end('served'));
  await rig.serve('shop', origin.port);
  return rig;
}

function droppedBy(rig: Rig): Record<string, number> {
  return Object.fromEntries(Object.entries(rig.node.stats().dropped).filter(([, count]) => count > 0));
}

/** The whole time of one request on a fresh connection, in milliseconds. */
async function honestVisit(rig: Rig, options: { tls?: boolean } = {}): Promise<number> {
  const start = performance.now();
  const honest = await rig.visit(options);
  honest.ask('GET /');
  assert.equal((await honest.response()).body, 'served');
  honest.socket.destroy();
  return performance.now() - start;
}

/** Connections that say nothing by themselves, and whose end is awaited by `closedOf`. */
async function crowd(t: TestContext, count: number, port: number): Promise<Socket[]> {
  const sockets = Array.from({ length: count }, () => connect({ port, host: '127.0.0.1' }).resume());
  for (const socket of sockets) socket.on('error', () => {});
  t.after(() => {
    for (const socket of sockets) socket.destroy();
  });
  await Promise.all(
    sockets.map((socket) => Promise.race([once(socket, 'connect').catch(() => null), closing(socket)])),
  );
  return sockets;
}

/** Not by `once`, which takes a reset for a failure. */
function closing(socket: Socket): Promise<void> {
  return new Promise((resolve) => (socket.closed ? resolve() : socket.once('close', () => resolve())));
}

test('many connections of one address stop at its limit, and no other visitor pays for it', WITHIN, async (t) => {
  const rig = await startShop(t, { limits: { maxConnectionsPerIp: 50 } });
  await crowd(t, 300, rig.port);
  await until(() => droppedBy(rig)['over_address'] === 250);
  assert.equal(rig.node.stats().connections.open, 50);
  const other = new Wire(connect({ port: rig.port, host: '127.0.0.1', localAddress: '127.0.0.2' }));
  other.ask('GET /');
  assert.equal((await other.response()).body, 'served');
});

test(
  'what was refused is said in the log, with the setting to turn, before the node is gone at the latest',
  WITHIN,
  async (t) => {
    const said: string[] = [];
    const log: Logger = { ...silentLog, warn: (_fields, message) => said.push(message), child: () => log };
    const rig = await startShop(t, { limits: { maxConnectionsPerIp: 1 }, log });
    await crowd(t, 6, rig.port);
    await until(() => droppedBy(rig)['over_address'] === 5);
    await rig.node.close();
    assert.equal(said.length, 1, said.join('\n'));
    assert.match(said[0] ?? '', /^in the last minute 5 connections .*\(edge\.limits\.max_connections_per_ip\)$/);
  },
);

test('many addresses of one IPv6 /64 network count as one, and another network as another', WITHIN, async (t) => {
  const limits = { maxConnectionsPerIp: 3 };
  const rig = await startShop(t, { proxyProtocolFrom: ['127.0.0.0/8'], limits });
  const enter = async (network: string, host: number): Promise<Wire> => {
    const header = Buffer.alloc(52);
    header.write(`0d0a0d0a000d0a515549540a21210024${network}`, 'hex');
    header.writeUInt32BE(host, 28);
    const wire = await rig.visit();
    wire.socket.write(header);
    wire.ask('GET /');
    return wire;
  };
  for (let host = 1; host <= 3; host++)
    assert.equal((await (await enter('20010db800000001', host)).response()).body, 'served');
  for (let host = 4; host <= 9; host++) assert.equal(await (await enter('20010db800000001', host)).closed, 'cut');
  assert.equal((await (await enter('20010db800000002', 4)).response()).body, 'served');
  assert.deepEqual(droppedBy(rig), { over_address: 6 });
});

test(
  'connection storms: what is beyond the total is closed at once, and there is room as soon as the storm is over',
  WITHIN,
  async (t) => {
    const rig = await startShop(t, { limits: { maxConnections: 100, maxConnectionsPerIp: 0 } });
    for (let wave = 1; wave <= 3; wave++) {
      const storm = await crowd(t, 400, rig.port);
      await until(() => droppedBy(rig)['over_total'] === wave * 300);
      assert.equal(rig.node.stats().connections.open, 100);
      for (const socket of storm) socket.destroy();
      await until(() => rig.node.stats().connections.open === 0);
      await honestVisit(rig);
      await until(() => rig.node.stats().connections.open === 0);
    }
    assert.equal(rig.node.stats().connections.admitted, 303);
  },
);

test('many idle connections, silent from the first or between requests, are closed in time', WITHIN, async (t) => {
  const rig = await startShop(t, { limits: { idleTimeoutSeconds: 0.5 } });
  const silent = await crowd(t, 200, rig.port);
  const served = await Promise.all(Array.from({ length: 50 }, () => rig.visit()));
  for (const wire of served) {
    wire.ask('GET /');
    await wire.response();
  }
  await Promise.all([...silent.map(closing), ...served.map((wire) => wire.closed)]);
  assert.deepEqual(droppedBy(rig), { idle: 250 });
  await until(() => rig.node.stats().connections.open === 0);
});

test(
  'half-open connections: who ends its direction without a request is gone at once, with half of one too',
  WITHIN,
  async (t) => {
    const rig = await startShop(t);
    for (const begin of [
      '',
      'GET / HTTP/1.1\r\nHost: sh',
      'POST / HTTP/1.1\r\nHost: shop.example.test\r\nContent-Length: 9\r\n\r\nabc',
    ]) {
      const half = await rig.visit({ allowHalfOpen: true });
      half.socket.end(begin);
      await half.closed;
      await until(() => rig.node.stats().connections.open === 0);
      half.socket.destroy();
    }
  },
);

for (const tls of [false, true]) {
  test(
    `an honest visitor that ends its direction behind its request is answered (${tls ? 'TLS' : 'plain'})`,
    WITHIN,
    async (t) => {
      const rig = await Rig.start(t);
      const origin = await httpOrigin(t, (_request, response) => void setTimeout(() => response.end('served'), 100));
      await rig.serve('shop', origin.port);
      const half = await rig.visit({ tls, allowHalfOpen: true });
      half.socket.end('GET / HTTP/1.1\r\nHost: shop.example.test\r\n\r\n');
      assert.equal((await half.response()).body, 'served');
      half.socket.destroy();
    },
  );
}

test('TLS handshakes that dawdle, never begin, or are none are cut and counted', WITHIN, async (t) => {
  const rig = await startShop(t, { limits: { tlsHandshakeTimeoutSeconds: 0.5 } });
  const hello = await clientHello();
  const silent = await crowd(t, 20, rig.httpsPort);
  const trickling = await crowd(t, 20, rig.httpsPort);
  let at = 0;
  const drip = setInterval(() => {
    // Never to its last byte.
    const byte = hello.subarray(at, at + 1);
    if (++at < hello.length) for (const socket of trickling) if (socket.writable) socket.write(byte);
  }, 10);
  t.after(() => clearInterval(drip));
  const stopped = await crowd(t, 20, rig.httpsPort);
  for (const socket of stopped) socket.write(hello);
  await honestVisit(rig, { tls: true });
  await Promise.all([...silent, ...trickling, ...stopped].map(closing));
  assert.deepEqual(droppedBy(rig), { tls_handshake: 60 });
  for (const socket of await crowd(t, 5, rig.httpsPort)) {
    socket.write('GET / HTTP/1.1\r\nHost: shop.example.test\r\n\r\n');
    await closing(socket);
  }
  assert.deepEqual(droppedBy(rig), { tls_handshake: 65 });
  await until(() => rig.node.stats().connections.open === 0);
});

test(
  'hostile visitor: leaving in the middle of a handshake logs no fault and leaves nothing behind',
  WITHIN,
  async (t) => {
    const rig = await startShop(t);
    const hello = await clientHello();
    for (const bytes of [Buffer.alloc(0), hello.subarray(0, 30), hello]) {
      for (const socket of await crowd(t, 10, rig.httpsPort)) {
        if (bytes.length > 0) socket.write(bytes);
        await pause(5);
        socket.destroy();
      }
    }
    await until(() => rig.node.stats().connections.open === 0);
    assert.deepEqual(droppedBy(rig), {});
  },
);

const SLOW = rounds(600, 2_000);

test(
  'Slowloris: hundreds of heads that trickle hold up no honest visitor, and are gone when their time is over',
  WITHIN,
  async (t) => {
    const rig = await startShop(t, {
      limits: { maxConnections: 5_000, maxConnectionsPerIp: 0, headTimeoutSeconds: 8 }, // longer than a busy machine needs for so many connections
    });
    const slow = await crowd(t, SLOW, rig.port);
    for (const socket of slow) socket.write('GET / HTTP/1.1\r\nHost: shop.example.test\r\n');
    const drip = setInterval(() => {
      for (const socket of slow) if (socket.writable) socket.write('X-A: b\r\n');
    }, 500);
    t.after(() => clearInterval(drip));
    await until(() => rig.node.stats().connections.http === SLOW);
    const times: number[] = [];
    while (rig.node.stats().connections.http > SLOW / 2) {
      times.push(await honestVisit(rig));
      await pause(20);
    }
    times.sort((one, other) => one - other);
    // A machine that is busy with other tests makes one a second.
    assert.ok(times.length >= 5, `${times.length} honest visits`);
    // Two cores that run the attack as well: the median says whether requests wait for heads that never come.
    assert.ok((times[times.length >> 1] as number) < 250, `${times.map(Math.round).join(' ')} ms`);
    await until(() => rig.node.stats().connections.open === 0);
    assert.equal(droppedBy(rig)['head_timeout'], SLOW);
  },
);

test(
  'the address of a visitor that is over the limit is refused on TCP ports too, and a refused TCP visitor is counted',
  WITHIN,
  async (t) => {
    const rig = await Rig.start(t, { limits: { maxConnectionsPerIp: 1 } });
    const [free] = await crowd(t, 1, rig.port);
    const port = await freePort();
    rig.route('db', { protocol: 'tcp', subdomain: '', tcpPort: port });
    // Refused by the kernel until the port is open, and then by the edge.
    while (droppedBy(rig)['over_address'] === undefined) {
      const over = new Wire(connect(port, '127.0.0.1'));
      assert.equal(await over.closed, 'cut');
    }
    assert.deepEqual(droppedBy(rig), { over_address: 1 });
    free?.destroy();
    await until(() => rig.node.stats().connections.open === 0);
    const offline = new Wire(connect(port, '127.0.0.1'));
    assert.equal(await offline.closed, 'cut');
    assert.deepEqual(droppedBy(rig), { over_address: 1, tcp_refused: 1 });
  },
);

/** The first flight of a real client. */
async function clientHello(): Promise<Buffer> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const client = connectTls({ port, host: '127.0.0.1', servername: 'shop.example.test' });
  client.on('error', () => {});
  const [socket] = (await once(server, 'connection')) as [Socket];
  const [bytes] = (await once(socket, 'data')) as [Buffer];
  socket.destroy();
  client.destroy();
  server.close();
  return bytes;
}
