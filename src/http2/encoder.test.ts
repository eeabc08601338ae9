import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Head, parseResponseHead } from '../http1/head.ts';
import { Decoder } from './decoder.ts';
import { Encoder } from './encoder.ts';
import { type Field, fieldsOf } from './testing.ts';

const NOTHING = Buffer.alloc(0);

interface Said {
  readonly block: Buffer;
  readonly fields: readonly Field[] | null;
  readonly counted: number;
}

/** An encoder and the decoder at the other end. */
class Pair {
  readonly encoder = new Encoder();
  readonly decoder = new Decoder();
  readonly #out = Buffer.alloc(70_000);

  say(text: string, options: { added?: string; drop?: (head: Head, bytes: Buffer) => void } = {}): Said {
    const bytes = Buffer.from(`@@${text}`, 'latin1');
    const head = new Head();
    assert.equal(parseResponseHead(bytes, 2, bytes.length, head), bytes.length, head.reason);
    options.drop?.(head, bytes);
    const end = this.encoder.response(bytes, head, Buffer.from(options.added ?? ''), this.#out, 3, this.#out.length);
    return this.#said(end);
  }

  answer(status: number, fields: readonly string[]): Said {
    return this.#said(this.encoder.answer(status, fields, this.#out, 3, this.#out.length));
  }

  trailers(text: string): Said {
    return this.#said(this.encoder.trailers(Buffer.from(text), this.#out, 3, this.#out.length));
  }

  #said(end: number): Said {
    const block = Buffer.from(this.#out.subarray(3, end));
    return { block, fields: fieldsOf(block, this.decoder), counted: this.encoder.counted };
  }
}

const of = (...lines: string[]): string => ['HTTP/1.1 200 OK', ...lines, '', ''].join('\r\n');

test('encoder: names go out in lower case, values without blanks around, fields of the connection not at all', () => {
  const pair = new Pair();
  const { fields, counted } = pair.say(
    of(
      'Content-Type: text/html',
      'X_Under-Score:  a  b \t',
      'Connection: keep-alive, X-Hop',
      'X-Hop: 1',
      'Keep-Alive: timeout=5',
      'TE: trailers',
      'Upgrade: h2c',
      'Proxy-Connection: close',
      'X-Empty:',
      'content-length: 3',
    ),
    { added: 'X-Added: 1\r\nVary: Origin\r\n' },
  );
  const wanted: Field[] = [
    ['content-type', 'text/html'],
    ['x_under-score', 'a  b'],
    ['x-empty', ''],
    ['content-length', '3'],
    ['x-added', '1'],
    ['vary', 'Origin'],
  ];
  assert.deepEqual(fields, [[':status', '200'], ...wanted]);
  assert.equal(
    counted,
    wanted.reduce((sum, [name, value]) => sum + name.length + value.length + 4, 0),
  );
  assert.deepEqual(pair.say(of('Transfer-Encoding: chunked', 'http2-settings: x')).fields, [[':status', '200']]);
});

test('encoder: what comes again takes a byte or two, what is secret or comes once is never put into the table', () => {
  const pair = new Pair();
  const lines = ['Server: shop', 'Cache-Control: no-cache', `Content-Security-Policy: ${'x'.repeat(500)}`];
  const first = pair.say(of(...lines));
  const second = pair.say(of(...lines));
  assert.deepEqual(second.fields, first.fields);
  assert.equal(second.block.length, 4);
  for (const name of [
    'Set-Cookie',
    'ETag',
    'Content-Length',
    'Location',
    'Last-Modified',
    'Age',
    'Expires',
    'Authorization',
    'X-Request-Id',
    'Content-Range',
  ]) {
    const value = name === 'Content-Length' ? '77' : 'some-value';
    const before = pair.say(of(...lines)).block;
    const once = pair.say(of(`${name}: ${value}`)).block;
    assert.deepEqual(pair.say(of(`${name}: ${value}`)).block, once, name);
    assert.deepEqual(pair.say(of(...lines)).block, before, `${name} has moved nothing`);
    const isSecret = name === 'Set-Cookie' || name === 'Authorization';
    assert.equal((once[1] as number) & 0xf0, isSecret ? 0x10 : 0, name);
  }
  assert.deepEqual(pair.say('HTTP/1.1 302 Found\r\n\r\n').fields, [[':status', '302']]);
  assert.equal(pair.say('HTTP/1.1 302 Found\r\n\r\n').block.length, 1);
  assert.equal(pair.say('HTTP/1.1 999 x\r\n\r\n').fields?.[0]?.[1], '999');
  // Nearly a table of its own: said in full each time, and pushes nothing out.
  const long = of(`X-Long: ${'y'.repeat(3_500)}`);
  assert.equal(pair.say(long).block.length, pair.say(long).block.length);
  assert.equal(pair.say(of(...lines)).block.length, 4);
});

test('encoder: values that differ in a byte stay two', () => {
  const pair = new Pair();
  for (let round = 0; round < 2; round++) {
    for (const value of [
      'abcdefgh',
      'abXdefgh',
      'abcdeXgh',
      'a',
      'b',
      '',
      `${'m'.repeat(99)}1${'m'.repeat(99)}`,
      `${'m'.repeat(20)}1${'m'.repeat(178)}`,
    ])
      assert.deepEqual(pair.say(of(`X-A: ${value}`, `x-a: ${value}`)).fields?.slice(1), [
        ['x-a', value],
        ['x-a', value],
      ]);
  }
});

test('encoder: spans that are left out are, also parts of lines', () => {
  const pair = new Pair();
  const text = of('A: 1', 'Set-Cookie: a=b; Domain=x; Path=/', 'B: 2', 'C: 3');
  const drop =
    (...parts: string[]) =>
    (head: Head, bytes: Buffer): void => {
      for (const part of parts) {
        const at = bytes.indexOf(part);
        head.drop(at, at + part.length);
      }
    };
  const fields = (...parts: string[]): readonly Field[] | undefined =>
    pair.say(text, { drop: drop(...parts) }).fields?.slice(1);
  assert.deepEqual(fields(' Domain=x;', 'B: 2\r\n'), [
    ['a', '1'],
    ['set-cookie', 'a=b; Path=/'],
    ['c', '3'],
  ]);
  assert.deepEqual(fields('A: 1\r\n', 'C: 3\r\n'), [
    ['set-cookie', 'a=b; Domain=x; Path=/'],
    ['b', '2'],
  ]);
  assert.deepEqual(fields('a=b; ', 'Domain=x; '), [
    ['a', '1'],
    ['set-cookie', 'Path=/'],
    ['b', '2'],
    ['c', '3'],
  ]);
});

test('encoder: a 205 has no length, answers of the edge and trailers are said', () => {
  const pair = new Pair();
  assert.deepEqual(pair.say('HTTP/1.1 205 x\r\nContent-Length: 9\r\nA: b\r\n\r\n').fields, [
    [':status', '205'],
    ['a', 'b'],
  ]);
  assert.deepEqual(pair.answer(404, ['Culvert-Error: x', 'Content-Length: 0']).fields, [
    [':status', '404'],
    ['culvert-error', 'x'],
    ['content-length', '0'],
  ]);
  assert.deepEqual(pair.trailers('Grpc-Status: 0\r\nGrpc-Message: \r\n\r\n').fields, [
    ['grpc-status', '0'],
    ['grpc-message', ''],
  ]);
  assert.deepEqual(pair.trailers('').fields, []);
});

test("encoder: the peer's table size is obeyed, and said in the next block", () => {
  const pair = new Pair();
  const lines = of('Server: shop', 'X-B: c');
  const usual = pair.say(lines).fields;
  const updates = (block: Buffer): string => block.toString('hex').replace(/88.*$/, '');
  const limited = (...sizes: number[]): string => {
    for (const size of sizes) pair.encoder.limit(size);
    const { block, fields } = pair.say(lines);
    assert.deepEqual(fields, usual);
    return updates(block);
  };
  assert.equal(limited(4_096), '');
  assert.equal(limited(65_536), '', 'no more than 4,096 is used');
  assert.equal(limited(0), '20');
  assert.equal(limited(0), '');
  assert.equal(pair.say(lines).block.length, pair.say(lines).block.length, 'a table of 0 keeps nothing');
  assert.equal(limited(4_096), '3fe11f');
  assert.equal(limited(100, 4_096), '3f453fe11f', 'down and up: both');
  assert.equal(limited(200, 50, 300), '3f133f8d02');
  assert.equal(limited(100, 40), '3f09');
});

test('encoder: a block that may not fit is not begun', () => {
  const pair = new Pair();
  const bytes = Buffer.from(of('Server: shop', `X-Long: ${'y'.repeat(1_000)}`));
  const head = new Head();
  parseResponseHead(bytes, 0, bytes.length, head);
  const out = Buffer.alloc(2_000);
  pair.encoder.limit(1_000);
  assert.equal(pair.encoder.response(bytes, head, NOTHING, out, 0, 1_000), -1);
  assert.equal(pair.encoder.answer(200, [`X: ${'y'.repeat(1_000)}`], out, 0, 1_000), -1);
  assert.equal(pair.encoder.trailers(Buffer.from(`X: ${'y'.repeat(1_000)}\r\n`), out, 0, 1_000), -1);
  const end = pair.encoder.response(bytes, head, NOTHING, out, 0, 2_000);
  const fields = fieldsOf(out.subarray(0, end), pair.decoder);
  assert.deepEqual(
    fields?.map(([name]) => name),
    [':status', 'server', 'x-long'],
  );
});

test('encoder: no block is longer than its bound', () => {
  let seed = 3;
  const random = (n: number): number => (seed = (Math.imul(seed, 1_103_515_245) + 12_345) & 0x7fffffff) % n;
  for (let round = 0; round < 300; round++) {
    const encoder = new Encoder();
    const count = 1 + random(30);
    const length = (): number => [0, 1, 126, 127, 128, 254, 255, 300, 16_510][random(9)] as number;
    const lines = Array.from(
      { length: count },
      () => `${'n'.repeat(length() % 500 || 1)}:${'v'.repeat(random(10) === 0 ? length() : random(5))}\r\n`,
    );
    const text = Buffer.from(lines.join(''));
    const out = Buffer.alloc(text.length * 2 + 100, 0xee);
    for (let stop = text.length; ; stop++) {
      const end = encoder.trailers(text, out, 0, stop);
      if (end < 0) continue;
      assert.ok(end <= stop);
      break;
    }
  }
});
