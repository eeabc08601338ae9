/** Latency by time, from what data nodes report: over HTTP, after a restart, and once minutes have become wider buckets. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { type LatencyEvent, latencyCell } from '../../../plane/latency.ts';
import { Plane } from '../../core/testing/plane.ts';
import { servePlane } from '../../core/testing/plane-api.ts';
import { Team } from '../../core/testing/team.ts';
import type { UserActor } from '../../core/rules/actor.ts';
import { latencyBuckets } from '../../db/schema.ts';
import { recentLatency } from './recent.ts';
import { type Window, WINDOWS } from '../usage-buckets.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

let sequence = 0;
/** Requests that were answered 200 after so many milliseconds each. */
const answered = (tunnelId: string, ...ms: readonly number[]): LatencyEvent => ({
  kind: 'latency',
  tunnelId,
  firstByte: ms.flatMap((one) => [latencyCell(one / 2), 1]),
  total: ms.flatMap((one) => [latencyCell(one), 1]),
  status: [0, ms.length, 0, 0, 0, 0],
  bytesIn: 10 * ms.length,
  bytesOut: 100 * ms.length,
  connections: 0,
});
const report = (plane: Plane, ...events: readonly LatencyEvent[]) =>
  plane.control.link.report({ node: 'n', sequence: ++sequence, events });
const near = (value: number | null | undefined, ms: number): void =>
  assert.ok(typeof value === 'number' && Math.abs(value - ms) <= 0.04 * ms, `${value} ms, expected ${ms} ms`);

async function planeOf(t: TestContext): Promise<{ plane: Plane; ann: UserActor; tunnel: string }> {
  const plane = new Plane();
  t.after(() => plane.close());
  const ann = await plane.person('ann@example.test');
  return { plane, ann, tunnel: plane.create(ann).row.id };
}

const counts = (plane: Plane, ann: UserActor, tunnelId: string): Record<string, number> =>
  Object.fromEntries(
    Object.keys(WINDOWS).map((range) => [
      range,
      plane.control.latency.ofTunnel(ann, { tunnelId, range: range as Window }).summary.count,
    ]),
  );

test('a tunnel and its organization have percentiles, classes and bytes by the minute', async (t) => {
  const plane = new Plane();
  const api = await servePlane(plane);
  t.after(async () => {
    await api.close();
    plane.close();
  });
  const team = new Team(plane, api);
  const ann = await team.person('ann@example.test');
  const [shop, other] = await Promise.all(
    [1, 2].map(async () => String((await ann.call('POST', '/tunnels', { localPort: 3000 })).body['id'])),
  );
  assert.ok(shop !== undefined && other !== undefined);
  await report(plane, answered(shop, ...Array.from({ length: 100 }, (_, i) => i + 1)), answered(other, 1_000));
  const refused = { ...answered(shop), status: [1, 0, 0, 3, 2, 1], connections: 1 };
  await report(plane, refused);
  const answer = await ann.call('GET', `/tunnels/${shop}/latency?range=1h`);
  assert.equal(answer.status, 200, answer.text);
  const { buckets, summary } = answer.body as unknown as {
    buckets: Array<Record<string, unknown>>;
    summary: Record<string, unknown>;
  };
  assert.equal(buckets.length, 60);
  const last = buckets.at(-1) as unknown as {
    start: string;
    count: number;
    first_byte: Record<string, number>;
    total: Record<string, number>;
    status: unknown;
    bytes_in: number;
    bytes_out: number;
    connections: number;
  };
  assert.equal(last.start, new Date(Math.floor(plane.now / MINUTE) * MINUTE).toISOString());
  assert.deepEqual(last.status, { '1xx': 1, '2xx': 100, '4xx': 3, '5xx': 2, canceled: 1 });
  assert.deepEqual([last.count, last.bytes_in, last.bytes_out, last.connections], [107, 1_000, 10_000, 1]);
  for (const [name, ms] of Object.entries({ p50_ms: 50, p95_ms: 95, p99_ms: 99 })) {
    near(last.total[name], ms);
    near(last.first_byte[name], ms / 2);
  }
  assert.deepEqual({ ...last, start: undefined }, { ...summary, start: undefined });
  assert.deepEqual(buckets[0]?.['total'], { p50_ms: null, p95_ms: null, p99_ms: null });
  assert.deepEqual(buckets[0]?.['status'], {});
  const { body: me } = await ann.call('GET', '/orgs');
  const [org] = me as unknown as ReadonlyArray<{ id: string }>;
  const all = await ann.call('GET', `/orgs/${org?.id}/latency`);
  assert.equal((all.body['summary'] as { count: number }).count, 108);
  const bob = await team.person('bob@example.test');
  for (const path of [`/tunnels/${shop}/latency`, `/orgs/${org?.id}/latency`])
    assert.equal((await bob.call('GET', path)).status, 404);
  assert.equal((await ann.call('GET', `/tunnels/${shop}/latency?range=2h`)).status, 400);
  const text = (await ann.call('GET', '/metrics/prometheus')).text;
  assert.match(text, /^# TYPE culvert_request_duration_seconds histogram$/m);
  const sample = (name: string, le = ''): number => {
    const line = text
      .split('\n')
      .find((one) => one.startsWith(`culvert_request_duration_seconds_${name}{tunnel="${shop}"`) && one.includes(le));
    return Number(line?.split(' ').at(-1));
  };
  // Limits of the two histograms differ by a cell.
  assert.ok(Math.abs(sample('bucket', 'le="0.05"') - 50) <= 2, text);
  assert.deepEqual([sample('bucket', 'le="+Inf"'), sample('count')], [100, 100]);
  assert.ok(Math.abs(sample('sum') - 5.05) < 0.1);
});

test('a report that comes again counts once, and one about a tunnel that is gone not at all', async (t) => {
  const { plane, ann, tunnel } = await planeOf(t);
  const batch = { node: 'n', sequence: 9_000, events: [answered(tunnel, 5), answered('no-such-tunnel', 5)] };
  await plane.control.link.report(batch);
  await plane.control.link.report(batch);
  assert.equal(counts(plane, ann, tunnel)['1h'], 1);
  const { summary } = plane.control.latency.ofOrg(ann, { orgId: ann.orgId, range: '1h' });
  assert.equal(summary.count, 1);
});

test('what was reported is there after a restart', async () => {
  const plane = new Plane();
  const ann = await plane.person('ann@example.test');
  const tunnel = plane.create(ann).row.id;
  await report(plane, answered(tunnel, 40));
  plane.control.close();
  const again = new Plane(plane.dataDir);
  await report(again, answered(tunnel, 60));
  const { summary } = again.control.latency.ofTunnel(ann, { tunnelId: tunnel, range: '1h' });
  assert.equal(summary.count, 2);
  again.close();
});

test('each range shows each request once, before and after minutes have become wider buckets', async (t) => {
  const { plane, ann, tunnel } = await planeOf(t);
  const { latencyRollUp } = plane.control;
  // Every 10 minutes for two days: 288 requests.
  for (let i = 0; i < 288; i++) {
    await report(plane, answered(tunnel, 20));
    plane.now += 10 * MINUTE;
    if (i % 3 === 0) await latencyRollUp.run();
  }
  plane.now -= 10 * MINUTE;
  const expected = { '1h': 6, '7d': 288, '30d': 288 };
  const { '24h': day, ...rest } = counts(plane, ann, tunnel);
  assert.deepEqual(rest, expected);
  // Its first bucket began up to a quarter of an hour later.
  assert.ok(day === 143 || day === 144, `${day}`);
  await latencyRollUp.run();
  assert.deepEqual({ ...counts(plane, ann, tunnel), '24h': day }, { ...expected, '24h': day });
  const { buckets } = plane.control.latency.ofTunnel(ann, { tunnelId: tunnel, range: '7d' });
  assert.deepEqual(
    buckets.slice(-10, -1).map(({ sum }) => sum.count),
    Array.from({ length: 9 }, () => 6),
  );
});

test('a roll-up that was broken off by a restart is made up for, and counts nothing twice', async () => {
  const plane = new Plane();
  const ann = await plane.person('ann@example.test');
  const tunnel = plane.create(ann).row.id;
  for (let i = 0; i < 12; i++) {
    await report(plane, answered(tunnel, 20));
    plane.now += 10 * MINUTE;
  }
  const stopping = new AbortController();
  stopping.abort();
  await plane.control.latencyRollUp.run(stopping.signal);
  await plane.control.latencyRollUp.run();
  const { now } = plane;
  plane.control.close();
  const again = new Plane(plane.dataDir);
  again.now = now + 7 * HOUR;
  await again.control.latencyRollUp.run();
  await again.control.latencyRollUp.run();
  assert.deepEqual(counts(again, ann, tunnel), { '1h': 0, '24h': 12, '7d': 12, '30d': 12 });
  again.close();
});

test('rows are bounded: each width goes once no range shows it', async (t) => {
  const { plane, ann, tunnel } = await planeOf(t);
  await report(plane, answered(tunnel, 20));
  const widths = () =>
    new Set(
      plane.control.store.db
        .select()
        .from(latencyBuckets)
        .all()
        .map((row) => row.widthSeconds),
    );
  const later = async (ms: number) => {
    plane.now += ms;
    await plane.control.latencyRollUp.run();
  };
  await later(HOUR);
  assert.deepEqual(widths(), new Set([60, 900, 3_600]));
  await later(6 * HOUR);
  assert.deepEqual(widths(), new Set([900, 3_600, 21_600]));
  await later(2 * DAY);
  assert.deepEqual(widths(), new Set([3_600, 21_600]));
  assert.equal(counts(plane, ann, tunnel)['7d'], 1);
  await later(7 * DAY);
  assert.deepEqual(widths(), new Set([21_600]));
  assert.equal(counts(plane, ann, tunnel)['30d'], 1);
  await later(23 * DAY);
  assert.deepEqual(widths(), new Set());
});

test('recent latency: the requests of tunnels together since an instant', async (t) => {
  const { plane, ann, tunnel } = await planeOf(t);
  const other = plane.create(ann).row.id;
  const { db } = plane.control.store;
  const since = (ms: number, ...scopes: readonly string[]) =>
    recentLatency(db, { scopes, sinceMs: plane.now - ms, now: plane.now });
  await report(plane, answered(tunnel, 900));
  plane.now += 20 * MINUTE;
  await report(plane, { ...answered(tunnel, 10, 20), status: [0, 1, 0, 0, 1, 0] }, answered(other, 400));
  const recent = since(5 * MINUTE, tunnel);
  assert.deepEqual([recent.count, recent.errors], [2, 1]);
  near(recent.p95TotalMs, 20);
  near(recent.p95FirstByteMs, 10);
  assert.equal(since(5 * MINUTE, tunnel, other).count, 3);
  near(since(30 * MINUTE, tunnel).p95TotalMs, 900);
  assert.equal(since(30 * MINUTE, ann.orgId).count, 4);
  plane.now += 12 * HOUR;
  await plane.control.latencyRollUp.run();
  assert.deepEqual(since(5 * MINUTE, tunnel), { count: 0, errors: 0, p95FirstByteMs: null, p95TotalMs: null });
  assert.equal(since(13 * HOUR, tunnel).count, 3);
});
