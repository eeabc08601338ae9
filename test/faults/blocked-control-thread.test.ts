/** A control thread that does not answer: visitors of tunnels that are there notice nothing, and an agent that comes is asked to come again. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TestAgent } from '../../src/data/fixtures/agent.ts';
import { faultyEnv, injectFault, isBlocked, release } from '../harness/injected-faults.ts';
import { startOrigin } from '../harness/origin.ts';
import { spawnCulvert } from '../harness/spawned.ts';
import { get } from '../harness/visitor.ts';

const VISITS = 200;

test('blocked control thread: visitors are served, a new agent is asked to retry, and comes in afterwards', {
  timeout: 120_000,
}, async (t) => {
  const origin = await startOrigin(t, (_request, response) => response.end('hello'));
  const toml = '[agents.limits]\nhandshake_timeout_seconds = 3\n';
  const culvert = await spawnCulvert(t, { env: faultyEnv(t), takesPreload: true, toml });
  const { folder, ports, token } = culvert;
  const url = await culvert.agent(['http', String(origin.port), '--subdomain', 'shop']).printed(/^(http:\S+)$/m);
  await injectFault(folder, 'control', 'block');

  const visit = async (): Promise<void> => {
    const { status, body } = await get(url, ports.http);
    assert.deepEqual({ status, body }, { status: 200, body: 'hello' });
  };
  await visit();
  const agent = await TestAgent.connect(ports.agents);
  t.after(() => agent.destroy());
  agent.hello(token);
  for (let n = 0; n < VISITS; n++) await visit();
  const { code, message } = await agent.next('bye');
  assert.deepEqual(
    { code, message },
    { code: 'overloaded', message: 'The server could not check the access key in time. The agent will retry.' },
  );
  assert.ok(isBlocked(folder, 'control'), 'all of it while the control thread stood still');

  release(folder, 'control');
  const again = await TestAgent.enter(ports.agents, token);
  t.after(() => again.destroy());
  assert.equal((await again.bind('other')).type, 'bound');
});
