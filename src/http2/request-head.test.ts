/** Heads that HTTP/2 can say and HTTP/1.1 can't, or in two ways: refused, so that nothing of them reaches the service. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { Head, parseRequestHead } from '../http1/head.ts';
import { Decoder } from './decoder.ts';
import { HeadScratch } from './request-head.ts';
import { blockOf, type Field, headOf, indexed, LIMITS, LITERAL } from './testing.ts';

const GET: readonly Field[] = [
  [':method', 'GET'],
  [':scheme', 'https'],
  [':authority', 'shop.example.test'],
  [':path', '/'],
];
const CONNECTION_FIELDS = [
  'connection',
  'keep-alive',
  'proxy-connection',
  'transfer-encoding',
  'upgrade',
  'http2-settings',
];

const text = (fields: readonly Field[], isWhole = true): string => headOf(blockOf(fields), isWhole);
const without = (name: string): readonly Field[] => GET.filter(([key]) => key !== name);
const withPath = (path: string, method = 'GET'): readonly Field[] => [
  [':method', method],
  [':scheme', 'https'],
  [':authority', 'shop.example.test'],
  [':path', path],
];
const WEBSOCKET: readonly Field[] = [...withPath('/chat', 'CONNECT'), [':protocol', 'websocket']];

function scratchOf(fields: readonly Field[], isWhole = true, limits = LIMITS): HeadScratch {
  const into = new HeadScratch(limits);
  headOf(blockOf(fields), isWhole, into);
  return into;
}

/** What the parser makes of it: whether it is one head, and as many lines as were written. */
function isAccepted(fields: readonly Field[], isWhole = true): boolean {
  const into = scratchOf(fields, isWhole);
  if (into.reason !== '') return false;
  const head = new Head();
  return parseRequestHead(into.bytes, into.start, into.end, head) === into.end && head.lineCount === into.lines;
}

test('http2 head: written as one of HTTP/1.1, with one Host and one Cookie line', () => {
  assert.equal(text(GET), 'GET / HTTP/1.1\r\nhost: shop.example.test\r\n\r\n');
  assert.equal(
    text([...GET, ['cookie', 'a=1'], ['x', 'y'], ['cookie', 'b=2'], ['te', 'trailers'], ['cookie', '']]),
    'GET / HTTP/1.1\r\nhost: shop.example.test\r\nx: y\r\nte: trailers\r\ncookie: a=1; b=2\r\n\r\n',
  );
  assert.equal(text([...without(':authority'), ['host', 'shop.example.test']]), text(GET));
  assert.ok(isAccepted([...GET, ['host', 'Shop.example.test']]), 'the same host twice is one');
  assert.match(text(GET, false), /\r\ntransfer-encoding: chunked\r\n\r\n$/);
  assert.doesNotMatch(text([...GET, ['content-length', '3']], false), /transfer-encoding/);
  assert.ok(isAccepted(withPath('*', 'OPTIONS')));
  assert.ok(isAccepted([...GET, ['x', '']]));
  assert.equal(scratchOf([...GET, ['content-length', '3']], false).contentLength, 3);
  assert.equal(scratchOf(GET).contentLength, -1);
  assert.ok(scratchOf(withPath('/', 'HEAD')).isHead);
  assert.ok(!scratchOf(GET).isHead);
});

test('http2 head: what HTTP/2 does not have, or says twice, is refused', () => {
  const reasons: Array<[readonly Field[], string]> = [
    [without(':method'), 'a pseudo-field is missing'],
    [without(':scheme'), 'a pseudo-field is missing'],
    [without(':path'), 'a pseudo-field is missing'],
    [[[':method', 'GET'], ...GET], ':method'],
    [[[':path', '/'], ...GET], ':path'],
    [[[':scheme', 'https'], ...GET], ':scheme'],
    [[[':authority', 'shop.example.test'], ...GET], ':authority'],
    [[...GET, ['host', 'shop.example.test'], ['host', 'shop.example.test']], 'host'],
    [[...GET, ['host', 'shed.example.test']], 'host'],
    [[['x', 'y'], ...GET], 'a pseudo-header after a regular header'],
    [[['cookie', 'y=1'], ...GET], 'a pseudo-header after a regular header'],
    [[['host', 'shop.example.test'], ...GET], 'a pseudo-header after a regular header'],
    [[[':status', '200'], ...GET], 'an unknown pseudo-field'],
    [
      [
        [':method', 'CONNECT'],
        [':authority', 'shop.example.test:443'],
      ],
      'a pseudo-field is missing',
    ],
    [withPath('https://shop.example.test/'), ':path'],
    [withPath('admin'), ':path'],
    [withPath('*x'), ':path'],
    [withPath(''), ':path'],
    [[...GET, ['X-Up', 'y']], 'a field name in upper case'],
    [[...GET, ['x:y', 'z']], 'an unknown pseudo-field'],
    [[...GET, ['', 'z']], 'invalid header name'],
    [[...GET, ['x y', 'z']], 'invalid header name'],
    [[...GET, ['x', 'y\r\nz: 1']], 'invalid header value'],
    [[...GET, ['x', ' y']], 'invalid header value'],
    [[...GET, ['x', 'y\t']], 'invalid header value'],
    [[...GET, ['te', 'trailers, gzip']], 'te'],
    [[...GET, ['te', '']], 'te'],
    [[...GET, ['content-length', '0'], ['content-length', '0']], 'content-length'],
    [[...GET, ['content-length', '+0']], 'invalid content-length'],
    [[...GET, ['content-length', '']], 'invalid content-length'],
    [[...GET, ['content-length', '1234567890123456']], 'invalid content-length'],
    [[...GET, ['content-length', '5']], 'content-length without a body'],
  ];
  for (const [fields, reason] of reasons) assert.equal(text(fields), reason, JSON.stringify(fields));
  const refused: Record<string, readonly Field[]> = {
    'no host at all': without(':authority'),
    'an empty authority': [...without(':authority'), [':authority', '']],
    CONNECT: withPath('/', 'CONNECT'),
    'a star': withPath('*'),
    'a path with a blank': withPath('/ HTTP/1.1'),
    'a path with a line break': withPath('/ HTTP/1.1\r\nx: y'),
    'a method with a blank': withPath('/', 'GET /x'),
    'a method with a line break': withPath('/', 'GET / HTTP/1.1\r\nhost: a\r\n\r\nGET'),
    'an authority with a line break': [...without(':authority'), [':authority', 'a\r\nx: y']],
    'an authority with user information': [...without(':authority'), [':authority', 'ann@shop.example.test']],
    'a name with a line break': [...GET, ['x\r\ny', 'z']],
    'a value with a line end': [...GET, ['x', 'y\nz: 1']],
    'a value with an end of the head': [...GET, ['x', 'y\r\n\r\nGET /smuggled HTTP/1.1\r\nhost: a']],
    'a cookie with a line break': [...GET, ['cookie', 'a=1\r\nx: y']],
    'a value with NUL': [...GET, ['x', 'y\0']],
    'an unknown expectation': [...GET, ['expect', 'x']],
  };
  for (const [what, fields] of Object.entries(refused)) assert.ok(!isAccepted(fields), what);
  for (const name of CONNECTION_FIELDS) assert.equal(text([...GET, [name, 'x']]), `${name} is not allowed in HTTP/2`);
  assert.ok(!isAccepted([...GET, ['transfer-encoding', 'chunked']], false));
  assert.ok(isAccepted([...GET, ['content-length', '5']], false));
  assert.ok(isAccepted([...GET, ['content-length', '00']]));
});

test('http2 head: one with more bytes or fields than allowed is too large, and the table stays in step', () => {
  const limits = { headBytes: 1_000, headFields: 20 };
  const decoder = new Decoder();
  const into = new HeadScratch(limits);
  const decode = (block: Buffer): string => headOf(block, true, into, decoder);
  const isTooLarge = (block: Buffer): boolean =>
    decode(block) === 'too large' && into.isTooLarge && into.end === into.start;
  const get = blockOf(GET);
  assert.equal(decode(get), text(GET));
  assert.ok(isTooLarge(Buffer.concat([get, blockOf([['x', 'y'.repeat(950)]])])));
  assert.ok(isTooLarge(Buffer.concat([get, ...Array.from({ length: 17 }, () => indexed(16))])));
  assert.notEqual(decode(Buffer.concat([get, ...Array.from({ length: 16 }, () => indexed(16))])), 'too large');
  // A block of 60 KB, in which a field is indexed behind the limit; then that field by its index, 60,000 times.
  assert.ok(
    isTooLarge(
      Buffer.concat([get, blockOf([['x', 'y'.repeat(60_000)]]), blockOf([['a', 'z'.repeat(3_000)]], LITERAL.indexing)]),
    ),
  );
  assert.ok(isTooLarge(Buffer.concat([get, Buffer.alloc(60_000, 0x80 | 62)])));
  assert.ok(
    isTooLarge(
      Buffer.concat([
        get,
        Buffer.concat(Array.from({ length: 4_000 }, (_, i) => blockOf([['b', String(i)]], LITERAL.indexing))),
      ]),
    ),
  );
  assert.equal(
    decode(Buffer.concat([get, indexed(62)])),
    `GET / HTTP/1.1\r\nhost: shop.example.test\r\nb: 3999\r\n\r\n`,
  );
  assert.ok(
    isTooLarge(
      blockOf([
        [':method', 'HEAD'],
        [':path', `/${'x'.repeat(2_000)}`],
      ]),
    ),
  );
  assert.ok(into.isHead, 'a HEAD gets an answer without a body');
  for (const kind of ['cookie', 'host', ':authority', ':path'])
    assert.ok(isTooLarge(blockOf([[kind, 'x'.repeat(70_000)]])), kind);
  // Names of the table that are long, with values beyond the limit.
  assert.match(decode(Buffer.concat([get, blockOf([[`n${'x'.repeat(900)}`, 'y']], LITERAL.indexing)])), /^GET /);
  for (let i = 0; i < 100; i++)
    assert.ok(isTooLarge(Buffer.concat([get, Buffer.of(0x7e, 1, 97), blockOf([['x', 'y'.repeat(800)]])])));
});

test('http2 head: extended CONNECT becomes a GET with Upgrade and a key of the edge', () => {
  const fields: readonly Field[] = [
    ...WEBSOCKET,
    ['sec-websocket-version', '13'],
    ['sec-websocket-key', 'mine'],
    ['origin', 'https://a.test'],
  ];
  const into = scratchOf(fields, false);
  const head = into.bytes.toString('latin1', into.start, into.end);
  const match =
    /^GET \/chat HTTP\/1\.1\r\nhost: shop\.example\.test\r\nsec-websocket-version: 13\r\norigin: https:\/\/a\.test\r\nconnection: Upgrade\r\nupgrade: websocket\r\nsec-websocket-key: ([A-Za-z0-9+/]{22}==)\r\n\r\n$/.exec(
      head,
    );
  assert.ok(match, head);
  const accept = createHash('sha1').update(`${match[1]}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64');
  assert.equal(into.websocketAccept, accept);
  assert.ok(into.isWebsocket && isAccepted(fields, false));
  assert.notEqual(scratchOf(fields, false).websocketAccept, accept, 'a key is used once');
  assert.equal(text(WEBSOCKET, true), 'a WebSocket that is no open stream');
  assert.equal(text([...WEBSOCKET, ['content-length', '5']], false), 'a WebSocket that is no open stream');
  assert.equal(text([...withPath('/', 'GET'), [':protocol', 'websocket']], false), ':protocol');
  assert.equal(text([...withPath('/', 'CONNECT'), [':protocol', 'connect-udp']], false), ':protocol');
  assert.equal(text([...WEBSOCKET, [':protocol', 'websocket']], false), ':protocol');
  assert.equal(
    text(
      [
        [':method', 'CONNECT'],
        [':authority', 'a.test'],
        [':protocol', 'websocket'],
      ],
      false,
    ),
    'a pseudo-field is missing',
  );
  assert.match(
    text([...GET, ['sec-websocket-key', 'mine']]),
    /sec-websocket-key: mine/,
    'a field as any other elsewhere',
  );
});

test('http2 head: priority is read and passed on', () => {
  const read = (value: string): string => {
    const { priority } = scratchOf([...GET, ['priority', value]]);
    return `${priority.urgency}${priority.isIncremental ? 'i' : ''}`;
  };
  const values = {
    'u=0': '0',
    'u=7, i': '7i',
    i: '3i',
    'i=?0': '3',
    'u=1,i=?1': '1i',
    'i,u=5;x=1': '5i',
    'u=8': '3',
    'u=-1': '3',
    'u=22': '3',
  };
  for (const [value, wanted] of Object.entries(values)) assert.equal(read(value), wanted, value);
  for (const [value, wanted] of Object.entries({
    'a="u=1, i", u=2': '2',
    'u="1"': '3',
    u: '3',
    ',,': '3',
    'i=1': '3',
    'x="\\': '3',
  }))
    assert.equal(read(value), wanted, value);
  assert.match(text([...GET, ['priority', 'u=0']]), /\r\npriority: u=0\r\n/);
  const two = scratchOf([...GET, ['priority', 'u=2'], ['priority', 'i']]).priority;
  assert.deepEqual({ ...two }, { urgency: 2, isIncremental: true });
  assert.deepEqual(
    { ...scratchOf(GET).priority },
    { urgency: 3, isIncremental: true },
    'of those that say nothing none waits',
  );
});

test('http2 trailers: fields that frame, route or authenticate are left out, pseudo-fields refuse them', () => {
  const trailers = (fields: readonly Field[]): string => {
    const into = new HeadScratch(LIMITS);
    const block = blockOf(fields);
    assert.ok(new Decoder().decode(block, 0, block.length, into));
    const reason = into.finishTrailers();
    return reason === '' ? into.bytes.toString('latin1', into.start, into.end) : `refused: ${reason}`;
  };
  assert.equal(
    trailers([
      ['grpc-status', '0'],
      ['x-checksum', 'abc'],
    ]),
    'grpc-status: 0\r\nx-checksum: abc\r\n',
  );
  const forbidden = [
    'host',
    'cookie',
    'authorization',
    'te',
    'x-forwarded-for',
    'x_forwarded_for',
    'range',
    'x-real-ip',
  ];
  const values = new Map([['te', 'trailers']]);
  for (const name of forbidden)
    assert.equal(
      trailers([
        ['a', '1'],
        [name, values.get(name) ?? 'x'],
        ['b', ''],
      ]),
      'a: 1\r\nb: \r\n',
      name,
    );
  assert.equal(trailers([]), '');
  for (const value of ['0', '5', 'x'])
    assert.match(trailers([['content-length', value]]), /^refused: .*content-length/, value);
  for (const name of [':path', ':status', 'connection', 'transfer-encoding', 'X', ''])
    assert.match(
      trailers([
        ['a', '1'],
        [name, 'x'],
      ]),
      /^refused: /,
      name,
    );
  assert.match(trailers([[':path', '/']]), /^refused: /);
  assert.match(trailers([['a', 'b\r\nc: d']]), /^refused: /);
  assert.match(trailers([['a', 'b'.repeat(40_000)]]), /^refused: too large/);
});

test('http2 head: what is accepted of any fields is one head, with a line for each of them', () => {
  // biome-ignore format: a list
  const piece = fc.constantFrom(
    'x', 'y', 'Host', 'host', 'cookie', 'te', 'trailers', 'content-length', 'transfer-encoding', 'chunked', 'connection', 'priority',
    '\r', '\n', '\r\n', '\r\n\r\n', ':', ' ', '\t', '\0', '0', '5', '-', '_', 'GET / HTTP/1.1', '\x85', '\xff', ':path', '',
  );
  const words = fc.array(piece, { maxLength: 4 }).map((parts) => parts.join(''));
  const fields = fc.array(fc.tuple(words, words), { maxLength: 4 });
  const pseudo = fc.record({ method: words, path: words, authority: words });
  const usual = fc.constant({ method: 'POST', path: '/', authority: 'shop.example.test' });
  fc.assert(
    fc.property(fc.oneof(pseudo, usual), fields, fc.boolean(), ({ method, path, authority }, more, isWhole) => {
      const all: Field[] = [
        [':method', method],
        [':scheme', 'https'],
        [':authority', authority],
        [':path', path],
        ...more,
      ];
      if (!isAccepted(all, isWhole)) return;
      const [first, ...lines] = text(all, isWhole).split('\r\n');
      assert.equal(first, `${method} ${path} HTTP/1.1`);
      assert.deepEqual(lines.splice(-2), ['', '']);
      for (const line of lines) assert.doesNotMatch(line, /[\r\n\0]/);
      const names = lines.map((line) => line.slice(0, line.indexOf(':')));
      assert.equal(names.filter((name) => name === 'host').length, 1);
      assert.ok(names.filter((name) => name === 'content-length' || name === 'transfer-encoding').length <= 1);
      const others = (list: readonly string[]): string[] =>
        list.filter((name) => !['host', 'cookie', 'transfer-encoding'].includes(name));
      assert.deepEqual(others(names), others(more.map(([name]) => name)));
    }),
    { numRuns: 5_000 },
  );
});
