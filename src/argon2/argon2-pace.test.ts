import assert from 'node:assert/strict';
import { test } from 'node:test';
import { busyShare, machineTime, paceFor } from './argon2-pace.ts';

test('a quiet machine lets every thread run without rest', () => {
  for (const busy of [0, 0.3, 0.55]) {
    const pace = paceFor(busy, 2);
    assert.deepEqual([pace.threads, pace.rest(15)], [2, 0]);
  }
  assert.equal(paceFor(0, 1).threads, 1);
});

test('a busy one leaves the threads a fourteenth of one core, and less rest the less busy it is', () => {
  const full = paceFor(0.95, 2);
  assert.equal(full.threads, 1);
  assert.equal(15 / (15 + full.rest(15)), 1 / 14);
  assert.equal(paceFor(0.75, 2).rest(15), full.rest(15));
  const between = [0.6, 0.65, 0.7].map((busy) => paceFor(busy, 2).rest(15));
  assert.deepEqual(
    between,
    [...between].sort((a, b) => a - b),
  );
  assert.ok((between[0] ?? 0) > 0 && (between[2] ?? 0) < full.rest(15));
});

test('a run that was kept waiting for its processor is no reason to wait for longer', () => {
  assert.equal(paceFor(1, 2).rest(3_000), 200);
});

test('argon2: no thread pauses when cores are free', () => {
  assert.deepEqual([paceFor(1, 4).threads, paceFor(1, 4).rest(15)], [2, 0]);
});

test('what threads of low priority take is not busy', () => {
  const cpu = (times: { user: number; nice: number; idle: number }) => ({
    model: '',
    speed: 0,
    times: { sys: 0, irq: 0, ...times },
  });
  const from = machineTime([cpu({ user: 100, nice: 0, idle: 0 }), cpu({ user: 0, nice: 0, idle: 100 })]);
  const to = machineTime([cpu({ user: 150, nice: 50, idle: 0 }), cpu({ user: 0, nice: 100, idle: 100 })]);
  assert.equal(busyShare(from, to), 0.25);
  assert.equal(busyShare(to, to), 0);
});
