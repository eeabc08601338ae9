import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StreamMemory } from './stream-memory.ts';

test('below the bound everybody may hold what they like', () => {
  const memory = new StreamMemory(100);
  assert.ok(memory.changed(0, 90));
  assert.ok(memory.changed(0, 10));
  assert.equal(memory.total, 100);
});

test('at the bound those give way who hold more than their share, until it is kept again', () => {
  const memory = new StreamMemory(100);
  memory.changed(0, 80);
  assert.ok(memory.changed(0, 30), 'who holds little goes on');
  assert.ok(!memory.changed(80, 80), 'who holds much does not');
  memory.changed(80, 0);
  assert.equal(memory.total, 30);
  assert.ok(memory.changed(30, 95));
});
