/** Flow control in both directions, and who is sent first. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SLAB_BYTES, type Slab } from '../../base/bytes/slab.ts';
import { CODE, type Http2Stream } from '../types.ts';
import { FLAG, readUint32, TYPE } from './frame.ts';
import { MAX_HELD, PIECE_BYTES } from './sending/waiting.ts';
import { type Frame, frame, numbers, request, settings, turns, Visitor } from './testing.ts';

const NONE = Buffer.alloc(0);
const MANY = 1 << 24;

function push(visitor: Visitor, stream: Http2Stream, bytes: number, slab: Slab = visitor.slabs.foreign): void {
  stream.push(Buffer.alloc(bytes, 'b'), 0, bytes, bytes, slab);
}

function bodyBytes(frames: readonly Frame[], id: number): number {
  return frames
    .filter((each) => each.type === TYPE.data && each.id === id)
    .reduce((sum, { payload }) => sum + payload.length, 0);
}

function take(visitor: Visitor, id: number, more: Readonly<Record<string, string>> = {}): Http2Stream {
  visitor.send(request(id, true, more));
  const { stream } = visitor.taken(-1);
  stream.answer(200, [], NONE, false);
  return stream;
}

test('sending: no more than the windows of stream and connection allow', async () => {
  const visitor = new Visitor();
  visitor.greet([4, 30_000]);
  const one = take(visitor, 1);
  push(visitor, one, 50_000);
  await turns();
  const three = take(visitor, 3);
  push(visitor, three, 50_000);
  await turns();
  let frames = visitor.frames();
  assert.deepEqual([bodyBytes(frames, 1), bodyBytes(frames, 3)], [30_000, 30_000]);
  visitor.send(frame(TYPE.window, 0, 1, numbers(20_000)), frame(TYPE.window, 0, 3, numbers(20_000)));
  await turns();
  frames = visitor.frames();
  assert.deepEqual([bodyBytes(frames, 1), bodyBytes(frames, 3)], [5_535, 0]);
  visitor.send(frame(TYPE.window, 0, 0, numbers(MANY)));
  await turns();
  frames = visitor.frames();
  assert.deepEqual([bodyBytes(frames, 1), bodyBytes(frames, 3)], [14_465, 20_000]);
  assert.equal(visitor.connection.heldBytes, 0);
});

test('sending: a window that settings make negative opens only when all of it is given back', async () => {
  const visitor = new Visitor();
  visitor.greet([4, 10_000]);
  const one = take(visitor, 1);
  push(visitor, one, 12_000);
  await turns();
  assert.equal(bodyBytes(visitor.frames(), 1), 10_000);
  visitor.send(settings([4, 4_000]), frame(TYPE.window, 0, 1, numbers(6_000)));
  await turns();
  assert.equal(bodyBytes(visitor.frames(), 1), 0);
  visitor.send(frame(TYPE.window, 0, 1, numbers(500)));
  await turns();
  assert.equal(bodyBytes(visitor.frames(), 1), 500);
  visitor.send(settings([4, 20_000]));
  await turns();
  assert.equal(bodyBytes(visitor.frames(), 1), 1_500);
});

test('sending: a window that settings make negative while its stream waits for its turn sends nothing', async () => {
  const visitor = new Visitor();
  visitor.greet([4, 30_000]);
  const one = take(visitor, 1);
  await turns();
  visitor.socket.isFast = false;
  push(visitor, one, 20_000);
  await turns();
  // Behind a write that is under way.
  push(visitor, one, 20_000);
  visitor.send(settings([4, 1_000]));
  visitor.socket.isFast = true;
  visitor.socket.finish();
  await turns();
  assert.equal(bodyBytes(visitor.frames(), 1), 20_000);
  visitor.send(frame(TYPE.window, 0, 1, numbers(19_001)));
  await turns();
  assert.equal(bodyBytes(visitor.frames(), 1), 1);
});

test('sending: credit is given once the socket has taken the bytes, for no more than have gone', async () => {
  const visitor = new Visitor();
  visitor.socket.isFast = false;
  visitor.greet([4, 20_000]);
  await turns();
  visitor.socket.finish();
  const one = take(visitor, 1);
  const { log } = visitor.taken(0);
  push(visitor, one, 30_000);
  await turns();
  assert.equal(bodyBytes(visitor.frames(), 1), 20_000);
  assert.equal(log.credit, 0, 'it is written, and not taken');
  assert.equal(one.backlog, 30_000);
  visitor.socket.finish();
  assert.equal(log.credit, 20_000);
  assert.equal(one.backlog, 10_000);
  visitor.send(frame(TYPE.window, 0, 1, numbers(20_000)));
  one.end();
  await turns();
  assert.deepEqual(log.events, []);
  visitor.socket.finish();
  assert.equal(log.credit, 30_000);
  assert.deepEqual(log.events, ['done']);
});

test('sending: the end goes with the last bytes', async () => {
  const visitor = new Visitor();
  visitor.greet();
  const one = take(visitor, 1);
  push(visitor, one, 100);
  one.end();
  const three = take(visitor, 3);
  push(visitor, three, 40_000);
  three.end();
  await turns();
  const frames = visitor.frames().filter(({ type }) => type === TYPE.data);
  assert.deepEqual(
    frames.map(({ id, flags, payload }) => [id, flags, payload.length]),
    [
      [1, FLAG.endStream, 100],
      [3, 0, 16_384],
      [3, 0, 16_384],
      [3, FLAG.endStream, 7_232],
    ],
  );
});

test('sending: an end that comes later is a frame of its own, without need of a window', async () => {
  const visitor = new Visitor();
  visitor.greet([4, 100]);
  const one = take(visitor, 1);
  push(visitor, one, 100);
  await turns();
  visitor.frames();
  one.end();
  await turns();
  assert.deepEqual(
    visitor.frames().map(({ type, flags, payload }) => [type, flags, payload.length]),
    [[TYPE.data, FLAG.endStream, 0]],
  );
});

test('sending: long ranges hold their slab, a few of a connection, until they have gone', async () => {
  const visitor = new Visitor();
  visitor.greet([4, 0]);
  const slabs = Array.from({ length: MAX_HELD + 2 }, () => visitor.slabs.take());
  slabs.forEach((slab, i) => {
    const stream = take(visitor, 2 * i + 1);
    stream.push(slab.bytes, 0, 20_000, 20_000, slab);
  });
  assert.deepEqual(
    slabs.map((slab) => slab.held),
    [...Array<boolean>(MAX_HELD).fill(true), false, false],
  );
  // The others are copied into two pieces each.
  assert.equal(visitor.connection.heldBytes, MAX_HELD * SLAB_BYTES + 4 * PIECE_BYTES);
  visitor.send(settings([4, 20_000]), frame(TYPE.window, 0, 0, numbers(MANY)));
  await turns();
  assert.ok(slabs.every((slab) => !slab.held));
  assert.equal(visitor.connection.heldBytes, 0);
});

test('sending: what waits of a stream that is reset is let go of', async () => {
  const visitor = new Visitor();
  visitor.greet([4, 0]);
  const slab = visitor.slabs.take();
  const one = take(visitor, 1);
  one.push(slab.bytes, 0, 20_000, 20_000, slab);
  one.push(slab.bytes, 0, 20, 20, slab);
  assert.equal(slab.held, true);
  visitor.send(frame(TYPE.reset, 0, 1, numbers(CODE.cancel)));
  assert.equal(slab.held, false);
  assert.equal(visitor.connection.heldBytes, 0);
  assert.deepEqual(visitor.user.requests[0]?.log.events, ['reset 8']);
  await turns();
});

test('sending: short pieces that wait are joined', () => {
  const visitor = new Visitor();
  visitor.greet([4, 0]);
  const one = take(visitor, 1);
  for (let i = 0; i < 10_000; i++) one.push(Buffer.from('x'), 0, 1, 1, visitor.slabs.shared);
  assert.equal(visitor.connection.heldBytes, 16_384);
  assert.equal(one.backlog, 10_000);
});

test('priorities: the most urgent first, others one after the other, incremental ones in turn', async () => {
  const visitor = new Visitor();
  visitor.socket.isFast = false;
  visitor.greet([4, MANY]);
  visitor.send(frame(TYPE.window, 0, 0, numbers(MANY)));
  await turns();
  // While a write is under way everything is put in order.
  const sizes = 40_000;
  const streams = [
    take(visitor, 1, { priority: 'u=5, i' }),
    take(visitor, 3, { priority: 'u=5, i' }),
    take(visitor, 5, { priority: 'u=3' }),
    take(visitor, 7, { priority: 'u=3' }),
    take(visitor, 9, { priority: 'u=0' }),
  ];
  for (const stream of streams) {
    push(visitor, stream, sizes);
    stream.end();
  }
  for (let i = 0; i < 8; i++) {
    visitor.socket.finish();
    await turns(2);
  }
  const order = visitor
    .frames()
    .filter(({ type }) => type === TYPE.data)
    .map(({ id }) => id);
  // A buffer that is full cuts a frame short, which makes one more of it.
  const runs = order.filter((id, i) => id !== order[i - 1]);
  assert.deepEqual(runs.slice(0, 3), [9, 5, 7]);
  assert.deepEqual(runs.slice(3, 7), [1, 3, 1, 3]);
});

test('priorities: an answer whose request says nothing does not wait for the downloads before it', async () => {
  const visitor = new Visitor();
  visitor.socket.isFast = false;
  visitor.greet([4, MANY]);
  visitor.send(frame(TYPE.window, 0, 0, numbers(MANY)));
  await turns();
  for (const id of [1, 3, 5]) push(visitor, take(visitor, id), 400_000);
  const small = take(visitor, 7);
  push(visitor, small, 200);
  small.end();
  for (let i = 0; i < 3; i++) {
    visitor.socket.finish();
    await turns(2);
  }
  const ids = visitor.frames().flatMap(({ type, id }) => (type === TYPE.data ? [id] : []));
  const before = ids.indexOf(7);
  assert.ok(before > 0 && before < 12, `${before} frames went before it`);
});

test('priorities: PRIORITY_UPDATE moves a stream that waits', async () => {
  const visitor = new Visitor();
  visitor.socket.isFast = false;
  visitor.greet([4, MANY]);
  await turns();
  const streams = [take(visitor, 1), take(visitor, 3), take(visitor, 5)];
  for (const stream of streams) push(visitor, stream, 20_000);
  visitor.send(frame(TYPE.priorityUpdate, 0, 0, Buffer.from('\0\0\0\x05u=1', 'latin1')));
  assert.deepEqual(streams[2]?.priority, { urgency: 1, isIncremental: false });
  for (let i = 0; i < 4; i++) {
    visitor.socket.finish();
    await turns(2);
  }
  const first = visitor.frames().find(({ type }) => type === TYPE.data);
  assert.equal(first?.id, 5);
});

test('priorities: what PRIORITY_UPDATE says before a stream goes before its head, for a few streams', async () => {
  const visitor = new Visitor();
  visitor.greet();
  const update = (id: number): Buffer =>
    frame(TYPE.priorityUpdate, 0, 0, Buffer.concat([numbers(id), Buffer.from('u=6, i')]));
  for (let id = 1; id < 200; id += 2) visitor.send(update(id));
  const early = take(visitor, 1, { priority: 'u=1' });
  assert.deepEqual(early.priority, { urgency: 6, isIncremental: true });
  const late = take(visitor, 101, { priority: 'u=1' });
  assert.deepEqual(late.priority, { urgency: 1, isIncremental: false });
  await turns();
});

test('receiving: a window opens by what is consumed, and by nothing else', async () => {
  const visitor = new Visitor();
  visitor.greet();
  visitor.send(request(1, false));
  const { stream, log } = visitor.taken(0);
  log.isHungry = false;
  for (let i = 0; i < 16; i++) visitor.send(frame(TYPE.data, 0, 1, Buffer.alloc(16_384)));
  assert.equal(log.body.length, 262_144);
  let updates = await visitor.framesOf(TYPE.window);
  assert.deepEqual(
    updates.filter(({ id }) => id === 1),
    [],
  );
  visitor.clock.ms += 10_000;
  stream.consumed(131_072);
  updates = await visitor.framesOf(TYPE.window);
  assert.deepEqual(
    updates.filter(({ id }) => id === 1).map(({ payload }) => readUint32(payload, 0)),
    [131_072],
  );
  for (let i = 0; i < 9; i++) visitor.send(frame(TYPE.data, 0, 1, Buffer.alloc(16_384)));
  assert.equal(log.events.at(-1), `reset ${CODE.flowControl}`);
});

test('receiving: a stalled upload stops itself, not its neighbours', async () => {
  const visitor = new Visitor();
  visitor.greet();
  visitor.send(...Array.from({ length: 8 }, (_, i) => request(2 * i + 1, false)));
  for (const { log } of visitor.user.requests.slice(0, 7)) log.isHungry = false;
  let open = 1 << 20;
  const count = async (): Promise<void> => {
    for (const { id, payload } of await visitor.framesOf(TYPE.window)) if (id === 0) open += readUint32(payload, 0);
  };
  await count();
  open = 1 << 20;
  for (let id = 1; id < 15; id += 2)
    for (let i = 0; i < 16; i++) {
      visitor.send(frame(TYPE.data, 0, id, Buffer.alloc(16_384)));
      open -= 16_384;
      await count();
    }
  // Seven streams hold all that they may.
  assert.ok(open >= 1 << 19, `${open} bytes are left`);
  for (let i = 0; i < 100; i++) {
    visitor.send(frame(TYPE.data, 0, 15, Buffer.alloc(16_384)));
    if (i % 8 === 0) await count();
  }
  assert.equal(visitor.user.requests[7]?.log.body.length, 100 * 16_384);
  assert.deepEqual(visitor.user.offences, []);
});

test('receiving: beyond its share a connection opens its window by what is consumed', async () => {
  const visitor = new Visitor({ holdBytes: 262_144 });
  visitor.greet();
  visitor.send(...Array.from({ length: 4 }, (_, i) => request(2 * i + 1, false)));
  for (const { log } of visitor.user.requests) log.isHungry = false;
  for (let id = 1; id < 9; id += 2)
    for (let i = 0; i < 16; i++) visitor.send(frame(TYPE.data, 0, id, Buffer.alloc(16_384)));
  const opened = async (): Promise<number> =>
    (await visitor.framesOf(TYPE.window))
      .filter(({ id }) => id === 0)
      .reduce((sum, { payload }) => sum + readUint32(payload, 0), 0);
  assert.equal(await opened(), (1 << 20) - 65_535 + 262_144, 'the window, and the share');
  assert.deepEqual(visitor.user.offences, []);
  visitor.user.requests[0]?.stream.consumed(262_144);
  visitor.user.requests[1]?.stream.consumed(262_144);
  visitor.user.requests[2]?.stream.reset(CODE.cancel);
  const more = await opened();
  assert.ok(more >= 524_288, `${more} bytes`);
});

test('receiving: uploads that were fast before they stood still do not stop the others', async () => {
  const visitor = new Visitor({ holdBytes: 1 << 20 });
  visitor.greet();
  const ids = Array.from({ length: 9 }, (_, i) => 2 * i + 1);
  const other = 17;
  visitor.send(...ids.map((id) => request(id, false)));
  const open = new Map([[0, 1 << 20], ...ids.map((id): [number, number] => [id, 262_144])]);
  const left = (id: number): number => open.get(id) ?? 0;
  await visitor.framesOf(TYPE.window);
  const sendTo = async (id: number): Promise<boolean> => {
    const length = Math.min(16_384, left(id), left(0));
    if (length === 0) return false;
    visitor.clock.ms += 0.005;
    visitor.send(frame(TYPE.data, 0, id, Buffer.alloc(length)));
    for (const of of [0, id]) open.set(of, left(of) - length);
    for (const { id: of, payload } of await visitor.framesOf(TYPE.window))
      open.set(of, left(of) + readUint32(payload, 0));
    return true;
  };
  // Eight windows grow by what is taken at once, as by the buffers of a service; then nothing is taken any more.
  const stuck = ids.filter((id) => id !== other);
  for (let i = 0; i < 100; i++) for (const id of stuck) await sendTo(id);
  const grown = stuck.reduce((sum, id) => sum + left(id), 0);
  assert.ok(grown > 8 << 20, `${grown} bytes may come`);
  for (const { log } of visitor.user.requests.slice(0, 8)) log.isHungry = false;
  for (const id of stuck) while (await sendTo(id));
  for (let i = 0; i < 400; i++) assert.ok(await sendTo(other), `after ${i} frames`);
  assert.deepEqual(visitor.user.offences, []);
});

test('receiving: padding counts for the windows, and is given back', async () => {
  const visitor = new Visitor();
  visitor.greet();
  visitor.send(request(1, false));
  const padded = Buffer.concat([Buffer.from([255]), Buffer.from('x'.repeat(100)), Buffer.alloc(255)]);
  for (let i = 0; i < 2_000; i++) visitor.send(frame(TYPE.data, FLAG.padded, 1, padded));
  assert.equal(visitor.user.requests[0]?.log.body.length, 200_000);
  const updates = await visitor.framesOf(TYPE.window);
  assert.ok(updates.some(({ id }) => id === 1));
  // Frames of nothing else too, as some clients send them to hide how much they say.
  const empty = Buffer.concat([Buffer.from([255]), Buffer.alloc(255)]);
  for (let i = 0; i < 2_000; i++) {
    visitor.clock.ms += 10;
    visitor.send(frame(TYPE.data, FLAG.padded, 1, empty));
  }
  assert.deepEqual(visitor.user.offences, []);
  assert.equal(visitor.connection.isOver, false);
});

test('receiving: windows grow for a reader that waits for the visitor, and go back to the budget', async () => {
  const visitor = new Visitor();
  visitor.greet();
  visitor.send(request(1, false));
  const { left } = visitor.budget;
  let windows = 262_144;
  for (let i = 0; i < 200; i++) {
    visitor.clock.ms += 0.005;
    visitor.send(...Array.from({ length: 5 }, () => frame(TYPE.data, 0, 1, Buffer.alloc(16_384))));
    windows -= 5 * 16_384;
    for (const { id, payload } of await visitor.framesOf(TYPE.window)) if (id === 1) windows += readUint32(payload, 0);
  }
  assert.ok(windows > 8 << 20, `${windows} bytes are open`);
  assert.ok(left - visitor.budget.left >= (8 << 20) - 262_144);
  visitor.send(frame(TYPE.reset, 0, 1, numbers(CODE.cancel)));
  visitor.connection.destroy();
  assert.equal(visitor.budget.left, left);
});

test('receiving: windows of a slow reader stay as they are', async () => {
  const visitor = new Visitor();
  visitor.greet();
  visitor.send(request(1, false));
  const { left } = visitor.budget;
  for (let i = 0; i < 100; i++) {
    visitor.clock.ms += 100;
    visitor.send(frame(TYPE.data, 0, 1, Buffer.alloc(16_384)));
    await turns(3);
  }
  assert.equal(visitor.budget.left, left);
});

test('receiving: the round trip is measured by PING while a body comes', async () => {
  const visitor = new Visitor();
  visitor.greet();
  visitor.send(request(1, false));
  assert.deepEqual(await visitor.framesOf(TYPE.ping), []);
  visitor.send(frame(TYPE.data, 0, 1, Buffer.alloc(1_000)));
  const [ping] = await visitor.framesOf(TYPE.ping);
  visitor.clock.ms += 50;
  visitor.send(frame(TYPE.ping, FLAG.ack, 0, ping?.payload));
  assert.equal(visitor.connection.rttMs, 50);
});
