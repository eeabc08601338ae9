/** The clock of the dashboard: one timer per interval, and none while unused. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { onTick } from '../../src/dashboard/parts/time/now.ts';

test('clock: a thousand listeners share a timer, and the last one stops it', (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const begun = t.mock.method(globalThis, 'setInterval');
  let ticks = 0;
  const ends = Array.from({ length: 1000 }, () => onTick(5000, () => (ticks += 1)));
  const endOther = onTick(30_000, () => {});
  assert.equal(begun.mock.callCount(), 2);
  t.mock.timers.tick(5000);
  assert.equal(ticks, 1000);
  for (const end of ends) end();
  // Again, as in strict mode: it removes no other listener.
  ends[0]?.();
  t.mock.timers.tick(60_000);
  assert.equal(ticks, 1000);
  const again = onTick(5000, () => (ticks += 1));
  t.mock.timers.tick(5000);
  assert.equal(ticks, 1001);
  again();
  endOther();
});
