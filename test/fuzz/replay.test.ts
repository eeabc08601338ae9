// group: fuzz
/** The short form of the fuzzer of replays. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fuzzReplay } from './replay.fuzz.ts';

test('20,000 stored heads and changes: what is sent again is one request, the one that was meant, or none', () => {
  const report = fuzzReplay({ seed: 20_261_122, cases: 20_000 });
  // Cases that are all refused, or all served, would test nothing.
  for (const ended of ['kept', 'refused', 'served'] as const) assert.ok(report[ended] > 2_000, JSON.stringify(report));
  assert.equal(report.kept + report.refused + report.served, 20_000);
});
