import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BufferPool, type OutBuffer } from './out-buffer.ts';
import { Outgoing } from './outgoing.ts';

test('buffer pool: buffers are used again, and no more than a few are kept', () => {
  const pool = new BufferPool();
  const outs = Array.from({ length: 200 }, () => pool.takeOut());
  const bytes = new Set(outs.map((out) => out.bytes));
  assert.equal(bytes.size, 200);
  for (const out of outs) pool.giveOut(out);
  const again = Array.from({ length: 200 }, () => pool.takeOut());
  assert.equal(again.filter((out) => bytes.has(out.bytes)).length, 64);
  const pieces = Array.from({ length: 400 }, () => pool.takePiece(100));
  for (const piece of pieces) pool.givePiece(piece);
  assert.equal(
    Array.from({ length: 400 }, () => pool.takePiece(100)).filter((one) => pieces.includes(one)).length,
    256,
  );
});

test('buffer pool: bytes that are encrypted are free before their write is done', () => {
  const pool = new BufferPool();
  const out = pool.takeOut();
  const { bytes } = out;
  pool.freeBytes(out);
  const other = pool.takeOut();
  assert.equal(other.bytes, bytes);
  assert.notEqual(other.serial, out.serial);
  pool.giveOut(out);
  assert.notEqual(pool.takeOut().bytes, bytes, 'they are given once');
});

test('out-buffer: bytes of one stream are one entry, and what was given back names no stream', () => {
  const pool = new BufferPool();
  const out = pool.takeOut();
  const [one, two] = [new Outgoing(), new Outgoing()];
  one.id = 1;
  two.id = 3;
  out.note(one, 10, 1);
  out.note(one, 20, 2);
  out.note(two, 30, 3);
  assert.deepEqual([out.count, out.sizes[0], out.credits[0], out.sizes[1]], [2, 30, 3, 30]);
  out.noteEnd(two);
  pool.giveOut(out);
  const again: OutBuffer = pool.takeOut();
  assert.equal(again, out);
  assert.deepEqual([again.count, again.endCount, ...again.streams, ...again.ends], [0, 0, null, null, null]);
});

test('out-buffer: the end of a stream that was reset meanwhile is not counted', () => {
  const out = new BufferPool().takeOut();
  const streams = [1, 3, 5].map((id) => {
    const stream = new Outgoing();
    stream.id = id;
    stream.gone = false;
    out.noteEnd(stream);
    return stream;
  });
  const [first, second, third] = streams as [Outgoing, Outgoing, Outgoing];
  first.gone = true;
  // It is another request's by now.
  second.id = 7;
  assert.equal(out.hand(), 1);
  assert.deepEqual(
    streams.map(({ isHanded }) => isHanded),
    [false, false, true],
  );
  assert.equal(third.isHanded, true);
});
