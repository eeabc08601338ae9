import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CODE } from '../types.ts';
import { FLAG, MAX_PAYLOAD, PREFACE, readUint32, TYPE } from './frame.ts';
import { block, frame, LIMITS, numbers, request, requestBlock, settings, turns, Visitor } from './testing.ts';

const HEAD = 'GET / HTTP/1.1\r\nhost: a.example\r\n\r\n';
const NONE = Buffer.alloc(0);

test('connection: a request comes whole, and a short response is one write', async () => {
  const visitor = new Visitor();
  visitor.user.handle = ({ stream }) => stream.answer(200, ['content-type: text/plain'], Buffer.from('hello'), true);
  visitor.greet();
  await turns();
  visitor.frames();
  const before = visitor.socket.writes;
  visitor.send(request(1));
  await turns();
  assert.equal(visitor.socket.writes - before, 1);
  const [taken] = visitor.user.requests;
  assert.equal(taken?.head, HEAD);
  assert.equal(taken.isWhole, true);
  const frames = visitor.frames();
  assert.deepEqual(
    frames.map(({ type, flags, id }) => [type, flags, id]),
    [
      [TYPE.headers, FLAG.endHeaders, 1],
      [TYPE.data, FLAG.endStream, 1],
    ],
  );
  assert.equal(frames[1]?.payload.toString(), 'hello');
  assert.deepEqual(taken.log.events, ['done']);
  assert.equal(visitor.connection.openStreams, 0);
});

test('connection: frames may be cut at any byte', async () => {
  const all = Buffer.concat([
    PREFACE,
    settings([3, 100]),
    frame(TYPE.settings, FLAG.ack, 0),
    frame(TYPE.headers, 0, 1, requestBlock().subarray(0, 5)),
    frame(TYPE.continuation, FLAG.endHeaders, 1, requestBlock().subarray(5)),
    frame(TYPE.data, 0, 1, Buffer.from('some')),
    frame(TYPE.data, FLAG.padded, 1, Buffer.from('\x03thing\0\0\0')),
    frame(TYPE.ping, 0, 0, Buffer.from('12345678')),
    frame(TYPE.data, FLAG.endStream, 1, Buffer.from(' else')),
  ]);
  for (let cut = 1; cut < all.length; cut++) {
    const visitor = new Visitor();
    visitor.send(all.subarray(0, cut));
    visitor.send(all.subarray(cut));
    const [taken] = visitor.user.requests;
    assert.equal(taken?.log.body.toString(), 'something else', `cut at ${cut}`);
    assert.deepEqual(taken.log.events, ['end']);
    const pings = await visitor.framesOf(TYPE.ping);
    assert.ok(pings.some(({ flags, payload }) => flags === FLAG.ack && payload.toString() === '12345678'));
    assert.deepEqual(visitor.user.offences, []);
  }
});

test('connection: the same a byte at a time', async () => {
  const visitor = new Visitor();
  const all = Buffer.concat([PREFACE, settings(), request(1, false), frame(TYPE.data, 1, 1, Buffer.from('bytes'))]);
  for (const byte of all) visitor.send(Buffer.from([byte]));
  assert.equal(visitor.user.requests[0]?.log.body.toString(), 'bytes');
  assert.deepEqual(visitor.user.requests[0].log.events, ['end']);
  await turns();
});

test('connection: responses of one turn are one write, in the order of their heads', async () => {
  const visitor = new Visitor();
  visitor.user.handle = ({ stream }) => stream.answer(204, [], NONE, true);
  visitor.greet();
  await turns();
  visitor.frames();
  const before = visitor.socket.writes;
  const ids = Array.from({ length: 50 }, (_, i) => 2 * i + 1);
  visitor.send(...ids.map((id) => request(id)));
  await turns();
  assert.equal(visitor.socket.writes - before, 1);
  assert.deepEqual(
    visitor.frames().map(({ id }) => id),
    ids,
  );
});

test('connection: SETTINGS say what is offered, and are acknowledged', async () => {
  const visitor = new Visitor();
  visitor.greet([4, 100_000]);
  const [mine, ack] = await visitor.framesOf(TYPE.settings);
  const values = new Map<number, number>();
  for (let at = 0; at < (mine?.payload.length ?? 0); at += 6)
    values.set(mine?.payload.readUInt16BE(at) as number, mine?.payload.readUInt32BE(at + 2) as number);
  assert.deepEqual(
    [...values],
    [
      [3, 100],
      [4, 262_144],
      [6, 32_768],
      [8, 1],
      [9, 1],
    ],
  );
  assert.equal(ack?.flags, FLAG.ack);
});

test('connection: trailers reach the user before the end', () => {
  const visitor = new Visitor();
  visitor.greet();
  visitor.send(request(1, false), frame(TYPE.data, 0, 1, Buffer.from('x')));
  visitor.send(frame(TYPE.headers, FLAG.endHeaders | FLAG.endStream, 1, block({ 'grpc-status': '0' })));
  assert.deepEqual(visitor.user.requests[0]?.log.events, ['trailers grpc-status: 0\r\n', 'end']);
});

test('connection: trailers of a response follow its body with the end', async () => {
  const visitor = new Visitor();
  visitor.user.handle = ({ stream }) => {
    stream.answer(200, [], Buffer.from('body'), false);
    stream.trailers(Buffer.from('grpc-status: 0\r\n'));
  };
  visitor.greet();
  visitor.send(request(1));
  await turns();
  const frames = visitor.frames().filter(({ id }) => id === 1);
  assert.deepEqual(
    frames.map(({ type, flags }) => [type, flags]),
    [
      [TYPE.headers, FLAG.endHeaders],
      [TYPE.data, 0],
      [TYPE.headers, FLAG.endHeaders | FLAG.endStream],
    ],
  );
  assert.match(frames[2]?.payload.toString('latin1') ?? '', /grpc-status/);
});

test('connection: trailers of a response that are none end it all the same', async () => {
  const visitor = new Visitor();
  visitor.user.handle = ({ stream }) => {
    stream.answer(200, [], Buffer.from('body'), false);
    stream.trailers(Buffer.from('\r\n'));
  };
  visitor.greet();
  visitor.send(request(1));
  await turns();
  const frames = visitor.frames().filter(({ id }) => id === 1);
  assert.deepEqual(
    frames.map(({ type, flags }) => [type, flags]),
    [
      [TYPE.headers, FLAG.endHeaders],
      [TYPE.data, FLAG.endStream],
    ],
  );
  assert.deepEqual(visitor.taken(0).log.events, ['done']);
});

test('connection: a head longer than a frame goes on in CONTINUATION', async () => {
  const visitor = new Visitor();
  const fields = Array.from({ length: 5 }, (_, i) => `x-long-${i}: ${'v'.repeat(8_000)}`);
  visitor.user.handle = ({ stream }) => stream.answer(200, fields, NONE, true);
  visitor.greet();
  visitor.send(request(1));
  await turns();
  const frames = visitor.frames().filter(({ id }) => id === 1);
  assert.deepEqual(
    frames.map(({ type, flags }) => [type, flags]),
    [
      [TYPE.headers, FLAG.endStream],
      [TYPE.continuation, 0],
      [TYPE.continuation, FLAG.endHeaders],
    ],
  );
  assert.ok(frames.every(({ payload }) => payload.length <= MAX_PAYLOAD));
  const text = Buffer.concat(frames.map(({ payload }) => payload)).toString('latin1');
  assert.equal(text.match(/v{8000}/g)?.length, 5);
});

test('connection: an early response ends the request, and what is under way of it is passed by', async () => {
  const visitor = new Visitor();
  visitor.user.handle = ({ stream }) => stream.answer(413, [], NONE, true);
  visitor.greet();
  visitor.send(request(1, false), frame(TYPE.data, 0, 1, Buffer.alloc(16_000)));
  await turns();
  const resets = visitor.frames().filter(({ type }) => type === TYPE.reset);
  assert.deepEqual(
    resets.map(({ id, payload }) => [id, readUint32(payload, 0)]),
    [[1, CODE.none]],
  );
  assert.deepEqual(visitor.user.requests[0]?.log.events, ['done']);
  for (let i = 0; i < 15; i++) visitor.send(frame(TYPE.data, 0, 1, Buffer.alloc(16_000)));
  visitor.send(frame(TYPE.headers, FLAG.endHeaders | FLAG.endStream, 1, block({ 'x-trailer': '1' })));
  assert.deepEqual(await visitor.framesOf(TYPE.reset), []);
  assert.deepEqual(visitor.user.offences, []);
  visitor.send(request(3));
  assert.equal(visitor.user.requests.length, 2, 'the table is still in step');
});

test('connection: what comes for a stream of ours that was reset is no offence', async () => {
  const visitor = new Visitor();
  visitor.user.handle = ({ stream }) => stream.reset(CODE.cancel);
  visitor.greet();
  visitor.send(request(1, false));
  await turns();
  visitor.send(frame(TYPE.data, 0, 1, Buffer.alloc(1_000)), frame(TYPE.window, 0, 1, numbers(1_000)));
  visitor.send(frame(TYPE.headers, FLAG.endHeaders | FLAG.endStream, 1, block({ 'x-trailer': '1' })));
  assert.deepEqual(visitor.user.offences, []);
  assert.equal(visitor.connection.isOver, false);
});

test('connection: a malformed request is answered, and reset behind the answer', async () => {
  const visitor = new Visitor();
  visitor.user.handle = ({ stream, reason }) => {
    assert.notEqual(reason, '');
    stream.answer(400, [], Buffer.from('why'), true);
  };
  visitor.greet();
  visitor.send(frame(TYPE.headers, FLAG.endHeaders | FLAG.endStream, 1, block({ ':method': 'GET' })));
  await turns();
  const frames = visitor.frames().filter(({ id }) => id === 1);
  assert.deepEqual(
    frames.map(({ type }) => type),
    [TYPE.headers, TYPE.data, TYPE.reset],
  );
  assert.equal(readUint32(frames[2]?.payload as Buffer, 0), CODE.protocol);
});

test('connection: a reset inside a callback is safe, and the rest of the read goes on', async () => {
  const visitor = new Visitor();
  visitor.greet();
  visitor.send(request(1, false), request(3, false));
  const first = visitor.taken(0);
  const second = visitor.taken(1);
  first.log.onDataHook = (stream) => stream.reset(CODE.cancel);
  visitor.send(
    frame(TYPE.data, 0, 1, Buffer.from('one')),
    frame(TYPE.data, 1, 1, Buffer.from('two')),
    frame(TYPE.data, 1, 3, Buffer.from('three')),
  );
  assert.equal(first.log.body.toString(), 'one');
  assert.deepEqual(first.log.events, []);
  assert.equal(second.log.body.toString(), 'three');
  assert.deepEqual(second.log.events, ['end']);
  await turns();
});

test('connection: a fault of a sink resets its stream and no other', async () => {
  const visitor = new Visitor();
  visitor.greet();
  visitor.send(request(1, false), request(3, false));
  const fault = new Error('a bug');
  visitor.taken(0).log.onDataHook = () => {
    throw fault;
  };
  visitor.send(frame(TYPE.data, 0, 1, Buffer.from('one')), frame(TYPE.data, 1, 3, Buffer.from('three')));
  assert.deepEqual(visitor.user.faults, [fault]);
  const [reset] = await visitor.framesOf(TYPE.reset);
  assert.deepEqual([reset?.id, readUint32(reset?.payload as Buffer, 0)], [1, CODE.internal]);
  assert.deepEqual(visitor.user.requests[1]?.log.events, ['end']);
});

test('connection: a fault of the user resets the stream that it was called for', async () => {
  const visitor = new Visitor();
  visitor.user.handle = () => {
    throw new Error('a bug');
  };
  visitor.greet();
  visitor.send(request(1));
  assert.equal(visitor.user.faults.length, 1);
  const [reset] = await visitor.framesOf(TYPE.reset);
  assert.equal(readUint32(reset?.payload as Buffer, 0), CODE.internal);
});

test('connection: the end of a visitor leaves its whole requests to be answered, then the socket ends', async () => {
  const visitor = new Visitor();
  visitor.greet();
  visitor.send(request(1));
  await turns();
  visitor.socket.emit('end');
  assert.equal(visitor.user.ends, 1);
  assert.equal(visitor.socket.writableEnded, false);
  visitor.user.requests[0]?.stream.answer(200, [], Buffer.from('late'), true);
  await turns();
  assert.equal(visitor.socket.writableEnded, true);
  assert.ok(visitor.frames().some(({ payload }) => payload.toString() === 'late'));
});

test('connection: a cut resets its streams, and says so once', () => {
  const visitor = new Visitor();
  visitor.greet();
  visitor.send(request(1), request(3, false));
  visitor.connection.destroy();
  visitor.connection.destroy();
  assert.deepEqual(
    visitor.user.requests.map(({ log }) => log.events),
    [['reset 8'], ['reset 8']],
  );
  assert.equal(visitor.user.closes, 1);
});

test('connection: calls on a stream that is gone do nothing', async () => {
  const visitor = new Visitor();
  visitor.greet();
  visitor.send(request(1, false));
  await turns();
  visitor.frames();
  const { stream } = visitor.taken(0);
  stream.reset(CODE.cancel);
  stream.answer(200, [], Buffer.from('x'), true);
  stream.push(Buffer.from('x'), 0, 1, 1, visitor.slabs.foreign);
  stream.consumed(10);
  stream.trailers(NONE);
  stream.end();
  stream.reset(CODE.cancel);
  await turns();
  assert.deepEqual(
    visitor.frames().map(({ type }) => type),
    [TYPE.reset],
  );
});

/** Ends of a response on its stream: flags of its last frame, and whether a reset follows. */
async function endsOf(visitor: Visitor): Promise<string[]> {
  await turns();
  return visitor
    .frames()
    .filter(({ type, flags }) => type === TYPE.reset || (type <= TYPE.headers && (flags & FLAG.endStream) !== 0))
    .map(({ type, payload }) => (type === TYPE.reset ? `reset ${readUint32(payload, 0)}` : 'end'));
}

test('connection: half an end leaves the other half open, and its stream counts until both are over', async () => {
  const visitor = new Visitor({ limits: { ...LIMITS, maxStreams: 1 } });
  visitor.user.handle = ({ stream }) => stream.answer(200, [], NONE, false);
  visitor.greet();
  visitor.send(request(1, false));
  const { stream, log } = visitor.taken(0);
  stream.endHalf();
  assert.deepEqual(await endsOf(visitor), ['end']);
  assert.equal(visitor.connection.openStreams, 1);
  visitor.send(frame(TYPE.data, 0, 1, Buffer.from('more')));
  assert.equal(log.body.toString(), 'more');
  visitor.send(request(3));
  assert.deepEqual(await endsOf(visitor), [`reset ${CODE.refused}`]);
  visitor.send(frame(TYPE.data, FLAG.endStream, 1));
  assert.deepEqual(log.events, ['end']);
  stream.end();
  assert.deepEqual(log.events, ['end', 'done']);
  assert.equal(visitor.connection.openStreams, 0);
  assert.deepEqual(await endsOf(visitor), []);
  visitor.send(request(5));
  assert.equal(visitor.user.requests.length, 2);
  assert.deepEqual(visitor.user.offences, []);
});

test('connection: the other half may be ended before the first is out, or given up', async () => {
  for (const isOut of [false, true]) {
    for (const isEnded of [false, true]) {
      const visitor = new Visitor();
      visitor.user.handle = ({ stream }) => stream.answer(200, [], NONE, false);
      visitor.greet();
      visitor.send(request(1, false));
      await turns();
      visitor.frames();
      const { stream, log } = visitor.taken(0);
      stream.endHalf();
      if (isOut) await turns();
      if (isEnded) visitor.send(frame(TYPE.data, FLAG.endStream, 1));
      stream.end();
      stream.end();
      assert.deepEqual(await endsOf(visitor), isEnded ? ['end'] : ['end', `reset ${CODE.none}`]);
      assert.equal(log.events.at(-1), 'done');
      assert.equal(visitor.connection.openStreams, 0);
    }
  }
});
