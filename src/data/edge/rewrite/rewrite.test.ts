/** URLs that name the public host or the service's own, and what becomes of them; everything else stays as it is. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parsed } from '../../../http1/testing.ts';
import type { UpstreamForm } from '../../../wire/upstream-form.ts';
import { responseLines } from './response-lines.ts';
import { type PublicOrigin, Rewrite } from './rewrite.ts';

const PUBLIC: PublicOrigin = { scheme: 'https', host: 'Shop.example.test' };
const rewriteOf = (form: UpstreamForm): Rewrite => Rewrite.of(form) ?? assert.fail();
const HOST = rewriteOf({ host: 'localhost:3000' });
const BOTH = rewriteOf({ host: 'app.local', tls: true, prefix: '/app' });
const PREFIX = rewriteOf({ prefix: '/app' });

test('rewrite: a claim that changes neither host nor path compiles to nothing', () => {
  assert.equal(Rewrite.of(undefined), null);
  assert.equal(Rewrite.of({ keepAliveMs: 5, tls: true }), null);
});

/** Referer or Destination, or of an Origin. */
const TO_SERVICE: ReadonlyArray<readonly [rewrite: Rewrite, url: string, path: boolean, expected: string | null]> = [
  [HOST, 'https://shop.example.test', false, 'http://localhost:3000'],
  [HOST, 'https://shop.example.test:443', false, 'http://localhost:3000'],
  [HOST, 'http://SHOP.example.test', false, 'http://localhost:3000'],
  [HOST, 'https://shop.example.test:8443', false, null],
  [HOST, 'https://evil.test', false, null],
  [HOST, 'https://shop.example.test.evil.test', false, null],
  [HOST, 'https://a@shop.example.test', false, null],
  [HOST, 'https://shop.example.test\\.evil.test', false, null],
  [HOST, 'https://shop.example.test/x', false, null],
  [HOST, 'null', false, null],
  [HOST, '//shop.example.test', false, null],
  [
    HOST,
    'https://shop.example.test/a?b=https://shop.example.test/',
    true,
    'http://localhost:3000/a?b=https://shop.example.test/',
  ],
  [HOST, 'https://shop.example.test', true, 'http://localhost:3000'],
  [HOST, '/a', true, null],
  [BOTH, 'https://shop.example.test/a', true, 'https://app.local/app/a'],
  [BOTH, 'https://shop.example.test', true, 'https://app.local/app/'],
  [BOTH, 'https://shop.example.test/../a', true, null],
  [BOTH, 'https://shop.example.test/a?/../', true, 'https://app.local/app/a?/../'],
  [BOTH, '/a', true, '/app/a'],
  [BOTH, '/%2e%2E/a', true, null],
  [PREFIX, 'https://shop.example.test', false, null],
  [PREFIX, 'https://shop.example.test/a', true, 'https://shop.example.test/app/a'],
  [PREFIX, 'https://evil.test/a', true, null],
];
for (const [rewrite, url, hasPath, expected] of TO_SERVICE) {
  test(`rewrite: ${hasPath ? 'Referer' : 'Origin'} ${url} for ${rewrite.host}${rewrite.prefixText}`, () => {
    assert.equal(rewrite.toService(url, PUBLIC, hasPath), expected);
  });
}

const TO_VISITOR: ReadonlyArray<readonly [rewrite: Rewrite, url: string, expected: string | null]> = [
  [HOST, 'http://localhost:3000/login', 'https://Shop.example.test/login'],
  [HOST, 'https://localhost:3000/login', 'https://Shop.example.test/login'],
  [HOST, 'http://LOCALHOST:3000', 'https://Shop.example.test'],
  [HOST, '//localhost:3000/x', '//Shop.example.test/x'],
  [HOST, 'http://localhost/login', null],
  [HOST, 'http://localhost:30000/', null],
  [HOST, 'http://localhost:3000.evil.test/', null],
  [HOST, 'http://localhost:3000@evil.test/', null],
  [HOST, 'https://accounts.test/?next=http://localhost:3000/', null],
  [HOST, 'https://shop.example.test/x', null],
  [HOST, '/login', null],
  [HOST, 'login', null],
  [HOST, 'ftp://localhost:3000/', null],
  [BOTH, 'https://app.local:443/app/x', 'https://Shop.example.test/x'],
  [BOTH, 'https://app.local/other', 'https://Shop.example.test/other'],
  [BOTH, '/app/x?y#z', '/x?y#z'],
  [BOTH, '/app', '/'],
  [BOTH, '/app?x', '/?x'],
  // What begins with two slashes names a host to browsers, as does a backslash; they leave tabs out.
  [BOTH, '/app//evil.test/x', 'https://Shop.example.test//evil.test/x'],
  [BOTH, '/app/\\evil.test', 'https://Shop.example.test/\\evil.test'],
  [BOTH, '/app/\t/evil.test', 'https://Shop.example.test/\t/evil.test'],
  [PREFIX, '/app//', 'https://Shop.example.test//'],
  [BOTH, '/app/\tx', 'https://Shop.example.test/\tx'],
  [BOTH, '/apple', null],
  [BOTH, '/x/app', null],
  [PREFIX, 'https://shop.example.test/app/x', 'https://shop.example.test/x'],
  [PREFIX, 'https://evil.test/app/x', null],
];
for (const [rewrite, url, expected] of TO_VISITOR) {
  test(`rewrite: Location ${url} of ${rewrite.host}${rewrite.prefixText}`, () => {
    assert.equal(rewrite.toVisitor(url, PUBLIC), expected);
  });
}

test('rewrite: a path with a segment of two dots leaves the prefix, in each spelling', () => {
  const isLeft = (target: string): boolean => {
    const bytes = Buffer.from(target, 'latin1');
    return PREFIX.isLeft(bytes, { pathStart: 0, targetEnd: bytes.length } as Parameters<Rewrite['isLeft']>[1]);
  };
  for (const target of [
    '/..',
    '/../x',
    '/a/../../x',
    '/%2e%2e/x',
    '/.%2E',
    '/a%2f..%2fx',
    '/a\\..\\x',
    '/..;/x',
    '/a%5c..',
  ])
    assert.equal(isLeft(target), true, target);
  for (const target of ['/', '/a..b', '/...', '/..a', '/a?x=/../', '/a/..b/c'])
    assert.equal(isLeft(target), false, target);
  assert.equal(
    HOST.isLeft(Buffer.from('/..'), { pathStart: 0, targetEnd: 3 } as Parameters<Rewrite['isLeft']>[1]),
    false,
  );
});

/** A response's lines, and those that visitors get in their place. */
const LINES: ReadonlyArray<readonly [rewrite: Rewrite, line: string, expected: string]> = [
  [HOST, 'Location: http://localhost:3000/a', 'Location: https://Shop.example.test/a'],
  [HOST, 'LOCATION:http://localhost:3000/a', 'LOCATION: https://Shop.example.test/a'],
  [HOST, 'Content-Location: http://localhost:3000/a', 'Content-Location: https://Shop.example.test/a'],
  [HOST, 'Refresh: 5; url=http://localhost:3000/a', 'Refresh: 5; url=https://Shop.example.test/a'],
  [HOST, "refresh: 0;URL='http://localhost:3000/a'", "refresh: 0;URL='https://Shop.example.test/a'"],
  [HOST, 'Refresh: 5', ''],
  [HOST, `Location: http://localhost:3000/${'a'.repeat(9_000)}`, ''],
  [HOST, 'X-Location: http://localhost:3000/a', ''],
  [HOST, 'Set-Cookie: a=b; Domain=localhost; Path=/; HttpOnly', 'Set-Cookie: a=b; Path=/; HttpOnly'],
  [HOST, 'Set-Cookie: a=b; domain=.LocalHost', 'Set-Cookie: a=b'],
  [HOST, 'Set-Cookie: a=b; Domain=other.test', ''],
  [HOST, 'Set-Cookie: a=Domain=localhost', ''],
  [PREFIX, 'Set-Cookie: a=b; Path=/app; Secure', 'Set-Cookie: a=b; Path=/; Secure'],
  [PREFIX, 'Set-Cookie: a=b; Path=/app/x', 'Set-Cookie: a=b; Path=/x'],
  [PREFIX, 'Set-Cookie: a=b; Path=/apple', ''],
];
for (const [rewrite, line, expected] of LINES) {
  test(`rewrite: response line ${line.slice(0, 60)}`, () => {
    const text = `HTTP/1.1 200 OK\r\nA: 1\r\n${line}\r\nZ: 2\r\n\r\n`;
    const { head } = parsed(text, 'response');
    const bytes = Buffer.from(`@@@${text}@@@`, 'latin1');
    const before = head.dropCount;
    const lines = responseLines(bytes, head, { rewrite, origin: PUBLIC }).toString('latin1');
    assert.equal(lines, expected === '' ? '' : `${expected}\r\n`);
    assert.equal(head.dropCount - before, expected === '' ? 0 : 1);
  });
}

test('rewrite: a line that is left out already does not come back', () => {
  const text = 'HTTP/1.1 200 OK\r\nLocation: http://localhost:3000/a\r\nZ: 2\r\n\r\n';
  const { head } = parsed(text, 'response');
  const bytes = Buffer.from(`@@@${text}@@@`, 'latin1');
  head.drop(head.lines[0] as number, head.lines[1] as number);
  assert.equal(responseLines(bytes, head, { rewrite: HOST, origin: PUBLIC }).length, 0);
});
