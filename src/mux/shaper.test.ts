/** Sessions with a bandwidth limit on real sockets: nothing is lost, streams keep out of each other's way, ends do not wait. */
import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { after, before, describe, test, type TestContext } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { Sweeper } from '../base/clock.ts';
import { type Slab, SlabPool } from '../base/bytes/slab.ts';
import { PairSource } from '../base/testing.ts';
import { type Payer, TokenBucket } from '../base/limits/token-bucket.ts';
import { attachSession } from './attach.ts';
import { INITIAL_WINDOW } from './frame.ts';
import type { MuxSession } from './session.ts';
import { ShapedBudget, Shaper } from './shaper.ts';
import type { MuxStream } from './stream.ts';
import { patternBytes, sinkOf } from './testing.ts';
import type { MuxError } from './types.ts';
import { MAX_WINDOW, WindowBudget } from './window.ts';
import { OwnClock } from '../../test/harness/own-clock.ts';

const BUDGET = 256 << 20;
const MB = 1 << 20;
/** So deep in debt that only the lifting of the limit, or a cut, helps within a test. */
const HOPELESS_MBPS = 0.008;

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

/** Counts the moves by payers who had not paid for those before. */
class WatchedBucket extends TokenBucket {
  spentInDebt = 0;
  override spend(payer: Payer, bytes: number): boolean {
    if (payer.debt > 0) this.spentInDebt++;
    return super.spend(payer, bytes);
  }
}

class End {
  readonly pool = new CountingPool();
  readonly budget = new WindowBudget(BUDGET);
  readonly sweeper = new Sweeper<MuxSession>(1_000);
  readonly shaper = new Shaper();
  readonly socket: Socket;
  readonly session: MuxSession;
  readonly ended: Promise<MuxError>;
  readonly closed: Promise<unknown>;
  onStream: (stream: MuxStream) => void = () => {};

  constructor(socket: Socket, role: 'client' | 'server') {
    this.socket = socket;
    this.closed = new Promise((resolve) => socket.once('close', resolve));
    const { promise, resolve } = Promise.withResolvers<MuxError>();
    this.ended = promise;
    this.session = attachSession(
      socket,
      {
        onStream: (stream) => this.onStream(stream),
        onClose: (_s, error) => {
          this.sweeper.close();
          resolve(error);
        },
        onFault: (_s, error) => assert.fail(String(error)),
      },
      { role, slabs: this.pool, budget: this.budget, sweeper: this.sweeper, shaper: this.shaper },
    );
  }

  open(): MuxStream {
    const stream = this.session.open();
    assert.ok(stream);
    return stream;
  }
}

const source = patternBytes(4 * MB);

function pour(stream: MuxStream, total: number): void {
  let at = 0;
  const go = (): void => {
    while (at < total) {
      const from = at;
      at = Math.min(total, at + 60_000);
      if (!stream.write(source, from, at)) return;
    }
    stream.end();
  };
  stream.sink = { ...stream.sink, onDrain: go };
  go();
}

/** Resolves with what came until the end, compared with what was sent. */
function drink(stream: MuxStream): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  let at = 0;
  stream.sink = sinkOf({
    onData: (s, bytes, start, end) => {
      if (source.compare(bytes, start, end, at, at + end - start) !== 0) reject(new Error(`wrong bytes near ${at}`));
      at += end - start;
      s.consumed(end - start);
    },
    onEnd: () => resolve(at),
    onReset: () => reject(new Error(`reset after ${at}`)),
  });
  return promise;
}

for (const kind of ['plain', 'tls'] as const) {
  describe(`limited sessions over ${kind} sockets`, { timeout: 120_000 }, () => {
    let listener: PairSource;
    before(async () => {
      listener = await PairSource.listen(kind);
    });
    after(() => listener.close());

    /** Only `server` keeps a limit, as in production; `client` may know it. */
    const join = async (t: TestContext): Promise<{ server: End; client: End }> => {
      const pair = await listener.pair();
      const ends = { server: new End(pair.accepted, 'server'), client: new End(pair.dialled, 'client') };
      t.after(async () => {
        for (const end of Object.values(ends)) {
          end.session.destroy();
          await end.closed;
          await turn();
          assert.equal(end.budget.left, BUDGET);
          assert.equal(end.pool.out, 0, 'slabs that did not come back');
        }
      });
      return ends;
    };

    test('all bytes of both directions arrive, in the time that the limit gives them', async (t) => {
      const { server, client } = await join(t);
      server.shaper.limit(new TokenBucket(80));
      const incoming = Promise.withResolvers<number>();
      server.onStream = (stream) => {
        drink(stream).then(incoming.resolve, incoming.reject);
        pour(stream, 3 * MB);
      };
      const stream = client.open();
      const began = performance.now();
      const back = drink(stream);
      pour(stream, 3 * MB);
      assert.deepEqual(await Promise.all([back, incoming.promise]), [3 * MB, 3 * MB]);
      const took = performance.now() - began;
      // 6 MB at 10^7 bytes per second, less what may pass at once. Slower is the machine's affair.
      assert.ok(took > 500, `${took} ms`);
    });

    test('a reader that stands still holds up its own stream and no other', async (t) => {
      const { server, client } = await join(t);
      server.shaper.limit(new TokenBucket(80));
      const done = Promise.withResolvers<number>();
      server.onStream = (stream) => {
        // The first takes what comes and gives no window back.
        stream.sink = sinkOf({ onData: () => {} });
        server.onStream = (next) => void drink(next).then(done.resolve, done.reject);
      };
      const stuck = client.open();
      stuck.sink = sinkOf({});
      stuck.write(source, 0, INITIAL_WINDOW + 1);
      pour(client.open(), 2 * MB);
      assert.equal(await done.promise, 2 * MB);
      assert.ok(stuck.pendingBytes > 0);
    });

    test('a clock that jumps between two looks stops no reader', async (t) => {
      const { server, client } = await join(t);
      // As after a pause of the process: within one call of the bucket too.
      let aheadMs = 0;
      const monotonic = (): number => performance.now() + (aheadMs += 3);
      server.shaper.limit(new TokenBucket(10, { now: monotonic, monotonic }));
      const done = Promise.withResolvers<number>();
      server.onStream = (stream) => void drink(stream).then(done.resolve, done.reject);
      pour(client.open(), 4 * MB);
      assert.equal(await done.promise, 4 * MB);
    });

    test('nothing more is used, and nothing more is read, before the last read is paid for', async (t) => {
      const { server, client } = await join(t);
      const bucket = new WatchedBucket(HOPELESS_MBPS);
      server.shaper.limit(bucket);
      server.onStream = (stream) => void drink(stream).catch(() => undefined);
      pour(client.open(), 4 * MB);
      while (bucket.waiting < 1) await turn();
      // What one read of the connection brought, and no second one.
      const read = server.socket.bytesRead;
      for (let i = 0; i < 50; i++) await turn();
      assert.equal(server.socket.bytesRead, read);
      assert.equal(bucket.spentInDebt, 0);
    });

    test('a side that knows the limit keeps in its lanes what waits for it: a short answer goes before ten downloads', async (t) => {
      const { server, client } = await join(t);
      server.shaper.limit(new TokenBucket(2));
      client.shaper.holdBack(2);
      client.onStream = (stream) => pour(stream, 4 * MB);
      const downloads = Array.from({ length: 10 }, () => server.open());
      for (const stream of downloads) void drink(stream).catch(() => undefined);
      await server.session.ping();
      const took: number[] = [];
      for (let i = 0; i < 5; i++) {
        client.onStream = (stream) => {
          stream.write(source, 0, 1_000);
          stream.end();
        };
        const own = new OwnClock();
        assert.equal(await drink(server.open()), 1_000);
        took.push(own.ms);
      }
      // In the kernel 1 MB and more would be before it: 4 s. A tenth of a second of the limit is, and what the server has read ahead.
      assert.ok(Math.max(...took) < 1_500, took.join());
    });

    test('streams take turns while the limit holds, so all get the same', async (t) => {
      const { server, client } = await join(t);
      server.shaper.limit(new TokenBucket(10));
      client.shaper.holdBack(10);
      client.onStream = (stream) => pour(stream, 4 * MB);
      const got = Array.from({ length: 8 }, () => 0);
      const arrived = Promise.withResolvers<void>();
      for (const i of got.keys()) {
        server.open().sink = sinkOf({
          onData: (stream, _bytes, start, end) => {
            got[i] = (got[i] as number) + end - start;
            stream.consumed(end - start);
            if (got.reduce((sum, each) => sum + each, 0) >= 2 * MB) arrived.resolve();
          },
        });
      }
      await arrived.promise;
      assert.ok(Math.min(...got) > Math.max(...got) / 2, got.join());
    });

    test('held back all bytes of many streams arrive, long and short ones, both ways', async (t) => {
      const { server, client } = await join(t);
      server.shaper.limit(new TokenBucket(80));
      client.shaper.holdBack(80);
      const sizes = [1, 20, 4_000, 65_536, 100_000, 262_144, 262_145, MB];
      const sent: Array<Promise<number>> = [];
      let accepted = 0;
      client.onStream = (stream) => {
        sent.push(drink(stream));
        pour(stream, sizes[accepted++] as number);
      };
      const got = sizes.map((size) => {
        const stream = server.open();
        const done = drink(stream);
        pour(stream, size);
        return done;
      });
      assert.deepEqual(await Promise.all(got), sizes);
      assert.deepEqual(await Promise.all(sent), sizes);
    });

    test('held back by a peer that reads no more, a session ends all the same', async (t) => {
      const { server, client } = await join(t);
      server.shaper.limit(new TokenBucket(HOPELESS_MBPS));
      client.shaper.holdBack(HOPELESS_MBPS);
      server.onStream = (stream) => void drink(stream).catch(() => undefined);
      pour(client.open(), MB);
      await turn();
      client.session.close();
      client.session.destroy();
      await client.closed;
    });

    test('a limit that is lifted lets out what waited at once, and the last word after it', async (t) => {
      const { server, client } = await join(t);
      const bucket = new TokenBucket(HOPELESS_MBPS);
      const arrived = Promise.withResolvers<number>();
      client.onStream = (stream) => void drink(stream).then(arrived.resolve, arrived.reject);
      const incoming = Promise.withResolvers<number>();
      server.onStream = (stream) => void drink(stream).then(incoming.resolve, incoming.reject);
      pour(client.open(), 200_000);
      server.shaper.limit(bucket);
      pour(server.open(), 200_000);
      while (bucket.waiting < 2) await turn();
      const own = new OwnClock();
      server.shaper.lift();
      assert.deepEqual(await Promise.all([arrived.promise, incoming.promise]), [200_000, 200_000]);
      server.session.close();
      assert.equal((await client.ended).code, 'closed');
      assert.ok(own.ms < 1_000, `${own.ms} ms`);
      assert.equal(bucket.waiting, 0);
    });

    test('a limit: bytes that are forgiven pass without being paid for, others wait', async (t) => {
      const { server, client } = await join(t);
      const bucket = new TokenBucket(HOPELESS_MBPS);
      const arrived = Promise.withResolvers<number>();
      client.onStream = (stream) => void drink(stream).then(arrived.resolve, arrived.reject);
      server.shaper.limit(bucket);
      server.shaper.forgive(200_000);
      pour(server.open(), 200_000);
      // What is left to pay, the heads of frames, is less than the bucket holds.
      assert.equal(await arrived.promise, 200_000);
      pour(server.open(), 200_000);
      while (bucket.waiting === 0) await turn();
      server.session.destroy();
      await server.closed;
    });

    test('what the peer sent before it ended arrives, paid for or not', async (t) => {
      const { server, client } = await join(t);
      const incoming = Promise.withResolvers<number>();
      server.onStream = (stream) => void drink(stream).then(incoming.resolve, incoming.reject);
      server.shaper.limit(new TokenBucket(1));
      pour(client.open(), 100_000);
      // The end of what was sent and the end of the connection come in one read.
      client.session.close();
      assert.equal(await incoming.promise, 100_000);
    });

    test('cut while both directions wait: the queue is empty', async (t) => {
      const { server, client } = await join(t);
      const bucket = new TokenBucket(HOPELESS_MBPS);
      server.onStream = (stream) => void drink(stream).catch(() => undefined);
      pour(client.open(), 4 * MB);
      server.shaper.limit(bucket);
      pour(server.open(), 4 * MB);
      while (bucket.waiting < 2) await turn();
      server.session.destroy();
      await server.closed;
      assert.equal(bucket.waiting, 0);
    });

    test('silence while reading is paused is not the death of the peer', async (t) => {
      const { server, client } = await join(t);
      const bucket = new TokenBucket(HOPELESS_MBPS);
      server.onStream = (stream) => void drink(stream).catch(() => undefined);
      server.shaper.limit(bucket);
      pour(client.open(), 4 * MB);
      while (bucket.waiting < 1) await turn();
      const now = performance.now();
      for (const seconds of [1, 15, 30, 45, 60]) server.session.sweep(now + seconds * 1_000);
      assert.equal(server.session.closed, false);
      server.shaper.lift();
      await turn();
      for (const seconds of [61, 75, 90]) server.session.sweep(now + seconds * 1_000);
      assert.equal(server.session.closed, true, 'and it is once reading goes on');
    });
  });
}

test('a turn of reading that ends in debt reads on when it is paid, not at the next turn', {
  timeout: 120_000,
}, async (t) => {
  const listener = await PairSource.listen('plain');
  const ends: End[] = [];
  t.after(async () => {
    for (const end of ends) {
      end.session.destroy();
      await end.closed;
    }
    listener.close();
  });
  const pair = await listener.pair();
  const client = new End(pair.dialled, 'client');
  ends.push(client);
  for (let i = 0; i < 4; i++) client.open().write(source, 0, INITIAL_WINDOW);
  // All of it is in the kernel before the other side reads, so that it is read as fast as one turn allows.
  while (client.socket.bytesWritten < 4 * INITIAL_WINDOW) await turn();
  let nowMs = 0;
  // 512 KB are two turns' worth to the byte: with 500 KB in the bucket the second ends in debt.
  const bucket = new WatchedBucket(40, { now: () => nowMs, monotonic: () => nowMs });
  const server = new End(pair.accepted, 'server');
  ends.push(server);
  server.onStream = (stream) => (stream.sink = sinkOf({ onData: () => {} }));
  server.shaper.limit(bucket);
  while (bucket.waiting < 1) await turn();
  const read = server.socket.bytesRead;
  assert.ok(read >= 500_000, `${read}`);
  for (let i = 0; i < 50; i++) await turn();
  assert.equal(server.socket.bytesRead, read);
  while (server.socket.bytesRead < 4 * INITIAL_WINDOW) {
    nowMs += 5;
    await turn();
  }
});

test('a limited session takes for its windows what 250 ms of the limit need, in all and each', () => {
  const whole = new WindowBudget(BUDGET);
  const shaper = new Shaper();
  const budget = new ShapedBudget(whole, shaper);
  assert.equal(budget.largestWindow, MAX_WINDOW);
  assert.equal(budget.take(4 * MB), true);
  const bucket = new TokenBucket(100);
  shaper.limit(bucket);
  assert.equal(budget.take(1), false, 'it has more than that already');
  budget.give(4 * MB);
  assert.equal(budget.take(3_125_000), true);
  assert.equal(budget.take(1), false);
  assert.equal(whole.left, BUDGET - 3_125_000);
  assert.equal(budget.largestWindow, 3_125_000);
  bucket.setRate(1);
  assert.equal(budget.largestWindow, 32_768);
  budget.give(3_125_000);
  assert.equal(whole.left, BUDGET);
});
