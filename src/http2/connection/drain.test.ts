import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CODE } from '../types.ts';
import { FLAG, readUint32, TYPE } from './frame.ts';
import { frame, numbers, request, turns, Visitor } from './testing.ts';

const NONE = Buffer.alloc(0);

async function lastStream(visitor: Visitor): Promise<number> {
  const goAways = await visitor.framesOf(TYPE.goAway);
  return goAways.length === 0 ? -1 : readUint32(goAways.at(-1)?.payload as Buffer, 0);
}

test('drain: a request that is under way when the server leaves is answered', async () => {
  const visitor = new Visitor();
  visitor.greet();
  visitor.send(request(1));
  await turns();
  visitor.frames();
  visitor.connection.drain();
  await turns();
  const frames = visitor.frames();
  assert.deepEqual(
    frames.map(({ type }) => type),
    [TYPE.goAway, TYPE.ping],
  );
  assert.equal(readUint32(frames[0]?.payload as Buffer, 0), 2 ** 31 - 1);
  assert.equal(visitor.connection.closing, false);
  // It was sent before the visitor knew.
  visitor.send(request(3), frame(TYPE.ping, FLAG.ack, 0, frames[1]?.payload));
  assert.equal(visitor.user.requests.length, 2);
  assert.equal(visitor.connection.closing, true);
  assert.equal(await lastStream(visitor), 3);
  visitor.send(request(5));
  const [refused] = await visitor.framesOf(TYPE.reset);
  assert.deepEqual([refused?.id, readUint32(refused?.payload as Buffer, 0)], [5, CODE.refused]);
  for (const { stream } of visitor.user.requests) {
    assert.equal(visitor.socket.writableEnded, false);
    stream.answer(200, [], Buffer.from('answer'), true);
  }
  await turns();
  assert.equal(visitor.frames().filter(({ payload }) => payload.toString() === 'answer').length, 2);
  assert.deepEqual(
    visitor.user.requests.map(({ log }) => log.events),
    [['done'], ['done']],
  );
  assert.equal(visitor.socket.writableEnded, true);
  assert.equal(visitor.user.requests.length, 2);
});

test('drain: without an answer to its PING the second step comes after a second', async () => {
  const visitor = new Visitor();
  visitor.greet();
  visitor.connection.drain();
  visitor.connection.sweep(visitor.clock.ms + 900);
  assert.equal(visitor.connection.closing, false);
  visitor.connection.sweep(visitor.clock.ms + 1_000);
  assert.equal(visitor.connection.closing, true);
  assert.equal(await lastStream(visitor), 0);
  assert.equal(visitor.socket.writableEnded, true);
});

test('drain: a visitor that does not close its side is cut', async () => {
  const visitor = new Visitor();
  visitor.greet();
  visitor.connection.goaway(CODE.none);
  await turns();
  assert.equal(visitor.socket.writableEnded, true);
  visitor.send(request(1));
  assert.equal(visitor.user.requests.length, 0);
  assert.equal(visitor.socket.isPaused, false, 'what comes late is read, else the end would be a reset');
  visitor.connection.sweep(visitor.clock.ms + 1_000);
  assert.equal(visitor.socket.destroyed, false);
  visitor.connection.sweep(visitor.clock.ms + 2_000);
  assert.equal(visitor.socket.destroyed, true);
  assert.equal(visitor.user.closes, 1);
});

test('drain: an answer that takes long is sent to its end', async () => {
  const visitor = new Visitor();
  visitor.greet([4, 100]);
  visitor.send(request(1));
  const { stream } = visitor.taken(0);
  stream.answer(200, [], NONE, false);
  stream.push(Buffer.alloc(200), 0, 200, 200, visitor.slabs.foreign);
  stream.end();
  visitor.connection.drain();
  await turns();
  visitor.connection.sweep(visitor.clock.ms + 5_000);
  await turns();
  assert.equal(visitor.socket.writableEnded, false);
  visitor.send(frame(TYPE.window, 0, 1, Buffer.from([0, 0, 0, 100])));
  await turns();
  assert.equal(visitor.socket.writableEnded, true);
  assert.deepEqual(visitor.user.requests[0]?.log.events, ['done']);
});

test('goaway: with a code the connection ends at once, and its streams with it', async () => {
  const visitor = new Visitor();
  visitor.greet();
  visitor.send(request(1));
  visitor.connection.goaway(CODE.calm);
  assert.equal(visitor.connection.isOver, true);
  assert.equal(await visitor.goneCode(), CODE.calm);
  assert.deepEqual(visitor.user.requests[0]?.log.events, ['reset 8']);
  assert.deepEqual(visitor.user.offences, [], 'the user knows why');
});

for (const code of [CODE.none, CODE.protocol])
  test(`GOAWAY of an idle visitor (${code}): the connection closes`, async () => {
    const visitor = new Visitor();
    visitor.greet();
    visitor.send(frame(TYPE.goAway, 0, 0, numbers(0, code)));
    assert.equal(await visitor.goneCode(), CODE.none);
    assert.equal(visitor.socket.writableEnded, true);
    assert.deepEqual(visitor.user.offences, []);
  });

test('GOAWAY of a visitor: what is under way is finished, and nothing more is taken', async () => {
  const visitor = new Visitor();
  visitor.greet();
  visitor.send(request(1, false), frame(TYPE.goAway, 0, 0, numbers(0, CODE.none)), request(3));
  assert.equal(visitor.user.requests.length, 1);
  assert.equal(await lastStream(visitor), 1);
  visitor.send(frame(TYPE.data, FLAG.endStream, 1, Buffer.from('body')));
  const { stream, log } = visitor.taken(0);
  assert.equal(log.body.toString(), 'body');
  await turns();
  assert.equal(visitor.socket.writableEnded, false);
  visitor.frames();
  stream.answer(200, [], Buffer.from('answer'), true);
  await turns();
  assert.equal(visitor.frames().filter(({ payload }) => payload.toString() === 'answer').length, 1);
  assert.deepEqual(log.events, ['end', 'done']);
  assert.equal(visitor.socket.writableEnded, true);
});

test('GOAWAY of a visitor: the connection closes with the reset of its last stream', async () => {
  const visitor = new Visitor();
  visitor.greet();
  visitor.send(request(1), request(3), frame(TYPE.goAway, 0, 0, numbers(0, CODE.none)));
  await turns();
  visitor.send(frame(TYPE.reset, 0, 1, numbers(CODE.cancel)));
  assert.equal(visitor.socket.writableEnded, false);
  visitor.send(frame(TYPE.reset, 0, 3, numbers(CODE.cancel)));
  assert.equal(visitor.socket.writableEnded, true);
});

test('GOAWAY of a visitor behind the first one of a drain: one more answers it', async () => {
  const visitor = new Visitor();
  visitor.greet();
  visitor.send(request(1));
  visitor.connection.drain();
  visitor.send(frame(TYPE.goAway, 0, 0, numbers(0, CODE.none)), frame(TYPE.goAway, 0, 0, numbers(0, CODE.none)));
  const goAways = await visitor.framesOf(TYPE.goAway);
  assert.deepEqual(
    goAways.map(({ payload }) => readUint32(payload, 0)),
    [2 ** 31 - 1, 1],
  );
});
