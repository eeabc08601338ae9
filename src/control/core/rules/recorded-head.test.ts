import assert from 'node:assert/strict';
import { test } from 'node:test';
import { byName, masked, readHead } from './recorded-head.ts';
import { head } from '../../inspector/testing.ts';

test('a head is its first line and its fields in their order, byte by byte', () => {
  const read = readHead(head('GET /a:b HTTP/1.1', 'Host: x:80', 'X-A:  two  words\t', 'X-B:', 'X-C: caf\u00e9'));
  assert.equal(read.startLine, 'GET /a:b HTTP/1.1');
  assert.deepEqual(
    read.fields.map(({ name, value }) => [name, value]),
    [
      ['Host', 'x:80'],
      ['X-A', 'two  words'],
      ['X-B', ''],
      ['X-C', 'caf\u00e9'],
    ],
  );
  assert.deepEqual(readHead(new Uint8Array()).fields, []);
});

test('fields of one name become one value, each kind in its way, whatever they are called', () => {
  const { fields } = readHead(
    head(
      'HTTP/1.1 200 OK',
      'Vary: a',
      'vary: b',
      'Set-Cookie: a=1; Expires=Sat, 21 Nov 2026 09:00:00 GMT',
      'Set-Cookie: b=2',
      'Cookie: a=1',
      'Cookie: b=2',
      'constructor: x',
      'constructor: y',
      '__proto__: z',
    ),
  );
  const named = byName(fields);
  assert.deepEqual(Object.entries(named), [
    ['vary', 'a, b'],
    ['set-cookie', 'a=1; Expires=Sat, 21 Nov 2026 09:00:00 GMT\nb=2'],
    ['cookie', 'a=1; b=2'],
    ['constructor', 'x, y'],
    ['__proto__', 'z'],
  ]);
});

test('fields: credentials are masked in any case, and nothing else', () => {
  const { fields } = readHead(
    head(
      'GET / HTTP/1.1',
      'AUTHORIZATION: a',
      'cookie: b',
      'Set-Cookie: c',
      'Proxy-Authorization: d',
      'X-Authorization: e',
    ),
  );
  assert.deepEqual(
    masked(fields).map(({ value }) => value),
    ['***', '***', '***', '***', 'e'],
  );
});
