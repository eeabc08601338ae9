/** What a hostile visitor may do before its connection ends, and why it ended. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CODE, type Http2Offence } from '../types.ts';
import { FLAG, TYPE } from './frame.ts';
import { block, frame, numbers, request, requestBlock, settings, turns, Visitor } from './testing.ts';

interface Flood {
  readonly name: string;
  readonly reason: Http2Offence;
  /** Before it. */
  readonly begin?: (visitor: Visitor) => void;
  /** The `i`th time. */
  readonly once: (i: number) => Buffer;
  /** It ends after so many. */
  readonly most: number;
  /** And not before so many. */
  readonly least: number;
}

const PING = frame(TYPE.ping, 0, 0, Buffer.alloc(8));
const open = (visitor: Visitor): void => visitor.send(request(1, false));

const FLOODS: readonly Flood[] = [
  {
    name: 'rapid reset',
    reason: 'h2_reset_flood',
    once: (i) => Buffer.concat([request(2 * i + 1), frame(TYPE.reset, 0, 2 * i + 1, numbers(8))]),
    least: 200,
    most: 201,
  },
  {
    name: 'made to reset',
    reason: 'h2_made_resets',
    once: (i) => Buffer.concat([request(2 * i + 1), frame(TYPE.window, 0, 2 * i + 1, numbers(0))]),
    least: 1_000,
    most: 1_001,
  },
  {
    name: 'malformed heads',
    reason: 'h2_made_resets',
    once: (i) => frame(TYPE.headers, 5, 2 * i + 1, block({ a: 'b' })),
    least: 1_000,
    most: 1_001,
  },
  { name: 'PING', reason: 'h2_pings', once: () => PING, least: 990, most: 1_001 },
  { name: 'SETTINGS', reason: 'h2_settings', once: () => settings([4, 65_535]), least: 990, most: 1_001 },
  {
    name: 'SETTINGS that are acknowledged',
    reason: 'h2_overhead',
    once: () => frame(TYPE.settings, FLAG.ack, 0),
    least: 100_000,
    most: 120_000,
  },
  {
    name: 'CONTINUATION, empty',
    reason: 'h2_continuation',
    begin: (visitor) => visitor.send(frame(TYPE.headers, 0, 1, requestBlock())),
    once: () => frame(TYPE.continuation, 0, 1),
    least: 9,
    most: 9,
  },
  {
    name: 'CONTINUATION, long',
    reason: 'h2_continuation',
    begin: (visitor) => visitor.send(frame(TYPE.headers, 0, 1, requestBlock())),
    once: () => frame(TYPE.continuation, 0, 1, Buffer.alloc(16_384)),
    least: 4,
    most: 4,
  },
  {
    name: 'empty DATA',
    reason: 'h2_overhead',
    begin: open,
    once: () => frame(TYPE.data, 0, 1),
    least: 1_000,
    most: 1_100,
  },
  {
    name: 'DATA of one byte',
    reason: 'h2_overhead',
    begin: open,
    once: () => frame(TYPE.data, 0, 1, Buffer.alloc(1)),
    least: 32_700,
    most: 33_000,
  },
  {
    name: 'WINDOW_UPDATE of one',
    reason: 'h2_overhead',
    begin: open,
    once: () => frame(TYPE.window, 0, 1, numbers(1)),
    least: 80_000,
    most: 90_000,
  },
  {
    name: 'WINDOW_UPDATE of the connection',
    reason: 'h2_overhead',
    once: () => frame(TYPE.window, 0, 0, numbers(1)),
    least: 80_000,
    most: 90_000,
  },
  {
    name: 'PRIORITY',
    reason: 'h2_overhead',
    once: () => frame(TYPE.priority, 0, 1, Buffer.alloc(5)),
    least: 70_000,
    most: 80_000,
  },
  {
    name: 'PRIORITY_UPDATE',
    reason: 'h2_overhead',
    once: () => frame(TYPE.priorityUpdate, 0, 0, Buffer.from('\0\0\0\x05u=1', 'latin1')),
    least: 60_000,
    most: 70_000,
  },
  {
    name: 'unknown frames',
    reason: 'h2_overhead',
    once: () => frame(0x77, 0, 1, Buffer.alloc(100)),
    least: 9_000,
    most: 10_000,
  },
  {
    name: 'GOAWAY',
    reason: 'h2_overhead',
    once: () => frame(TYPE.goAway, 0, 0, Buffer.alloc(1_000)),
    least: 1_000,
    most: 1_100,
  },
  {
    name: 'RST_STREAM of a stream that is gone',
    reason: 'h2_overhead',
    begin: (visitor) => visitor.send(request(1), frame(TYPE.reset, 0, 1, numbers(8))),
    once: () => frame(TYPE.reset, 0, 1, numbers(8)),
    least: 80_000,
    most: 90_000,
  },
  {
    name: 'DATA of a stream that is gone',
    reason: 'h2_made_resets',
    begin: (visitor) => visitor.send(request(1), frame(TYPE.reset, 0, 1, numbers(8))),
    once: () => frame(TYPE.data, 0, 1, Buffer.from('x')),
    least: 1_000,
    most: 1_001,
  },
  {
    name: 'heads beyond the streams that may be open',
    reason: 'h2_made_resets',
    begin: (visitor) => {
      for (let i = 0; i < 100; i++) visitor.send(request(2 * i + 1, false));
    },
    once: (i) => request(2 * i + 1_001),
    least: 1_000,
    most: 1_001,
  },
  {
    name: 'heads that are too large',
    reason: 'h2_overhead',
    once: (i) =>
      frame(
        TYPE.headers,
        5,
        2 * i + 1,
        block(Object.fromEntries(Array.from({ length: 210 }, (_, n) => [`x-${n}`, 'a value']))),
      ),
    least: 30,
    most: 50,
  },
];

for (const { name, reason, begin, once, most, least } of FLOODS)
  test(`flood: ${name} ends the connection`, async () => {
    const visitor = new Visitor();
    visitor.user.handle = ({ stream, reason }) => {
      if (reason !== '') stream.answer(400, [], Buffer.alloc(0), true);
    };
    visitor.greet();
    begin?.(visitor);
    let count = 0;
    while (!visitor.connection.isOver && count < most + 10) visitor.send(once(count++));
    assert.ok(count >= least && count <= most, `it ended after ${count}`);
    assert.equal(visitor.user.offences.at(-1), reason);
    assert.equal(visitor.connection.closing, true);
    assert.equal(visitor.socket.isPaused, true, 'nothing more is read');
    assert.equal(await visitor.goneCode(), CODE.calm);
    // Whether its visitor goes or not.
    visitor.connection.sweep(visitor.clock.ms + 3_000);
    assert.equal(visitor.socket.destroyed, true);
    assert.equal(visitor.user.closes, 1);
  });

test('flood: what comes slowly is none', async () => {
  const visitor = new Visitor();
  visitor.greet();
  for (let i = 0; i < 5_000; i++) {
    visitor.clock.ms += 11;
    visitor.send(PING);
    if (i % 100 === 0) await turns(3);
  }
  assert.equal(visitor.connection.isOver, false);
});

test('flood: small messages are none, however many there are', () => {
  const visitor = new Visitor();
  visitor.greet();
  visitor.send(request(1, false));
  // Messages of gRPC, of 4 and of 20 bytes.
  for (const size of [9, 25]) {
    const some = Buffer.concat(Array.from({ length: 1_000 }, () => frame(TYPE.data, 0, 1, Buffer.alloc(size))));
    for (let i = 0; i < 200; i++) visitor.send(some);
  }
  assert.equal(visitor.taken(0).log.body.length, 200_000 * (9 + 25));
  assert.equal(visitor.connection.isOver, false);
});

test('flood: answers that the visitor does not take end the connection', async () => {
  const visitor = new Visitor();
  visitor.greet();
  await turns();
  visitor.socket.isFast = false;
  visitor.send(PING);
  await turns();
  let count = 0;
  while (!visitor.connection.isOver && count < 10_000) {
    visitor.clock.ms += 11;
    visitor.send(PING);
    count++;
  }
  assert.ok(count > 3_000 && count < 4_000, `it ended after ${count}`);
  assert.deepEqual(visitor.user.offences, ['h2_pings']);
});

test('flood: a reset of an answer that is on its way is none', async () => {
  const visitor = new Visitor();
  visitor.user.handle = ({ stream }) => stream.answer(200, [], Buffer.from('x'), true);
  visitor.greet();
  await turns();
  visitor.socket.isFast = false;
  for (let i = 0; i < 500; i++) {
    visitor.send(request(2 * i + 1));
    await turns(2);
    visitor.send(frame(TYPE.reset, 0, 2 * i + 1, numbers(8)));
    visitor.socket.finish();
  }
  assert.equal(visitor.connection.isOver, false);
});

test('flood: unread answers take no more streams than may be open', async () => {
  const visitor = new Visitor();
  visitor.user.handle = ({ stream }) => stream.answer(200, [], Buffer.alloc(1_000), true);
  visitor.greet();
  await turns();
  visitor.socket.isFast = false;
  let taken = 0;
  for (let i = 0; i < 600; i++) {
    visitor.send(request(2 * i + 1));
    await turns(1);
    taken = visitor.user.requests.length;
  }
  assert.ok(taken <= 210, `${taken} requests were taken`);
});
