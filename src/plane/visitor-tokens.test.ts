import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isSameText, openPass, openTicket, returnPath, sealPass, sealTicket } from './visitor-tokens.ts';

const KEY = Buffer.alloc(32, 1);
const BOUND = { tunnelId: 'shop', version: '1', host: 'shop.test', email: 'ann@example.test', expiresAt: 1_000 };
const PASS = { ...BOUND, browserHash: 'hash' };
const TICKET = { ...BOUND, nonceHash: 'hash', id: 'one', again: false, path: '/' };

test('a ticket and a pass say what was sealed into them', () => {
  assert.deepEqual(openPass(KEY, sealPass(KEY, PASS)), PASS);
  assert.deepEqual(openTicket(KEY, sealTicket(KEY, TICKET)), TICKET);
});

test('nothing else opens: another key, the other kind, a changed byte, another spelling', () => {
  const pass = sealPass(KEY, PASS);
  const [payload = '', mac = ''] = pass.split('.');
  const other = Buffer.from(JSON.stringify({ ...PASS, email: 'eve@example.test' })).toString('base64url');
  const wrong = [
    sealPass(Buffer.alloc(32, 2), PASS),
    sealTicket(KEY, TICKET),
    `${other}.${mac}`,
    `${payload}.${mac.slice(0, -1)}`,
    `${payload}.${mac}=`,
    `${payload}.${mac.slice(0, -1)}${mac.endsWith('A') ? 'B' : 'A'}`,
    `${payload}..${mac}`,
    `.${mac}`,
    payload,
    '',
    '.',
    'a'.repeat(5_000),
  ];
  for (const word of wrong) assert.equal(openPass(KEY, word), undefined, word.slice(0, 60));
  assert.equal(openTicket(KEY, pass), undefined);
});

test('texts of any length are compared', () => {
  assert.deepEqual([isSameText('a', 'a'), isSameText('a', 'b'), isSameText('', 'a')], [true, false, false]);
});

// biome-ignore format: a table
const PATHS: ReadonlyArray<readonly [asked: string, path: string]> = [
  ['/', '/'],
  ['/orders?open=1&next=https://evil.example/', '/orders?open=1&next=https://evil.example/'],
  ['/a//b', '/a//b'],
  ['/@ann', '/@ann'],
  ['/%2f%2fevil.example', '/%2f%2fevil.example'],
  [`/${'a'.repeat(511)}`, `/${'a'.repeat(511)}`],
  ['', '/'],
  ['orders', '/'],
  ['//evil.example', '/'],
  ['///evil.example', '/'],
  ['/\\evil.example', '/'],
  ['/a\\b', '/'],
  ['\\\\evil.example', '/'],
  ['/\t/evil.example', '/'],
  ['/\n/evil.example', '/'],
  ['/a\r\nSet-Cookie: x=1', '/'],
  ['/a\u0000', '/'],
  ['/a b', '/'],
  ['/\u00e4', '/'],
  ['https://evil.example/', '/'],
  ['https:evil.example', '/'],
  ['javascript:alert(1)', '/'],
  ['//ann@evil.example', '/'],
  ['?a=1', '/'],
  ['/.culvert/visitor?ticket=x', '/'],
  ['/.culvert/sign-out', '/'],
  ['/.culvert/visitor/../x', '/'],
  ['/x/../.culvert/sign-out', '/'],
  ['/./.culvert/sign-out', '/'],
  ['/x/..//../.culvert/sign-out', '/'],
  ['/%2e/.culvert/sign-out', '/'],
  ['/x/%2E%2e/.culvert/visitor?ticket=x', '/'],
  ['/x/.%2e/.culvert/sign-out#y', '/'],
  ['/x/.culvert/sign-out', '/x/.culvert/sign-out'],
  ['/x?/../.culvert/sign-out', '/x?/../.culvert/sign-out'],
  ['/x/../orders', '/x/../orders'],
  ['/@evil.example/../.culvert/sign-out', '/'],
  [`/${'a'.repeat(512)}`, '/'],
];

test('a path leads to its own host, or it is /', () => {
  for (const [asked, path] of PATHS) {
    assert.equal(returnPath(asked), path, asked);
    assert.equal(new URL(returnPath(asked), 'https://shop.test/').host, 'shop.test', asked);
  }
});
