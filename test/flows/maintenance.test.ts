/** Maintenance on the whole product: on by the API, over when the agent leaves. */
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { test } from 'node:test';
import { startCulvert, startOrigin } from '../harness.ts';

test('maintenance: visitors get its page until the agent leaves', { timeout: 120_000 }, async (t) => {
  const culvert = await startCulvert(t);
  let asked = 0;
  const origin = await startOrigin(t, (_request, response) => {
    asked++;
    response.end('open');
  });
  const first = await culvert.publish('http', origin.port, { subdomain: 'shop' });
  const tunnels = async () =>
    (await culvert.account.call('GET', '/tunnels')).body as unknown as Array<{ id: string; maintenance: boolean }>;
  const path = `/tunnels/${(await tunnels())[0]?.id}/maintenance`;
  const begun = await culvert.account.call('PUT', path, { message: 'Back at <six>.' });
  assert.equal(begun.status, 200);
  const closed = await culvert.get(`${first.url}/`);
  assert.deepEqual([closed.status, closed.code], [503, 'maintenance']);
  assert.deepEqual(JSON.parse(closed.body), { error: 'maintenance', message: 'Back at <six>.' });
  assert.equal((await culvert.account.call('DELETE', path)).status, 200);
  assert.equal((await culvert.get(`${first.url}/`)).body, 'open');
  assert.equal(asked, 1);

  assert.equal((await culvert.account.call('PUT', path)).status, 200);
  first.agent.destroy();
  await first.agent.done;
  // Data nodes tell what happened once a second; nothing outside of the server says when.
  while ((await tunnels())[0]?.maintenance !== false) await sleep(50);
  assert.equal((await culvert.get(`${first.url}/`)).code, 'tunnel_offline');
  const second = await culvert.publish('http', origin.port, { subdomain: 'shop' });
  assert.equal((await culvert.get(`${second.url}/`)).body, 'open');
});
