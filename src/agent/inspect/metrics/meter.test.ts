/** Counts, rates and percentiles, with a clock that the test moves. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Meter } from './meter.ts';

test('percentiles of the latest, in nanoseconds', () => {
  const meter = new Meter(0);
  assert.deepEqual(meter.view(0), { count: 0, rate1: 0, rate5: 0, rate15: 0, p50: 0, p90: 0, p95: 0, p99: 0 });
  for (let ms = 1_000; ms >= 1; ms--) meter.mark(0, ms);
  const { count, p50, p90, p95, p99 } = meter.view(0);
  assert.deepEqual(
    [count, p50, p90, p95, p99],
    [1_000, 257e6, 461e6, 487e6, 507e6],
    'the last 512 were 512 down to 1 ms',
  );
});

test('a steady rate is found, and fades when nothing comes any more', () => {
  const meter = new Meter(0);
  for (let second = 0; second < 900; second++) for (let n = 0; n < 10; n++) meter.mark(second * 1_000, 1);
  const { rate1, rate5 } = meter.view(900_000);
  assert.ok(Math.abs(rate1 - 10) < 0.1, String(rate1));
  assert.ok(Math.abs(rate5 - 10) < 1, String(rate5));
  const later = meter.view(960_000);
  assert.ok(later.rate1 < 4 && later.rate1 > 3, String(later.rate1));
  assert.ok(meter.view(1e9).rate15 < 1e-6);
});
