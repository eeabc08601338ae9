/** Against hashicorp's own yamux, in both roles, over real TCP. */
import assert from 'node:assert/strict';
import { randomBytes, randomInt } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import type { MuxStream } from '../../src/mux/stream.ts';
import { collect, sinkOf } from '../../src/mux/testing.ts';
import { buildPeer, type Joined, type JoinOptions, joinPeer, whyNoGo } from './peer.ts';

const skip = whyNoGo();

/** The Go peer's pattern: a byte that tells where it stands. */
const pattern = (at: number): number => (at * 7 + (at >> 8) * 13 + (at >> 16) * 31) & 0xff;

/** Writes `total` bytes made by `make`, in random chunks, with back-pressure; calls `done` after the last. */
function pour(stream: MuxStream, body: Buffer, done: () => void): void {
  let at = 0;
  const go = (): void => {
    while (at < body.length) {
      const end = Math.min(body.length, at + randomInt(1, 100_000));
      const more = stream.write(body, at, end);
      at = end;
      if (!more) return;
    }
    stream.sink = { ...stream.sink, onDrain: () => {} };
    done();
  };
  const inner = stream.sink;
  stream.sink = sinkOf({
    onData: (s, b, start, end) => inner.onData(s, b, start, end),
    onEnd: (s) => inner.onEnd(s),
    onReset: (s) => inner.onReset(s),
    onDrain: go,
  });
  go();
}

function open(peer: Joined): MuxStream {
  const stream = peer.session.open();
  assert.ok(stream, 'a stream can be opened');
  return stream;
}

async function ask(peer: Joined, kind: string, body: Buffer = Buffer.alloc(0)): Promise<Buffer> {
  const stream = open(peer);
  const { ended } = collect(stream);
  stream.write(Buffer.from(kind));
  pour(stream, body, () => stream.end());
  return ended;
}

/** Checks `total` pattern bytes as they come. */
function download(peer: Joined, total: number): Promise<number> {
  const stream = open(peer);
  const head = Buffer.alloc(9);
  head.write('d');
  head.writeBigUInt64BE(BigInt(total), 1);
  return new Promise((resolve, reject) => {
    let at = 0;
    stream.sink = sinkOf({
      onData: (s, bytes, start, end) => {
        for (let i = start; i < end; i++, at++) {
          if (bytes[i] !== pattern(at)) return reject(new Error(`byte ${at} is wrong`));
        }
        s.consumed(end - start);
      },
      onEnd: () => resolve(at),
      onReset: () => reject(new Error('reset')),
    });
    stream.write(head);
    stream.end();
  });
}

/** Serves what the Go side opens: `d` and `u` of go/main.go. */
function serve(stream: MuxStream): void {
  let head = Buffer.alloc(0);
  let received = 0;
  stream.sink = sinkOf({
    onData: (s, bytes, start, end) => {
      const wanted = Math.min(9 - head.length, end - start);
      head = Buffer.concat([head, bytes.subarray(start, start + wanted)]);
      received += end - start - wanted;
      s.consumed(end - start);
      if (head.length < 9) return;
      const size = Number(head.readBigUInt64BE(1));
      if (head[0] === 0x75 && received === size) {
        s.write(Buffer.from(String(received)));
        s.end();
      } else if (head[0] === 0x64 && wanted > 0) {
        const body = Buffer.alloc(size);
        for (let i = 0; i < size; i++) body[i] = pattern(i);
        pour(s, body, () => s.end());
      }
    },
  });
}

/** Echoes with back-pressure: what is read is given back only once it could be written. */
function echo(stream: MuxStream): void {
  let held = 0;
  let ended = false;
  stream.sink = {
    onData: (s, bytes, start, end) => {
      if (s.write(bytes, start, end) && held === 0) s.consumed(end - start);
      else held += end - start;
    },
    onEnd: (s) => {
      ended = true;
      s.end();
    },
    onReset: () => {},
    onDrain: (s) => {
      const all = held;
      held = 0;
      if (!ended) s.consumed(all);
    },
  };
}

describe("hashicorp's yamux", { skip, timeout: 120_000 }, () => {
  let path = '';
  let remove = (): void => {};
  before(() => {
    const built = buildPeer();
    path = built.path;
    remove = built.remove;
  });
  after(() => remove());

  const withPeer = async (options: JoinOptions, use: (peer: Joined) => Promise<void>): Promise<void> => {
    const peer = await joinPeer(path, options);
    try {
      await use(peer);
    } finally {
      await peer.stop();
    }
  };

  for (const goRole of ['server', 'client'] as const) {
    describe(`as ${goRole}`, () => {
      test('echoes 100 streams of random sizes at once, all closed by halves', () =>
        withPeer({ goRole, args: [] }, async (peer) => {
          const bodies = Array.from({ length: 100 }, () => randomBytes(randomInt(0, 300_000)));
          const back = await Promise.all(bodies.map((body) => ask(peer, 'e', body)));
          for (const [i, body] of bodies.entries()) assert.equal(Buffer.compare(back[i] as Buffer, body), 0, `${i}`);
          assert.equal(peer.session.streamCount, 0);
          assert.equal(peer.budget.left, 256 << 20);
          assert.equal(await peer.ask('streams'), 'streams 0');
        }));

      for (const window of [256 * 1024, 4 << 20]) {
        test(`carries 40 MB each way with Go's window at ${window >> 10} KB`, () =>
          withPeer({ goRole, args: ['-window', String(window)] }, async (peer) => {
            const total = 40 << 20;
            const [down, up] = await Promise.all([download(peer, total), ask(peer, 'h', Buffer.alloc(total, 1))]);
            assert.equal(down, total);
            assert.equal(up.toString(), String(total));
            assert.equal(peer.session.streamCount, 0);
            assert.equal(peer.budget.left, 256 << 20);
          }));
      }

      test('opens streams of its own: echo', () =>
        withPeer({ goRole, args: ['-mode', 'echo', '-count', '80'], onStream: echo }, async (peer) => {
          assert.equal(await peer.line(), 'ok');
          assert.equal(await peer.ask('streams'), 'streams 0');
          assert.equal(peer.session.streamCount, 0);
        }));

      test('downloads and uploads on streams of its own', async () => {
        for (const mode of ['download', 'upload']) {
          const args = ['-mode', mode, '-size', String(20 << 20), '-window', String(1 << 20)];
          await withPeer({ goRole, args, onStream: serve }, async (peer) => {
            assert.equal(await peer.line(), 'ok', mode);
            assert.equal(peer.session.streamCount, 0);
          });
        }
      });

      test('pings and is pinged', () =>
        withPeer({ goRole, args: ['-mode', 'ping'] }, async (peer) => {
          assert.equal(await peer.line(), 'ok');
          for (let i = 0; i < 20; i++) assert.ok((await peer.session.ping()) < 5_000);
        }));

      test('reads slowly: the sender waits with bounded memory and the count is right', () =>
        withPeer({ goRole, args: ['-pause', '5'] }, async (peer) => {
          const stream = open(peer);
          const { ended } = collect(stream);
          stream.write(Buffer.from('s'));
          const chunk = Buffer.alloc(65_536, 3);
          let sent = 0;
          let waits = 0;
          while (sent < 100) {
            sent++;
            if (stream.write(chunk)) continue;
            waits++;
            assert.ok(stream.pendingBytes <= chunk.length);
            const before = stream.sink;
            await new Promise<void>((resolve) => {
              stream.sink = { ...before, onDrain: () => resolve() };
            });
            stream.sink = before;
          }
          stream.end();
          assert.equal((await ended).toString(), String(100 * chunk.length));
          assert.ok(waits > 10, `${waits} waits`);
        }));

      test('closes early in the middle of an upload: its answer arrives', () =>
        withPeer({ goRole }, async (peer) => {
          const stream = open(peer);
          const { ended } = collect(stream);
          stream.write(Buffer.from('r'));
          stream.write(Buffer.alloc(200_000));
          assert.equal((await ended).toString(), 'enough');
          stream.reset();
          assert.equal(peer.session.streamCount, 0);
          assert.equal((await ask(peer, 'e', Buffer.from('still alive'))).toString(), 'still alive');
        }));

      test('resets of ours leave nothing behind on either side', () =>
        withPeer({ goRole }, async (peer) => {
          for (let i = 0; i < 200; i++) {
            const stream = open(peer);
            stream.write(Buffer.from('e'));
            stream.write(Buffer.alloc(i * 500));
            stream.reset();
          }
          await peer.session.ping();
          assert.equal((await ask(peer, 'e', Buffer.from('x'))).toString(), 'x');
          assert.equal(await peer.ask('streams'), 'streams 0');
          assert.equal(peer.session.streamCount, 0);
        }));

      test("our resets of its streams are Go's errors, and the session goes on", () =>
        withPeer({ goRole, args: ['-mode', 'echo', '-count', '5'], onStream: (s) => s.reset() }, async (peer) => {
          assert.match(await peer.line(), /failed .*(reset|EOF|closed)/);
        }));

      test('go-away of either side ends the opening of streams and nothing else', () =>
        withPeer({ goRole, onStream: echo }, async (peer) => {
          const running = open(peer);
          const { ended } = collect(running);
          running.write(Buffer.from('e'));
          await peer.session.ping(); // it has the stream now
          running.write(Buffer.from('before'));
          assert.equal(await peer.ask('goaway'), 'gone');
          await peer.session.ping();
          assert.equal(peer.session.canOpen, false);
          running.write(Buffer.from(' and after'));
          running.end();
          assert.equal((await ended).toString(), 'before and after');
          peer.session.goAway();
          await peer.session.ping();
          assert.match(await peer.ask('open'), /remote end is not accepting/);
        }));

      test('our close is its close', () =>
        withPeer({ goRole }, async (peer) => {
          await ask(peer, 'e', Buffer.from('x'));
          peer.session.close();
          assert.equal((await peer.ended).code, 'closed');
          assert.equal(await peer.ask('closed'), 'closed true');
        }));

      test('its keepalive is answered and our heartbeat by it', () =>
        withPeer({ goRole, args: ['-keepalive', '30'], heartbeatMs: 100, deadAfterMs: 2_000 }, async (peer) => {
          const before = peer.session.rttMs;
          const { promise, resolve } = Promise.withResolvers<void>();
          let swept = 0;
          const watch = {
            sweep: () => {
              if (++swept === 8) resolve();
            },
          };
          (peer.sweeper as unknown as { add(member: typeof watch): void }).add(watch);
          await promise;
          assert.equal(before, 0);
          assert.ok(peer.session.rttMs > 0, 'a heartbeat was answered');
          assert.equal((await ask(peer, 'e', Buffer.from('x'))).toString(), 'x');
        }));

      test('its accept backlog is kept with maxUnacknowledged', () =>
        withPeer({ goRole, args: ['-hold', '500', '-backlog', '256'], maxUnacknowledged: 256 }, async (peer) => {
          const streams: MuxStream[] = [];
          for (let next = peer.session.open(); next !== null; next = peer.session.open()) streams.push(next);
          assert.equal(streams.length, 256);
          const answers = streams.map((stream) => {
            const { ended } = collect(stream);
            stream.write(Buffer.from('eten'));
            stream.end();
            return ended;
          });
          const all = await Promise.all(answers);
          assert.ok(all.every((answer) => answer.toString() === 'ten'));
          assert.equal(peer.session.canOpen, true);
        }));

      test('going past its backlog is answered by resets and survived', () =>
        withPeer({ goRole, args: ['-hold', '300', '-backlog', '16'] }, async (peer) => {
          let resets = 0;
          const { promise, resolve } = Promise.withResolvers<void>();
          for (let i = 0; i < 64; i++) {
            open(peer).sink = sinkOf({
              onReset: () => {
                if (++resets === 48) resolve();
              },
            });
          }
          await promise;
          assert.equal((await ask(peer, 'e', Buffer.from('x')).catch(String)).toString().length > 0, true);
          assert.equal(peer.session.closed, false);
        }));
    });
  }
});
