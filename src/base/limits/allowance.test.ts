import assert from 'node:assert/strict';
import test from 'node:test';
import { Allowance } from './allowance.ts';

/** How many there are at `nowMs`. */
function take(allowance: Allowance, nowMs: number): number {
  let taken = 0;
  for (; taken < 1_000 && allowance.hasOne(nowMs); taken++) allowance.spend();
  return taken;
}

test('the burst comes at once, then so many per second, and no more than the burst is saved up', () => {
  const allowance = new Allowance({ perSecond: 10, burst: 5 }, 1_000);
  assert.equal(take(allowance, 1_000), 5);
  assert.equal(take(allowance, 1_099), 0);
  assert.equal(take(allowance, 1_300), 3);
  assert.equal(take(allowance, 60_000), 5);
});

test('it says how long it takes until there is one', () => {
  const allowance = new Allowance({ perSecond: 4, burst: 1 }, 0);
  take(allowance, 0);
  assert.equal(allowance.hasOne(100), false);
  assert.ok(Math.abs(allowance.waitMs - 150) < 1e-6);
  assert.equal(allowance.hasOne(100 + allowance.waitMs), true);
});

test('a clock that is behind takes nothing away and gives nothing', () => {
  const allowance = new Allowance({ perSecond: 1_000, burst: 2 }, 500);
  assert.equal(take(allowance, 100), 2);
  assert.equal(allowance.hasOne(400), false);
  assert.equal(allowance.hasOne(501), true);
});

test('0 per second is no limit', () => {
  assert.equal(take(new Allowance({ perSecond: 0, burst: 1 }, 0), 0), 1_000);
});
