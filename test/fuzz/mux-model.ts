/**
 * One round of the multiplexer's fuzzing, made from a seed: two sessions joined by a link that cuts their bytes anywhere, many
 * streams that write, read late, end and reset at random; or one session that is fed mutated frames. Throws where a rule is broken.
 */
import assert from 'node:assert/strict';
import type { Slab } from '../../src/base/bytes/slab.ts';
import { SlabPool } from '../../src/base/bytes/slab.ts';
import { FLAG, TYPE } from '../../src/mux/frame.ts';
import type { MuxSession } from '../../src/mux/session.ts';
import type { MuxStream } from '../../src/mux/stream.ts';
import {
  connectedPair,
  decodeFrames,
  encodeFrame,
  patternBytes,
  Scripted,
  sinkOf,
  turns,
} from '../../src/mux/testing.ts';
import { WindowBudget } from '../../src/mux/window.ts';

const BUDGET = 4 << 20;
const source = patternBytes(3 << 20);

/** A small, fast generator with a seed: a failure is repeated by its number. */
export function random(seed: number): (below: number) => number {
  let state = (seed * 2_654_435_761 + 1) >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let x = Math.imul(state ^ (state >>> 15), state | 1);
    x ^= x + Math.imul(x ^ (x >>> 7), x | 61);
    return ((x ^ (x >>> 14)) >>> 0) % below;
  };
}

class CountingPool extends SlabPool {
  out = 0;
  override take(): Slab {
    this.out++;
    return super.take();
  }
  override put(slab: Slab): void {
    this.out--;
    super.put(slab);
  }
}

/** One side of a stream: what it sent, what it must therefore have arrived as, what it read. */
class Half {
  readonly stream: MuxStream;
  readonly salt: number;
  sent = 0;
  received = 0;
  unread = 0;
  blocked = false;
  over = false;
  other: Half | undefined;

  constructor(stream: MuxStream, salt: number) {
    this.stream = stream;
    this.salt = salt;
    stream.sink = sinkOf({
      onData: (_s, bytes, start, end) => {
        const from = (this.other?.salt ?? 0) + this.received;
        assert.equal(
          source.compare(bytes, start, end, from, from + end - start),
          0,
          `stream ${stream.id}: wrong bytes`,
        );
        this.received += end - start;
        this.unread += end - start;
      },
      onEnd: () => {
        assert.equal(this.received, this.other?.sent, `stream ${stream.id}: ended early`);
      },
      onReset: () => {
        this.over = true;
      },
      onDrain: () => {
        assert.equal(this.blocked, true, 'a drain without a blocked writer');
        this.blocked = false;
      },
    });
  }

  act(pick: (below: number) => number): void {
    if (this.over) return;
    const what = pick(20);
    if (what < 10 && !this.blocked && !this.stream.endedHere && this.sent < 1 << 20) {
      const length = pick(4) === 0 ? pick(200_000) : pick(3_000);
      const from = this.salt + this.sent;
      this.sent += length;
      this.blocked = !this.stream.write(source, from, from + length);
    } else if (what < 17 && this.unread > 0) {
      const take = 1 + pick(this.unread);
      this.unread -= take;
      this.stream.consumed(take);
    } else if (what === 18 && pick(4) === 0) {
      this.stream.end();
    } else if (what === 19 && pick(15) === 0) {
      this.over = true;
      this.stream.reset();
    }
  }

  finish(): void {
    if (this.unread > 0) this.stream.consumed(this.unread);
    this.unread = 0;
    if (!this.over) this.stream.end();
  }
}

/** Two honest sessions. */
export async function honestRound(seed: number): Promise<void> {
  const pick = random(seed);
  const pools = [new CountingPool(), new CountingPool()] as const;
  const budgets = [new WindowBudget(BUDGET), new WindowBudget(BUDGET)] as const;
  const halves: Half[] = [];
  const waiting = new Map<number, Half>();
  const style = pick(3);
  const cut = (bytes: Buffer): Buffer[] => {
    if (style === 0) return [bytes];
    const pieces: Buffer[] = [];
    for (let at = 0; at < bytes.length; ) {
      const length = 1 + pick(style === 1 ? 40_000 : bytes.length > 5_000 ? 2_000 : 13);
      pieces.push(bytes.subarray(at, at + length));
      at += length;
    }
    return pieces;
  };
  const meet = (stream: MuxStream): void => {
    const ours = waiting.get(stream.id);
    if (ours === undefined) assert.fail(`stream ${stream.id} was never opened`);
    const half = new Half(stream, pick(1_000_000));
    half.other = ours;
    ours.other = half;
    halves.push(half);
  };
  const own = (side: 0 | 1) => ({ slabs: pools[side], budget: budgets[side], maxStreams: 40, controlPerSecond: 1e6 });
  const pair = connectedPair({ cut, client: own(0), server: own(1), accept: meet, acceptClient: meet });
  const open = (session: MuxSession): void => {
    const stream = session.open();
    if (stream === null) return;
    const half = new Half(stream, pick(1_000_000));
    waiting.set(stream.id, half);
    halves.push(half);
  };
  for (let step = 50 + pick(300); step > 0; step--) {
    if (halves.length < 30 && pick(8) === 0) open(pick(2) === 0 ? pair.client : pair.server);
    for (let i = 0; i < 4 && halves.length > 0; i++) halves[pick(halves.length)]?.act(pick);
    if (pick(3) === 0) await turns(1);
  }
  const violent = pick(4) === 0;
  if (violent) pair.client.destroy();
  for (let i = 0; i < 3_000 && pair.client.streamCount + pair.server.streamCount > 0; i++) {
    for (const half of halves) half.finish();
    await turns(1);
  }
  await pair.settled();
  assert.deepEqual([pair.client.streamCount, pair.server.streamCount], [0, 0]);
  assert.deepEqual(
    budgets.map((b) => b.left),
    [BUDGET, BUDGET],
  );
  if (!violent) {
    assert.deepEqual(pair.ended, {});
    for (const half of halves) if (!half.over && half.other !== undefined) assert.equal(half.received, half.other.sent);
    pair.client.close();
  }
  await pair.settled();
  assert.deepEqual(
    pools.map((pool) => pool.out),
    [0, 0],
    'slabs that did not come back',
  );
}

/** One session and a liar. */
export async function hostileRound(seed: number): Promise<void> {
  const pick = random(seed);
  const peer = new Scripted({
    role: pick(2) === 0 ? 'client' : 'server',
    maxStreams: 20,
    accept: (stream) => {
      stream.sink = sinkOf({
        onData: (s, bytes, start, end) => {
          if (pick(3) > 0) s.consumed(end - start);
          if (pick(3) === 0) s.write(bytes, start, end);
          if (pick(50) === 0) s.reset();
        },
        onEnd: (s) => s.end(),
      });
    },
  });
  peer.reading = pick(3) > 0;
  for (let step = pick(200); step > 0 && !peer.session.closed; step--) {
    if (pick(10) === 0) peer.session.open()?.write(source, 0, pick(300_000));
    const type = pick(40) === 0 ? pick(256) : pick(3);
    const length = pick(10) === 0 ? pick(2 ** 32) : pick(5_000);
    const flags = pick(30) === 0 ? pick(65_536) : ([0, 0, FLAG.syn, FLAG.ack, FLAG.fin, FLAG.rst][pick(6)] ?? 0);
    const frame = { type, flags: flags & 255, id: type === TYPE.ping ? 0 : 1 + pick(24), length };
    const honest = type === TYPE.data && length <= 5_000;
    const bytes = encodeFrame(honest ? { ...frame, payload: source.subarray(0, length) } : frame);
    if (pick(60) === 0) bytes[pick(bytes.length)] = pick(256);
    const at = pick(bytes.length + 1);
    peer.says(bytes.subarray(0, at));
    peer.says(bytes.subarray(at));
    if (pick(5) === 0) await turns(1);
    if (pick(20) === 0) peer.session.sweep((peer.clock.ms += pick(3_000)));
  }
  peer.session.destroy();
  peer.readOn();
  await turns(3);
  assert.equal(peer.closes, 1);
  assert.deepEqual(peer.faults, []);
  assert.equal(peer.session.streamCount, 0);
  assert.equal(peer.budget.left, 256 << 20);
  decodeFrames(peer.sent);
}
