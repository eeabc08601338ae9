import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SlotMap } from './slots.ts';

test('a number given back is the last to be given again', () => {
  const slots = new SlotMap<{ slot: number }>();
  const take = (): { slot: number } => slots.take((slot) => ({ slot }));
  const kept = take();
  let last = take();
  for (let i = 2; i < 65_536; i++) {
    assert.equal(slots.free(last.slot, last), true);
    last = take();
    assert.equal(last.slot, i);
  }
  slots.free(last.slot, last);
  assert.equal(take().slot, 1, 'after all others, and past the one in use');
  assert.equal(slots.get(0), kept);
});

test('only the holder of a number gives it back', () => {
  const slots = new SlotMap<{ slot: number }>();
  const first = slots.take((slot) => ({ slot }));
  assert.equal(slots.free(first.slot, { slot: first.slot }), false);
  assert.equal(slots.size, 1);
  assert.equal(slots.free(first.slot, first), true);
  assert.equal(slots.free(first.slot, first), false);
});
