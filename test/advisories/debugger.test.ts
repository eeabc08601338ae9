// built file: a flag of its own keeps the debugger shut
/** A signal opens no debugger: its sender could read every key of the server from its memory. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { spawnCulvert } from '../harness/spawned.ts';

test('SIGUSR1 ends neither server nor agent, and opens no debugger in them', { timeout: 120_000 }, async (t) => {
  const culvert = await spawnCulvert(t);
  const agent = culvert.agent(['http', '3000', '--subdomain', 'shop']);
  await agent.printed(/shop\.localhost/);
  for (const program of [culvert.server, agent]) {
    for (let i = 0; i < 3; i++) {
      process.kill(program.pid, 'SIGUSR1');
      await pause(100);
    }
    process.kill(program.pid, 0);
    assert.doesNotMatch(program.output, /debugger/i);
  }
  assert.equal((await fetch(`${culvert.apiUrl}/health`)).status, 200);
});
