import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { MuxStream } from './stream.ts';
import { collect, connectedPair, patternBytes } from './testing.ts';

test('carries bytes both ways and ends each direction by itself', async () => {
  const pair = connectedPair();
  const incoming = pair.nextStream('server');
  const ours = pair.client.open();
  assert.ok(ours);
  const oursGot = collect(ours);
  ours.write(Buffer.from('hello'));
  ours.end();
  const theirs = await incoming;
  assert.equal((await theirs.got.ended).toString(), 'hello');
  theirs.stream.write(Buffer.from('fixture'));
  theirs.stream.end();
  assert.equal((await oursGot.ended).toString(), 'fixture');
  await pair.settled();
  assert.equal(pair.client.streamCount, 0);
  assert.equal(pair.server.streamCount, 0);
});

test('delivers 20 MB unchanged through windows that only open as the reader reads', async () => {
  const pair = connectedPair();
  const incoming = pair.nextStream('server');
  const ours = pair.client.open();
  assert.ok(ours);
  const body = patternBytes(20 << 20);
  await pair.send(ours, body);
  ours.end();
  const { got } = await incoming;
  assert.equal(Buffer.compare(await got.ended, body), 0);
});

test('a reader that does not read stops the sender at its window', async () => {
  let received = 0;
  let theirs: MuxStream | undefined;
  const pair = connectedPair({
    accept: (stream) => {
      theirs = stream;
      stream.sink = {
        onData: (_s, _b, start, end) => {
          received += end - start;
        },
        onEnd: () => {},
        onReset: () => {},
        onDrain: () => {},
      };
    },
  });
  const ours = pair.client.open();
  assert.ok(ours);
  assert.equal(ours.write(patternBytes(400_000)), false);
  await pair.settled();
  assert.equal(received, 262_144);
  assert.equal(ours.pendingBytes, 400_000 - 262_144);
  theirs?.consumed(262_144);
  await pair.settled();
  assert.equal(received, 400_000);
});

test('reset: its code reaches the peer, in both directions, and no code is 0', async () => {
  for (const [code, seen] of [
    [undefined, 0],
    [8, 8],
    [2, 2],
    [0x1_0007, 255],
  ] as const) {
    for (const resetter of ['client', 'server'] as const) {
      const pair = connectedPair();
      const incoming = pair.nextStream('server');
      const ours = pair.client.open();
      assert.ok(ours);
      ours.write(Buffer.from('x'));
      const theirs = (await incoming).stream;
      const [from, to] = resetter === 'client' ? [ours, theirs] : [theirs, ours];
      const told = new Promise<number>((resolve) => {
        to.sink = {
          onData: () => {},
          onEnd: () => {},
          onReset: (stream) => resolve(stream.resetCode),
          onDrain: () => {},
        };
      });
      from.reset(code);
      assert.equal(await told, seen, `${resetter} ${code}`);
    }
  }
});
