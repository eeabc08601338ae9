/** Requests under way per address, over all of its connections and in both versions of HTTP; and streams of a session per tunnel. */
import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { test, type TestContext } from 'node:test';
import { FrameVisitor, request } from '../../../test/harness/h2-frames.ts';
import { until } from '../fixtures/gateway.ts';
import { httpOrigin, Rig, type RigOptions, Wire } from '../edge/testing/rig.ts';

const WITHIN = { timeout: 120_000 };

/** A service that answers `/held` when the test says so. */
async function shop(t: TestContext, options: RigOptions): Promise<{ rig: Rig; held: ServerResponse[] }> {
  const rig = await Rig.start(t, options);
  const held: ServerResponse[] = [];
  const origin = await httpOrigin(t, (asked, response) => {
    if (asked.url === '/held') held.push(response);
    else response.end('served');
  });
  await rig.serve('shop', origin.port);
  return { rig, held };
}

/** Asks until it is served: places come back when the edge hears of the end. */
async function servedOn(wire: Wire): Promise<boolean> {
  for (let n = 0; n < 200; n++) {
    wire.ask('GET /');
    if ((await wire.response()).body === 'served') return true;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  return false;
}

test(
  'beyond its limit an address is refused in both versions of HTTP, and served again when it has less under way',
  WITHIN,
  async (t) => {
    const { rig, held } = await shop(t, { limits: { maxRequestsPerIp: 5 } });
    const second = await FrameVisitor.open(rig.httpsPort);
    t.after(() => second.socket.destroy());
    for (const stream of [1, 3, 5]) second.ask(stream, request('GET', '/held'));
    const first = [await rig.visit(), await rig.visit()];
    for (const wire of first) wire.ask('GET /held');
    await until(() => held.length === 5);

    const over = await rig.visit();
    over.ask('GET /');
    const refused = await over.response();
    assert.equal(refused.status, 503);
    assert.match(refused.head, /culvert-error: overloaded/);
    assert.match(refused.head, /retry-after: \d/i);
    assert.match(refused.body, /requests from your address/);
    const elsewhere = new Wire(connect({ host: '127.0.0.1', port: rig.port, localAddress: '127.0.0.2' }));
    elsewhere.ask('GET /');
    assert.equal((await elsewhere.response()).body, 'served', 'other addresses are none of its business');
    second.ask(7, request('GET', '/'));
    await until(() => rig.node.stats().dropped['requests_per_ip'] === 2);
    assert.equal(rig.node.stats().answered['overloaded'], 2);

    (held.pop() as ServerResponse).end('at last');
    assert.equal(await servedOn(over), true);
    // What a visitor leaves behind is given back with it.
    for (const wire of first) wire.socket.resetAndDestroy();
    for (const response of held.splice(0)) response.end();
    const late = await rig.visit();
    for (let n = 0; n < 4; n++) (await rig.visit()).ask('GET /held');
    assert.equal(await servedOn(late), true);
  },
);

test('0 sets no limit, and a proxy that is trusted has none', WITHIN, async (t) => {
  const fixtures: RigOptions[] = [
    { limits: { maxRequestsPerIp: 0 } },
    { limits: { maxRequestsPerIp: 1 }, trustedProxies: ['127.0.0.0/8'] },
  ];
  for (const options of fixtures) {
    const { rig, held } = await shop(t, options);
    for (let n = 0; n < 3; n++) (await rig.visit()).ask('GET /held');
    await until(() => held.length === 3);
    const fourth = await rig.visit();
    fourth.ask('GET /');
    assert.equal((await fourth.response()).body, 'served');
  }
});
