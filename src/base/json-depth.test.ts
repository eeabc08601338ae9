import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isTooDeep } from './json-depth.ts';

const nested = (levels: number): Buffer => Buffer.from('['.repeat(levels) + ']'.repeat(levels));

test('as many levels as are allowed, and one more', () => {
  assert.ok(!isTooDeep(nested(32)));
  assert.ok(isTooDeep(nested(33)));
  assert.ok(isTooDeep(Buffer.from('{"a":'.repeat(33))));
  assert.ok(!isTooDeep(Buffer.from('[{}]'.repeat(1_000))), 'side by side is not deep');
});

test('json depth: brackets in strings are characters', () => {
  assert.ok(!isTooDeep(Buffer.from(JSON.stringify({ a: '['.repeat(100), '{{{{': '"['.repeat(100) }))));
  assert.ok(!isTooDeep(Buffer.from(JSON.stringify('\\"[['.repeat(100)))));
  assert.ok(isTooDeep(Buffer.from(`["\\\\",${'['.repeat(32)}`)), 'behind an escaped backslash the string ends');
});
