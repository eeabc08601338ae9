import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SLAB_BYTES, SlabPool } from './slab.ts';

test('slab: an unheld slab goes back when its reader moves on', () => {
  const pool = new SlabPool();
  const slab = pool.take();
  assert.equal(slab.bytes.length, SLAB_BYTES);
  slab.retire();
  assert.equal(pool.take(), slab);
});

test('a held slab goes back with its last hold, not before, and once', () => {
  const pool = new SlabPool();
  const slab = pool.take();
  slab.hold();
  slab.hold();
  slab.retire();
  assert.notEqual(pool.take(), slab);
  slab.release();
  assert.equal(slab.held, true);
  assert.notEqual(pool.take(), slab);
  slab.release();
  assert.equal(pool.take(), slab);
  assert.notEqual(pool.take(), slab);
});

test('keeps no more than 64 free slabs', () => {
  const pool = new SlabPool();
  const taken = Array.from({ length: 70 }, () => pool.take());
  for (const slab of taken) slab.retire();
  const again = new Set(Array.from({ length: 70 }, () => pool.take()));
  assert.equal(taken.filter((slab) => again.has(slab)).length, 64);
});

test('the shared slab is never given out', () => {
  const pool = new SlabPool();
  assert.equal(pool.shared.shared, true);
  assert.notEqual(pool.take(), pool.shared);
});
