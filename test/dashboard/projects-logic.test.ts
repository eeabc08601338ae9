import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hostIn, isSlug, slugFrom } from '../../src/dashboard/pages/projects/project-slug.ts';

test('project slug: valid for the server, or absent', () => {
  const names = ['Web shop (new)', ' Ümläut ', '--a--', '日本', 'x'.repeat(80), 'A'];
  assert.deepEqual(names.map(slugFrom), ['web-shop-new', 'umlaut', 'a', '', 'x'.repeat(63), 'a']);
  // Cut where a dash would stand at the end.
  assert.equal(slugFrom(`${'x'.repeat(62)} y`), 'x'.repeat(62));
  for (const name of names) assert.ok(slugFrom(name) === '' || isSlug(slugFrom(name)), name);
});

test('project slug: no dash at either end, one to 63 characters', () => {
  const good = ['a', '0', 'a-b', 'x'.repeat(63)];
  const bad = ['', '-a', 'a-', 'A', 'a_b', 'x'.repeat(64), 'a.b'];
  assert.deepEqual([...good, ...bad].map(isSlug), [...good.map(() => true), ...bad.map(() => false)]);
});

test('tunnel name: ends with the slug of its project, except in the default project', () => {
  assert.equal(hostIn({ slug: 'shop', isDefault: false }, 'pr-7', 'example.com'), 'pr-7-shop.example.com');
  assert.equal(hostIn({ slug: 'default', isDefault: true }, 'pr-7', 'example.com'), 'pr-7.example.com');
});
