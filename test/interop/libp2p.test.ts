/** Against libp2p's yamux, in both roles, joined in memory: it is given a connection that is two callbacks, no libp2p node. */
import assert from 'node:assert/strict';
import { randomBytes, randomInt } from 'node:crypto';
import { test } from 'node:test';
import { yamux } from '@chainsafe/libp2p-yamux';
import type { MuxStream } from '../../src/mux/stream.ts';
import { collect, Scripted, turns } from '../../src/mux/testing.ts';

type Factory = ReturnType<ReturnType<typeof yamux>>;
type Muxer = ReturnType<Factory['createStreamMuxer']>;
type Connection = Parameters<Factory['createStreamMuxer']>[0];
type Theirs = Awaited<ReturnType<Muxer['createStream']>>;

const quiet = Object.assign(() => {}, { trace: () => {}, error: () => {}, enabled: false, newScope: () => quiet });

/** What libp2p's muxer asks of a connection. */
class FakeConnection extends EventTarget {
  readonly log: unknown = quiet;
  readonly direction: string;
  readonly #send: (bytes: Uint8Array) => void;
  aborted: unknown;

  constructor(direction: 'inbound' | 'outbound', send: (bytes: Uint8Array) => void) {
    super();
    this.direction = direction;
    this.#send = send;
  }

  send(bytes: Uint8Array | { subarray(): Uint8Array }): boolean {
    this.#send(Buffer.from(bytes.subarray()));
    return true;
  }

  abort(error: unknown): void {
    this.aborted = error;
  }

  receive(data: Uint8Array): void {
    this.dispatchEvent(Object.assign(new Event('message'), { data }));
  }
}

interface Joined {
  readonly ours: Scripted;
  readonly theirs: Muxer;
  readonly connection: FakeConnection;
}

/** `cut` is the size of the pieces in which libp2p's bytes reach us. */
function joined(role: 'client' | 'server', cut: number, accept: (stream: MuxStream) => void = () => {}): Joined {
  const ours = new Scripted({
    role,
    accept,
    transport: {
      write: (bytes, done) => {
        const copy = Uint8Array.from(bytes);
        setImmediate(() => {
          connection.receive(copy);
          done();
        });
      },
      end: () => {},
      destroy: () => {},
    },
  });
  const connection = new FakeConnection(role === 'client' ? 'inbound' : 'outbound', (bytes) => {
    setImmediate(() => {
      const all = Buffer.from(bytes);
      for (let at = 0; at < all.length; at += cut) ours.session.feed(all, at, Math.min(all.length, at + cut));
    });
  });
  const muxer = yamux({ enableKeepAlive: false })().createStreamMuxer(connection as unknown as Connection);
  return { ours, theirs: muxer, connection };
}

async function echoTheirs(stream: Theirs): Promise<void> {
  for await (const bytes of stream) if (!stream.send(bytes)) await stream.onDrain();
  await stream.close();
}

async function collectTheirs(stream: Theirs): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  for await (const bytes of stream) parts.push(bytes.subarray());
  return Buffer.concat(parts);
}

function echoOurs(stream: MuxStream): void {
  stream.sink = {
    onData: (s, bytes, start, end) => {
      s.write(bytes, start, end);
      s.consumed(end - start);
    },
    onEnd: (s) => s.end(),
    onReset: () => {},
    onDrain: () => {},
  };
}

for (const role of ['client', 'server'] as const) {
  test(`as ${role} we open 40 streams to libp2p, which echoes them`, { timeout: 120_000 }, async () => {
    const { ours, theirs, connection } = joined(role, 5_003);
    theirs.addEventListener('stream', (event) => void echoTheirs(event.detail));
    const bodies = Array.from({ length: 40 }, () => randomBytes(randomInt(0, 900_000)));
    const back = await Promise.all(
      bodies.map((body) => {
        const stream = ours.session.open() as MuxStream;
        const { ended } = collect(stream);
        stream.write(body);
        stream.end();
        return ended;
      }),
    );
    for (const [i, body] of bodies.entries()) assert.equal(Buffer.compare(back[i] as Buffer, body), 0, `stream ${i}`);
    await turns(10);
    assert.equal(ours.session.streamCount, 0);
    assert.equal(theirs.streams.length, 0);
    assert.equal(ours.code(), undefined);
    assert.equal(connection.aborted, undefined);
    assert.ok((await ours.session.ping()) >= 0);
  });

  test(`as ${role} we echo 40 streams that libp2p opens`, { timeout: 120_000 }, async () => {
    const { ours, theirs, connection } = joined(role, 1_009, echoOurs);
    await Promise.all(
      Array.from({ length: 40 }, async () => {
        const body = randomBytes(randomInt(1, 200_000));
        const stream = await theirs.createStream();
        const got = collectTheirs(stream);
        for (let at = 0; at < body.length; at += 10_000) {
          if (!stream.send(body.subarray(at, at + 10_000))) await stream.onDrain();
        }
        await stream.close();
        assert.equal(Buffer.compare(await got, body), 0);
      }),
    );
    await turns(10);
    assert.equal(ours.session.streamCount, 0);
    assert.equal(ours.code(), undefined);
    assert.equal(connection.aborted, undefined);
  });

  test(`as ${role} resets go both ways, and go-away ends libp2p's muxer`, { timeout: 120_000 }, async () => {
    let resets = 0;
    const opened: MuxStream[] = [];
    const { ours, theirs } = joined(role, 100_000, (stream) => {
      opened.push(stream);
      stream.sink = { onData: () => {}, onEnd: () => {}, onReset: () => resets++, onDrain: () => {} };
    });
    const [a, b] = [await theirs.createStream(), await theirs.createStream()];
    a.send(Buffer.from('a'));
    b.send(Buffer.from('b'));
    await turns(4);
    a.abort(new Error('enough'));
    opened[1]?.reset();
    await turns(6);
    assert.equal(resets, 1);
    assert.equal(b.status, 'reset');
    assert.equal(ours.session.streamCount, 0);
    ours.session.goAway();
    await turns(4);
    assert.equal(theirs.status, 'closed');
    assert.equal(ours.code(), undefined);
  });
}
