/** Sessions on real sockets: integrity in bulk, slabs of idle sessions, ends and failures. */
import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { Sweeper } from '../base/clock.ts';
import { type Slab, SlabPool } from '../base/bytes/slab.ts';
import { type Kind, PairSource, rounds } from '../base/testing.ts';
import { attachSession } from './attach.ts';
import { FLAG, TYPE } from './frame.ts';
import type { MuxSession } from './session.ts';
import type { MuxStream } from './stream.ts';
import { encodeFrame, patternBytes, sinkOf } from './testing.ts';
import type { MuxError } from './types.ts';
import { WindowBudget } from './window.ts';

const BUDGET = 256 << 20;

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

class End {
  readonly pool = new CountingPool();
  readonly budget = new WindowBudget(BUDGET);
  readonly sweeper = new Sweeper<MuxSession>(1_000);
  readonly socket: Socket;
  readonly session: MuxSession;
  readonly ended: Promise<MuxError>;

  constructor(socket: Socket, role: 'client' | 'server', onStream: (stream: MuxStream) => void = () => {}) {
    this.socket = socket;
    const { promise, resolve } = Promise.withResolvers<MuxError>();
    this.ended = promise;
    this.session = attachSession(
      socket,
      { onStream, onClose: (_s, error) => resolve(error), onFault: (_s, error) => assert.fail(String(error)) },
      { role, slabs: this.pool, budget: this.budget, sweeper: this.sweeper },
    );
  }
}

/** A period that is no power of two, so that a block lost or sent twice shows. */
const source = patternBytes((1 << 20) + 7_919);

function pour(stream: MuxStream, total: number): void {
  let at = 0;
  const go = (): void => {
    while (at < total) {
      const from = at % source.length;
      const length = Math.min(total - at, source.length - from, randomInt(1, 200_000));
      at += length;
      if (!stream.write(source, from, from + length)) return;
    }
    stream.end();
  };
  stream.sink = { ...stream.sink, onDrain: go };
  go();
}

function check(stream: MuxStream, onSlab: (slab: Slab) => void = () => {}): Promise<number> {
  return new Promise((resolve, reject) => {
    let at = 0;
    stream.sink = sinkOf({
      onData: (s, bytes, start, end) => {
        onSlab(s.session.readSlab);
        for (let from = start; from < end; ) {
          const place = at % source.length;
          const length = Math.min(end - from, source.length - place);
          if (source.compare(bytes, from, from + length, place, place + length) !== 0)
            return reject(new Error(`wrong bytes near ${at}`));
          from += length;
          at += length;
        }
        s.consumed(end - start);
      },
      onEnd: () => resolve(at),
      onReset: () => reject(new Error('reset')),
    });
  });
}

for (const kind of ['plain', 'tls'] as const satisfies Kind[]) {
  describe(`sessions over ${kind} sockets`, { timeout: 120_000 }, () => {
    let listener: PairSource;
    before(async () => {
      listener = await PairSource.listen(kind);
    });
    after(() => listener.close());

    const join = async (onStream?: (stream: MuxStream) => void): Promise<{ ours: End; theirs: End }> => {
      const pair = await listener.pair();
      const theirs = new End(pair.accepted, 'server', onStream);
      return { ours: new End(pair.dialled, 'client'), theirs };
    };

    const cut = async (...ends: End[]): Promise<void> => {
      const closed = ends.filter((e) => !e.socket.closed).map((e) => once(e.socket, 'close'));
      for (const each of ends) each.session.destroy();
      await Promise.all(closed);
      for (const each of ends) {
        each.sweeper.close();
        assert.equal(each.session.streamCount, 0);
        assert.equal(each.budget.left, BUDGET);
        assert.equal(each.pool.foreign.held, false);
      }
      await new Promise((resolve) => setImmediate(resolve));
      assert.deepEqual(
        ends.map((e) => e.pool.out),
        ends.map(() => 0),
        'slabs that did not come back',
      );
    };

    const megabytes = rounds(48, 200);
    test(`${megabytes} MB go both ways at once in random chunks, read the fast way`, async () => {
      const total = megabytes << 20;
      let foreign = 0;
      let windowGrew = false;
      const incoming = Promise.withResolvers<number>();
      const { ours, theirs } = await join((stream) => {
        check(stream, (slab) => {
          if (slab === theirs.pool.foreign) foreign++;
        }).then(incoming.resolve, incoming.reject);
        pour(stream, total);
      });
      const stream = ours.session.open() as MuxStream;
      const back = check(stream, () => {
        windowGrew ||= ours.budget.left < BUDGET;
      });
      pour(stream, total);
      assert.deepEqual(await Promise.all([back, incoming.promise]), [total, total]);
      assert.ok(foreign <= 4, `${foreign} chunks were not read the fast way`);
      assert.equal(windowGrew, true, 'a reader that keeps up gets a bigger window');
      await cut(ours, theirs);
    });

    test('an idle session owns no slab, whichever it used before', async () => {
      const { ours, theirs } = await join((stream) => {
        void check(stream).then(() => stream.end());
      });
      const stream = ours.session.open() as MuxStream;
      const ended = new Promise<void>((resolve) => {
        stream.sink = sinkOf({ onEnd: () => resolve() });
      });
      pour(stream, 3 << 20);
      await ended;
      for (let i = 0; i < 3; i++) {
        await ours.session.ping();
        await theirs.session.ping();
      }
      await new Promise((resolve) => setImmediate(resolve));
      assert.deepEqual([ours.pool.out, theirs.pool.out], [0, 0]);
      assert.equal(ours.session.readSlab, ours.pool.shared);
      await cut(ours, theirs);
    });

    test('cut in the middle of writes and reads, all slabs, streams and budgets come back', async () => {
      for (let round = 0; round < rounds(5, 10); round++) {
        const { ours, theirs } = await join((stream) => {
          check(stream).catch(() => {});
          pour(stream, 50 << 20);
        });
        for (let i = 0; i < 5; i++) {
          const stream = ours.session.open() as MuxStream;
          check(stream).catch(() => {});
          pour(stream, 50 << 20);
        }
        for (let i = 0; i < round; i++) await ours.session.ping();
        await cut(...(round & 1 ? [ours, theirs] : [theirs, ours]));
      }
    });

    test('close() is heard as a good end, after what was queued', async () => {
      const got = Promise.withResolvers<number>();
      const { ours, theirs } = await join((stream) => void check(stream).then(got.resolve, got.reject));
      const stream = ours.session.open() as MuxStream;
      stream.write(source, 0, 200_000);
      stream.end();
      ours.session.close();
      assert.equal(await got.promise, 200_000);
      assert.equal((await theirs.ended).code, 'closed');
      assert.equal((await ours.ended).code, 'closed');
      assert.equal(ours.sweeper.size + theirs.sweeper.size, 0);
      await cut(ours, theirs);
    });

    test('a peer that breaks the rules gets the reason and is cut', async () => {
      const pair = await listener.pair();
      const theirs = new End(pair.accepted, 'server');
      const heard: Buffer[] = [];
      pair.dialled.on('data', (bytes: Buffer) => heard.push(bytes)).on('error', () => {});
      pair.dialled.write(Buffer.concat([encodeFrame({ type: TYPE.window, flags: FLAG.syn, id: 2 })]));
      assert.equal((await theirs.ended).code, 'protocol');
      await new Promise((resolve) => pair.dialled.once('end', resolve).once('close', resolve));
      assert.deepEqual(Buffer.concat(heard), encodeFrame({ type: TYPE.goAway, length: 1 }));
      pair.dialled.destroy();
      await cut(theirs);
    });

    const lives = rounds(25, 100);
    test(`${lives * 100} short streams leave nothing behind`, async () => {
      const { ours, theirs } = await join((stream) => {
        stream.sink = sinkOf({
          onData: (s, bytes, start, end) => {
            s.write(bytes, start, end);
            s.consumed(end - start);
          },
          onEnd: (s) => s.end(),
        });
      });
      // The sweeps below run ahead of the clock: one by the clock would take time back.
      for (const { sweeper } of [ours, theirs]) sweeper.close();
      for (let round = 0; round < lives; round++) {
        // As many as an honest agent's rate allows: the sweeps of all rounds come in no time here.
        theirs.session.sweep(performance.now() + round * 1_000);
        ours.session.sweep(performance.now() + round * 1_000);
        const all = Array.from({ length: 100 }, () => {
          const stream = ours.session.open() as MuxStream;
          let got = 0;
          const size = randomInt(0, 500);
          const ended = new Promise<void>((resolve, reject) => {
            stream.sink = sinkOf({
              onReset: () => reject(new Error(`reset in round ${round}`)),
              onData: (s, _b, start, end) => {
                got += end - start;
                s.consumed(end - start);
              },
              onEnd: () => resolve(),
            });
          }).then(() => assert.equal(got, size));
          stream.write(source, 0, size);
          stream.end();
          return ended;
        });
        await Promise.all(all);
      }
      assert.deepEqual([ours.session.streamCount, theirs.session.streamCount], [0, 0]);
      await cut(ours, theirs);
    });
  });
}
