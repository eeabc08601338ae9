/** What is an error, of a stream or of the connection, by RFC 9113. The public tool h2spec asks for the same, and for more of it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CODE } from '../types.ts';
import { FLAG, PREFACE, readUint32, TYPE } from './frame.ts';
import { block, frame, numbers, request, requestBlock, settings, turns, Visitor } from './testing.ts';

const NONE = Buffer.alloc(0);
const WHOLE = FLAG.endHeaders | FLAG.endStream;

/** Frames behind the preface and SETTINGS, and what the connection ends with. */
const OF_CONNECTION: ReadonlyArray<readonly [string, number, Buffer[]]> = [
  ['DATA without a stream', CODE.protocol, [frame(TYPE.data, 0, 0, NONE)]],
  ['DATA on a stream that is idle', CODE.protocol, [frame(TYPE.data, 0, 1, NONE)]],
  [
    'DATA whose padding is longer than it',
    CODE.protocol,
    [request(1, false), frame(TYPE.data, FLAG.padded, 1, Buffer.from([9, 1]))],
  ],
  ['a frame that is too long', CODE.frameSize, [request(1, false), frame(TYPE.data, 0, 1, Buffer.alloc(16_385))]],
  ['HEADERS on an even stream', CODE.protocol, [request(2)]],
  ['HEADERS on a lower stream', CODE.streamClosed, [request(5), request(3)]],
  [
    'HEADERS whose padding is longer than they',
    CODE.protocol,
    [frame(TYPE.headers, WHOLE | FLAG.padded, 1, Buffer.from([200, 0x82]))],
  ],
  [
    'HEADERS that depend on themselves',
    CODE.protocol,
    [frame(TYPE.headers, WHOLE | FLAG.priority, 1, Buffer.concat([numbers(1), Buffer.from([0]), requestBlock()]))],
  ],
  ['HEADERS behind the end of a stream', CODE.streamClosed, [request(1), request(1)]],
  [
    'a block that HPACK can not read',
    CODE.compression,
    [frame(TYPE.headers, WHOLE, 1, Buffer.from([0xff, 0xff, 0xff, 0xff, 0xff, 0xff]))],
  ],
  [
    'another frame within a block',
    CODE.protocol,
    [frame(TYPE.headers, 0, 1, requestBlock()), frame(TYPE.ping, 0, 0, Buffer.alloc(8))],
  ],
  [
    'CONTINUATION of another stream',
    CODE.protocol,
    [frame(TYPE.headers, 0, 1, requestBlock()), frame(TYPE.continuation, 4, 3, NONE)],
  ],
  ['CONTINUATION without HEADERS', CODE.protocol, [frame(TYPE.continuation, 4, 1, NONE)]],
  ['PRIORITY without a stream', CODE.protocol, [frame(TYPE.priority, 0, 0, Buffer.alloc(5))]],
  ['RST_STREAM without a stream', CODE.protocol, [frame(TYPE.reset, 0, 0, numbers(8))]],
  ['RST_STREAM on a stream that is idle', CODE.protocol, [frame(TYPE.reset, 0, 1, numbers(8))]],
  ['RST_STREAM of the wrong length', CODE.frameSize, [request(1), frame(TYPE.reset, 0, 1, Buffer.alloc(3))]],
  ['SETTINGS of a stream', CODE.protocol, [frame(TYPE.settings, 0, 1, NONE)]],
  ['SETTINGS of the wrong length', CODE.frameSize, [frame(TYPE.settings, 0, 0, Buffer.alloc(3))]],
  ['SETTINGS that acknowledge with a payload', CODE.frameSize, [frame(TYPE.settings, FLAG.ack, 0, Buffer.alloc(6))]],
  ['SETTINGS without an end', CODE.frameSize, [settings(...Array.from({ length: 33 }, () => [3, 1] as const))]],
  ['ENABLE_PUSH of 2', CODE.protocol, [settings([2, 2])]],
  ['INITIAL_WINDOW_SIZE beyond 31 bits', CODE.flowControl, [settings([4, 2 ** 31])]],
  ['MAX_FRAME_SIZE below the least', CODE.protocol, [settings([5, 16_383])]],
  ['MAX_FRAME_SIZE beyond the largest', CODE.protocol, [settings([5, 2 ** 24])]],
  ['PUSH_PROMISE', CODE.protocol, [frame(TYPE.pushPromise, 4, 1, numbers(2))]],
  ['PING of a stream', CODE.protocol, [frame(TYPE.ping, 0, 1, Buffer.alloc(8))]],
  ['PING of the wrong length', CODE.frameSize, [frame(TYPE.ping, 0, 0, Buffer.alloc(6))]],
  ['GOAWAY of a stream', CODE.protocol, [frame(TYPE.goAway, 0, 1, numbers(0, 0))]],
  ['WINDOW_UPDATE of the wrong length', CODE.frameSize, [frame(TYPE.window, 0, 0, Buffer.alloc(3))]],
  ['WINDOW_UPDATE of 0', CODE.protocol, [frame(TYPE.window, 0, 0, numbers(0))]],
  ['WINDOW_UPDATE on a stream that is idle', CODE.protocol, [frame(TYPE.window, 0, 1, numbers(1))]],
  ['WINDOW_UPDATE beyond 31 bits', CODE.flowControl, [frame(TYPE.window, 0, 0, numbers(2 ** 31 - 1))]],
  [
    'INITIAL_WINDOW_SIZE that makes a window too large',
    CODE.flowControl,
    [request(1), frame(TYPE.window, 0, 1, numbers(2 ** 30)), settings([4, 2 ** 31 - 1])],
  ],
  [
    'PRIORITY_UPDATE of a stream',
    CODE.protocol,
    [frame(TYPE.priorityUpdate, 0, 1, Buffer.from('\0\0\0\x01u=1', 'latin1'))],
  ],
  ['PRIORITY_UPDATE about no stream', CODE.protocol, [frame(TYPE.priorityUpdate, 0, 0, numbers(0))]],
  ['PRIORITY_UPDATE that is too short', CODE.frameSize, [frame(TYPE.priorityUpdate, 0, 0, Buffer.alloc(3))]],
];

for (const [name, code, frames] of OF_CONNECTION)
  test(`connection error: ${name}`, async () => {
    const visitor = new Visitor();
    visitor.greet();
    visitor.send(...frames);
    assert.equal(visitor.connection.isOver, true);
    assert.equal(await visitor.goneCode(), code);
    assert.deepEqual(visitor.user.offences, ['h2_protocol']);
    assert.equal(visitor.socket.writableEnded, true);
    assert.ok(visitor.user.requests.every(({ log }) => log.events.at(-1) === 'reset 8'));
  });

test('connection error: a preface that is none', async () => {
  const visitor = new Visitor();
  visitor.send(Buffer.from('GET / HTTP/1.1\r\n\r\n'));
  assert.equal(await visitor.goneCode(), CODE.protocol);
});

test('connection error: another frame before SETTINGS', async () => {
  const visitor = new Visitor();
  visitor.send(PREFACE, frame(TYPE.ping, 0, 0, Buffer.alloc(8)));
  assert.equal(await visitor.goneCode(), CODE.protocol);
});

const OF_STREAM: ReadonlyArray<readonly [string, number, Buffer[]]> = [
  ['DATA behind the end', CODE.streamClosed, [request(1), frame(TYPE.data, 0, 1, Buffer.from('x'))]],
  [
    'DATA behind a reset',
    CODE.streamClosed,
    [request(1), frame(TYPE.reset, 0, 1, numbers(8)), frame(TYPE.data, 0, 1, Buffer.from('x'))],
  ],
  [
    'more than the content-length',
    CODE.protocol,
    [request(1, false, { 'content-length': '3' }), frame(TYPE.data, 0, 1, Buffer.from('four'))],
  ],
  [
    'less than the content-length',
    CODE.protocol,
    [request(1, false, { 'content-length': '3' }), frame(TYPE.data, 1, 1, Buffer.from('ab'))],
  ],
  [
    'trailers that do not end it',
    CODE.protocol,
    [request(1, false), frame(TYPE.headers, FLAG.endHeaders, 1, block({ a: 'b' }))],
  ],
  [
    'trailers with a pseudo-field',
    CODE.protocol,
    [request(1, false), frame(TYPE.headers, WHOLE, 1, block({ ':path': '/' }))],
  ],
  [
    'trailers behind too few bytes',
    CODE.protocol,
    [request(1, false, { 'content-length': '3' }), frame(TYPE.headers, WHOLE, 1, block({ a: 'b' }))],
  ],
  ['WINDOW_UPDATE of 0', CODE.protocol, [request(1), frame(TYPE.window, 0, 1, numbers(0))]],
  ['WINDOW_UPDATE beyond 31 bits', CODE.flowControl, [request(1), frame(TYPE.window, 0, 1, numbers(2 ** 31 - 1))]],
  ['PRIORITY of the wrong length', CODE.frameSize, [request(1), frame(TYPE.priority, 0, 1, Buffer.alloc(4))]],
  [
    'PRIORITY that depends on itself',
    CODE.protocol,
    [request(1), frame(TYPE.priority, 0, 1, Buffer.concat([numbers(1), Buffer.alloc(1)]))],
  ],
];

for (const [name, code, frames] of OF_STREAM)
  test(`stream error: ${name}`, async () => {
    const visitor = new Visitor();
    visitor.greet();
    visitor.send(...frames);
    const resets = await visitor.framesOf(TYPE.reset);
    assert.deepEqual(
      resets.map(({ id, payload }) => [id, readUint32(payload, 0)]),
      [[1, code]],
    );
    assert.equal(visitor.connection.isOver, false);
    assert.match(visitor.user.requests[0]?.log.events.at(-1) ?? '', /^reset/);
    visitor.send(request(3));
    assert.equal(visitor.user.requests.length, 2);
  });

test('streams beyond the limit are refused, and those whose end is with the socket do not count', async () => {
  const visitor = new Visitor({ limits: { maxStreams: 2, resetsPerSecond: 20, headBytes: 4_096, headFields: 50 } });
  visitor.greet();
  visitor.send(request(1), request(3), request(5));
  const [refused] = await visitor.framesOf(TYPE.reset);
  assert.deepEqual([refused?.id, readUint32(refused?.payload as Buffer, 0)], [5, CODE.refused]);
  assert.equal(visitor.user.requests.length, 2);
  visitor.socket.isFast = false;
  visitor.user.requests[0]?.stream.answer(204, [], NONE, true);
  await turns();
  assert.equal(visitor.connection.openStreams, 1);
  visitor.send(request(7));
  assert.equal(visitor.user.requests.length, 3);
  visitor.socket.finish();
  assert.equal(visitor.connection.openStreams, 2);
});

test('a head that is too large is for the user to answer', async () => {
  const visitor = new Visitor();
  visitor.user.handle = ({ stream }) => stream.answer(431, [], NONE, true);
  visitor.greet();
  const more = Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`x-${i}`, 'v']));
  visitor.send(request(1, true, more));
  assert.equal(visitor.user.requests[0]?.reason, 'too large');
  assert.deepEqual(await visitor.framesOf(TYPE.reset), []);
});

test('frames of unknown types and flags mean nothing', async () => {
  const visitor = new Visitor();
  visitor.greet([99, 5]);
  visitor.send(frame(0x42, 0xff, 7, Buffer.from('what')), frame(TYPE.ping, 0xfe, 0, Buffer.alloc(8)), request(1));
  assert.equal(visitor.user.requests.length, 1);
  assert.equal((await visitor.framesOf(TYPE.ping)).length, 1);
});
