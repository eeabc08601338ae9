/** A data thread that stands still, and that Node can't end either, ends the whole process: a service manager starts a whole server. */
// group: slow
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { faultyEnv, injectFault } from '../harness/injected-faults.ts';
import { spawnCulvert } from '../harness/spawned.ts';

test('crash: a data thread whose heap is collected for ever ends the server within a minute', {
  timeout: 120_000,
}, async (t) => {
  const culvert = await spawnCulvert(t, { env: faultyEnv(t, '--max-old-space-size=128'), takesPreload: true });
  await injectFault(culvert.folder, 'data', 'stuck');
  assert.equal(await culvert.server.ended(), null, 'by SIGKILL');
  assert.match(culvert.server.output, /the data thread has not responded for 30 s/);
  assert.match(culvert.server.output, /fatal error: the data thread can't be stopped, so the server exits immediately/);
});
