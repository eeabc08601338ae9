/** Lanes, congestion and the slabs behind them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { rounds } from '../base/testing.ts';
import { type Slab, SlabPool } from '../base/bytes/slab.ts';
import { FLAG, INITIAL_WINDOW, TYPE } from './frame.ts';
import type { MuxStream } from './stream.ts';
import { type Frame, patternBytes, Scripted, sinkOf, turns } from './testing.ts';

function opened(peer: Scripted, sink: Parameters<typeof sinkOf>[0] = {}): MuxStream {
  const stream = peer.session.open();
  assert.ok(stream);
  stream.sink = sinkOf(sink);
  return stream;
}

const payloadOf = (frames: Frame[], id: number): Buffer =>
  Buffer.concat(frames.filter((f) => f.type === TYPE.data && f.id === id).map((f) => f.payload ?? Buffer.alloc(0)));

const wide = (peer: Scripted, stream: MuxStream, bytes = 64 << 20): void =>
  peer.says({ type: TYPE.window, id: stream.id, length: bytes });

/** Counts what is out of the pool. */
class CountingPool extends SlabPool {
  taken = 0;
  override take(): Slab {
    this.taken++;
    return super.take();
  }
  override put(slab: Slab): void {
    this.taken--;
    super.put(slab);
  }
}

test('one turn of the event loop makes one write', async () => {
  let writes = 0;
  const peer = new Scripted({ role: 'client', transport: countingTransport(() => writes++) });
  const streams = [opened(peer), opened(peer), opened(peer)];
  for (const stream of streams) for (let i = 0; i < 10; i++) stream.write(Buffer.from(`message ${i}`));
  assert.equal(writes, 0);
  await turns(2);
  assert.equal(writes, 1);
});

function countingTransport(onWrite: () => void) {
  return {
    write: (_bytes: Uint8Array, done: () => void) => {
      onWrite();
      setImmediate(done);
    },
    end: () => {},
    destroy: () => {},
  };
}

test('a small answer goes before the megabyte of a download that was queued first', async () => {
  const peer = new Scripted({ role: 'client' });
  peer.reading = false;
  const bulk = opened(peer);
  const small = opened(peer);
  wide(peer, bulk);
  const chunk = patternBytes(65_536);
  for (let i = 0; i < 15; i++) bulk.write(chunk);
  await turns(1);
  small.write(Buffer.from('answer'));
  peer.readOne();
  await turns();
  peer.readOne();
  await turns();
  const frames = peer.frames;
  const at = frames.findIndex((f) => f.type === TYPE.data && f.id === small.id);
  assert.ok(at >= 0, 'the answer is out');
  const before = frames.slice(0, at).reduce((sum, f) => sum + (f.type === TYPE.data ? f.length : 0), 0);
  assert.ok(before <= 2 * 262_144, `${before} bytes went before it`);
});

test('a flood of small messages lets a download have every other slab', async () => {
  const peer = new Scripted({ role: 'client' });
  peer.reading = false;
  const bulk = opened(peer);
  wide(peer, bulk);
  const chunk = patternBytes(250_000);
  for (let i = 0; i < 4; i++) bulk.write(chunk);
  const message = patternBytes(50_000);
  const smalls: MuxStream[] = [];
  const refill = (): void => {
    const stream = opened(peer);
    smalls.push(stream);
    stream.write(message);
  };
  for (let i = 0; i < 18; i++) refill();
  for (let i = 0; i < 14; i++) {
    await turns(2);
    peer.readOne();
    for (let k = 0; k < 5; k++) refill(); // a slab's worth for each slab read: the quick lane is never empty
  }
  assert.equal(payloadOf(peer.frames.slice(0, -1), bulk.id).length >= 750_000, true);
});

test('streams that keep turning into downloads do not hold up the one that is', async () => {
  const peer = new Scripted({ role: 'client', maxStreams: 100_000, maxUnacknowledged: 100_000 });
  peer.reading = false;
  const bulk = opened(peer);
  wide(peer, bulk);
  for (let i = 0; i < 4; i++) bulk.write(patternBytes(250_000));
  const first = patternBytes(60_000);
  const more = patternBytes(6_000);
  const turnBulk = (): void => {
    const stream = opened(peer);
    stream.write(first);
    stream.write(more);
  };
  for (let i = 0; i < 18; i++) turnBulk();
  for (let i = 0; i < 16; i++) {
    await turns(2);
    peer.readOne();
    for (let k = 0; k < 5; k++) turnBulk();
  }
  assert.ok(payloadOf(peer.frames, bulk.id).length >= 750_000, `${payloadOf(peer.frames, bulk.id).length}`);
});

test('a full lane answers false once and calls onDrain once', async () => {
  const peer = new Scripted({ role: 'client' });
  peer.reading = false;
  let drained = 0;
  const stream = opened(peer, { onDrain: () => drained++ });
  wide(peer, stream);
  const chunk = patternBytes(100_000);
  let wrote = 0;
  while (stream.write(chunk)) {
    wrote++;
    assert.ok(wrote < 100);
  }
  assert.ok(wrote >= 10 && wrote <= 16, `${wrote} chunks before false`);
  assert.equal(drained, 0);
  peer.readOn();
  await turns(40);
  assert.equal(drained, 1);
  assert.equal(payloadOf(peer.frames, stream.id).length, (wrote + 1) * chunk.length);
});

test('end() while the lane is full sends FIN after all data and asks for nothing more', async () => {
  const peer = new Scripted({ role: 'client' });
  peer.reading = false;
  let drained = 0;
  const stream = opened(peer, { onDrain: () => drained++ });
  wide(peer, stream);
  const chunk = patternBytes(200_000);
  let sum = chunk.length;
  while (stream.write(chunk)) sum += chunk.length;
  stream.write(chunk);
  stream.end();
  peer.readOn();
  await turns(40);
  const own = peer.frames.filter((f) => f.id === stream.id);
  assert.equal(own.at(-1)?.flags, FLAG.fin);
  assert.equal(payloadOf(own, stream.id).length, sum + chunk.length);
  assert.equal(drained, 0);
});

test('sender: streams that wait for a lane enter in turn, none twice before another once', async () => {
  const peer = new Scripted({ role: 'client' });
  const chunk = patternBytes(120_000);
  const served: number[] = [];
  const greedy = (stream: MuxStream): void => {
    while (!stream.gone && stream.write(chunk));
  };
  peer.reading = false;
  const streams = Array.from({ length: 6 }, () =>
    opened(peer, {
      onDrain: (s) => {
        served.push(s.id);
        greedy(s);
      },
    }),
  );
  for (const stream of streams) {
    wide(peer, stream, 512 << 20);
    greedy(stream);
  }
  for (let i = 0; i < 60; i++) {
    peer.readOne();
    await turns(2);
  }
  const counts = streams.map((s) => served.filter((id) => id === s.id).length);
  assert.ok(Math.min(...counts) > 0, `${counts}`);
  assert.ok(Math.max(...counts) - Math.min(...counts) <= 1, `${counts}`);
});

test('more than 1 MB written against the rules loses the stream and tells its user', () => {
  const peer = new Scripted({ role: 'client' });
  let resets = 0;
  const stream = opened(peer, { onReset: () => resets++ });
  const chunk = patternBytes(200_000);
  for (let i = 0; i < 6; i++) assert.equal(stream.write(chunk), i === 0);
  assert.equal(stream.gone, false);
  stream.write(chunk);
  assert.equal(stream.gone, true);
  assert.equal(resets, 1);
  assert.equal(peer.session.streamCount, 0);
  assert.equal(peer.code(), undefined);
});

test('every slab comes back when a session is cut in the middle of its writes', async () => {
  const pool = new CountingPool();
  const peer = new Scripted({ role: 'client', slabs: pool });
  peer.reading = false;
  for (let i = 0; i < 50; i++) opened(peer).write(patternBytes(i * 1_777));
  await turns();
  assert.ok(pool.taken > 2);
  peer.session.destroy();
  assert.equal(pool.taken, 1, 'the one that the transport still reads from');
  peer.readOn();
  await turns();
  assert.equal(pool.taken, 0);
});

test('a frame is reserved in place, and refused when the window or the lane has no room', async () => {
  const peer = new Scripted({ role: 'client' });
  peer.reading = false;
  const stream = opened(peer);
  const at = stream.reserve(5);
  stream.target().write('hello', at);
  assert.equal(stream.settled(), true);
  await turns();
  assert.equal(payloadOf(peer.frames, stream.id).toString(), 'hello');
  assert.equal(stream.reserve(INITIAL_WINDOW), -1);
  wide(peer, stream);
  assert.equal(stream.reserve(INITIAL_WINDOW), -1, 'longer than a slab');
  while (stream.pendingBytes === 0) stream.write(patternBytes(100_000));
  assert.equal(stream.reserve(5), -1, 'the lane is full');
});

test('sender: frames of one stream keep their order under any mix of writes and reads', async () => {
  const step = fc.oneof(
    {
      weight: 6,
      arbitrary: fc.record({ kind: fc.constant('write'), who: fc.nat(4), size: fc.integer({ min: 1, max: 90_000 }) }),
    },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('read'), who: fc.nat(4), size: fc.nat(3) }) },
    {
      weight: 1,
      arbitrary: fc.record({ kind: fc.constant('window'), who: fc.nat(4), size: fc.integer({ min: 1, max: 300_000 }) }),
    },
    {
      weight: 1,
      arbitrary: fc.record({ kind: fc.constant('reserve'), who: fc.nat(4), size: fc.integer({ min: 1, max: 3_000 }) }),
    },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('end'), who: fc.nat(4), size: fc.constant(0) }) },
  );
  const source = patternBytes(4 << 20);
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 80 }), async (steps) => {
      const pool = new CountingPool();
      const peer = new Scripted({ role: 'client', slabs: pool });
      peer.reading = false;
      const streams = Array.from({ length: 5 }, () => opened(peer));
      const wrote = new Map(streams.map((s) => [s, 0]));
      for (const { kind, who, size } of steps) {
        const stream = streams[who] as MuxStream;
        const from = wrote.get(stream) as number;
        if (kind === 'write' && !stream.endedHere && stream.pendingBytes < 900_000) {
          stream.write(source, from, from + size);
          wrote.set(stream, from + size);
        } else if (kind === 'reserve') {
          const at = stream.reserve(size);
          if (at >= 0) {
            source.copy(stream.target(), at, from, from + size);
            stream.settled();
            wrote.set(stream, from + size);
          }
        } else if (kind === 'window') wide(peer, stream, size);
        else if (kind === 'end') stream.end();
        else
          for (let i = 0; i < size; i++) {
            peer.readOne();
            await turns(1);
          }
      }
      for (const stream of streams) {
        wide(peer, stream);
        stream.end();
      }
      peer.readOn();
      await turns(60);
      for (const stream of streams) {
        const own = peer.frames.filter((f) => f.id === stream.id);
        assert.equal(own[0]?.flags, FLAG.syn);
        assert.equal(own.at(-1)?.flags, FLAG.fin);
        assert.equal(own.filter((f) => f.flags === FLAG.fin).length, 1);
        const expected = source.subarray(0, wrote.get(stream));
        assert.equal(Buffer.compare(payloadOf(own, stream.id), expected), 0, `stream ${stream.id}`);
      }
      peer.session.destroy();
      await turns(2);
      assert.equal(pool.taken, 0);
    }),
    { numRuns: rounds(15, 25) },
  );
});
