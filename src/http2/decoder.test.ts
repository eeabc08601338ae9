import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Decoder } from './decoder.ts';
import { writeInteger } from './primitives.ts';
import { HeadScratch } from './request-head.ts';
import { STATIC_FIELDS } from './static-table.ts';
import { blockOf, bytesOf, type Field, fieldsOf, headOf, indexed, LIMITS, LITERAL } from './testing.ts';

const GET: readonly Field[] = [
  [':method', 'GET'],
  [':scheme', 'http'],
  [':path', '/'],
];

test('hpack: integers are written as in RFC 7541 C.1', () => {
  const out = Buffer.alloc(8);
  const written = (prefix: number, value: number): string =>
    out.toString('hex', 0, writeInteger(out, 0, 0, prefix, value));
  assert.deepEqual([written(5, 10), written(5, 1_337), written(8, 42), written(5, 31)], ['0a', '1f9a0a', '2a', '1f00']);
});

test('hpack: single fields are decoded as in RFC 7541 C.2', () => {
  const all: Array<[string, Field]> = [
    ['400a 6375 7374 6f6d 2d6b 6579 0d63 7573 746f 6d2d 6865 6164 6572', ['custom-key', 'custom-header']],
    ['040c 2f73 616d 706c 652f 7061 7468', [':path', '/sample/path']],
    ['1008 7061 7373 776f 7264 0673 6563 7265 74', ['password', 'secret']],
    ['82', [':method', 'GET']],
  ];
  for (const [hex, field] of all) assert.deepEqual(fieldsOf(bytesOf(hex)), [field]);
});

test('hpack: requests are decoded as in RFC 7541 C.3 and C.4', () => {
  const first: readonly Field[] = [...GET, [':authority', 'www.example.com']];
  const wanted: Array<readonly Field[]> = [
    first,
    [...first, ['cache-control', 'no-cache']],
    [
      [':method', 'GET'],
      [':scheme', 'https'],
      [':path', '/index.html'],
      [':authority', 'www.example.com'],
      ['custom-key', 'custom-value'],
    ],
  ];
  const plain = [
    '8286 8441 0f77 7777 2e65 7861 6d70 6c65 2e63 6f6d',
    '8286 84be 5808 6e6f 2d63 6163 6865',
    '8287 85bf 400a 6375 7374 6f6d 2d6b 6579 0c63 7573 746f 6d2d 7661 6c75 65',
  ];
  const huffman = [
    '8286 8441 8cf1 e3c2 e5f2 3a6b a0ab 90f4 ff',
    '8286 84be 5886 a8eb 1064 9cbf',
    '8287 85bf 4088 25a8 49e9 5ba9 7d7f 8925 a849 e95b b8e8 b4bf',
  ];
  for (const blocks of [plain, huffman]) {
    const decoder = new Decoder();
    assert.deepEqual(
      blocks.map((hex) => fieldsOf(bytesOf(hex), decoder)),
      wanted,
    );
    // The table then holds three fields (C.3.3), and no fourth.
    const table = [62, 63, 64].map((index) => fieldsOf(indexed(index), decoder)?.[0]?.[0]);
    assert.deepEqual(table, ['custom-key', 'cache-control', ':authority']);
    assert.equal(fieldsOf(indexed(65), decoder), null);
  }
});

test('hpack: responses are decoded as in RFC 7541 C.5 and C.6, with a table of 256 bytes', () => {
  const fields = (status: string, second: string): Field[] => [
    [':status', status],
    ['cache-control', 'private'],
    ['date', `Mon, 21 Oct 2013 20:13:${second} GMT`],
    ['location', 'https://www.example.com'],
  ];
  const wanted = [
    fields('302', '21'),
    fields('307', '21'),
    [
      ...fields('200', '22'),
      ['content-encoding', 'gzip'],
      ['set-cookie', 'foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1'],
    ],
  ];
  const plain = [
    `4803 3330 3258 0770 7269 7661 7465 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133 2032 303a 3133 3a32 3120 474d 546e 1768 7474 7073
     3a2f 2f77 7777 2e65 7861 6d70 6c65 2e63 6f6d`,
    '4803 3330 37c1 c0bf',
    `88c1 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133 2032 303a 3133 3a32 3220 474d 54c0 5a04 677a 6970 7738 666f 6f3d 4153 444a 4b48
     514b 425a 584f 5157 454f 5049 5541 5851 5745 4f49 553b 206d 6178 2d61 6765 3d33 3630 303b 2076 6572 7369 6f6e 3d31`,
  ];
  const huffman = [
    `4882 6402 5885 aec3 771a 4b61 96d0 7abe 9410 54d4 44a8 2005 9504 0b81 66e0 82a6 2d1b ff6e 919d 29ad 1718 63c7 8f0b 97c8 e9ae 82ae
     43d3`,
    '4883 640e ffc1 c0bf',
    `88c1 6196 d07a be94 1054 d444 a820 0595 040b 8166 e084 a62d 1bff c05a 839b d9ab 77ad 94e7 821d d7f2 e6c7 b335 dfdf cd5b 3960 d5af
     2708 7f36 72c1 ab27 0fb5 291f 9587 3160 65c0 03ed 4ee5 b106 3d50 07`,
  ];
  for (const [first = '', ...others] of [plain, huffman]) {
    const decoder = new Decoder();
    const blocks = [`3fe1 01${first}`, ...others];
    assert.deepEqual(
      blocks.map((hex) => fieldsOf(bytesOf(hex), decoder)),
      wanted,
    );
    const table = [62, 63, 64].map((index) => fieldsOf(indexed(index), decoder)?.[0]?.[0]);
    assert.deepEqual(table, ['set-cookie', 'content-encoding', 'date']);
    assert.equal(fieldsOf(indexed(65), decoder), null, 'the others were evicted');
  }
});

test('hpack: all entries of the static table are where RFC 7541 Appendix A has them', () => {
  assert.equal(STATIC_FIELDS.length, 61);
  const at = (index: number): readonly Field[] | null => fieldsOf(indexed(index));
  for (const [i, { name, value }] of STATIC_FIELDS.entries()) assert.deepEqual(at(i + 1), [[name, value]]);
  assert.deepEqual(at(1), [[':authority', '']]);
  assert.deepEqual(at(16), [['accept-encoding', 'gzip, deflate']]);
  assert.deepEqual(at(32), [['cookie', '']]);
  assert.deepEqual(at(61), [['www-authenticate', '']]);
});

test('hpack: what is no block breaks the connection', () => {
  const broken: Record<string, string> = {
    'index 0': '80',
    'an index beyond both tables': 'be',
    'an index far beyond': 'ff ffff ff07',
    'a name beyond both tables': '7e 0161',
    'an index without its end': 'ff',
    'an integer that goes on after its end': 'ff80',
    'an integer of six bytes': 'ff 8080 8080 00',
    'an integer beyond 32 bits': 'ff ffff ffff ff0f',
    'a string that is longer than the block': '0005 6162',
    'a length without its end': '007f',
    'a literal without a value': '0001 61',
    'a literal without anything': '00',
    'Huffman: EOS': '0001 6184 ffff ffff',
    'Huffman: a padding of eight bits': '0001 6182 1fff',
    'Huffman: a padding of zeros': '0001 6181 18',
    'a size beyond 4,096': '3fe2 1f',
    'a size behind a field': '82 20',
    'a size behind a literal': '0001 6101 62 20',
    'a size without its end': '3f',
  };
  for (const [what, hex] of Object.entries(broken)) assert.equal(headOf(bytesOf(hex)), 'COMPRESSION_ERROR', what);
  assert.deepEqual(fieldsOf(bytesOf('3fe1 1f 20 82')), [[':method', 'GET']], 'sizes of 4,096 and of 0, in front');
});

test('hpack: each block cut anywhere is broken, or has fewer fields', () => {
  const block = Buffer.concat([
    bytesOf('3fe1 1f 8287 85 4088 25a8 49e9 5ba9 7d7f 8925 a849 e95b b8e8 b4bf be'),
    blockOf([['a', 'x'.repeat(200)]]),
  ]);
  const whole = fieldsOf(block)?.length ?? 0;
  for (let end = 0; end < block.length; end++) {
    const fields = fieldsOf(block.subarray(0, end));
    assert.ok(fields === null || fields.length < whole, String(end));
  }
});

test('hpack: a change of the table size evicts, and an entry that is too long empties the table', () => {
  const decoder = new Decoder();
  const add = (name: string, value: string): void => void fieldsOf(blockOf([[name, value]], LITERAL.indexing), decoder);
  const names = (): string[] => {
    const out: string[] = [];
    for (let index = 62; ; index++) {
      const fields = fieldsOf(indexed(index), decoder);
      if (fields === null) return out;
      out.push(...fields.map(([name]) => name));
    }
  };
  for (const name of ['a', 'b', 'c']) add(name, '');
  assert.deepEqual(names(), ['c', 'b', 'a']);
  // Each takes 33.
  fieldsOf(bytesOf('3f23'), decoder);
  assert.deepEqual(names(), ['c', 'b'], 'a size of 66');
  fieldsOf(bytesOf('3f22'), decoder);
  assert.deepEqual(names(), ['c'], 'a size of 65');
  fieldsOf(bytesOf('3fe11f'), decoder);
  add('d', 'x'.repeat(4_063));
  assert.deepEqual(names(), ['d'], 'exactly 4,096');
  add('e', 'x'.repeat(4_064));
  assert.deepEqual(names(), []);
  for (let i = 0; i < 200; i++) add('', '');
  assert.equal(names().length, 128);
  fieldsOf(bytesOf('20'), decoder);
  add('f', 'g');
  assert.deepEqual(names(), []);
});

test('hpack: a table that never rests keeps its entries in order', () => {
  let seed = 5;
  const random = (n: number): number => (seed = (Math.imul(seed, 1_103_515_245) + 12_345) & 0x7fffffff) % n;
  const decoder = new Decoder();
  let model: Field[] = [];
  const sizeOf = (fields: readonly Field[]): number =>
    fields.reduce((sum, [name, value]) => sum + name.length + value.length + 32, 0);
  let max = 4_096;
  for (let round = 0; round < 3_000; round++) {
    if (random(50) === 0) {
      max = [0, 100, 1_000, 4_096][random(4)] as number;
      const update = Buffer.alloc(4);
      assert.ok(fieldsOf(update.subarray(0, writeInteger(update, 0, 0x20, 5, max)), decoder));
    } else {
      const field: Field = [`n${round}`, 'v'.repeat(random(random(10) === 0 ? 4_000 : random(3) === 0 ? 200 : 10))];
      assert.deepEqual(fieldsOf(blockOf([field], LITERAL.indexing), decoder), [field]);
      model = sizeOf([field]) > max ? [] : [field, ...model];
    }
    while (sizeOf(model) > max) model.pop();
    const all = Buffer.concat(model.map((_, i) => indexed(62 + i)));
    if (round % 7 === 0) assert.deepEqual(fieldsOf(all, decoder), model);
    assert.equal(fieldsOf(indexed(62 + model.length), decoder), null);
  }
});

test('hpack: a name may be that of any entry, also of one that was refused', () => {
  const decoder = new Decoder();
  const text = (block: Buffer): string => headOf(block, true, new HeadScratch(LIMITS), decoder);
  const start = Buffer.concat([2, 7, 4].map(indexed));
  assert.equal(text(Buffer.concat([start, blockOf([['x-a', 'y\r\nz: 1']], LITERAL.indexing)])), 'invalid header value');
  assert.equal(text(Buffer.concat([start, indexed(62)])), 'invalid header value', 'the entry is as bad as it was');
  const named = Buffer.concat([start, bytesOf('7e 0162')]);
  assert.equal(text(named), 'GET / HTTP/1.1\r\nx-a: b\r\n\r\n');
  assert.equal(text(Buffer.concat([start, indexed(62)])), 'GET / HTTP/1.1\r\nx-a: b\r\n\r\n');
  assert.equal(text(Buffer.concat([start, bytesOf('0f2f 02 2062')])), 'invalid header value', 'a blank in front');
});
