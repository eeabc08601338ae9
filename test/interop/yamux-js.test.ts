/**
 * Against yamux-js 0.2.0, as far as it goes. What works is asserted; what it does wrong is asserted too, so that the reason why
 * we have a multiplexer of our own is seen to be true, and a version that mends it is noticed:
 *
 * - a frame that spans two reads is lost, and with it everything behind it;
 * - FIN is never understood: its reader never ends;
 * - the window is given back as data comes in, not as it is read.
 */
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import type { Duplex, Transform } from 'node:stream';
import { test } from 'node:test';
import type { MuxStream } from '../../src/mux/stream.ts';
import { collect, patternBytes, Scripted, sinkOf, turns } from '../../src/mux/testing.ts';

interface TheirSession extends Transform {
  open(): Duplex & { close(): void };
  close(): void;
}
type Sessions = {
  readonly Client: new (config: object) => TheirSession;
  readonly Server: new (onStream: (stream: Duplex) => void, config: object) => TheirSession;
};

const { Client, Server } = createRequire(import.meta.url)('yamux-js') as Sessions;
const config = { enableKeepAlive: false, logger: () => {} };

function joined(
  role: 'client' | 'server',
  onStream: (stream: Duplex) => void,
  cut = 1 << 30,
  accept?: (s: MuxStream) => void,
) {
  const theirs = role === 'client' ? new Server(onStream, config) : new Client(config);
  const ours = new Scripted({
    role,
    ...(accept ? { accept } : {}),
    transport: {
      write: (bytes, done) => {
        const copy = Buffer.from(bytes);
        for (let at = 0; at < copy.length; at += cut) theirs.write(copy.subarray(at, at + cut));
        setImmediate(done);
      },
      end: () => {},
      destroy: () => {},
    },
  });
  theirs.on('data', (bytes: Buffer) => ours.session.feed(bytes, 0, bytes.length));
  return { ours, theirs };
}

test('whole frames are echoed by yamux-js as server (its client takes no streams)', async () => {
  const { ours } = joined('client', (stream) => stream.on('data', (bytes: Buffer) => stream.write(bytes)));
  const stream = ours.session.open() as MuxStream;
  let got = '';
  stream.sink = sinkOf({
    onData: (s, bytes, start, end) => {
      got += bytes.toString('latin1', start, end);
      s.consumed(end - start);
    },
  });
  stream.write(Buffer.from('one, '));
  await turns(4);
  stream.write(Buffer.from('two'));
  await turns(4);
  assert.equal(got, 'one, two');
  assert.equal(ours.code(), undefined);
});

for (const role of ['client', 'server'] as const) {
  test(`as ${role}: streams that yamux-js opens carry 200 KB to us, and its FIN ends them`, async () => {
    let got: Promise<Buffer> | undefined;
    const { theirs, ours } = joined(
      role,
      () => {},
      1 << 30,
      (stream) => {
        got = collect(stream).ended;
      },
    );
    const stream = theirs.open();
    const body = patternBytes(200_000);
    stream.write(body);
    await turns(4);
    stream.close();
    await turns(4);
    assert.ok(got);
    assert.equal(Buffer.compare(await got, body), 0);
    assert.equal(ours.code(), undefined);
  });
}

test('yamux-js answers our ping', async () => {
  const { ours } = joined('client', () => {});
  assert.ok((await ours.session.ping()) >= 0);
});

test('yamux-js loses a frame that spans two reads', async () => {
  let received = 0;
  const { ours } = joined(
    'client',
    (stream) => stream.on('data', (bytes: Buffer) => (received += bytes.length)),
    16_384,
  );
  const stream = ours.session.open() as MuxStream;
  stream.write(patternBytes(100_000));
  await turns(6);
  assert.ok(received < 100_000, `${received} of 100000 arrived`);
});

test('yamux-js never hears our FIN', async () => {
  let ended = false;
  const { ours } = joined('client', (stream) => stream.on('end', () => (ended = true)).resume());
  const stream = ours.session.open() as MuxStream;
  stream.write(Buffer.from('x'));
  stream.end();
  await turns(10);
  assert.equal(ended, false);
});

test('yamux-js: it gives window back for unread data', async () => {
  const { ours } = joined('client', () => {});
  const stream = ours.session.open() as MuxStream;
  const chunk = patternBytes(100_000);
  for (let i = 0; i < 20; i++) {
    stream.write(chunk);
    await turns(3);
  }
  assert.equal(stream.pendingBytes, 0, '2 MB are taken by a window of 256 KB without a reader');
});
