import assert from 'node:assert/strict';
import { test } from 'node:test';
import { normalized } from './path-readings.ts';
import { PathRule } from './path-rule.ts';

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
  ['/', '*',                         true],
  ['/', '',                          true],
  ['/', '?x=/',                      true],
  ['/admin', '*',                    false],
  ['/admin', '?/admin',              false],
];

/** What some service reads as the prefix and the normalized form does not show, and by whom. */
const READ_BY: Readonly<Record<string, ReadonlyArray<readonly [prefix: string, target: string]>>> = {
  'URL parsers of browsers and JavaScript': [
    ['/admin', '/x%2fy/../admin'],
    ['/admin', '/x%2Fy/%2e%2E/admin'],
    ['/admin', '//x/admin'],
    ['/admin', '/\\x/admin'],
    ['/admin', '//x:80/a/../admin'],
    ['/admin', '///x/admin'],
    ['/a/b', '/a/x//../../b'],
    ['/a/b', '/a/x\\y/../..\\b'],
  ],
  'what resolves before it decodes': [
    ['/a/b', '/a/%2e%2e/../b'],
    ['/admin', '/x%5cy/../admin'],
  ],
  'what takes a backslash for a letter': [
    ['/admin', '/x\\y/../admin'],
    ['/admin', '/x/..\\y/../../admin'],
  ],
  'what keeps empty segments': [['/a/b', '/a/x%2f/../../b']],
  'servlet containers': [
    ['/admin', '/x/..;/admin'],
    ['/admin', '/x/..;a=b/admin'],
    ['/admin', '/;/admin'],
    ['/admin', '/;x/admin;y'],
    ['/admin', '/x/%2e%2e;/%61dmin'],
    ['/admin', '/a;b/..;c/admin/x'],
  ],
  'what decodes and resolves nothing': [['/admin', '/%61dmin/../x']],
};

const ALIKE = [
  '/shop;v=1/list',
  '/a//b',
  '/shop/..;/x',
  '/a/../../b',
  '//shop',
  '/x%2fy',
  '/.well-known/x',
  '/a\\b',
  '/admi%6e%',
];

test('a path is refused by its form as sent and by its normalized form', () => {
  for (const [prefix, target, expected] of CASES)
    assert.equal(denied(prefix, target), expected, `${prefix} against ${target}`);
});

test('a path is refused in whatever form some service reads the prefix', () => {
  for (const [who, cases] of Object.entries(READ_BY))
    for (const [prefix, target] of cases) assert.ok(denied(prefix, target), `${prefix} against ${target}: ${who}`);
  for (const target of ALIKE) assert.equal(denied('/admin', target), target === '/admi%6e%', target);
});

test('the readings agree with the URL parser of this very process', () => {
  const parts = ['a', 'b', '.', '..', '%2e%2e', '%2E', '', '/', '\\', 'x%2fy', ';p', '%61', 'a;b'];
  let state = 20_261_121;
  const next = (of: number): number => (state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0) % of;
  for (let n = 0; n < 20_000; n++) {
    const path = `/${Array.from({ length: 1 + next(6) }, () => parts[(next(65_521) >>> 3) % parts.length]).join('/')}`;
    if (!URL.canParse(path, 'http://host.test')) continue;
    const { pathname } = new URL(path, 'http://host.test');
    for (const prefix of ['/a', '/b', '/a/b', '/b/a'])
      if (pathname.startsWith(prefix))
        assert.ok(denied(prefix, path), `${prefix} against ${path}, which is ${pathname}`);
  }
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
