/** Counters, charts and the Prometheus exposition over HTTP, from what a data node reports; each organization sees its own. */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { usageBuckets } from '../db/schema.ts';
import { checkMetrics, NEEDS_PROMTOOL } from '../../../test/harness/promtool.ts';
import { Plane } from '../core/testing/plane.ts';
import { type PlaneApi, servePlane } from '../core/testing/plane-api.ts';
import { type Person, said, Team } from '../core/testing/team.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

let plane: Plane;
let api: PlaneApi;
let team: Team;
let ann: Person;
let bob: Person;
let token = '';
let sequence = 0;
beforeEach(async () => {
  sequence = 0;
  plane = new Plane();
  api = await servePlane(plane);
  team = new Team(plane, api);
  ann = await team.person('ann@example.test');
  bob = await team.person('bob@example.test');
  const minted = await ann.call('POST', '/tokens', { name: 'x' });
  token = String(minted.body['id']);
});
afterEach(async () => {
  await api.close();
  plane.close();
});

const open = async (more: object = {}, by = ann) =>
  String((await by.call('POST', '/tunnels', { localPort: 3000, ...more })).body['id']);
const report = (tunnelId: string, requests: number, bytesIn = 0, bytesOut = 0) =>
  plane.control.link.report({
    node: 'n',
    sequence: ++sequence,
    events: [{ kind: 'usage', tunnelId, tokenId: token, requests, bytesIn, bytesOut }],
  });
const later = async (ms: number) => {
  plane.now += ms;
  ann = await team.again(ann);
};
const series = async (query: string, by = ann) => {
  const answer = await by.call('GET', `/metrics/timeseries?${query}`);
  assert.equal(answer.status, 200, answer.text);
  return answer.body as unknown as ReadonlyArray<{ timestamp: string; value: number }>;
};

test('what was carried in the last 24 hours is counted for its organization alone', async () => {
  const shop = await open();
  await open();
  await report(shop, 3, 100, 1_000);
  await later(10 * HOUR);
  await report(shop, 2, 10, 20);
  await report('00000000-0000-7000-8000-000000000000', 9, 9, 9);
  assert.deepEqual((await ann.call('GET', '/metrics')).body, {
    total_tunnels: 2,
    active_tunnels: 0,
    requests_last_24h: 5,
    bytes_in_last_24h: 110,
    bytes_out_last_24h: 1_020,
    networks: [],
  });
  const others = (await (await team.again(bob)).call('GET', '/metrics')).body;
  assert.deepEqual([others['total_tunnels'], others['requests_last_24h']], [0, 0]);
  await later(14 * HOUR);
  assert.equal((await ann.call('GET', '/metrics')).body['requests_last_24h'], 2);
});

test('each window has its buckets, the empty ones too, and they add up', async () => {
  const shop = await open();
  await report(shop, 1, 10, 100);
  await later(59 * MINUTE);
  await report(shop, 2, 20, 200);
  for (const [window, count, width] of [
    ['1h', 60, MINUTE],
    ['24h', 96, 15 * MINUTE],
    ['7d', 168, HOUR],
    ['30d', 120, 6 * HOUR],
  ] as const) {
    const points = await series(`metric=requests&window=${window}`);
    assert.equal(points.length, count, window);
    const times = points.map(({ timestamp }) => Date.parse(timestamp));
    assert.equal(times.at(-1), Math.floor(plane.now / width) * width);
    assert.ok(times.every((time, i) => i === 0 || time - (times[i - 1] as number) === width));
    assert.equal(
      points.reduce((sum, { value }) => sum + value, 0),
      3,
    );
  }
  const day = await series('metric=bytes_out');
  assert.equal(day.length, 96, '24 hours unless said otherwise');
  assert.deepEqual(
    day.slice(-4).map(({ value }) => value),
    [100, 0, 0, 200],
  );
  assert.deepEqual(
    (await series('metric=bytes_in&window=1h')).filter(({ value }) => value > 0).map(({ value }) => value),
    [10, 20],
  );
  for (const query of ['', 'metric=cats', 'metric=requests&window=2h'])
    assert.deepEqual(said(await ann.call('GET', `/metrics/timeseries?${query}`)), [400, 'invalid_request'], query);
});

test('a batch that comes again counts once, and counters survive a restart', async () => {
  const shop = await open();
  await report(shop, 4, 5, 6);
  sequence -= 1;
  await report(shop, 4, 5, 6);
  await api.close();
  plane.control.close();
  const { dataDir } = plane;
  plane = new Plane(dataDir);
  api = await servePlane(plane);
  team = new Team(plane, api);
  ann = await new Team(plane, api).again(ann);
  assert.equal((await ann.call('GET', '/metrics')).body['requests_last_24h'], 4);
});

test('buckets that no window shows are deleted', async () => {
  const shop = await open();
  await report(shop, 1);
  const left = () => plane.control.store.db.select().from(usageBuckets).all().length;
  assert.equal(left(), 4);
  for (const [ms, count] of [
    [61 * MINUTE, 4],
    [1 * MINUTE, 3],
    [24 * HOUR, 2],
    [7 * 24 * HOUR, 1],
    [24 * 24 * HOUR, 0],
  ] as const) {
    plane.now += ms;
    plane.control.retention.sweep();
    assert.equal(left(), count, String(ms));
  }
});

/** Ann's metrics: of two tunnels, one of which has served. */
async function exposed() {
  const shop = await open({ subdomain: 'shop' });
  await open({ subdomain: 'api-docs' });
  await open({}, bob);
  await report(shop, 7, 70, 700);
  await plane.control.link.report({
    node: 'n',
    sequence: ++sequence,
    events: [{ kind: 'agent', agentId: 'a', tunnelId: shop, online: true, at: plane.now }],
  });
  return { shop, answer: await ann.call('GET', '/metrics/prometheus') };
}

test('the exposition has labels that no name can break', async () => {
  const { shop, answer } = await exposed();
  assert.match(String(answer.headers.get('content-type')), /^text\/plain; version=0\.0\.4/);
  const lines = answer.text.split('\n').filter((line) => !line.startsWith('#') && line !== '');
  assert.ok(lines.includes('culvert_tunnels 2') && lines.includes('culvert_tunnels_active 1'));
  assert.ok(lines.includes(`culvert_requests_total{tunnel="${shop}",subdomain="shop"} 7`), answer.text);
  assert.ok(lines.includes(`culvert_bytes_in_total{tunnel="${shop}",subdomain="shop"} 70`));
  assert.ok(lines.includes(`culvert_bytes_out_total{tunnel="${shop}",subdomain="shop"} 700`));
  assert.equal(lines.length, 2 + 2 * 3 + 1);
  const none = await (await team.person('new@example.test')).call('GET', '/metrics/prometheus');
  assert.match(none.text, /^culvert_tunnels 0$/m);
});

test('promtool finds nothing to say about the exposition', NEEDS_PROMTOOL, async () => {
  checkMetrics((await exposed()).answer.text);
});
