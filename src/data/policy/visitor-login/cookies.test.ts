import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Head, parseRequestHead } from '../../../http1/head.ts';
import { cookiesNamed, PASS_COOKIE, showsVisitorCookies, VISITOR_COOKIES, withoutVisitorCookies } from './cookies.ts';

function parsed(...lines: string[]): { bytes: Buffer; head: Head } {
  const bytes = Buffer.from(['GET / HTTP/1.1', 'Host: shop.test', ...lines, '', ''].join('\r\n'), 'latin1');
  const head = new Head();
  assert.ok(parseRequestHead(bytes, 0, bytes.length, head) > 0, head.reason);
  return { bytes, head };
}

const valuesIn = (...lines: string[]) => {
  const { bytes, head } = parsed(...lines);
  return cookiesNamed(bytes, head, PASS_COOKIE);
};

/** What the service gets of the lines. */
function forwarded(...lines: string[]): string {
  const { bytes, head } = parsed(...lines);
  const added = withoutVisitorCookies(bytes, head).toString('latin1');
  let kept = '';
  let from = 0;
  for (let d = 0; d < head.dropCount; d++) {
    kept += bytes.toString('latin1', from, head.drops[2 * d]);
    from = head.drops[2 * d + 1] as number;
  }
  kept += bytes.toString('latin1', from, bytes.length - 2);
  return (kept + added).replace('GET / HTTP/1.1\r\nHost: shop.test\r\n', '');
}

test('values of the name alone, exactly, in their order, from all lines', () => {
  assert.deepEqual(valuesIn('Cookie: a=1; culvert_visitor=x; b=2;culvert_visitor=y', 'cookie:culvert_visitor=z '), [
    'x',
    'y',
    'z',
  ]);
  for (const line of [
    'Cookie: culvert_visitors=x; xculvert_visitor=x',
    'Cookie: CULVERT_VISITOR=x',
    'Cookie: culvert_visitor',
    'Cookie: culvert_visitor =x',
    'Cookie: =culvert_visitor=x',
    'X-Cookie: culvert_visitor=x',
    'Cookies: culvert_visitor=x',
    'Cookie:',
    'Cookie: ;;;',
  ])
    assert.deepEqual(valuesIn(line), [], line);
  assert.deepEqual(valuesIn('Cookie: culvert_visitor=; culvert_visitor="q"; culvert_visitor=a=b'), ['', '"q"', 'a=b']);
});

test('however many were planted, the last one is found', () => {
  const planted = Array.from({ length: 500 }, (_, i) => `culvert_visitor=${i}`);
  const found = valuesIn(`Cookie: ${planted.join('; ')}`, 'Cookie: culvert_visitor=good');
  assert.deepEqual([found.length, found.at(-1)], [501, 'good']);
});

// biome-ignore format: a table
const FORWARDED: ReadonlyArray<readonly [sent: string[], got: string]> = [
  [[], ''],
  [['Cookie: a=1; b=2'], 'Cookie: a=1; b=2\r\n'],
  [['COOKIE: a=1;b="x; y" ;  c'], 'COOKIE: a=1;b="x; y" ;  c\r\n'],
  [['Cookie: culvert_visitor=x'], ''],
  [['Cookie: culvert_visitor=x; culvert_nonce=y; __Host-culvert_nonce=z'], ''],
  [['Cookie: a=1; culvert_visitor=x; b=2'], 'Cookie: a=1; b=2\r\n'],
  [['Cookie: culvert_visitor=x;a=1;culvert_visitor=y;a=2'], 'Cookie: a=1; a=2\r\n'],
  [['Cookie: a="x y, z"; culvert_visitor=x'], 'Cookie: a="x y, z"\r\n'],
  [['Cookie: a="1; culvert_visitor=x; 2"'], 'Cookie: a="1; 2"\r\n'],
  [['Cookie: Culvert_Visitor=x; __HOST-CULVERT_NONCE=x; a=1'], 'Cookie: a=1\r\n'],
  [['Cookie: culvert_visitor; culvert_visitor =x;\t=culvert_visitor=x; == culvert_visitor=x; a=1'], 'Cookie: a=1\r\n'],
  [['Cookie: a=1', 'X-A: 1', 'Cookie: culvert_visitor=x; b=2', 'X-B: 2'], 'X-A: 1\r\nX-B: 2\r\nCookie: a=1; b=2\r\n'],
  [['Cookie: culvert_visitors=1; my_culvert_visitor=2'], 'Cookie: culvert_visitors=1; my_culvert_visitor=2\r\n'],
  [['Connection: cookie', 'Cookie: a=1; culvert_visitor=x'], ''],
];

test('the service gets all other cookies as they were sent, and none of the gates', () => {
  for (const [sent, got] of FORWARDED) assert.equal(forwarded(...sent), got, JSON.stringify(sent));
});

test('a Cookie line as large as a head may be', () => {
  const others = Array.from({ length: 1_500 }, (_, i) => `c${i}=${'v'.repeat(10)}`);
  const line = [...others.slice(0, 700), 'culvert_visitor=x', ...others.slice(700)].join('; ');
  assert.equal(forwarded(`Cookie: ${line}`), `Cookie: ${others.join('; ')}\r\n`);
  assert.equal(forwarded(`Cookie: ${'culvert_visitor=x; '.repeat(1_500)}a=1`), 'Cookie: a=1\r\n');
});

test('whatever would be left out is seen beforehand, wherever it stands', () => {
  const shows = (...lines: string[]): boolean => {
    const { bytes, head } = parsed(...lines);
    return showsVisitorCookies(bytes, head);
  };
  for (const [sent, got] of FORWARDED)
    if (got !== sent.map((line) => `${line}\r\n`).join('')) assert.ok(shows(...sent), JSON.stringify(sent));
  for (const name of VISITOR_COOKIES.map((folded) => Buffer.from(folded).toString()))
    for (const text of [name, name.toUpperCase()])
      for (let before = 0; before < 20; before++) {
        // Letters of the name itself before it, so that the search is led astray.
        const line = `Cookie: ${'_treculvculvert'.slice(0, before)}; ${text}=x`;
        assert.ok(shows(line), line);
        assert.ok(shows('Cookie: a=1', 'X-A: 1', line.replace('Cookie: ', 'cookie:')), line);
      }
  assert.ok(shows('Cookie:culvert_visitor'));
  for (const line of [
    'Cookie: a=1; culvert-visitor=x; culvertvisitor=1',
    'Cookie:',
    'Cookie: culvert',
    'X-A: culvert_visitor=x',
  ])
    assert.equal(shows(line), false, line);
  assert.equal(shows('Cookie: culvert', '_: culvert_'), false);
});
