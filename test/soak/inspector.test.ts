/** The inspector under full load, in short: every request is counted, and nothing is left over. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeInspector, runInspectorSoak } from './inspector.ts';

test('more requests than may be recorded are all counted, and memory stays flat', { timeout: 120_000 }, async (t) => {
  const report = await runInspectorSoak(t, { seconds: 12, visitors: 24, tunnels: 3, perSecond: 5 });
  for (const line of describeInspector(report)) t.diagnostic(line);
  assert.deepEqual(report.faults, []);
  // The bound was met: a soak in which all is recorded shows nothing.
  assert.ok((report.dropped['tunnel_rate'] ?? 0) > 0);
  assert.ok(report.recorded > 0);
});
