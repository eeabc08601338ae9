/** Two real sessions against each other: every cut of the byte stream, many streams, half-closes, resets, slow readers. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { SlabPool } from '../base/bytes/slab.ts';
import { FLAG, INITIAL_WINDOW, TYPE } from './frame.ts';
import { MuxSession } from './session.ts';
import type { MuxStream } from './stream.ts';
import { collect, connectedPair, patternBytes, Scripted, sinkOf, TestClock, turns } from './testing.ts';
import { WindowBudget } from './window.ts';

/** What a client says in a short life: three streams, messages, half-closes, a reset, pings and a go-away. */
async function recordedConversation(): Promise<Buffer> {
  const client = new Scripted({ role: 'client' });
  const open = (): MuxStream => client.session.open() as MuxStream;
  const [a, b, c] = [open(), open(), open()];
  a.write(Buffer.from('first of a'));
  b.write(patternBytes(70));
  void client.session.ping();
  a.write(Buffer.from('second of a'));
  a.end();
  c.write(Buffer.from('c goes'));
  c.reset();
  await turns();
  b.write(Buffer.from('end of b'));
  b.end();
  client.session.goAway();
  await turns();
  return client.sent;
}

interface Heard {
  data: string;
  ends: number;
  resets: number;
}

function listener(): { peer: Scripted; heard: Map<number, Heard> } {
  const heard = new Map<number, Heard>();
  const peer = new Scripted({
    accept: (stream) => {
      const own: Heard = { data: '', ends: 0, resets: 0 };
      heard.set(stream.id, own);
      stream.sink = sinkOf({
        onData: (s, bytes, start, end) => {
          own.data += bytes.toString('latin1', start, end);
          s.consumed(end - start);
        },
        onEnd: () => own.ends++,
        onReset: () => own.resets++,
      });
    },
  });
  return { peer, heard };
}

function feedInPieces(pieces: Buffer[]): object {
  const { peer, heard } = listener();
  for (const piece of pieces) peer.session.feed(piece, 0, piece.length);
  return { heard: [...heard], goAways: peer.goAways, error: peer.error, faults: peer.faults };
}

test('a conversation cut in two at every place is heard the same', async () => {
  const said = await recordedConversation();
  const whole = feedInPieces([said]);
  assert.deepEqual(whole, {
    heard: [
      [1, { data: 'first of asecond of a', ends: 1, resets: 0 }],
      [3, { data: `${patternBytes(70).toString('latin1')}end of b`, ends: 1, resets: 0 }],
      [5, { data: 'c goes', ends: 0, resets: 1 }],
    ],
    goAways: 1,
    error: undefined,
    faults: [],
  });
  for (let at = 1; at < said.length; at++)
    assert.deepEqual(feedInPieces([said.subarray(0, at), said.subarray(at)]), whole, `cut at ${at}`);
});

test('a conversation cut into any pieces is heard the same', async () => {
  const said = await recordedConversation();
  const whole = feedInPieces([said]);
  fc.assert(
    fc.property(fc.array(fc.nat(said.length), { maxLength: 60 }), (cuts) => {
      const at = [0, ...cuts.sort((x, y) => x - y), said.length];
      const pieces = at.slice(1).map((to, i) => said.subarray(at[i], to));
      assert.deepEqual(feedInPieces(pieces), whole);
    }),
    { numRuns: 300 },
  );
});

test('bytes are read from the place in the buffer that they are said to be in', async () => {
  const said = await recordedConversation();
  const { peer, heard } = listener();
  const around = Buffer.concat([Buffer.alloc(1_000, 0xff), said, Buffer.alloc(1_000, 0xff)]);
  peer.session.feed(around, 1_000, 1_000 + said.length);
  assert.equal(peer.code(), undefined);
  assert.equal(heard.get(1)?.data, 'first of asecond of a');
});

test('writes after end() or reset() are let pass and send nothing', async () => {
  const peer = new Scripted({ role: 'client' });
  const [a, b] = [peer.session.open() as MuxStream, peer.session.open() as MuxStream];
  a.end();
  a.end();
  b.reset();
  b.reset();
  b.end();
  for (const stream of [a, b]) assert.equal(stream.write(Buffer.from('late')), true);
  assert.equal(a.reserve(3), -1);
  assert.equal(b.reserve(3), -1);
  await turns();
  assert.deepEqual(
    peer.frames.map((f) => [f.id, f.flags]),
    [
      [1, FLAG.syn],
      [3, FLAG.syn],
      [1, FLAG.fin],
      [3, FLAG.rst],
    ],
  );
});

test('opens no more than the peer has acknowledged', () => {
  const peer = new Scripted({ role: 'client', maxUnacknowledged: 2 });
  assert.ok(peer.session.open());
  assert.ok(peer.session.open());
  assert.equal(peer.session.open(), null);
  peer.says({ type: TYPE.window, flags: FLAG.ack, id: 1 });
  assert.ok(peer.session.open());
  assert.equal(peer.session.canOpen, false);
  peer.says({ type: TYPE.window, flags: FLAG.rst, id: 3 });
  assert.equal(peer.session.canOpen, true);
});

test('FIN while data waits for the window is sent behind that data', async () => {
  const peer = new Scripted({ role: 'client' });
  const stream = peer.session.open() as MuxStream;
  stream.write(patternBytes(INITIAL_WINDOW + 10));
  stream.end();
  await turns();
  assert.equal(
    peer.frames.some((f) => f.flags === FLAG.fin),
    false,
  );
  peer.says({ type: TYPE.window, id: 1, length: 10 });
  await turns();
  const [last, before] = peer.frames.reverse();
  assert.deepEqual([last?.flags, before?.length], [FLAG.fin, 10]);
});

test('a writer that keeps to the room there is leaves no copy in the stream, and hears of more', async () => {
  const body = patternBytes(3 * INITIAL_WINDOW + 17);
  const pair = connectedPair();
  const stream = pair.client.open() as MuxStream;
  let sent = 0;
  let waits = 0;
  const go = (): void => {
    while (sent < body.length) {
      const count = Math.min(stream.room, 50_000, body.length - sent);
      if (count === 0) {
        waits++;
        return stream.awaitRoom();
      }
      sent += count;
      const goesOn = stream.write(body, sent - count, sent);
      assert.equal(stream.pendingBytes, 0);
      if (!goesOn) return;
    }
    stream.end();
  };
  stream.sink = sinkOf({ onDrain: go });
  const arrived = pair.nextStream('server');
  go();
  assert.ok(waits > 0, 'it had to wait');
  assert.ok((await (await arrived).got.ended).equals(body));
});

test('close() ends in good order although streams go on writing', async () => {
  const pair = connectedPair();
  const incoming = pair.nextStream('server');
  const stream = pair.client.open() as MuxStream;
  const body = patternBytes(200_000);
  let resets = 0;
  stream.sink = sinkOf({ onReset: () => resets++, onDrain: (s) => void s.write(body) });
  stream.write(body);
  const { got } = await incoming;
  const failed = assert.rejects(got.ended, /reset/);
  pair.client.close();
  stream.write(body);
  await pair.settled();
  await failed;
  assert.equal(resets, 1);
  assert.equal(pair.ended.client?.code, 'closed');
  assert.equal(pair.ended.server?.code, 'closed');
});

test('pings are answered, and rejected when the session ends first', async () => {
  const pair = connectedPair();
  assert.ok((await pair.client.ping()) >= 0);
  const [one, two] = [pair.server.ping(), pair.server.ping()];
  assert.equal(await one, await two);
  const never = pair.client.ping();
  pair.client.destroy();
  await assert.rejects(never, { code: 'destroyed' });
  await assert.rejects(pair.client.ping(), { code: 'closed' });
});

const cuts = fc.constantFrom<'whole' | 'bytes' | 'some'>('whole', 'bytes', 'some');
const lives = fc.array(
  fc.record({
    from: fc.constantFrom<'client' | 'server'>('client', 'server'),
    up: fc.array(fc.integer({ min: 0, max: 150_000 }), { maxLength: 8 }),
    down: fc.array(fc.integer({ min: 0, max: 150_000 }), { maxLength: 8 }),
    fate: fc.constantFrom('ends', 'ends', 'ends', 'resets', 'is reset'),
    slow: fc.boolean(),
  }),
  { minLength: 1, maxLength: 14 },
);

test('many streams with any lives: no byte is lost, no stream, window or slab stays behind', async () => {
  await fc.assert(
    fc.asyncProperty(lives, cuts, fc.integer({ min: 1, max: 7_000 }), async (list, how, step) => {
      const budgets = { client: new WindowBudget(3 << 20), server: new WindowBudget(3 << 20) };
      const cut = (bytes: Buffer): Buffer[] => {
        if (how === 'whole') return [bytes];
        const size = how === 'some' ? step : 97;
        if (how === 'bytes' && bytes.length < 2_000) return [...bytes].map((b) => Buffer.of(b));
        return Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) =>
          bytes.subarray(i * size, (i + 1) * size),
        );
      };
      const pair = connectedPair({ cut, client: { budget: budgets.client }, server: { budget: budgets.server } });
      const all = list.map(async (life, index) => {
        const other = life.from === 'client' ? 'server' : 'client';
        const incoming = pair.nextStream(other);
        const ours = pair[life.from].open() as MuxStream;
        const oursGot = collect(ours);
        const body = (sizes: number[], salt: number): Buffer => {
          const bytes = Buffer.from(patternBytes(sizes.reduce((a, b) => a + b, 0)));
          if (bytes.length > 0) bytes[0] = salt;
          return bytes;
        };
        const [up, down] = [body(life.up, index), body(life.down, index + 100)];
        const { stream: theirs, got: theirsGot } = await incoming;
        const cutShort = life.fate !== 'ends';
        // A reset rejects whatever has not ended by then; the assertion is then only that it does end.
        const results = Promise.allSettled([oursGot.ended, theirsGot.ended]);
        const sends = Promise.race([Promise.all([pair.send(ours, up), pair.send(theirs, down)]), results]);
        if (cutShort) {
          await turns(3);
          (life.fate === 'resets' ? ours : theirs).reset();
          // `reset` tells this side's own sink nothing.
          return;
        }
        await sends;
        ours.end();
        if (life.slow) await turns(5);
        theirs.end();
        const [a, b] = await results;
        assert.ok(a.status === 'fulfilled' && b.status === 'fulfilled');
        assert.equal(Buffer.compare(a.value, down), 0);
        assert.equal(Buffer.compare(b.value, up), 0);
      });
      await Promise.all(all);
      await pair.settled();
      assert.deepEqual([pair.client.streamCount, pair.server.streamCount], [0, 0]);
      assert.deepEqual([budgets.client.left, budgets.server.left], [3 << 20, 3 << 20]);
      assert.deepEqual(pair.ended, {});
    }),
    { numRuns: 40 },
  );
});

test('never more than the window is outstanding, however the reader reads', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.integer({ min: 1, max: 400_000 }), { minLength: 5, maxLength: 40 }), async (reads) => {
      let allowed = INITIAL_WINDOW;
      let received = 0;
      let read = 0;
      let incoming: MuxStream | undefined;
      const clock = new TestClock();
      const server = new Scripted({
        clock,
        accept: (stream) => {
          incoming = stream;
          stream.sink = sinkOf({
            onData: (_s, _b, start, end) => {
              received += end - start;
              assert.ok(received <= allowed, `${received} received, ${allowed} allowed`);
            },
          });
        },
      });
      const client = new MuxSession({
        role: 'client',
        slabs: new SlabPool(),
        budget: new WindowBudget(0),
        transport: {
          write: (bytes, done) => {
            const copy = Buffer.from(bytes);
            setImmediate(() => {
              server.session.feed(copy, 0, copy.length);
              done();
            });
          },
          end: () => {},
          destroy: () => {},
        },
        handler: { onStream: () => {}, onClose: () => {}, onFault: (_s, error) => assert.fail(String(error)) },
      });
      const ours = client.open() as MuxStream;
      const chunk = patternBytes(64_000);
      let wanted = true;
      ours.sink = sinkOf({ onDrain: () => (wanted = true) });
      for (const size of reads) {
        while (wanted) wanted = ours.write(chunk);
        assert.ok(ours.pendingBytes <= chunk.length, 'one read at most waits in the stream');
        await turns(6);
        const take = Math.min(size, received - read);
        read += take;
        incoming?.consumed(take);
        await turns(2);
        for (const f of server.frames) {
          if (f.type === TYPE.window && f.flags === 0) allowed += f.length;
        }
        const back = server.sent;
        server.forgetSent();
        client.feed(back, 0, back.length);
      }
      assert.equal(server.code(), undefined);
    }),
    { numRuns: 40 },
  );
});

test('slabs given away whole arrive in order among copied bytes, and count against the window', async () => {
  const pool = new SlabPool();
  const pair = connectedPair({ client: { slabs: pool } });
  const incoming = pair.nextStream('server');
  const ours = pair.client.open();
  assert.ok(ours);
  const source = patternBytes(3 << 20);
  const waitForRoom = (): Promise<void> =>
    new Promise((resolve) => {
      ours.sink = { onData: () => {}, onEnd: () => {}, onReset: () => {}, onDrain: () => resolve() };
    });
  let refused = 0;
  for (let at = 0, i = 0; at < source.length; i++) {
    const length = Math.min(source.length - at, [70_000, 200_000, 999, 262_000][i % 4] as number);
    const room = waitForRoom();
    let goOn: boolean | null = null;
    if (i % 3 !== 0) {
      const slab = pool.take();
      source.copy(slab.body, 0, at, at + length);
      goOn = ours.donate(slab, length);
      if (goOn === null) {
        refused++;
        slab.retire();
      }
    }
    goOn ??= ours.write(source, at, at + length);
    at += length;
    if (!goOn) await room;
  }
  ours.end();
  const { got } = await incoming;
  assert.equal(Buffer.compare(await got.ended, source), 0);
  assert.ok(refused > 0, 'the window must have been too small once');
});
