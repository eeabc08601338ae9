/** Keys that a master key minted, under live agents: real server, real agents. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startCulvert, startOrigin } from '../harness.ts';
import { Account } from '../harness/account.ts';
import { OwnClock } from '../harness/own-clock.ts';

test('the agents of all that a master key minted end within a second of its revocation, and say why', async (t) => {
  const culvert = await startCulvert(t);
  const { account: owner } = culvert;
  assert.equal((await owner.call('POST', '/projects', { slug: 'web', name: 'Web' })).status, 201);
  const { body: master } = await owner.call('POST', '/tokens/master', { name: 'factory' });
  const ci = new Account(owner.apiUrl, String(master['apiKey']));
  const keyFor = async (name: string): Promise<string> => {
    const { status, body } = await ci.call('POST', '/projects/web/tokens', { name, allowed_subdomains: [name] });
    assert.equal(status, 200, JSON.stringify(body));
    return String(body['apiKey']);
  };
  const origin = await startOrigin(t, (_request, response) => response.end('hello'));
  const [one, two] = [await keyFor('one'), await keyFor('two')];
  const agents = [
    await culvert.publish('http', origin.port, { subdomain: 'one', token: one }),
    await culvert.publish('http', origin.port, { subdomain: 'two', token: two }),
  ];
  const spared = await culvert.publish('http', origin.port, { subdomain: 'shop' });
  assert.match(new URL(agents[0]?.url ?? '').hostname, /^one-web\./);
  for (const { url } of agents) assert.equal((await culvert.get(url)).body, 'hello');

  const own = new OwnClock();
  const { body } = await owner.call('DELETE', `/tokens/${String(master['nonce'])}`);
  assert.equal(body['revoked'], 3);
  for (let live = 3; live > 1; ) live = Object.keys((await owner.call('GET', '/connections')).body).length;
  assert.ok(own.ms < 1_000, `${own.ms} ms`);
  await Promise.all(agents.map(({ agent }) => agent.done));

  for (const [i, { events, url }] of agents.entries()) {
    const end = events.at(-1);
    assert.ok(end?.kind === 'stopped', JSON.stringify(end));
    assert.deepEqual(
      [end.reason.code, end.reason.message],
      [3, `The access key ${i === 0 ? 'one' : 'two'} was revoked. Create another one.`],
    );
    assert.equal((await culvert.get(url)).status, 503);
  }
  assert.equal((await culvert.get(spared.url)).body, 'hello');
});

test('an agent that shows a master key is sent away at the handshake', async (t) => {
  const culvert = await startCulvert(t);
  const { body } = await culvert.account.call('POST', '/tokens/master', { name: 'factory' });
  const admitted = culvert.publish('http', 9, { subdomain: 'shop', token: String(body['apiKey']) });
  await assert.rejects(admitted, /master key/i);
});
