/** Peers that lie, flood, stall or send rubbish: each ends the session with its code, or is survived with bounded memory. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { FLAG, GO_AWAY, INITIAL_WINDOW, TYPE } from './frame.ts';
import type { MuxStream } from './stream.ts';
import { decodeFrames, encodeFrame, type Frame, patternBytes, Scripted, sinkOf, turns } from './testing.ts';
import type { MuxErrorCode } from './types.ts';

const syn = (id: number): Partial<Frame> => ({ type: TYPE.window, flags: FLAG.syn, id });
const data = (id: number, size: number, flags = 0): Partial<Frame> => ({ id, flags, payload: Buffer.alloc(size, 7) });
const window = (id: number, delta: number, flags = 0): Partial<Frame> => ({
  type: TYPE.window,
  flags,
  id,
  length: delta,
});
const ping = (value: number, flags: number = FLAG.syn): Partial<Frame> => ({ type: TYPE.ping, flags, length: value });
const goAway = (reason: number): Partial<Frame> => ({ type: TYPE.goAway, length: reason });
const fin = (id: number): Partial<Frame> => window(id, 0, FLAG.fin);
const rst = (id: number): Partial<Frame> => window(id, 0, FLAG.rst);
const many = (count: number, frame: (i: number) => Partial<Frame>): Buffer =>
  Buffer.concat(Array.from({ length: count }, (_, i) => encodeFrame(frame(i))));
const neverReads = (stream: MuxStream): void => {
  stream.sink = sinkOf({ onData: () => {} });
};
/** Ten seconds' worth of the default allowance, and one. */
const FLOOD = 20_001;

const offences: ReadonlyArray<[name: string, code: MuxErrorCode, says: Array<Buffer | Partial<Frame>>]> = [
  ['one byte more than the window in one frame', 'window_overrun', [syn(1), { id: 1, length: INITIAL_WINDOW + 1 }]],
  ['one byte more than the window in two frames', 'window_overrun', [syn(1), data(1, INITIAL_WINDOW), data(1, 1)]],
  ['a data frame of 4 GB', 'window_overrun', [syn(1), { id: 1, length: 0xffff_ffff }]],
  ['data with SYN beyond the window', 'window_overrun', [{ id: 1, flags: FLAG.syn, length: INITIAL_WINDOW + 1 }]],
  ['data on a stream that never was', 'protocol', [data(9, 1)]],
  ['data on a stream that never was, after one that ended early', 'protocol', [syn(1), rst(1), data(3, 1)]],
  ['data on a stream of ours that we never opened', 'protocol', [data(2, 1)]],
  ['data on stream 0', 'protocol', [data(0, 1)]],
  ['data after FIN', 'protocol', [syn(1), fin(1), data(1, 1)]],
  ['data after FIN in a data frame', 'protocol', [syn(1), data(1, 5, FLAG.fin), data(1, 1)]],
  ['an unknown type', 'protocol', [{ type: 4 }]],
  ['type 255', 'protocol', [{ type: 255 }]],
  ['an unknown version', 'protocol', [Buffer.from([1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0])]],
  ['an HTTP request', 'protocol', [Buffer.from('GET / HTTP/1.1\r\nHost: a\r\n\r\n')]],
  ['a SYN with an id of our parity', 'protocol', [syn(2)]],
  ['a SYN for stream 0', 'protocol', [syn(0)]],
  ['a SYN twice', 'protocol', [syn(1), syn(1)]],
  ['a data SYN on an open stream', 'protocol', [syn(1), data(1, 1, FLAG.syn)]],
  ['a window over 32 bits', 'protocol', [syn(1), window(1, 0xffff_ffff)]],
  ['a window over 32 bits with SYN', 'protocol', [window(1, 0xffff_ffff, FLAG.syn)]],
  ['a window over 32 bits in steps', 'protocol', [syn(1), window(1, 0x8000_0000), window(1, 0x8000_0000)]],
  ['go-away for a protocol error', 'go_away', [goAway(GO_AWAY.protocol)]],
  ['go-away for an internal error', 'go_away', [goAway(GO_AWAY.internal)]],
  ['go-away for no known reason', 'go_away', [goAway(77)]],
  ['a flood of pings', 'flood', [many(FLOOD, (i) => ping(i))]],
  ['a flood of ping answers to nothing', 'flood', [many(FLOOD, (i) => ping(i, FLAG.ack))]],
  ['a flood of SYN', 'flood', [many(FLOOD, (i) => syn(2 * i + 1))]],
  ['rapid open and reset', 'flood', [many(2 * FLOOD, (i) => (i & 1 ? rst(i) : syn(i + 1)))]],
  ['a flood of empty data', 'flood', [syn(1), many(FLOOD, () => data(1, 0))]],
  ['a flood of empty data with ACK', 'flood', [syn(1), many(FLOOD, () => data(1, 0, FLAG.ack))]],
  ['a flood of empty data with FIN', 'flood', [syn(1), many(FLOOD, () => data(1, 0, FLAG.fin))]],
  ['a flood of empty data on no stream', 'flood', [syn(1), rst(1), many(FLOOD, () => data(1, 0, FLAG.fin))]],
  ['a flood of empty window updates', 'flood', [syn(1), many(FLOOD, () => window(1, 0))]],
  ['a flood of empty window updates with ACK', 'flood', [syn(1), many(FLOOD, () => window(1, 0, FLAG.ack))]],
  ['a flood of FIN', 'flood', [syn(1), many(FLOOD, () => fin(1))]],
  ['a flood of window updates for no stream', 'flood', [many(FLOOD, () => window(7, 100))]],
  ['a flood of RST for no stream', 'flood', [many(FLOOD, () => rst(7))]],
  ['a flood of unknown flags', 'flood', [syn(1), many(FLOOD, () => window(1, 0, 0x80))]],
  ['a flood of go-away', 'flood', [many(FLOOD, () => goAway(0))]],
];

for (const [name, code, says] of offences) {
  test(`${name} ends the session with ${code}`, async () => {
    const peer = new Scripted({ accept: neverReads });
    peer.says(...says);
    assert.equal(peer.code(), code);
    assert.equal(peer.closes, 1);
    assert.equal(peer.destroyed, true);
    assert.equal(peer.session.streamCount, 0);
    assert.equal(peer.budget.left, 256 << 20);
    assert.ok(peer.sent.length <= 12 * (FLOOD + 1), `answered ${peer.sent.length} bytes`);
    if (code !== 'go_away') assert.deepEqual(peer.frames.at(-1)?.type, TYPE.goAway);
    peer.says(syn(5), data(5, 100), ping(1));
    await turns();
    assert.equal(peer.closes, 1, 'what comes after the end is not looked at');
  });
}

for (const [name, code, says] of offences.filter(([, code]) => code !== 'flood')) {
  test(`${name}, one byte at a time, ends with ${code} too`, () => {
    const peer = new Scripted({ accept: neverReads });
    const bytes = Buffer.concat(says.map((part) => (Buffer.isBuffer(part) ? part : encodeFrame(part))));
    for (let at = 0; at < bytes.length; at++) peer.session.feed(bytes, at, at + 1);
    assert.equal(peer.code(), code);
  });
}

test('pings at an honest rate are answered for ever', async () => {
  const peer = new Scripted();
  for (let second = 0; second < 60; second++) {
    peer.says(many(1_500, (i) => ping(i)));
    peer.clock.ms += 1_000;
    peer.session.sweep(peer.clock.ms);
    await turns(2);
  }
  assert.equal(peer.code(), undefined);
  const answers = peer.frames.filter((f) => f.type === TYPE.ping && f.flags === FLAG.ack);
  assert.equal(answers.length, 90_000);
  assert.equal(answers[1_499]?.length, 1_499);
});

test('refuses the stream over the limit with RST, swallows its first window of data and goes on', async () => {
  const peer = new Scripted({ maxStreams: 2 });
  peer.says(syn(1), syn(3), syn(5), data(5, INITIAL_WINDOW), data(1, 3));
  await turns();
  assert.equal(peer.code(), undefined);
  assert.deepEqual(
    peer.streams.map((s) => s.id),
    [1, 3],
  );
  assert.deepEqual(
    peer.frames.map((f) => [f.id, f.flags]),
    [
      [1, FLAG.ack],
      [3, FLAG.ack],
      [5, FLAG.rst],
    ],
  );
  peer.says(data(5, 1));
  assert.equal(peer.code(), 'protocol');
});

test('streams that are opened and left half-open are held at the limit', async () => {
  const peer = new Scripted({ maxStreams: 100 });
  for (let second = 0; second < 20; second++) {
    peer.says(many(1_000, (i) => syn(2 * (second * 1_000 + i) + 1)));
    peer.clock.ms += 1_000;
    peer.session.sweep(peer.clock.ms);
    await turns(2);
  }
  assert.equal(peer.code(), undefined);
  assert.equal(peer.session.streamCount, 100);
  assert.equal(peer.streams.length, 100);
});

test('a header that trickles in byte by byte is one frame at its last byte', async () => {
  const peer = new Scripted();
  const bytes = encodeFrame(syn(1));
  for (let at = 0; at < bytes.length; at++) {
    assert.equal(peer.streams.length, 0);
    peer.session.feed(bytes, at, at + 1);
  }
  assert.equal(peer.streams.length, 1);
});

test('a peer that provokes answers and reads none is cut at 8 MB', () => {
  const peer = new Scripted({ controlPerSecond: 1e9 });
  peer.reading = false;
  const burst = many(10_000, (i) => ping(i));
  let fed = 0;
  while (peer.code() === undefined && fed < 20 << 20) {
    peer.says(burst);
    fed += burst.length;
  }
  assert.equal(peer.code(), 'flood');
  assert.ok(fed < (8 << 20) + (1 << 20), `${fed} bytes of pings`);
});

test('data that waits for a slow peer is no flood, however many streams it comes from', async () => {
  const peer = new Scripted({ role: 'client' });
  peer.reading = false;
  const block = patternBytes(60_000);
  const streams: MuxStream[] = [];
  for (let i = 0; i < 400; i++) {
    const stream = peer.session.open();
    assert.ok(stream);
    streams.push(stream);
    stream.write(block);
  }
  peer.says(many(100, (i) => ping(i)));
  await turns();
  assert.equal(peer.code(), undefined);
  peer.readOn();
  const whole = (): boolean => streams.every((s) => s.pendingBytes === 0);
  for (let i = 0; i < 2_000 && !whole(); i++) await turns(1);
  await turns(200);
  const perStream = new Map<number, number>();
  for (const f of peer.frames) if (f.type === TYPE.data) perStream.set(f.id, (perStream.get(f.id) ?? 0) + f.length);
  assert.deepEqual([...new Set(perStream.values())], [60_000]);
  assert.equal(perStream.size, 400);
});

test('a peer that reads nothing and resets its streams can not make the queue grow', async () => {
  let refused = 0;
  const block = patternBytes(65_536);
  const peer = new Scripted({
    accept: (stream) => {
      if (!stream.write(block)) refused++;
    },
  });
  peer.reading = false;
  const { sender } = peer.session;
  const [wait, unwait] = [sender.wait.bind(sender), sender.unwait.bind(sender)];
  let waiting = 0;
  sender.wait = (lane, stream) => {
    waiting++;
    wait(lane, stream);
  };
  sender.unwait = (stream) => {
    waiting--;
    unwait(stream);
  };
  for (let second = 0; second < 10; second++) {
    for (let i = 0; i < 500; i++) {
      const id = 2 * (second * 500 + i) + 1;
      peer.says(syn(id), rst(id));
    }
    peer.clock.ms += 1_000;
    peer.session.sweep(peer.clock.ms);
    await turns(1);
  }
  assert.equal(peer.code(), undefined);
  assert.ok(refused > 4_900, `${refused} of 5000 had to wait`);
  assert.equal(waiting, 0, 'a stream that is gone waits for nothing');
  peer.readOn();
  await turns(100);
  // 5,000 blocks were offered (320 MB); what was queued is one full lane of 4 MB with what overshoots it, and small frames.
  assert.ok(peer.sent.length < 5 << 20, `${peer.sent.length} bytes were queued`);
  assert.equal(peer.session.streamCount, 0);
});

test('a peer that opens the window by single bytes has them sent and nothing kept', async () => {
  const peer = new Scripted({ role: 'client' });
  const stream = peer.session.open();
  assert.ok(stream);
  stream.write(patternBytes(INITIAL_WINDOW + 5_000));
  peer.says(many(5_000, () => window(1, 1)));
  assert.equal(stream.pendingBytes, 0);
  await turns(20);
  const sent = peer.frames.filter((f) => f.type === TYPE.data).map((f) => f.payload ?? Buffer.alloc(0));
  assert.deepEqual(Buffer.concat(sent), patternBytes(INITIAL_WINDOW + 5_000));
});

test('silence ends the session after the deadline, and pings are sent before it', async () => {
  const peer = new Scripted({ heartbeatMs: 10_000, deadAfterMs: 20_000 });
  peer.session.sweep((peer.clock.ms += 1_000));
  const from = peer.clock.ms;
  while (peer.code() === undefined && peer.clock.ms < from + 60_000) peer.session.sweep((peer.clock.ms += 1_000));
  assert.equal(peer.code(), 'heartbeat');
  assert.equal(peer.clock.ms - from, 19_000, 'it was heard up to a second before that sweep');
  await turns();
});

test('a heartbeat goes out while the answer to the last one is under way, and either answer is the one', async () => {
  const peer = new Scripted({ heartbeatMs: 10_000, deadAfterMs: 20_000 });
  for (let i = 0; i < 35; i++) {
    peer.session.sweep((peer.clock.ms += 1_000));
    peer.says(window(1, 0)); // heard of, but its answers wait behind a download
  }
  await turns(2);
  const sent = peer.frames.filter((f) => f.type === TYPE.ping);
  assert.ok(sent.length >= 3, `${sent.length} in 35 s`);
  assert.equal(new Set(sent.map((f) => f.length)).size, 1, 'one question');
  for (const each of sent) peer.says(ping(each.length, FLAG.ack));
  assert.ok(peer.session.rttMs >= 25_000, 'counted from when it was asked first');
  assert.equal(peer.code(), undefined);
});

test('a peer that answers pings lives for ever, one whose clock slept gets another chance', async () => {
  const peer = new Scripted({ heartbeatMs: 10_000, deadAfterMs: 20_000 });
  for (let i = 0; i < 200; i++) {
    peer.session.sweep((peer.clock.ms += 1_000));
    await turns(2);
    const asked = peer.frames.filter((f) => f.type === TYPE.ping);
    peer.forgetSent();
    for (const each of asked) peer.says(ping(each.length, FLAG.ack));
  }
  assert.equal(peer.code(), undefined);
  peer.session.sweep((peer.clock.ms += 8 * 3_600_000));
  assert.equal(peer.code(), undefined, 'eight hours of sleep are not silence');
  for (let i = 0; i < 21; i++) peer.session.sweep((peer.clock.ms += 1_000));
  assert.equal(peer.code(), 'heartbeat', 'but silence after them is');
});

test('go-away 0 is passed on once, refuses new streams of ours and leaves those in flight', async () => {
  const peer = new Scripted();
  peer.says(syn(1), goAway(0), goAway(0));
  assert.equal(peer.goAways, 1);
  assert.equal(peer.session.open(), null);
  assert.equal(peer.session.streamCount, 1);
  peer.says(data(1, 3), fin(1));
  assert.equal(peer.code(), undefined);
});

test('late frames of a stream that we reset are let pass up to its window, and no further', () => {
  const peer = new Scripted();
  peer.says(syn(1), data(1, 1_000));
  peer.streams[0]?.reset();
  peer.says(data(1, INITIAL_WINDOW - 1_000), window(1, 5), fin(1));
  assert.equal(peer.code(), undefined);
  peer.says(data(1, 1));
  assert.equal(peer.code(), 'protocol');
});

test('a sink that throws loses its stream and no other', async () => {
  const seen: number[] = [];
  const peer = new Scripted({
    accept: (stream) => {
      stream.sink = sinkOf({
        onData: (s, _b, start, end) => {
          if (s.id === 1) throw new Error('bug');
          seen.push(end - start);
        },
        onDrain: () => {
          throw new Error('bug in drain');
        },
      });
    },
  });
  peer.says(syn(1), syn(3), data(1, 10), data(3, 10), data(1, 10));
  assert.equal(peer.faults.length, 1);
  assert.deepEqual(seen, [10]);
  assert.equal(peer.session.streamCount, 1);
  assert.equal(peer.streams[1]?.write(patternBytes(INITIAL_WINDOW + 1)), false);
  peer.says(window(3, 1_000));
  assert.equal(peer.faults.length, 2);
  assert.equal(peer.session.streamCount, 0);
  assert.equal(peer.code(), undefined);
});

test('rubbish ends a session or is survived, and never throws', () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ minLength: 1, maxLength: 4_096 }), { maxLength: 20 }), (chunks) => {
      const peer = new Scripted();
      for (const chunk of chunks) peer.says(Buffer.from(chunk));
      assert.ok(peer.closes <= 1);
      assert.equal(peer.session.streamCount > 0 && peer.session.closed, false);
    }),
    { numRuns: 200 },
  );
});

test('a megabyte of rubbish with true headers here and there is survived', () => {
  const frame = fc.record({
    type: fc.integer({ min: 0, max: 3 }),
    flags: fc.integer({ min: 0, max: 15 }),
    id: fc.integer({ min: 0, max: 9 }),
    payload: fc.uint8Array({ maxLength: 2_000 }),
  });
  fc.assert(
    fc.property(fc.array(frame, { minLength: 50, maxLength: 500 }), (frames) => {
      const peer = new Scripted();
      for (const { type, flags, id, payload } of frames) {
        if (type === TYPE.data) peer.says({ type, flags, id, payload: Buffer.from(payload) });
        else peer.says({ type, flags, id, length: type === TYPE.goAway ? 0 : payload.length });
        if (peer.session.closed) break;
      }
      peer.session.destroy();
      assert.equal(peer.closes, 1);
      assert.equal(peer.session.streamCount, 0);
      assert.equal(peer.budget.left, 256 << 20);
      assert.deepEqual(peer.faults, []);
      decodeFrames(peer.sent);
    }),
    { numRuns: 100 },
  );
});
