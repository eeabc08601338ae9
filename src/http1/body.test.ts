import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { BODY, Body, type BodyTap, FRAMING, type Framing } from './body.ts';

interface Read {
  readonly verdict: 'done' | 'bad' | 'more';
  /** What would be forwarded, trailers included. */
  readonly out: string;
  /** Bytes behind the end of the body. */
  readonly rest: string;
}

/** Feeds `text` in pieces of the given sizes (the last one repeats). */
function read(
  text: string,
  framing: Framing,
  options: { length?: number; strip?: boolean; sizes?: number[]; tap?: BodyTap } = {},
): Read {
  const body = new Body();
  body.start(framing, options.length ?? -1, options.strip, null, options.tap ?? null);
  const bytes = Buffer.from(text, 'latin1');
  const sizes = options.sizes ?? [bytes.length || 1];
  let out = '';
  let piece = 0;
  for (let start = 0; start < bytes.length; piece++) {
    const end = Math.min(bytes.length, start + (sizes[Math.min(piece, sizes.length - 1)] as number));
    // As the edge does it: feed the read until it is used up.
    for (let from = start; from < end; ) {
      const state = body.feed(bytes, from, end);
      if (state === BODY.bad) return { verdict: 'bad', out, rest: '' };
      out += bytes.toString('latin1', from, body.stop);
      assert.ok(body.next > from || state === BODY.done || body.next === from, 'goes on');
      from = body.next;
      if (state !== BODY.done) continue;
      if (options.strip !== true) out += body.trailer?.toString('latin1') ?? '';
      return { verdict: 'done', out, rest: bytes.toString('latin1', from) };
    }
    start = end;
  }
  return { verdict: 'more', out, rest: '' };
}

const chunked = (text: string, sizes?: number[]): Read =>
  read(text, FRAMING.chunked, sizes === undefined ? {} : { sizes });

test('a body with a length ends there', () => {
  assert.deepEqual(read('hellomore', FRAMING.length, { length: 5 }), { verdict: 'done', out: 'hello', rest: 'more' });
  assert.deepEqual(read('hel', FRAMING.length, { length: 5 }), { verdict: 'more', out: 'hel', rest: '' });
  assert.deepEqual(read('hello', FRAMING.length, { length: 5, sizes: [1] }), {
    verdict: 'done',
    out: 'hello',
    rest: '',
  });
  const huge = new Body();
  huge.start(FRAMING.length, 999_999_999_999_999);
  assert.equal(huge.feed(Buffer.alloc(9), 0, 9), BODY.more);
});

test('a body without a length ends with the connection', () => {
  assert.deepEqual(read('0\r\n\r\nx', FRAMING.untilClose), { verdict: 'more', out: '0\r\n\r\nx', rest: '' });
});

const END = '0\r\n\r\n';
// biome-ignore format: a table
const GOOD: ReadonlyArray<readonly [string, string, string]> = [
  ['an empty body', END, END],
  ['one chunk', `5\r\nhello\r\n${END}`, `5\r\nhello\r\n${END}`],
  ['leading zeros up to eight digits', `00000005\r\nhello\r\n00000000\r\n\r\n`, `00000005\r\nhello\r\n00000000\r\n\r\n`],
  ['digits of either case', `a\r\n0123456789\r\nB\r\n0123456789a\r\n${END}`, `a\r\n0123456789\r\nB\r\n0123456789a\r\n${END}`],
  ['line ends inside a chunk', `4\r\n\r\n\r\n\r\n${END}`, `4\r\n\r\n\r\n\r\n${END}`],
  ['an extension', `5;a=b\r\nhello\r\n${END}`, `5\r\nhello\r\n${END}`],
  ['an extension with quotes and spaces', `5;a="b; c" ;d\r\nhello\r\n0;x\r\n\r\n`, `5\r\nhello\r\n0\r\n\r\n`],
  ['an allowed trailer', `0\r\nX-Sum: 1\r\n\r\n`, `0\r\nX-Sum: 1\r\n\r\n`],
  ['trailers that frame, route or authenticate', '0\r\nA: 1\r\nContent-Length: 5\r\nHost: x\r\nTransfer-Encoding: chunked\r\nAuthorization: x\r\nSet-Cookie: x\r\nX-Forwarded-For: x\r\nX_Forwarded_For: x\r\nX-Real-IP: x\r\nculvert-error: x\r\nConnection: x\r\nTE: x\r\nB: 2\r\n\r\n', '0\r\nA: 1\r\nB: 2\r\n\r\n'],
  ['only forbidden trailers', '0\r\nHost: x\r\n\r\n', END],
  ['trailers at their limit', `0\r\nX: ${'a'.repeat(8_192 - 3)}\r\n\r\n`, `0\r\nX: ${'a'.repeat(8_192 - 3)}\r\n\r\n`],
  ['extensions at their limit', `1;${'a'.repeat(16_383)}\r\nx\r\n${END}`, `1\r\nx\r\n${END}`],
];

for (const [name, text, out] of GOOD) {
  test(`chunks: takes ${name}, cut anywhere`, () => {
    assert.deepEqual(chunked(`${text}GET /`), { verdict: 'done', out, rest: 'GET /' });
    assert.deepEqual(chunked(`${text}GET /`, [1]), { verdict: 'done', out, rest: 'GET /' });
    const step = text.length > 1_000 ? 97 : 1;
    for (let cut = 1; cut < text.length; cut += step) {
      assert.deepEqual(
        chunked(`${text}GET /`, [cut, text.length]),
        { verdict: 'done', out, rest: 'GET /' },
        `cut at ${cut}`,
      );
      assert.equal(chunked(text.slice(0, cut)).verdict, 'more', `after ${cut}`);
    }
  });
}

// biome-ignore format: a table
const BAD_CHUNKS: ReadonlyArray<readonly [string, string]> = [
  ['no size', '\r\nhello'],
  ['a size with 0x', '0x5\r\nhello\r\n0\r\n\r\n'],
  ['a leading space', ' 5\r\nhello\r\n0\r\n\r\n'],
  ['a space behind the size', '5 \r\nhello\r\n0\r\n\r\n'],
  ['a tab behind the size', '5\t\r\nhello\r\n0\r\n\r\n'],
  ['a space before an extension', '5 ;a\r\nhello\r\n0\r\n\r\n'],
  ['a plus sign', '+5\r\nhello\r\n0\r\n\r\n'],
  ['a minus sign', '-5\r\nhello\r\n0\r\n\r\n'],
  ['an underscore', '1_0\r\n'],
  ['nine digits', '000000005\r\nhello\r\n0\r\n\r\n'],
  ['a size beyond 32 bits', 'fffffffff\r\n'],
  ['a bare LF behind the size', '5\nhello\r\n0\r\n\r\n'],
  ['a bare CR behind the size', '5\rhello\r\n0\r\n\r\n'],
  ['a bare LF in an extension', '5;a\nhello\r\n0\r\n\r\n'],
  ['a bare CR in an extension', '5;a\rb\r\nhello\r\n0\r\n\r\n'],
  ['NUL in an extension', '5;\0\r\nhello\r\n0\r\n\r\n'],
  ['a bare LF behind the data', '5\r\nhello\n0\r\n\r\n'],
  ['nothing behind the data', '5\r\nhello0\r\n\r\n'],
  ['too much data', '5\r\nhello!\r\n0\r\n\r\n'],
  ['a bare LF behind the last chunk', '0\n\r\n'],
  ['a bare LF at the end', '0\r\n\n'],
  ['a bare CR at the end', '0\r\n\rx'],
  ['a trailer without a colon', '0\r\nX\r\n\r\n'],
  ['a trailer with a space before the colon', '0\r\nX : 1\r\n\r\n'],
  ['a folded trailer', '0\r\nX: 1\r\n 2\r\n\r\n'],
  ['a trailer with a bare LF', '0\r\nX: 1\nY: 2\r\n\r\n'],
  ['a trailer with NUL', '0\r\nX: \0\r\n\r\n'],
  ['trailers beyond their limit', `0\r\nX: ${'a'.repeat(8_192)}\r\n\r\n`],
  ['trailers that never end', `0\r\n${'X: 1\r\n'.repeat(2_000)}`],
  ['extensions beyond their limit', `1;${'a'.repeat(16_384)}\r\nx\r\n`],
  ['extensions beyond their limit in sum', `1;${'a'.repeat(99)}\r\nx\r\n`.repeat(164)],
];

for (const [name, text] of BAD_CHUNKS) {
  test(`chunks: refuses ${name}, cut anywhere`, () => {
    assert.equal(chunked(text).verdict, 'bad');
    if (text.length < 20_000) assert.equal(chunked(text, [1]).verdict, 'bad');
    for (let cut = 1; cut < Math.min(text.length, 64); cut++)
      assert.equal(chunked(text, [cut, text.length]).verdict, 'bad', `cut at ${cut}`);
  });
}

const sizesOf = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 12 });
const chunksOf = fc.array(
  fc.record({
    data: fc.string({ unit: 'binary-ascii', minLength: 1, maxLength: 60 }),
    ext: fc.constantFrom('', ';a', ';a="b"'),
  }),
);

test('any chunks, cut anywhere: what is forwarded has the same payload and no extension', () => {
  fc.assert(
    fc.property(chunksOf, sizesOf, (chunks, sizes) => {
      const size = (text: string): string => text.length.toString(16);
      const text = chunks.map(({ data, ext }) => `${size(data)}${ext}\r\n${data}\r\n`).join('') + END;
      const plain = chunks.map(({ data }) => `${size(data)}\r\n${data}\r\n`).join('') + END;
      assert.deepEqual(chunked(`${text}next`, sizes), { verdict: 'done', out: plain, rest: 'next' });
      const payload = chunks.map(({ data }) => data).join('');
      const stripped = read(`${text}next`, FRAMING.chunked, { strip: true, sizes });
      assert.deepEqual(stripped, { verdict: 'done', out: payload, rest: 'next' });
    }),
  );
});

test('in any framing, cut anywhere: who listens hears the payload once, and nothing else', () => {
  const text = fc.string({ unit: 'binary-ascii', maxLength: 60 });
  fc.assert(
    fc.property(fc.array(text, { maxLength: 8 }), sizesOf, fc.boolean(), (parts, sizes, strip) => {
      const payload = parts.join('');
      const chunks = parts
        .filter((part) => part !== '')
        .map((part) => `${part.length.toString(16)};x\r\n${part}\r\n`)
        .join('');
      for (const [framing, body] of [
        [FRAMING.chunked, `${chunks}0\r\nX: trailer\r\n\r\nnext`],
        [FRAMING.length, `${payload}next`],
        [FRAMING.untilClose, payload],
      ] as const) {
        let heard = '';
        const tap = {
          payload: (bytes: Buffer, start: number, end: number) => void (heard += bytes.toString('latin1', start, end)),
        };
        read(body, framing, { length: payload.length, strip, sizes, tap });
        assert.equal(heard, payload, String(framing));
      }
    }),
  );
  let heard = 0;
  const tap = { payload: (_: Buffer, start: number, end: number) => void (heard += end - start) };
  const long = `1\r\nx\r\n4000\r\n${'y'.repeat(0x4000)}\r\n1\r\nz\r\n0\r\n\r\n`;
  read(long, FRAMING.chunked, { strip: true, tap });
  assert.equal(heard, 0x4000 + 2, 'what is forwarded from where it lies is heard once');
});

test('any bytes, cut anywhere: the verdict does not depend on the cuts', () => {
  const noise = fc
    .array(fc.constantFrom('0', '1', '5', 'a', ';', '\r', '\n', '\r\n', ' ', 'x', ':', '0\r\n', '\r\n\r\n'))
    .map((parts) => parts.join(''));
  fc.assert(
    fc.property(noise, sizesOf, fc.boolean(), (text, sizes, strip) => {
      const whole = read(text, FRAMING.chunked, { strip });
      const cut = read(text, FRAMING.chunked, { strip, sizes });
      assert.equal(cut.verdict, whole.verdict);
      if (whole.verdict === 'done') assert.deepEqual(cut, whole);
    }),
    { numRuns: 2_000 },
  );
});

test('stripped for HTTP/1.0 and HTTP/2: the payload alone, and the trailers apart', () => {
  for (const sizes of [[1], [3], [1_000]]) {
    const text = '5;x\r\nhello\r\n1\r\n!\r\n0\r\nX: 1\r\n\r\nrest';
    assert.deepEqual(read(text, FRAMING.chunked, { strip: true, sizes }), {
      verdict: 'done',
      out: 'hello!',
      rest: 'rest',
    });
  }
  assert.equal(read('5\r\nhelloX', FRAMING.chunked, { strip: true }).verdict, 'bad');
  const body = new Body();
  body.start(FRAMING.chunked, -1, true);
  const end = Buffer.from('0\r\nX: 1\r\n\r\n');
  assert.equal(body.feed(end, 0, end.length), BODY.done);
  assert.equal(body.trailer?.toString(), 'X: 1\r\n\r\n', 'HTTP/2 gets the trailers');
});

test('stripped: a read of short chunks is one range, and a long chunk is forwarded from where it lies', () => {
  const body = new Body();
  body.start(FRAMING.chunked, -1, true);
  const short = Buffer.from('1\r\nx\r\n'.repeat(10_000));
  assert.equal(body.feed(short, 0, short.length), BODY.cut);
  assert.deepEqual([body.stop, body.next], [10_000, short.length]);
  assert.equal(short.toString('latin1', 0, body.stop), 'x'.repeat(10_000));
  const long = Buffer.from(`1\r\nx\r\n4000\r\n${'y'.repeat(0x4000)}\r\n1\r\nz\r\n`);
  assert.equal(body.feed(long, 0, long.length), BODY.cut);
  assert.deepEqual([body.stop, body.next], [1, 12]);
  assert.equal(body.feed(long, 12, long.length), BODY.cut);
  assert.deepEqual([body.stop, body.next], [12 + 0x4000 + 1, long.length]);
  assert.equal(long.toString('latin1', 12, body.stop), `${'y'.repeat(0x4000)}z`);
});

test('a Body serves one message after the other', () => {
  const body = new Body();
  body.start(FRAMING.chunked, -1);
  const first = Buffer.from('0\r\nX: 1\r\n\r\n');
  assert.equal(body.feed(first, 0, first.length), BODY.done);
  assert.ok(body.trailer);
  body.start(FRAMING.none, 0);
  assert.equal(body.feed(first, 0, first.length), BODY.done);
  assert.deepEqual([body.stop, body.next, body.trailer], [0, 0, null]);
  body.start(FRAMING.length, 0);
  assert.equal(body.feed(first, 0, 0), BODY.done);
});
