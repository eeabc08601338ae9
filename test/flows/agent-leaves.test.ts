/** An agent that is stopped in order is reported as left, and not as lost. Server and agent are processes of their own. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { spawnCulvert } from '../harness/spawned.ts';

test('an agent that is stopped says that it leaves', { timeout: 120_000 }, async (t) => {
  const culvert = await spawnCulvert(t);
  const agent = culvert.agent(['http', '1', '--subdomain', 'shop']);
  await agent.printed(/^(http:\S+)$/m);
  assert.equal(await agent.stop(), 0);
  const ended = async () => (await culvert.account.call('GET', '/connections/ended')).body as unknown as Ended[];
  while ((await ended()).length === 0) await pause(50);
  assert.deepEqual(
    (await ended()).map(({ reason }) => reason),
    ['agent_left'],
  );
});

interface Ended {
  readonly reason: string;
}
