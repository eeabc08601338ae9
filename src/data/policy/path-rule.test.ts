import assert from 'node:assert/strict';
import { test } from 'node:test';
import { normalized, PathRule } from './path-rule.ts';

function denied(prefix: string, target: string): boolean {
  const bytes = Buffer.from(`GET ${target} HTTP/1.1`);
  return new PathRule(prefix).matches(bytes, 4, 4 + Buffer.byteLength(target));
}

// biome-ignore format: a table
const CASES: ReadonlyArray<readonly [prefix: string, target: string, denied: boolean]> = [
  ['/admin', '/admin',               true],
  ['/admin', '/admin/users',         true],
  ['/admin', '/administrator',       true],
  ['/admin', '/adm',                 false],
  ['/admin', '/shop?next=/admin',    false],
  ['/admin', '/Admin',               false],
  ['/admin', '/%61dmin',             true],
  ['/admin', '/%2561dmin',           false],
  ['/admin', '//admin',              true],
  ['/admin', '/./admin',             true],
  ['/admin', '/shop/../admin',       true],
  ['/admin', '/shop/%2e%2e/admin',   true],
  ['/admin', '/shop%2f..%2fadmin',   true],
  ['/admin', '/../../admin',         true],
  ['/admin', '/shop/..%5cadmin',     true],
  ['/admin', '/admin/../shop',       true],
  ['/admin', '/shop/./a/../b',       false],
  ['/admin/', '/admin',              false],
  ['/admin/', '/admin/.',            true],
  ['/admin/', '/admin//x',           true],
  ['/%61dmin', '/%61dmin',           true],
  ['/%61dmin', '/admin',             false],
  ['/', '/anything',                 true],
  ['/a%', '/a%',                     true],
  ['/a', '/%',                       false],
  ['/ä', '/%C3%A4',                  true],
];

test('a path is refused by its form as sent and by its normalized form', () => {
  for (const [prefix, target, expected] of CASES)
    assert.equal(denied(prefix, target), expected, `${prefix} against ${target}`);
});

test('a normalized path is one that normalizing leaves alone', () => {
  for (const path of [
    '/',
    '/a',
    '/a/',
    '/a/b',
    '//',
    '/..',
    '/a/..',
    '/a/../',
    '/a/./',
    '/.',
    '/...',
    '/a//b/',
    '/.a',
    '/a..',
  ]) {
    const bytes = Buffer.from(path);
    const once = normalized(bytes, 0, bytes.length);
    assert.equal(once[0], 47, path);
    assert.equal(normalized(once, 0, once.length).toString(), once.toString(), path);
  }
});
