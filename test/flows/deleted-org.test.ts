/** An organization is deleted under a live agent: real server, real agent. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startCulvert, startOrigin } from '../harness.ts';

test('the agents of a deleted organization end as not authorized and say why', async (t) => {
  const culvert = await startCulvert(t);
  const { account: owner } = culvert;
  const { body } = await owner.call('GET', '/auth/me');
  const org = body['active_org'] as { id: string; name: string };
  assert.equal((await owner.call('POST', '/orgs', { name: 'Other' })).status, 201);
  const origin = await startOrigin(t, (_request, response) => response.end('hello'));
  const shop = await culvert.publish('http', origin.port, { subdomain: 'shop' });
  assert.equal((await culvert.get(shop.url)).body, 'hello');

  assert.equal((await owner.call('DELETE', `/orgs/${org.id}`)).status, 200);

  await shop.agent.done;
  const end = shop.events.at(-1);
  assert.ok(end?.kind === 'stopped', JSON.stringify(end));
  assert.deepEqual(
    [end.reason.code, end.reason.message],
    [3, `The organization ${org.name} was deleted. Use a key of another one.`],
  );
  assert.equal((await culvert.get(shop.url)).status, 404);
});
