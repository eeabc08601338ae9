/** An agent is killed: after how many seconds the alert says so, and that the tunnel is back. */
// group: slow
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { startOrigin } from '../harness.ts';
import { spawnCulvert } from '../harness/spawned.ts';

const PATIENCE_MS = 120_000;

test('alerts: an agent that is killed is reported after a minute, and its return', { timeout: 300_000 }, async (t) => {
  const culvert = await spawnCulvert(t, { edge: 'allow_private_jwks = true' });
  const titles: string[] = [];
  const taker = await startOrigin(t, (request, response) => {
    titles.push(String(request.headers['title']));
    request.resume().on('end', () => response.end());
  });
  const { port } = await startOrigin(t, (_request, response) => response.end('hello'));
  const channels = [{ type: 'ntfy', url: `http://127.0.0.1:${taker.port}/topic` }];
  const made = await culvert.account.call('POST', '/alerts', { kind: 'tunnel_offline', for_minutes: 1, channels });
  assert.equal(made.status, 201, JSON.stringify(made.body));
  const serve = async (): Promise<{ kill(): void }> => {
    const agent = culvert.agent(['http', String(port), '--subdomain', 'shop', '--json']);
    await agent.printed(/"tunnel_online"/);
    return agent;
  };
  /** Seconds until so many messages have come. */
  const until = async (count: number): Promise<number> => {
    const began = performance.now();
    while (titles.length < count) {
      assert.ok(performance.now() - began < PATIENCE_MS, `no message: ${titles.join(', ')}`);
      await sleep(50);
    }
    return (performance.now() - began) / 1000;
  };
  (await serve()).kill();
  const lost = await until(1);
  await serve();
  const back = await until(2);
  t.diagnostic(`${lost.toFixed(1)} s after the kill, ${back.toFixed(1)} s after the return`);
  assert.deepEqual(titles, ['Tunnel shop is offline', 'Tunnel shop is no longer offline']);
  assert.ok(lost >= 60 && lost < 90 && back >= 30 && back < 60, `${lost} s, ${back} s`);
});
