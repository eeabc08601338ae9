import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ClaimPace } from './claim-pace.ts';

test('an agent binds all that its token allows, twice over, without a wait', () => {
  const pace = new ClaimPace();
  for (let i = 0; i < 2 * 1000 + 20; i++) assert.equal(pace.take(1000, 0), 0);
  assert.equal(pace.take(1000, 0), 100);
});

test('then ten claims per second go through, in order, and after a rest as many as before', () => {
  const pace = new ClaimPace();
  for (let i = 0; i < 30; i++) assert.equal(pace.take(5, 0), 0);
  assert.deepEqual([pace.take(5, 0), pace.take(5, 0), pace.take(5, 50), pace.take(5, 250)], [100, 200, 250, 150]);
  for (let i = 0; i < 30; i++) assert.equal(pace.take(5, 3_600_000), 0);
  assert.equal(pace.take(5, 3_600_000), 100);
});

test('claim pace: a clock that was set back delays no agent for long', () => {
  const pace = new ClaimPace();
  pace.take(1, 3_600_000);
  assert.equal(pace.take(1, 0), 30_000);
});
