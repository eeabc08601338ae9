import assert from 'node:assert/strict';
import { test } from 'node:test';
import { paceFor } from './argon2-pace.ts';

test('a quiet event loop lets every thread run without rest', () => {
  for (const utilization of [0, 0.3, 0.5]) {
    const pace = paceFor(utilization, 2);
    assert.deepEqual([pace.threads, pace.rest(15)], [2, 0]);
  }
  assert.equal(paceFor(0, 1).threads, 1);
});

test('a busy one leaves the threads a fourteenth of one core, and less rest the less busy it is', () => {
  const busy = paceFor(0.95, 2);
  assert.equal(busy.threads, 1);
  assert.equal(15 / (15 + busy.rest(15)), 1 / 14);
  assert.equal(paceFor(0.8, 2).rest(15), busy.rest(15));
  const between = [0.55, 0.65, 0.75].map((utilization) => paceFor(utilization, 2).rest(15));
  assert.deepEqual(
    between,
    [...between].sort((a, b) => a - b),
  );
  assert.ok((between[0] ?? 0) > 0 && (between[2] ?? 0) < busy.rest(15));
});

test('where there are cores to spare nobody rests', () => {
  assert.deepEqual([paceFor(1, 4).threads, paceFor(1, 4).rest(15)], [2, 0]);
});
