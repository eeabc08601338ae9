// alone: it reads how much memory its process holds
/**
 * What a hostile visitor does on a connection that it was given, one test per class: each ends at a bound, is counted by its reason, and an
 * honest visitor of the same tunnel is served meanwhile. Limits are short here, and looked at often; their real values are settings.
 */
import assert from 'node:assert/strict';
import type { Server } from 'node:http';
import { test, type TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import type { EdgeLimits } from '../node-settings.ts';
import { rounds } from '../../base/testing.ts';
import { until } from '../fixtures/gateway.ts';
import { httpOrigin, Rig } from './testing/rig.ts';

const WITHIN = { timeout: 60_000 };
const HOST = 'Host: shop.example.test\r\n';
const MB = 1 << 20;

interface Shop {
  readonly rig: Rig;
  readonly origin: Server;
  /** Requests that came to the service, as it read them. */
  readonly asked: string[];
}

async function startShop(t: TestContext, limits: Partial<EdgeLimits> = {}): Promise<Shop> {
  const rig = await Rig.start(t, { limits, sweepMs: 100 });
  const asked: string[] = [];
  const big = Buffer.alloc(16 * MB);
  const origin = await httpOrigin(t, (request, response) => {
    asked.push(`${request.method} ${request.url}`);
    request.on('error', () => {});
    request.on('data', () => {});
    request.on('end', () => response.end(request.url === '/big' ? big : `served ${request.url}`));
  });
  await rig.serve('shop', origin.port);
  return { rig, origin, asked };
}

/** How often the edge has refused or cut for each reason; those that never came are left out. */
function droppedBy(rig: Rig): Record<string, number> {
  return Object.fromEntries(Object.entries(rig.node.stats().dropped).filter(([, count]) => count > 0));
}

async function honestIsServed(rig: Rig): Promise<void> {
  const honest = await rig.visit();
  honest.ask('GET /honest');
  assert.equal((await honest.response()).body, 'served /honest');
  honest.socket.destroy();
}

test('slow heads: a head that trickles is answered 408 and counted, however busily it does', WITHIN, async (t) => {
  const { rig, asked } = await startShop(t, { headTimeoutSeconds: 0.5 });
  const slow = await Promise.all(Array.from({ length: 20 }, () => rig.visit()));
  const drip = setInterval(() => {
    for (const wire of slow) if (!wire.socket.destroyed) wire.send('X-A: b\r\n');
  }, 50);
  t.after(() => clearInterval(drip));
  for (const wire of slow) wire.send(`GET / HTTP/1.1\r\n${HOST}`);
  await honestIsServed(rig);
  for (const wire of slow) assert.match(await wire.all(), /^HTTP\/1.1 408 /);
  assert.deepEqual(droppedBy(rig), { head_timeout: 20 });
  assert.deepEqual(asked, ['GET /honest']);
});

test('slow heads behind a first request are bounded like the first', WITHIN, async (t) => {
  const { rig } = await startShop(t, { headTimeoutSeconds: 0.5 });
  const wire = await rig.visit();
  wire.ask('GET /first');
  await wire.response();
  wire.send('GET /second HTTP/1.1\r\nHos');
  assert.match(await wire.all(), /^HTTP\/1.1 408 /);
  assert.deepEqual(droppedBy(rig), { head_timeout: 1 });
});

test('byte at a time: an honest request that is cut everywhere is served, once', WITHIN, async (t) => {
  const { rig, asked } = await startShop(t);
  const wire = await rig.visit();
  const request = `POST /form HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked\r\n\r\n3;a=b\r\nabc\r\n0\r\nX-Sum: 1\r\n\r\n`;
  for (const byte of request) {
    wire.send(byte);
    await pause(1);
  }
  assert.equal((await wire.response()).body, 'served /form');
  assert.deepEqual(asked, ['POST /form']);
  assert.deepEqual(droppedBy(rig), {});
});

test(
  'slow bodies: one that stands still is answered 408, its stream is given back, and it is counted',
  WITHIN,
  async (t) => {
    const { rig, origin } = await startShop(t, { bodyIdleTimeoutSeconds: 0.5 });
    const slow = await Promise.all(Array.from({ length: 20 }, () => rig.visit()));
    for (const wire of slow) {
      wire.ask('POST /slow', 'Content-Length: 1000');
      wire.send('x');
    }
    await honestIsServed(rig);
    for (const wire of slow) assert.match(await wire.all(), /^HTTP\/1.1 408 /);
    assert.deepEqual(droppedBy(rig), { body_timeout: 20 });
    const open = (): Promise<number> => new Promise((done) => origin.getConnections((_error, count) => done(count)));
    // A body that was cut must not leave a local connection that waits for the rest.
    for (let left = await open(); left > 1; left = await open()) await pause(20);
  },
);

test('bodies and readers that trickle are cut where a least rate is set, and the quick are not', WITHIN, async (t) => {
  const { rig, asked } = await startShop(t, { bodyIdleTimeoutSeconds: 1.5, minBytesPerSecond: 10 * MB });
  const slow = await rig.visit();
  slow.ask('POST /slow', 'Content-Length: 100000');
  const reader = await rig.visit();
  reader.socket.pause();
  reader.ask('GET /big');
  const drip = setInterval(() => {
    slow.send('x');
    reader.socket.read(1_000);
  }, 50);
  t.after(() => clearInterval(drip));
  const quick = await rig.visit();
  for (let n = 0; n < 3; n++) {
    quick.ask('GET /big');
    assert.equal((await quick.response()).body.length, 16 * MB);
    await pause(700);
  }
  assert.match(await slow.all(), /^HTTP\/1.1 408 /);
  clearInterval(drip);
  reader.socket.resume();
  assert.equal(await reader.closed, 'cut');
  assert.deepEqual(droppedBy(rig), { body_timeout: 1, slow_reader: 1 });
  assert.equal(asked.length, 5);
});

test(
  'huge heads, endless targets and a thousand fields are refused before they are whole, and counted',
  WITHIN,
  async (t) => {
    const { rig, asked } = await startShop(t, { maxHeadBytes: 4_096, maxUriBytes: 1_024, maxHeadFields: 20 });
    const endless = async (begin: string, more: string): Promise<string> => {
      const wire = await rig.visit();
      wire.send(begin);
      // The visitor means to send a gigabyte.
      while (wire.text === '' && !wire.socket.destroyed) {
        wire.send(more);
        await pause(1);
      }
      return wire.all();
    };
    assert.match(await endless(`GET / HTTP/1.1\r\n${HOST}Cookie: `, 'x'.repeat(500)), /^HTTP\/1.1 431 /);
    assert.match(await endless(`GET / HTTP/1.1\r\n${HOST}`, 'X-Field: 1\r\n'), /^HTTP\/1.1 431 /);
    assert.match(await endless('GET /', 'x'.repeat(500)), /^HTTP\/1.1 414 /);
    assert.match(await endless('', 'X'.repeat(20)), /^HTTP\/1.1 400 /);
    assert.deepEqual(droppedBy(rig), { head_too_large: 3, malformed: 1 });
    // What is within the same bounds passes.
    const wire = await rig.visit();
    wire.ask(`GET /${'x'.repeat(1_000)}`, `Cookie: ${'y'.repeat(2_500)}`);
    assert.equal((await wire.response()).status, 200);
    assert.equal(asked.length, 1);
  },
);

test(
  'endless chunk extensions and trailers end the body as malformed, and reach no service whole',
  WITHIN,
  async (t) => {
    const { rig, asked } = await startShop(t);
    const CHUNKED = `POST /chunks HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked\r\n\r\n`;
    for (const [begin, more] of [
      ['1;', 'extension='],
      ['1;a=b\r\nx\r\n1;', 'extension='],
      ['1\r\nx\r\n0\r\n', 'X-Trailer: 1\r\n'],
      ['1\r\nx\r\n0\r\nX-Long: ', 'trailer'],
      ['', '0000000000'],
      ['ffffffffff', ''],
      ['-1\r\n', ''],
    ] as const) {
      const wire = await rig.visit();
      wire.send(CHUNKED + begin);
      while (wire.text === '' && !wire.socket.destroyed) {
        if (more !== '') wire.send(more.repeat(100));
        await pause(1);
      }
      assert.match(await wire.all(), /^HTTP\/1.1 400 /, begin);
    }
    assert.deepEqual(droppedBy(rig), { malformed: 7 });
    await honestIsServed(rig);
    assert.ok(
      asked.every((line) => /chunks|honest/.test(line)),
      'no extension or trailer was read as a request',
    );
  },
);

test(
  'pipelining floods: who asks ten thousand times and reads nothing is read no further, and cut as a slow reader',
  WITHIN,
  async (t) => {
    const { rig, asked } = await startShop(t, { bodyIdleTimeoutSeconds: 1 });
    const flood = await rig.visit();
    flood.socket.pause();
    const burst = `GET /big HTTP/1.1\r\n${HOST}\r\n`.repeat(1_000);
    let backlogged = false;
    for (let n = 0; n < 100 && !backlogged; n++) {
      backlogged = !flood.socket.write(burst);
      await pause(1);
    }
    await honestIsServed(rig);
    await until(() => droppedBy(rig)['slow_reader'] === 1);
    flood.socket.resume();
    await flood.closed;
    assert.ok(asked.length < 10, `${asked.length} requests reached the service`);
  },
);

test('a pipelining visitor that reads gets every answer, in order', WITHIN, async (t) => {
  const { rig } = await startShop(t);
  const wire = await rig.visit();
  const count = rounds(700, 2_000);
  for (let n = 0; n < count; n++) wire.ask(`GET /${n}`);
  for (let n = 0; n < count; n++) assert.equal((await wire.response()).body, `served /${n}`);
  assert.deepEqual(droppedBy(rig), {});
});

test(
  'zero windows: readers that take nothing are cut and counted, and hold no more than their windows',
  WITHIN,
  async (t) => {
    const { rig } = await startShop(t, { bodyIdleTimeoutSeconds: 1 });
    const before = process.memoryUsage().arrayBuffers;
    const lazy = await Promise.all(Array.from({ length: 20 }, () => rig.visit()));
    for (const wire of lazy) {
      wire.socket.pause();
      wire.ask('GET /big');
    }
    await honestIsServed(rig);
    // Kernel buffers of loopback take megabytes; what is beyond must wait at the service.
    const held = process.memoryUsage().arrayBuffers - before;
    assert.ok(held < 20 * 16 * MB, `${held} bytes are held`);
    await until(() => droppedBy(rig)['slow_reader'] === 20);
    for (const wire of lazy) wire.socket.resume();
    for (const wire of lazy) {
      await wire.closed;
      assert.ok(wire.text.length < 16 * MB, 'cut, and not delivered after all');
    }
  },
);

test('a visitor that goes on sending after its last answer is cut in time, and counted', WITHIN, async (t) => {
  const { rig } = await startShop(t, { lingerTimeoutSeconds: 0.5 });
  const wire = await rig.visit({ allowHalfOpen: true });
  wire.send('NONSENSE\r\n\r\n');
  const drip = setInterval(() => wire.send('more'), 50);
  wire.socket.once('close', () => clearInterval(drip));
  assert.match(await wire.all(), /^HTTP\/1.1 400 /);
  await until(() => rig.node.stats().connections.open === 0);
  assert.deepEqual(droppedBy(rig), { malformed: 1, linger: 1 });
  wire.socket.destroy();
});

test(
  'hostile visitor: thousands of pipelined requests that the edge answers itself delay no other',
  WITHIN,
  async (t) => {
    const { rig } = await startShop(t);
    const calm = await rig.visit();
    calm.ask('GET /before');
    await calm.response();
    const flood = await rig.visit();
    const wrong = 'GET /x HTTP/1.1\r\nHost: none.example.test\r\n\r\n';
    const last = `GET /last HTTP/1.1\r\n${HOST}\r\n`;
    flood.send(wrong.repeat(4_000) + last);
    await until(() => (rig.node.stats().answered['tunnel_not_found'] ?? 0) > 0);
    calm.ask('GET /calm');
    await calm.response();
    const meanwhile = rig.node.stats().answered['tunnel_not_found'] ?? 0;
    assert.ok(meanwhile < 1_000, `${meanwhile} of 4,000 were answered first`);
    await until(() => flood.text.includes('served /last'));
    const all = flood.text.match(/culvert-error: tunnel_not_found/g)?.length;
    assert.equal(all, 4_000, 'each is answered, in order');
  },
);
