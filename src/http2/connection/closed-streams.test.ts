/** What comes for a stream that is closed: a mistake that ends the connection, one that ends nothing else, or what was under way (RFC 9113 §5.1). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CODE, type Http2Stream } from '../types.ts';
import { FLAG, readUint32, TYPE } from './frame.ts';
import { frame, numbers, request, turns, Visitor } from './testing.ts';

const NONE = Buffer.alloc(0);
const BODY = Buffer.from('body');

function data(id: number, flags = 0): Buffer {
  return frame(TYPE.data, flags, id, BODY);
}

async function greeted(...frames: Buffer[]): Promise<Visitor> {
  const visitor = new Visitor();
  visitor.greet();
  visitor.send(...frames);
  await turns();
  visitor.frames();
  return visitor;
}

async function answer(visitor: Visitor, n: number): Promise<Http2Stream> {
  const { stream } = visitor.taken(n);
  stream.answer(204, [], NONE, true);
  await turns();
  visitor.frames();
  return stream;
}

async function resetsOf(visitor: Visitor): Promise<number[][]> {
  const resets = await visitor.framesOf(TYPE.reset);
  return resets.map(({ id, payload }) => [id, readUint32(payload, 0)]);
}

test('DATA on a stream that both sides have ended ends the connection', async () => {
  const visitor = await greeted(request(1), request(3));
  await answer(visitor, 0);
  visitor.send(data(1));
  assert.equal(visitor.connection.isOver, true);
  assert.equal(await visitor.goneCode(), CODE.streamClosed);
  assert.deepEqual(visitor.user.offences, ['h2_protocol']);
});

test('DATA behind its end, while the end of the answer is with the socket, ends the connection', async () => {
  const visitor = await greeted(request(1));
  visitor.socket.isFast = false;
  await answer(visitor, 0);
  assert.equal(visitor.connection.streams.size, 1);
  visitor.send(data(1));
  visitor.socket.finish();
  assert.equal(await visitor.goneCode(), CODE.streamClosed);
});

test('DATA on a stream that was answered before its end is passed by', async () => {
  const visitor = await greeted(request(1, false));
  await answer(visitor, 0);
  visitor.send(data(1), data(1, FLAG.endStream));
  assert.deepEqual(await resetsOf(visitor), []);
  assert.equal(visitor.connection.isOver, false);
  assert.deepEqual(visitor.user.offences, []);
});

test('DATA on a stream that this side has reset is passed by', async () => {
  const visitor = await greeted(request(1, false));
  visitor.taken(0).stream.reset(CODE.internal);
  visitor.send(data(1), data(1, FLAG.endStream), request(3));
  assert.deepEqual(await resetsOf(visitor), [[1, CODE.internal]]);
  assert.equal(visitor.user.requests.length, 2);
  assert.deepEqual(visitor.user.offences, []);
});

test('DATA on a stream that was refused is passed by', async () => {
  const visitor = new Visitor({ limits: { maxStreams: 1, resetsPerSecond: 20, headBytes: 4_096, headFields: 50 } });
  visitor.greet();
  visitor.send(request(1), request(3, false), data(3), data(3, FLAG.endStream));
  assert.deepEqual(await resetsOf(visitor), [[3, CODE.refused]]);
  assert.deepEqual([visitor.connection.isOver, visitor.user.offences], [false, []]);
});

test('DATA on a stream whose reset is long ago costs no stream beside it', async () => {
  const visitor = await greeted();
  // More than are kept in mind.
  for (let id = 1; id < 700; id += 2) {
    visitor.send(request(id, false));
    visitor.taken(-1).stream.reset(CODE.refused);
  }
  visitor.send(request(701));
  await turns();
  visitor.frames();
  visitor.send(data(1));
  assert.deepEqual(await resetsOf(visitor), [[1, CODE.streamClosed]]);
  assert.equal(visitor.connection.isOver, false);
  assert.deepEqual(visitor.taken(-1).log.events, []);
});

test('DATA on a stream that the visitor has reset costs no stream beside it', async () => {
  const visitor = await greeted(request(1, false), request(3), frame(TYPE.reset, 0, 1, numbers(CODE.cancel)));
  visitor.send(data(1));
  assert.deepEqual(await resetsOf(visitor), [[1, CODE.streamClosed]]);
  assert.equal(visitor.connection.isOver, false);
  assert.deepEqual(visitor.taken(1).log.events, []);
});
