/** Limits that are lowered under live agents, with real processes: one loses its name, the other goes on. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { get, startOrigin } from '../../../../test/harness.ts';
import { spawnCulvert } from '../../../../test/harness/spawned.ts';

const PATIENCE_MS = 20_000;

test('limits: a live agent loses a name that its key no longer allows; another agent of the key goes on', {
  timeout: 120_000,
}, async (t) => {
  const culvert = await spawnCulvert(t);
  const { port } = await startOrigin(t, (_request, response) => response.end('hello'));
  const { body: key } = await culvert.account.call('POST', '/tokens', { name: 'ci' });
  const serve = async (subdomain: string) => {
    const agent = culvert.agent(['http', String(port), '--subdomain', subdomain, '--json'], {
      token: String(key['apiKey']),
    });
    await agent.printed(/"tunnel_online"/);
    assert.equal((await get(`http://${subdomain}.localhost`, culvert.ports.http)).body, 'hello');
    return agent;
  };
  const shop = await serve('shop');
  await serve('pr-1');
  const path = `/tokens/${String(key['nonce'])}`;
  const changed = await culvert.account.call('PATCH', path, { allowedSubdomains: ['pr-*'] });
  assert.equal(changed.status, 200);
  assert.equal(changed.body['lastUsedIp'], '127.0.0.1');
  await shop.printed(/does not allow shop/);
  assert.notEqual((await get('http://shop.localhost', culvert.ports.http)).body, 'hello');
  assert.equal((await get('http://pr-1.localhost', culvert.ports.http)).body, 'hello');
  const end = performance.now() + PATIENCE_MS;
  const tunnels = async () => (await culvert.account.call('GET', path)).body['serving'] as { tunnels: number };
  while ((await tunnels()).tunnels !== 1) {
    assert.ok(performance.now() < end, 'one tunnel is left');
    await sleep(50);
  }
});
