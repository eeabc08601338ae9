import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HeaderRule } from '../../policy/header-rule.ts';
import { CookieGuard } from './set-cookie.ts';
import { kept, parsed } from '../../../http1/testing.ts';

const GUARD = new CookieGuard('Tunnels.Example.test');

/** What is left of a response with these lines. */
function guarded(lines: readonly string[], rule?: HeaderRule): string[] {
  const text = ['HTTP/1.1 200 OK', ...lines, '', ''].join('\r\n');
  const of = parsed(text, 'response');
  assert.equal(of.verdict, 'ok');
  const bytes = Buffer.from(`@@@${text}`, 'latin1');
  GUARD.dropFrom(bytes, of.head);
  rule?.dropFrom(bytes, of.head);
  const out = kept(text, of).split('\r\n');
  assert.deepEqual([out[0], ...out.slice(-2)], ['HTTP/1.1 200 OK', '', '']);
  return out.slice(1, -2);
}

// biome-ignore format: a table
const CUT: ReadonlyArray<readonly [value: string, left: string]> = [
  ['a=1; Domain=tunnels.example.test', 'a=1'],
  ['a=1; Domain=.tunnels.example.test; Path=/', 'a=1; Path=/'],
  ['a=1; Path=/; dOMAIN=TUNNELS.EXAMPLE.TEST; Secure', 'a=1; Path=/; Secure'],
  ['a=1;Domain=example.test;HttpOnly', 'a=1;HttpOnly'],
  ['a=1; Domain=test', 'a=1'],
  ['a=1; Domain=tunnels.example.test.', 'a=1'],
  ['a=1; Domain=.tunnels.example.test.', 'a=1'],
  ['a=1 ;\t Domain \t= \ttunnels.example.test \t; Path=/', 'a=1 ; Path=/'],
  ['a=1;;; Domain=example.test;', 'a=1;;;'],
  ['a="x; Domain=example.test"', 'a="x'],
  ['a=1; Domain="example.test"', 'a=1'],
  ['a=1; Domain=%65xample.test', 'a=1'],
  ['a=1; Domain=\xefexample.test', 'a=1'],
  ['a=1; Domain=shop.tunnels.example.test; Domain=example.test', 'a=1; Domain=shop.tunnels.example.test'],
  ['a=1; Domain=example.test; Domain=shop.tunnels.example.test', 'a=1; Domain=shop.tunnels.example.test'],
  ['a=1; Domain=example.test; Domain=', 'a=1; Domain='],
  ['; Domain=example.test', ''],
];
for (const [value, left] of CUT) {
  test(`${JSON.stringify(value)} loses its domain`, () => {
    const lines = guarded(['A: 1', `Set-Cookie: ${value}`, 'B: 2']);
    assert.deepEqual(lines, ['A: 1', `Set-Cookie: ${left}`, 'B: 2']);
  });
}

// biome-ignore format: a table
const CLEARED: ReadonlyArray<readonly [value: string, left: string | null]> = [
  ['"cookies"', null],
  ['"*"', null],
  ['*', null],
  [' "cookies" ', null],
  ['"COOKIES"', null],
  ['cookies', null],
  ['"cache", "cookies", "storage"', '"cache", "storage"'],
  ['"cookies", "storage"', '"storage"'],
  ['"cache","cookies"', '"cache"'],
  ['"cache", "*"', null],
  ['"cookies", "cache", "cookies"', null],
  ['"cache", "storage", "executionContexts"', '"cache", "storage", "executionContexts"'],
  ['"cookiesx"', '"cookiesx"'],
  ['', ''],
];
test('a site may clear what is its own, and not the cookies of its neighbours', () => {
  for (const [value, left] of CLEARED) {
    const lines = guarded(['A: 1', `clear-site-data: ${value}`, 'B: 2']).map((line) => line.replace(/: +/, ': '));
    const kept = left === null ? [] : [`clear-site-data: ${left}`];
    assert.deepEqual(lines, ['A: 1', ...kept, 'B: 2'], value);
  }
  const both = ['Clear-Site-Data: "cookies"', 'Set-Cookie: a=1; Domain=example.test', 'Clear_Site_Data: "cookies"'];
  assert.deepEqual(guarded(both), ['Set-Cookie: a=1']);
});

// biome-ignore format: a table
const KEPT = [
  '', 'a', 'a=1', 'a=1; Path=/; Secure; HttpOnly; SameSite=Lax; Expires=Wed, 21 Oct 2026 07:28:00 GMT',
  'a=1; Domain=shop.tunnels.example.test', 'a=1; Domain=.shop.tunnels.example.test', 'a=1; Domain=customer.test', 'a=1; Domain=notexample.test',
  'a=1; Domain=ample.test', 'a=1; Domain', 'a=1; Domain=', 'a=1; Domain=.', 'a=1; Domain=; Path=/', 'a=Domain=example.test', 'Domain=example.test',
  'a=1; XDomain=example.test', 'a=1; Path=/Domain=example.test', 'qnt_refreshed=1', 'xculvert_visitor=1', 'a=culvert_visitor=1',
];
test('every other cookie is left as it is', () => {
  const lines = KEPT.map((value) => `Set-Cookie: ${value}`);
  assert.deepEqual(guarded(lines), lines);
});

// biome-ignore format: a table
const GONE = [
  'qnt_refresh=1; Path=/', 'culvert_visitor=', 'culvert_visitor', ' \tculvert_visitor \t= 1', 'Culvert_Visitor=1', '=culvert_visitor=1', '= qnt_refresh=1',
  'culvert_nonce=1', '__Host-culvert_nonce=1; Secure; Path=/', '__HOST-CULVERT_NONCE=1', 'culvert_visitor; Path=/', 'qnt_refresh=1; Domain=example.test', 'a=1; Domain=example.test; Domain=test',
];
test("the server's own cookies are left out, and a line that asks for a shared domain twice", () => {
  for (const value of GONE) {
    assert.deepEqual(guarded(['A: 1', `set-COOKIE:${value}`, 'Set-Cookie: b=2']), ['A: 1', 'Set-Cookie: b=2'], value);
  }
});

test('a hundred lines are all looked at', () => {
  const lines = Array.from({ length: 100 }, (_, i) => `Set-Cookie: a${i}=1; Domain=example.test; Path=/`);
  assert.deepEqual(
    guarded(lines),
    lines.map((line) => line.replace(' Domain=example.test;', '')),
  );
});

test('a line that is left out for another reason is left out once', () => {
  const cookie = 'Set-Cookie: a=1; Domain=example.test; Path=/';
  const rule = new HeaderRule([{ kind: 'response_header_set', enforce: true, name: 'Set-Cookie', value: 'b=2' }]);
  assert.deepEqual(guarded(['A: 1', cookie, cookie, 'B: 2'], rule), ['A: 1', 'B: 2']);
  assert.deepEqual(guarded(['A: 1', cookie, 'Connection: set-cookie', cookie, 'B: 2']), ['A: 1', 'B: 2']);
});
