import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ALWAYS_BYTES, StreamMemory } from './stream-memory.ts';

const MB = 1 << 20;

test('stream memory: below the limit every stream holds what it likes', () => {
  const memory = new StreamMemory(100 * MB);
  assert.ok(memory.changed(0, 90 * MB));
  assert.ok(memory.changed(0, 10 * MB));
  assert.equal(memory.total, 100 * MB);
});

test('at the bound those give way who hold more than their share, until it is kept again', () => {
  const memory = new StreamMemory(100 * MB);
  memory.changed(0, 80 * MB);
  assert.ok(memory.changed(0, 30 * MB), 'who holds little goes on');
  assert.ok(!memory.changed(80 * MB, 80 * MB), 'who holds much does not');
  memory.changed(80 * MB, 0);
  assert.equal(memory.total, 30 * MB);
  assert.ok(memory.changed(30 * MB, 95 * MB));
});

test('who holds no more than one answer may take never gives way', () => {
  const memory = new StreamMemory(100 * MB);
  for (let i = 0; i < 200; i++) assert.ok(memory.changed(0, ALWAYS_BYTES));
  assert.equal(memory.total, 200 * ALWAYS_BYTES);
  assert.ok(!memory.changed(0, ALWAYS_BYTES + 1));
});
