/** 10,000 mixed requests: no byte is lost or changed, what is broken off is seen as broken off, and nothing is left over. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describe, runSoak } from './mixed.ts';

const REQUESTS = 10_000;

test(`${REQUESTS} mixed requests with aborts and slow readers`, { timeout: 280_000 }, async (t) => {
  const seed = Number(process.env['CULVERT_SEED'] ?? Date.now() % 1_000_000);
  t.diagnostic(`seed ${seed}: npm run soak -- --seed ${seed} does the same again`);
  const report = await runSoak(t, { requests: REQUESTS, seed, visitors: 48 });
  for (const line of describe(report)) t.diagnostic(line);
  assert.deepEqual(report.faults, []);
  // Each kind of end has been seen: a soak in which nothing is broken off shows nothing.
  for (const kind of ['whole', 'seen as broken off', 'left by the visitor', 'refused by the edge']) {
    assert.ok((report.tally.get(kind) ?? 0) > REQUESTS / 200, `${kind}: ${report.tally.get(kind)}`);
  }
  assert.ok(report.kills > 0, 'no agent was killed');
});
