/** Lists that look at what records hold: headers, bodies, addresses, traces. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import type { InspectedRequest } from '../../../../plane/inspection.ts';
import type { Looking } from '../list.ts';
import type { RecordFilter } from '../records.ts';
import { ANN, batch, BEN, BENS, openStore, recorded, SHOP } from '../testing.ts';
import type { UsageStore } from '../usage-store.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const head = (...lines: readonly string[]): Buffer => Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
const requestHead = (...fields: readonly string[]): Buffer =>
  head('POST / HTTP/1.1', 'Host: shop.example.com', ...fields);
const responseHead = (...fields: readonly string[]): Buffer => head('HTTP/1.1 200 OK', ...fields);
const bodies = (requestBody: Buffer, responseBody: Buffer): Partial<InspectedRequest> => ({
  requestBody,
  responseBody,
});
const none = Buffer.alloc(0);

/** All that a filter finds, in as many answers as it takes. */
async function wholeList(store: UsageStore, filter: Partial<Looking>): Promise<{ found: string[]; stops: number }> {
  const found: string[] = [];
  for (let before: string | undefined, stops = 0; ; stops++) {
    const { items, stoppedAt } = await store.list(ANN, { limit: 100, before, ...filter });
    found.push(...items.map(({ id }) => id));
    if (stoppedAt === null) return { found, stops };
    before = stoppedAt;
  }
}

/** A store with these, a second apart; `find` returns which of them a filter finds, newest first. */
async function filled(t: TestContext, changes: readonly Partial<InspectedRequest>[]) {
  const store = openStore(t);
  const start = Date.now() - 60_000;
  const records = changes.map((change, i) => recorded({ at: start + i * 1_000, ...change }));
  await store.store(batch(...records));
  return async (filter: Partial<RecordFilter>): Promise<number[]> => {
    const { found } = await wholeList(store, filter);
    return found.map((id) => records.findIndex((record) => record.id === id));
  };
}

test('search: text in either body is found, ASCII case aside, and wildcards are characters', async (t) => {
  const find = await filled(t, [
    bodies(Buffer.from('{"order":"A-4711"}'), none),
    bodies(none, Buffer.from('Order a-4711: 100% done')),
    bodies(Buffer.from('{"order":"B-1"}'), Buffer.from('1000 done')),
    { ...bodies(Buffer.from('a-4711'), none), orgId: BEN, tunnelId: BENS },
  ]);
  assert.deepEqual(await find({ bodyContains: 'a-4711' }), [1, 0]);
  assert.deepEqual(await find({ bodyContains: '100%' }), [1]);
  assert.deepEqual(await find({ bodyContains: '_' }), []);
  assert.deepEqual(await find({ bodyContains: 'a-4711', tunnelId: SHOP, status: { from: 200, to: 200 } }), [1, 0]);
  assert.deepEqual(await find({ bodyContains: 'a-4711', method: 'PUT' }), []);
});

test('search: coded bodies are decoded, also one of which only the beginning was recorded, and binary ones are read behind a zero', async (t) => {
  const text = Buffer.from(
    JSON.stringify({ needle: 'here', rest: Array.from({ length: 400 }, (_, i) => `${i * 7919}`) }),
  );
  const coded = (coding: string, body: Buffer): Partial<InspectedRequest> => ({
    ...bodies(none, body),
    responseHead: responseHead(`Content-Encoding: ${coding}`),
  });
  const find = await filled(t, [
    coded('gzip', gzipSync(text)),
    coded('br', brotliCompressSync(text)),
    coded('zstd', zstdCompressSync(text)),
    coded('deflate', deflateSync(text)),
    coded('gzip', gzipSync(text).subarray(0, 400)),
    coded('gzip', Buffer.from('no gzip at all')),
    bodies(Buffer.concat([Buffer.from([0, 0, 0, 0, 4]), Buffer.from('needle')]), none),
  ]);
  assert.deepEqual(await find({ bodyContains: 'NEEDLE' }), [6, 4, 3, 2, 1, 0]);
  assert.deepEqual(await find({ bodyContains: 'no gzip' }), [5]);
});

test('search: a Brotli body of a request is decoded by its own coding, not by those that the visitor accepts', async (t) => {
  const packed = brotliCompressSync(Buffer.from(JSON.stringify({ needle: 'x'.repeat(400) })));
  const gzipped = gzipSync(Buffer.from('needle'));
  const accepts = 'Accept-Encoding: br';
  const find = await filled(t, [
    { ...bodies(packed, none), requestHead: requestHead('Content-Encoding: br') },
    { ...bodies(packed, none), requestHead: requestHead(accepts, 'content-encoding: br') },
    { ...bodies(gzipped, none), requestHead: requestHead(accepts, 'Content-Encoding: gzip') },
    { ...bodies(packed, none), requestHead: requestHead(accepts) },
  ]);
  assert.deepEqual(await find({ bodyContains: 'NEEDLE' }), [2, 1, 0]);
});

test('search: a header is found by its name, or by text in its own value', async (t) => {
  const find = await filled(t, [
    { requestHead: requestHead('X-Plan: Team', 'X-Other: pro') },
    { responseHead: responseHead('x-plan: Pro') },
    { requestHead: requestHead('X-Plan-Name: pro') },
    { responseHead: null },
  ]);
  assert.deepEqual(await find({ header: { name: 'x-plan' } }), [1, 0]);
  assert.deepEqual(await find({ header: { name: 'X-Plan', value: 'PRO' } }), [1]);
  assert.deepEqual(await find({ header: { name: 'host', value: 'shop.' } }), [3, 2, 1, 0]);
});

test('search: the visitor, the duration and the trace tell requests apart', async (t) => {
  const find = await filled(t, [
    { remoteIp: '203.0.113.7', latencyMs: 5 },
    {
      remoteIp: '203.0.113.77',
      latencyMs: 50,
      requestHead: requestHead(`traceparent: 00-${TRACE}-00f067aa0ba902b7-01`),
    },
    { remoteIp: '2001:db8::7', latencyMs: 500, requestHead: requestHead(`X-Note: 00-${TRACE}-00f067aa0ba902b7-01`) },
  ]);
  assert.deepEqual(await find({ address: '203.0.113.7' }), [0]);
  assert.deepEqual(await find({ address: '203.0.113.0/24' }), [1, 0]);
  assert.deepEqual(await find({ address: '2001:DB8:0::7' }), [2]);
  assert.deepEqual(await find({ address: '2001:db8::/32' }), [2]);
  assert.deepEqual(await find({ minLatencyMs: 50 }), [2, 1]);
  assert.deepEqual(await find({ minLatencyMs: 6, maxLatencyMs: 50 }), [1]);
  assert.deepEqual(await find({ traceId: TRACE.toUpperCase() }), [1]);
});

test('search: it goes on where its time was up, without a gap, and replays are searched too', async (t) => {
  const store = openStore(t);
  const start = Date.now() - 60_000;
  const packed = gzipSync(Buffer.from(`needle ${'x'.repeat(500_000)}`));
  const records = Array.from({ length: 300 }, (_, i) =>
    recorded({
      at: start + i,
      responseHead: responseHead('Content-Encoding: gzip'),
      responseBody: i % 100 === 0 ? packed : gzipSync(Buffer.from(`hay ${'y'.repeat(500_000)}`)),
      replayOf: i > 0 && i % 100 === 0 ? '00000000-0000-7000-8000-0000000000ff' : null,
    }),
  );
  await store.store(batch(...records));
  const wanted = records
    .filter((_, i) => i % 100 === 0)
    .map(({ id }) => id)
    .toReversed();
  const { found, stops } = await wholeList(store, { bodyContains: 'needle', budgetMs: 1 });
  assert.deepEqual(found, wanted);
  assert.ok(stops > 1, `${stops} stops`);
  const replayOf = '00000000-0000-7000-8000-0000000000ff';
  const replays = await wholeList(store, { bodyContains: 'needle', replayOf });
  assert.deepEqual(replays.found, wanted.slice(0, 2));
});
