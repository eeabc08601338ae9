/**
 * What Prometheus itself says of metrics and alarms. A subtest of the test that made them, so that all else is judged where it is not installed:
 *
 *   await t.test('promtool has nothing to say', NEEDS_PROMTOOL, () => checkMetrics(text));
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { missing } from './tools.ts';

export const NEEDS_PROMTOOL = { skip: missing('promtool') };

export function checkMetrics(text: string): void {
  const { status, stdout, stderr } = spawnSync('promtool', ['check', 'metrics'], { input: text, encoding: 'utf8' });
  assert.deepEqual([status, stdout, stderr], [0, '', '']);
}

/** `file`: of rules. */
export function checkRules(file: string): void {
  const { status, stdout, stderr } = spawnSync('promtool', ['check', 'rules', file], { encoding: 'utf8' });
  assert.equal(status, 0, stderr + stdout);
}
