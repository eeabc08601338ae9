/** Differences of audit entries: fields, secrets, and bounds. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { changesBetween, MAX_CHANGED_TEXT, MAX_CHANGES, partlySecretChange, secretChange } from './audit-changes.ts';

test('audit changes: fields that differ, lists as text, absent ones as null', () => {
  assert.deepEqual(changesBetween({ a: 1, b: ['x', 'y'], c: true, gone: 'g' }, { a: 1, b: [], c: false, fresh: 'f' }), [
    { field: 'b', from: 'x, y', to: null },
    { field: 'c', from: true, to: false },
    { field: 'gone', from: 'g', to: null },
    { field: 'fresh', from: null, to: 'f' },
  ]);
});

test('audit changes: at most so many fields and characters; a difference behind the cut is still one', () => {
  const many = Object.fromEntries(Array.from({ length: MAX_CHANGES + 1 }, (_, at) => [`f${at}`, at]));
  assert.equal(changesBetween({}, many).length, MAX_CHANGES);
  const fits = 'x'.repeat(MAX_CHANGED_TEXT);
  assert.deepEqual(changesBetween({}, { text: fits }), [{ field: 'text', from: null, to: fits }]);
  assert.deepEqual(changesBetween({ text: `${fits}1` }, { text: `${fits}2` }), [
    { field: 'text', from: `${fits}…`, to: `${fits}…` },
  ]);
});

test('audit changes: a secret is set, changed or removed, and its value is not shown', () => {
  assert.deepEqual(secretChange('password', 'set'), { field: 'password', from: null, to: 'set' });
  const origin = (url: string): string => new URL(url).origin;
  const change = (from: string | null, to: string | null) => partlySecretChange('url', [from, to], origin);
  assert.deepEqual(change('https://a.test/k1', 'https://a.test/k1'), []);
  assert.deepEqual(change('https://a.test/k1', 'https://a.test/k2'), [secretChange('url')]);
  assert.deepEqual(change('https://a.test/k1', 'https://b.test/k1'), [
    { field: 'url', from: 'https://a.test', to: 'https://b.test' },
  ]);
  assert.deepEqual(change(null, 'https://a.test/k1'), [{ field: 'url', from: null, to: 'https://a.test' }]);
});
