/** Heads that HTTP/2 could say and HTTP/1.1 could not, or in two ways: refused, and nothing of them reaches the service. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type Fields, GET, REFUSED_HEADS, withPath, without } from '../testing/refused-heads.ts';
import { FORBIDDEN_FIELDS } from './fields.ts';
import { type WrittenHead, WROTE, writeRequestHead } from './request-head.ts';
import { Head, parseRequestHead } from '../../../http1/head.ts';

function written(raw: Fields, isWhole = true): WrittenHead & { text: string } {
  const out = Buffer.alloc(65_536);
  const into: WrittenHead = { length: 0, lines: 0, reason: '' };
  writeRequestHead(raw.flat(), isWhole, out, into);
  return { ...into, text: out.toString('latin1', 0, Math.max(0, into.length)) };
}

/** What the parser makes of it: whether it is one head, and as many lines as were written. */
function isAccepted(raw: Fields, isWhole = true): boolean {
  const { length, lines, text } = written(raw, isWhole);
  if (length < 0) return false;
  const head = new Head();
  return parseRequestHead(Buffer.from(text, 'latin1'), 0, length, head) === length && head.lineCount === lines;
}

test('a head is written as one of HTTP/1.1, with one Host and one Cookie line', () => {
  assert.equal(written(GET).text, 'GET / HTTP/1.1\r\nhost: shop.example.test\r\n\r\n');
  assert.equal(
    written([...GET, ['cookie', 'a=1'], ['x', ' y'], ['cookie', 'b=2'], ['te', 'trailers']]).text,
    'GET / HTTP/1.1\r\nhost: shop.example.test\r\nx:  y\r\ncookie: a=1; b=2\r\n\r\n',
  );
  assert.equal(
    written([...without(':authority'), ['host', 'shop.example.test']]).text,
    'GET / HTTP/1.1\r\nhost: shop.example.test\r\n\r\n',
  );
  assert.ok(isAccepted([...GET, ['host', 'Shop.example.test']]), 'the same host twice is one');
  assert.match(written(GET, false).text, /\r\ntransfer-encoding: chunked\r\n\r\n$/);
  assert.doesNotMatch(written([...GET, ['content-length', '3']], false).text, /transfer-encoding/);
  assert.ok(isAccepted(withPath('*', 'OPTIONS')));
});

test('what HTTP/2 does not have, or says twice, is refused', () => {
  for (const [what, raw] of Object.entries(REFUSED_HEADS)) assert.ok(!isAccepted(raw), what);
  for (const name of FORBIDDEN_FIELDS) assert.ok(!isAccepted([...GET, [name, 'x']]), name);
  assert.ok(!isAccepted([...GET, ['transfer-encoding', 'chunked']], false));
  assert.ok(isAccepted([...GET, ['content-length', '5']], false));
  assert.ok(isAccepted([...GET, ['content-length', '0']]));
});

test('http2: a head longer than the buffer gets a 431', () => {
  assert.equal(written([...GET, ['x', 'y'.repeat(70_000)]]).length, WROTE.tooLong);
});

test('whatever fields come: what is accepted is one head, with a line for each of them', () => {
  const piece = fc.constantFrom(
    ...[
      'x',
      'y',
      'Host',
      'host',
      'cookie',
      'te',
      'trailers',
      'content-length',
      'transfer-encoding',
      'chunked',
      'connection',
    ],
    ...[
      '\r',
      '\n',
      '\r\n',
      '\r\n\r\n',
      ':',
      ' ',
      '\t',
      '\0',
      '0',
      '5',
      '-',
      '_',
      'GET / HTTP/1.1',
      '\x85',
      '\xff',
      ':path',
      '',
    ],
  );
  const text = fc.array(piece, { maxLength: 4 }).map((parts) => parts.join(''));
  const fields = fc.array(fc.tuple(text, text), { maxLength: 4 });
  const pseudo = fc.record({ method: text, path: text, authority: text });
  const usual = fc.constant({ method: 'POST', path: '/', authority: 'shop.example.test' });
  fc.assert(
    fc.property(fc.oneof(pseudo, usual), fields, fc.boolean(), ({ method, path, authority }, more, isWhole) => {
      const raw: Fields = [
        [':method', method],
        [':scheme', 'https'],
        [':authority', authority],
        [':path', path],
        ...more,
      ];
      if (!isAccepted(raw, isWhole)) return;
      const [first, ...lines] = written(raw, isWhole).text.split('\r\n');
      assert.equal(first, `${method} ${path} HTTP/1.1`);
      assert.deepEqual(lines.splice(-2), ['', '']);
      for (const line of lines) assert.doesNotMatch(line, /[\r\n\0]/);
      const names = lines.map((line) => line.slice(0, line.indexOf(':')));
      assert.equal(names.filter((name) => name === 'host').length, 1);
      assert.ok(names.filter((name) => name === 'content-length' || name === 'transfer-encoding').length <= 1);
      const wanted = more.map(([name]) => name).filter((name) => name !== 'te' && name !== 'host' && name !== 'cookie');
      const got = names.filter((name) => name !== 'host' && name !== 'cookie' && name !== 'transfer-encoding');
      assert.deepEqual(got, wanted);
    }),
    { numRuns: 5_000 },
  );
});
