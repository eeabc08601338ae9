/** The quick look says what the parser says, or nothing. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Head, parseRequestHead, parseResponseHead } from '../../../http1/head.ts';
import { PlainAnswer, plainRequestEnd } from './plain-head.ts';

const LINES = [
  ...['Cookie: a=b', 'Connection: keep-alive', 'User-Agent: x', 'Upgrade-Insecure-Requests: 1', 'Traceparent: 0'],
  ...[
    'Content-Length: 3',
    'content-length:0',
    'CONTENT-LENGTH: 12',
    'Content-Length: +1',
    'Content-Type: a/b',
    'Content-Lengthy: 3',
  ],
  ...[
    'Transfer-Encoding: chunked',
    'transfer-encoding: chunked',
    'Upgrade: websocket',
    'TE: trailers',
    'X: Content-Length: 5',
    'c: d',
  ],
  ...['Connection: Upgrade', ' folded', 'Content-Length : 3', 'X-\u00e9: 1', 'Content-Length: 3\n', 'A: b\rc', ''],
];
const FIRST = [
  'GET / HTTP/1.1',
  'HEAD /x HTTP/1.0',
  'POST /content-length:3 HTTP/1.1',
  'HTTP/1.1 200 OK',
  'HTTP/1.1 204 No',
  'HTTP/1.1 101 X',
];
const ANSWERS = ['HTTP/1.0 404', 'HTTP/1.1 304 N', 'HTTP/1.1 2x0 N', 'HTTP/1.1 100 Continue'];
const messages = fc.tuple(
  fc.constantFrom(...FIRST, ...ANSWERS),
  fc.array(fc.constantFrom(...LINES), { maxLength: 5 }),
  fc.constantFrom('', 'abc', 'abcdefghijklmno', '5\r\nhello\r\n'),
  fc.nat({ max: 200 }),
);
const whole = (first: string, lines: readonly string[], body: string): Buffer =>
  Buffer.from(`@@${[first, ...lines, '', ''].join('\r\n')}${body}`, 'latin1');

test('of any request: no end, or the one that the parser finds, of a head without body and upgrade', () => {
  let plain = 0;
  fc.assert(
    fc.property(messages, ([first, lines, body, cut]) => {
      const bytes = whole(first, ['Host: a', ...lines], body);
      const end = Math.max(2, bytes.length - cut);
      const found = plainRequestEnd(bytes, 2, end);
      const head = new Head();
      const parsed = parseRequestHead(bytes, 2, end, head);
      // What the parser refuses it would let go of: nothing is promised there.
      if (parsed < 0 || found === 0) return;
      plain++;
      assert.equal(found, parsed);
      assert.ok(!head.chunked && head.contentLength <= 0 && head.upgradeCount === 0);
    }),
    { numRuns: 20_000 },
  );
  assert.ok(plain > 100, String(plain));
});

test('of any answer: nothing, or what the parser says of it', () => {
  let plain = 0;
  const answer = new PlainAnswer();
  fc.assert(
    fc.property(messages, fc.boolean(), ([first, lines, body, cut], isHead) => {
      const bytes = whole(first, lines, body);
      const end = Math.max(2, bytes.length - cut);
      const isPlain = answer.read(bytes, 2, end, isHead);
      const head = new Head();
      const parsed = parseResponseHead(bytes, 2, end, head);
      if (parsed < 0 || !isPlain) return;
      plain++;
      const isBodiless = isHead || head.status === 204 || head.status === 304;
      assert.equal(answer.status, head.status);
      assert.ok(isBodiless || (!head.chunked && head.contentLength >= 0));
      assert.equal(answer.end, parsed + (isBodiless ? 0 : head.contentLength));
    }),
    { numRuns: 20_000 },
  );
  assert.ok(plain > 100, String(plain));
});
