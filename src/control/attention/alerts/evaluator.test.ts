/** When alerts fire and recover, and how messages are grouped: over the API, on a clock that the test moves, to a real HTTP server. */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { DAY_MS, HOUR_MS } from '../../../base/clock.ts';
import { type LatencyEvent, latencyCell } from '../../../plane/latency.ts';
import { AlertFixture } from './testing.ts';

let at: AlertFixture;
beforeEach(async () => {
  at = await AlertFixture.start();
});
afterEach(() => at.close());

const MINUTE = 60_000;
const OFFLINE = 'alert.fired: Tunnel shop is offline';
const ONLINE = 'alert.recovered: Tunnel shop is no longer offline';
/** Past the time that agents get after a start. */
const settle = () => at.pass(6 * MINUTE);

/** One request of a tunnel. */
const requests = (tunnelId: string, { status, ms }: { status: number; ms: number }): LatencyEvent => ({
  ...{ kind: 'latency', tunnelId, firstByte: [latencyCell(ms), 1], total: [latencyCell(2 * ms), 1] },
  ...{ status: [0, 0, 0, 0, 0, 0].with(Math.floor(status / 100) - 1, 1), bytesIn: 1, bytesOut: 1, connections: 0 },
});

test('alerts: a lost tunnel fires after for_minutes, once, and recovers after half a minute', async () => {
  const shop = await at.tunnel('shop');
  const id = await at.rule({ kind: 'tunnel_offline', scope: { tunnel_id: shop }, for_minutes: 2 });
  await settle();
  await at.down(shop);
  await at.pass(2 * MINUTE - 10_000);
  assert.deepEqual(at.said(), []);
  await at.pass(10_000);
  assert.deepEqual(at.said(), [OFFLINE]);
  await at.pass(HOUR_MS);
  assert.deepEqual(at.said(), [], 'once');
  await at.up(shop);
  await at.pass(30_000);
  assert.deepEqual(at.said(), [], 'it may be lost again at once');
  await at.pass(10_000);
  assert.deepEqual(at.said(), [ONLINE]);
  const history = (await at.call('GET', '/alerts/history')) as unknown as ReadonlyArray<Record<string, unknown>>;
  assert.deepEqual(
    history.map(({ alert_id, state, title }) => [alert_id, state, title]),
    [[id, 'recovered', 'Tunnel shop is offline']],
  );
  const events = (await at.call('GET', '/events?limit=50')) as unknown as ReadonlyArray<{ action: string }>;
  const actions = events.map(({ action }) => action).filter((action) => action.startsWith('alert.'));
  assert.deepEqual(actions, ['alert.recover', 'alert.fire', 'alert.create']);
});

test('alerts: a tunnel that comes back in time, is paused or in maintenance does not fire', async () => {
  const [shop, api] = [await at.tunnel('shop'), await at.tunnel('orders')];
  await at.rule({ kind: 'tunnel_offline' });
  await settle();
  await at.down(shop);
  await at.pass(50_000);
  await at.up(shop);
  await at.pass(2 * MINUTE);
  await at.down(api);
  await at.call('POST', `/tunnels/${api}/stop`);
  await at.pass(2 * MINUTE);
  assert.deepEqual(at.said(), []);
});

test('alerts: tunnels that fall within half a minute are one message, and so are their recoveries', async () => {
  const ids = [await at.tunnel('a'), await at.tunnel('b'), await at.tunnel('c')];
  await at.rule({ kind: 'tunnel_offline' });
  await settle();
  for (const id of ids) {
    await at.down(id);
    await at.pass(10_000);
  }
  await at.pass(2 * MINUTE);
  assert.deepEqual(at.said(), ['alert.fired: 3 tunnels are offline']);
  for (const id of ids) {
    await at.up(id);
    await at.pass(10_000);
  }
  await at.pass(2 * MINUTE);
  assert.deepEqual(at.said(), ['alert.recovered: Resolved: 3 tunnels are offline']);
});

test('alerts: a restart sends nothing twice, and gives agents time to come back', async () => {
  const [shop, api] = [await at.tunnel('shop'), await at.tunnel('orders')];
  await at.rule({ kind: 'tunnel_offline' });
  await settle();
  await at.down(shop);
  await at.pass(2 * MINUTE);
  assert.deepEqual(at.said(), [OFFLINE]);
  at.plane.now += 10 * MINUTE;
  await at.restart();
  await at.report({
    kind: 'agent',
    agentId: api,
    tunnelId: api,
    online: false,
    lost: true,
    at: at.plane.now - 5 * MINUTE,
  });
  await at.look();
  await at.pass(50_000);
  assert.deepEqual(at.said(), [], 'the agent of api has not come back yet, and shop is known');
  await at.up(api);
  await at.pass(5 * MINUTE);
  assert.deepEqual(at.said(), []);
  await at.up(shop);
  await at.pass(MINUTE);
  assert.deepEqual(at.said(), [ONLINE], 'what fired before the restart recovers');
});

test('alerts: what happens in quiet hours is one message at their end, unless it was solved', async () => {
  const [shop, api, web] = [await at.tunnel('shop'), await at.tunnel('orders'), await at.tunnel('invoices')];
  // The clock of a plane starts at midnight, UTC.
  const quiet_hours = { from: '22:00', to: '03:00', time_zone: 'UTC' };
  await at.rule({ kind: 'tunnel_offline', quiet_hours });
  await settle();
  await at.down(shop);
  await at.pass(10 * MINUTE);
  await at.up(shop);
  await at.pass(10 * MINUTE);
  await at.down(api);
  await at.pass(10 * MINUTE);
  await at.down(web);
  await at.pass(2 * HOUR_MS);
  assert.deepEqual(at.said(), []);
  await at.pass(HOUR_MS);
  assert.deepEqual(at.said(), ['alert.fired: 2 tunnels are offline']);
});

test('alerts: it is said again each day, for a week', async () => {
  const shop = await at.tunnel('shop');
  await at.rule({ kind: 'tunnel_offline' });
  await settle();
  await at.down(shop);
  await at.pass(2 * MINUTE);
  assert.deepEqual(at.said(), [OFFLINE]);
  for (let day = 0; day < 9; day++) {
    at.plane.now += DAY_MS;
    await at.look();
  }
  assert.deepEqual(at.said(), Array(7).fill('alert.reminder: Still: Tunnel shop is offline'));
});

test('alerts: a rule that flaps sends twelve messages an hour, and the rest together', async () => {
  const shop = await at.tunnel('shop');
  await at.rule({ kind: 'tunnel_offline' });
  await settle();
  for (let time = 0; time < 20; time++) {
    await at.down(shop);
    await at.pass(70_000);
    await at.up(shop);
    await at.pass(50_000);
  }
  const said = at.said().length;
  assert.ok(said >= 10 && said <= 12, `${said} messages`);
});

test('alerts: the error rate fires when it lasts, stays as it is without requests, and recovers', async () => {
  const shop = await at.tunnel('shop');
  await at.rule({ kind: 'error_rate', threshold: 0.5, scope: { tunnel_id: shop } });
  await settle();
  const request = (status: number) => at.report(requests(shop, { status, ms: 5 }));
  await request(500);
  await at.pass(3 * MINUTE);
  assert.deepEqual(at.said(), [], 'one request is not a minute');
  for (let time = 0; time < 8; time++) {
    await request(502);
    await at.pass(10_000);
  }
  assert.deepEqual(at.said(), ['alert.fired: 100 % of requests to tunnel shop fail']);
  await at.pass(5 * MINUTE);
  assert.deepEqual(at.said(), [], 'no request, no verdict');
  for (let time = 0; time < 12; time++) {
    await request(200);
    await at.pass(10_000);
  }
  assert.deepEqual(at.said(), ['alert.recovered: The error rate of tunnel shop is below its limit again']);
});

test('alerts: latency fires by the time to the first byte, and recovers once there are no requests', async () => {
  const shop = await at.tunnel('shop');
  await at.rule({ kind: 'latency_p95', threshold: 200 });
  await settle();
  for (let time = 0; time < 9; time++) {
    await at.report(requests(shop, { status: 200, ms: 150 }));
    await at.pass(10_000);
  }
  assert.deepEqual(at.said(), [], 'the last byte does not count');
  for (let time = 0; time < 9; time++) {
    await at.report(requests(shop, { status: 200, ms: 500 }));
    await at.pass(10_000);
  }
  const [fired, ...rest] = at.said();
  assert.match(fired ?? '', /^alert\.fired: Tunnel shop is slow: p95 is (4[89]\d|5[01]\d) ms$/);
  assert.deepEqual(rest, []);
  await at.pass(13 * MINUTE);
  assert.deepEqual(at.said(), ['alert.recovered: The latency of tunnel shop is below its limit again']);
});

test('alerts: an agent from a new address is reported once, and known ones are not', async () => {
  const connection = (remoteIp: string) => ({
    ...{ agentId: remoteIp, orgId: at.ann.home, tokenId: 't', remoteIp, hostname: 'laptop', version: '1' },
    ...{ connectedAt: at.plane.now, tunnelIds: [], uninspectedIds: [], networkIds: [] },
  });
  at.connections = [connection('198.51.100.7')];
  await at.rule({ kind: 'new_address' });
  await at.pass(MINUTE);
  assert.deepEqual(at.said(), []);
  at.connections.push(connection('198.51.100.8'), connection('2001:db8::1'));
  await at.pass(MINUTE);
  assert.deepEqual(at.said(), ['alert.fired: 2 agents connected from new addresses']);
  // Another address of the same network.
  at.connections = [connection('2001:db8::2')];
  await at.pass(MINUTE);
  // A session that has ended already.
  await at.report({
    ...{ kind: 'session_end', agentId: 'a0000000-0000-4000-8000-000000000001', orgId: at.ann.home, tokenId: 't' },
    ...{ remoteIp: '198.51.100.9', hostname: 'ci', startedAt: at.plane.now - 5_000, endedAt: at.plane.now },
    ...{ reason: 'agent_left', message: '' },
  });
  await at.pass(MINUTE);
  assert.deepEqual(at.said(), ['alert.fired: An agent connected from a new address: 198.51.100.9']);
});

test('alerts: a rule that is disabled says nothing, and one for all tunnels leaves old ones alone', async () => {
  const [old, shop] = [await at.tunnel('old'), await at.tunnel('shop')];
  await at.down(old);
  await at.pass(HOUR_MS);
  const id = await at.rule({ kind: 'tunnel_offline' });
  await at.pass(10 * MINUTE);
  assert.deepEqual(at.said(), [], 'old was offline long before');
  await at.down(shop);
  await at.pass(40_000);
  await at.call('PATCH', `/alerts/${id}`, { enabled: false });
  await at.pass(10 * MINUTE);
  assert.deepEqual(at.said(), []);
});
