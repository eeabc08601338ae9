import assert from 'node:assert/strict';
import { posix } from 'node:path';
import { test } from 'node:test';
import { normalized } from './path-readings.ts';
import { PathRules } from './path-rule.ts';

function denied(prefix: string, target: string): boolean {
  const bytes = Buffer.from(`GET ${target} HTTP/1.1`);
  const rules = new PathRules(['/nowhere', prefix, '/else']);
  rules.read(bytes, 4, 4 + Buffer.byteLength(target));
  return rules.has(1);
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
  ['/%61dmin', '/admin',             true],
  ['/caf%C3%A9', '/caf%C3%A9',       true],
  ['/caf%C3%A9', '/caf%c3%a9',       true],
  ['/caf%C3%A9', '/c%61f%C3%A9',     true],
  ['/caf%C3%A9', '/café',            true],
  ['/caf%C3%A9', '/cafe',            false],
  ['/my%20files', '/m%79%20files/a', true],
  ['/a%2Db', '/a-b',                 true],
  ['/a//b', '/a/b',                  true],
  ['/a/./b/', '/a/b/c',              true],
  ['/a/../b', '/b',                  true],
  ['/a%2Fb', '/a/b',                 true],
  ['/a/b', '/a%2Fb',                 true],
  ['/.', '/.env',                    true],
  ['/.', '/%2eenv',                  true],
  ['/.', '/shop',                    false],
  ['/%2e', '/shop',                  false],
  ['/a/..', '/shop',                 false],
  ['/a/..', '/a/..b',                true],
  ['/a%4', '/a%41',                  true],
  ['/a%', '/ab',                     false],
  ['//', '//shop',                   true],
  ['//', '/shop',                    false],
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

/** Paths that some service reads as the prefix although their normalized form differs, by service. */
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
  'what takes a backslash for a plain character': [
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

const decoded = (path: string): string =>
  path.replaceAll(/%([0-9a-f]{2})/gi, (_all, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
const merged = (path: string): string => path.replaceAll(/\/+/g, '/');
const withoutParameters = (path: string): string => path.replaceAll(/;[^/]*/g, '');
/** RFC 3986 §5.2.4. */
function withoutDots(path: string): string {
  const out: string[] = [];
  const segments = path.split('/').slice(1);
  for (const [i, segment] of segments.entries()) {
    if (segment === '..') out.pop();
    if (segment !== '..' && segment !== '.') out.push(segment);
    else if (i === segments.length - 1) out.push('');
  }
  return `/${out.join('/')}`;
}

/** How services come from a target to the path that they route by. */
const READERS: Readonly<Record<string, (path: string) => string>> = {
  'as it is': (path) => path,
  'URL of JavaScript': (path) => new URL(path, 'http://host.test').pathname,
  'URL of JavaScript, decoded': (path) => decoded(new URL(path, 'http://host.test').pathname),
  decoded,
  'decoded and normalized': (path) => posix.normalize(decoded(path)),
  'normalized, then decoded': (path) => decoded(posix.normalize(path)),
  'RFC 3986': withoutDots,
  'RFC 3986, then decoded': (path) => decoded(withoutDots(path)),
  'decoded, then RFC 3986': (path) => withoutDots(decoded(path)),
  'with backslashes': (path) => posix.normalize(decoded(path).replaceAll('\\', '/')),
  'with backslashes, not decoded': (path) => posix.normalize(path.replaceAll('\\', '/')),
  'with %2f left alone': (path) => posix.normalize(decoded(path.replaceAll(/%2f/gi, '%252f')).replaceAll('%2f', '%2F')),
  'slashes merged': merged,
  'decoded, slashes merged': (path) => merged(decoded(path)),
  'without parameters': withoutParameters,
  'without parameters, decoded and normalized': (path) => posix.normalize(decoded(withoutParameters(path))),
  'without parameters, RFC 3986, decoded': (path) => decoded(withoutDots(withoutParameters(path))),
  'decoded, without parameters, normalized': (path) => posix.normalize(withoutParameters(decoded(path))),
};

// biome-ignore format: a table
const PARTS = [
  'admin', 'a', '.', '..', '%2e%2e', '.%2e', '', '\\', '%5c', 'x%2fy', '%2f', '..%2f', '%2f..', ';p', '..;', 'a;b', '%61dmin', '..%5c', '\\..', '%2e',
  'admin;x', ';', '%3b', '..%3b', '%252e',
];

test('whatever a reader makes of a path, what it would take for the prefix is denied', () => {
  let state = 20_261_121;
  const next = (of: number): number => ((state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0) >>> 8) % of;
  const found = new Map<string, number>();
  for (let n = 0; n < 10_000; n++) {
    const path = `/${Array.from({ length: 1 + next(6) }, () => PARTS[next(PARTS.length)]).join('/')}`;
    for (const [name, reader] of Object.entries(READERS)) {
      if (!URL.canParse(path, 'http://host.test')) continue;
      const read = reader(path);
      for (const prefix of ['/admin', '/a/admin']) {
        if (!read.startsWith(prefix)) continue;
        found.set(name, (found.get(name) ?? 0) + 1);
        assert.ok(denied(prefix, path), `${prefix} against ${path}: ${name}`);
      }
    }
  }
  for (const name of Object.keys(READERS)) assert.ok((found.get(name) ?? 0) > 100, `${name} has met too few`);
});

test('a path that would take too long to read is denied, and an ordinary one of that length is not', () => {
  assert.ok(denied('/admin', `/${'a%2f../;\\'.repeat(200)}`));
  assert.ok(!denied('/admin', `/${'a%20b/c.d;v=1/'.repeat(100)}`));
  assert.ok(!denied('/admin', `/${'a/../'.repeat(1_500)}`));
});

test('each rule finds its own prefix, and sixteen cost about what one does', () => {
  const rules = new PathRules(['/a', '/b%20c', '/a/d', '/']);
  rules.read(Buffer.from('/x/..;/a/d'), 0, 10);
  assert.deepEqual(
    [0, 1, 2, 3].map((rule) => rules.has(rule)),
    [true, false, true, true],
  );
  rules.read(Buffer.from('/b c'), 0, 4);
  assert.deepEqual(
    [0, 1, 2, 3].map((rule) => rules.has(rule)),
    [false, true, false, true],
  );
  const path = Buffer.from(`/${'%2e%2e%2fa;'.repeat(45)}`);
  const timeOf = (of: PathRules): number => {
    const began = performance.now();
    for (let n = 0; n < 200; n++) of.read(path, 0, path.length);
    return performance.now() - began;
  };
  const [one, sixteen] = [1, 16].map((count) => new PathRules(Array.from({ length: count }, (_, i) => `/admin${i}/x`)));
  let least = Number.POSITIVE_INFINITY;
  for (let round = 0; round < 8; round++)
    least = Math.min(least, timeOf(sixteen as PathRules) / timeOf(one as PathRules));
  assert.ok(least < 5, `${least.toFixed(1)} times`);
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
