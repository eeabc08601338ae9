import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Throttle } from './throttle.ts';

test('passes once per period, and counts what it kept back', () => {
  let now = 0;
  const throttle = new Throttle(1_000, () => now);
  assert.deepEqual(throttle.pass(), { leftOut: 0 });
  now = 999;
  assert.deepEqual([throttle.pass(), throttle.pass()], [undefined, undefined]);
  now = 1_000;
  assert.deepEqual(throttle.pass(), { leftOut: 2 });
  now = 5_000;
  assert.deepEqual(throttle.pass(), { leftOut: 0 });
});
