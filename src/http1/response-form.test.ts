import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BAD, Head, INCOMPLETE, parseResponseHead, TOO_LARGE } from './head.ts';
import { normalResponseHead } from './response-form.ts';

const LIMITS = { headBytes: 2_000, fields: 10, targetBytes: 100 };

/** As it would lie in the middle of a read buffer. `text` (latin1) is what the strict form is, or why there is none. */
function normal(text: string): { text: string; rest: string } {
  const bytes = Buffer.from(`@@\n${text}@@`, 'latin1');
  const head = new Head(LIMITS);
  const end = 3 + text.length;
  const strict = parseResponseHead(bytes, 3, end, head);
  if (strict !== BAD) return { text: `strict: ${strict > 0 ? 'ok' : strict}`, rest: '' };
  const form = normalResponseHead(bytes, 3, end, head);
  if (form === INCOMPLETE) return { text: 'more', rest: '' };
  if (form === TOO_LARGE) return { text: `too large: ${head.reason}`, rest: '' };
  if (typeof form === 'number') return { text: `bad: ${head.reason}`, rest: '' };
  const again = parseResponseHead(form.bytes, 0, form.bytes.length, head);
  if (again !== form.bytes.length) return { text: `bad: ${head.reason}`, rest: '' };
  return { text: form.bytes.toString('latin1'), rest: text.slice(form.end - 3) };
}

// biome-ignore format: a table
const TAKEN: ReadonlyArray<readonly [string, string, string]> = [
  ['lines that end in LF', 'HTTP/1.1 200 OK\nA: 1\nContent-Length: 2\n\nok', 'HTTP/1.1 200 OK\r\nA: 1\r\nContent-Length: 2\r\n\r\n'],
  ['LF behind a status without reason', 'HTTP/1.0 200\nA: 1\n\nok', 'HTTP/1.0 200\r\nA: 1\r\n\r\n'],
  ['LF and no fields', 'HTTP/1.1 204 No Content\n\nok', 'HTTP/1.1 204 No Content\r\n\r\n'],
  ['a folded field', 'HTTP/1.1 200 OK\r\nA: 1 \r\n\t 2\r\nB: 3\r\n\r\nok', 'HTTP/1.1 200 OK\r\nA: 1 2\r\nB: 3\r\n\r\n'],
  ['a field folded twice', 'HTTP/1.1 200 OK\r\nA: 1\r\n 2\r\n 3\r\n\r\nok', 'HTTP/1.1 200 OK\r\nA: 1 2 3\r\n\r\n'],
  ['a field whose value begins in the next line', 'HTTP/1.1 200 OK\r\nA:\r\n 2\r\n\r\nok', 'HTTP/1.1 200 OK\r\nA: 2\r\n\r\n'],
  ['a fold in a head of LF', 'HTTP/1.1 200 OK\nA: 1\n 2\n\nok', 'HTTP/1.1 200 OK\r\nA: 1 2\r\n\r\n'],
  ['the same length twice', 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nA: 1\r\ncontent-length: 2\r\n\r\nok', 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nA: 1\r\n\r\n'],
  ['a list of the same lengths', 'HTTP/1.1 200 OK\r\nContent-Length: 2 , 2\r\n\r\nok', 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n'],
];

for (const [name, text, strict] of TAKEN) {
  test(`response head: ${name} is brought into its strict form`, () => {
    assert.deepEqual(normal(text), { text: strict, rest: 'ok' });
    for (let cut = 0; cut < text.length - 3; cut++)
      assert.match(normal(text.slice(0, cut)).text, /^(?:more|strict: 0)$/, `after ${cut} bytes`);
  });
}

// biome-ignore format: a table
const REFUSED: ReadonlyArray<readonly [string, string, string]> = [
  ['lines that end in both ways', 'HTTP/1.1 200 OK\r\nA: 1\nB: 2\r\n\r\n', 'bad: mixed line endings, CR LF and LF'],
  ['a response that LF splits', 'HTTP/1.1 200 OK\r\nA: 1\n\nHTTP/1.1 200 OK\nSet-Cookie: evil=1\r\n\r\n', 'bad: mixed line endings, CR LF and LF'],
  ['LF, and CR LF at the end', 'HTTP/1.1 200 OK\nA: 1\n\r\nx', 'bad: mixed line endings, CR LF and LF'],
  ['CR LF, and LF at the end', 'HTTP/1.1 200 OK\r\nA: 1\r\n\nx', 'bad: mixed line endings, CR LF and LF'],
  ['a bare CR', 'HTTP/1.1 200 OK\nA: 1\rB: 2\n\n', 'bad: invalid line ending'],
  ['NUL', 'HTTP/1.1 200 OK\nA: 1\0\n\n', 'bad: invalid line ending'],
  ['white space behind the status line', 'HTTP/1.1 200 OK\r\n A: 1\r\n\r\n', 'bad: white space at the start of a header line'],
  ['a fold of white space', 'HTTP/1.1 200 OK\r\nA: 1\r\n \r\nB: 2\r\n\r\n', 'bad: white space at the start of a header line'],
  ['a folded length', 'HTTP/1.1 200 OK\r\nContent-Length: 1\r\n 0\r\n\r\n', 'bad: a folded field that frames the message (content-length)'],
  ['a folded coding', 'HTTP/1.1 200 OK\r\nTransfer-Encoding:\r\n chunked\r\n\r\n', 'bad: a folded field that frames the message (transfer-encoding)'],
  ['lengths that differ', 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n', 'bad: content-length fields with different values'],
  ['lengths that differ in zeroes', 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 02\r\n\r\n', 'bad: content-length fields with different values'],
  ['a list of lengths that differ', 'HTTP/1.1 200 OK\r\nContent-Length: 2, 3\r\n\r\n', 'bad: content-length fields with different values'],
  ['a list with a gap', 'HTTP/1.1 200 OK\r\nContent-Length: 2,\r\n\r\n', 'bad: content-length fields with different values'],
  ['a length with a sign', 'HTTP/1.1 200 OK\r\nContent-Length: +2\r\n\r\n', 'bad: invalid content-length'],
  ['two equal lengths and a coding', 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n', 'bad: both content-length and transfer-encoding'],
  ['chunked twice', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n', 'bad: unsupported transfer-encoding'],
  ['a space before the colon', 'HTTP/1.1 200 OK\r\nA : 1\r\n\r\n', 'bad: invalid header name'],
  ['more lines than fields are allowed', `HTTP/1.1 200 OK\nA: 1\n${' 2\n'.repeat(10)}\n`, 'too large: fields'],
  ['more bytes than are allowed', `HTTP/1.1 200 OK\nA: ${'x'.repeat(2_000)}`, 'too large: '],
];

for (const [name, text, why] of REFUSED) {
  test(`response head: ${name} is refused and named`, () => assert.equal(normal(text).text, why));
}

test('response head: what is no HTTP is refused at once', () => {
  for (const text of [
    '220 mail.example ESMTP\n',
    '<html><body>\n',
    'HTTP/2 200 nothing\n',
    'HTTP/1.1 200 OK\nno field\n',
  ])
    assert.match(normal(text).text, /^bad: /, text);
});
