/** CLEAR: nothing waits behind what a stream has sent. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { INITIAL_WINDOW } from './frame.ts';
import type { MuxStream } from './stream.ts';
import { connectedPair, type PairOptions, patternBytes } from './testing.ts';

/** Sends on a stream of `client`; the other side gives its window back when the test says so, and notes what it saw. */
function listening(cut?: PairOptions['cut']) {
  const seen: string[] = [];
  let theirs: MuxStream | undefined;
  const pair = connectedPair({
    ...(cut === undefined ? {} : { cut }),
    accept: (stream) => {
      theirs = stream;
      stream.sink = {
        onData: (of, _bytes, start, end) => seen.push(`${end - start}${of.isClear ? ' clear' : ''}`),
        onEnd: () => seen.push('end'),
        onReset: () => seen.push('reset'),
        onDrain: () => {},
      };
      const arrived = stream.clearArrived.bind(stream);
      stream.clearArrived = () => {
        if (!stream.isClear) seen.push('clear');
        arrived();
      };
    },
  });
  pair.client.saysClear = true;
  const ours = pair.client.open();
  assert.ok(ours);
  return { pair, ours, seen, theirs: () => theirs as MuxStream };
}

test('it goes out with the last frame, and holds until more comes', async () => {
  const { pair, ours, seen, theirs } = listening();
  ours.write(Buffer.from('hello'));
  ours.clear();
  await pair.settled();
  assert.deepEqual(seen.splice(0), ['5 clear']);
  ours.write(Buffer.from('more'));
  await pair.settled();
  assert.deepEqual(seen.splice(0), ['4']);
  assert.equal(theirs().isClear, false);
});

test('it has a frame of its own when the last one is on its way, or is not the last any more', async () => {
  const { pair, ours, seen } = listening();
  ours.write(Buffer.from('hello'));
  await pair.settled();
  ours.clear();
  await pair.settled();
  assert.deepEqual(seen.splice(0), ['5', 'clear']);
  const other = pair.client.open();
  ours.write(Buffer.from('again'));
  other?.write(Buffer.from('x'));
  ours.clear();
  await pair.settled();
  assert.ok(seen.indexOf('clear') > seen.indexOf('5'));
  ours.clear();
  ours.clear();
  await pair.settled();
  assert.equal(seen.filter((what) => what === 'clear').length, 1, 'said twice is heard once');
});

test('it is never said of what still waits for the window', async () => {
  const { pair, ours, seen, theirs } = listening();
  ours.write(patternBytes(INITIAL_WINDOW + 3));
  ours.clear();
  await pair.settled();
  assert.ok(!seen.join().includes('clear'), seen.join());
  theirs().consumed(INITIAL_WINDOW);
  await pair.settled();
  assert.equal(seen.at(-1), '3');
  ours.clear();
  await pair.settled();
  assert.equal(seen.at(-1), 'clear');
});

test('a frame that comes in pieces is clear with its last byte, not before', async () => {
  const { pair, ours, seen } = listening((bytes) => Array.from(bytes, (_byte, i) => bytes.subarray(i, i + 1)));
  ours.write(Buffer.from('abc'));
  ours.clear();
  await pair.settled();
  assert.deepEqual(seen, ['1', '1', '1 clear']);
});

test('it stays behind a long burst and before what follows, whichever lane they take', async () => {
  const { pair, ours, seen } = listening();
  for (let i = 0; i < 3; i++) {
    ours.write(patternBytes(80_000));
    await pair.settled();
  }
  ours.clear();
  ours.write(Buffer.from('next'));
  await pair.settled();
  assert.deepEqual(seen.splice(0).slice(-2), ['clear', '4']);
});

test('nothing is said to a peer that has not asked, or after the end', async () => {
  const { pair, ours, seen } = listening();
  pair.client.saysClear = false;
  ours.write(Buffer.from('hello'));
  ours.clear();
  await pair.settled();
  assert.deepEqual(seen.splice(0), ['5']);
  pair.client.saysClear = true;
  ours.end();
  ours.clear();
  await pair.settled();
  assert.deepEqual(seen, ['end']);
});

test('a peer that says it over and over is a flood', async () => {
  const { pair, ours } = listening();
  ours.write(Buffer.from('hello'));
  for (let i = 0; i < 50_000 && pair.ended.server === undefined; i++) {
    ours.clear();
    if (i % 100 === 0) await pair.settled();
  }
  await pair.settled();
  assert.equal(pair.ended.server?.code, 'flood');
});

test('step: bytes that were sent before the peer had it end the stream, those behind its answer are taken', async () => {
  const { pair, ours, seen, theirs } = listening();
  ours.write(Buffer.from('first'));
  ours.clear();
  await pair.settled();
  theirs().step();
  await pair.settled();
  assert.equal(theirs().isOutOfStep, true, 'no answer before there are bytes');
  ours.write(Buffer.from('second'));
  await pair.settled();
  assert.deepEqual(seen.splice(0), ['5 clear', '6']);
  assert.equal(theirs().isOutOfStep, false);
  // Under way when the step goes out.
  theirs().step();
  ours.write(Buffer.from('late'));
  await pair.settled();
  assert.deepEqual(seen.splice(0), ['reset']);
  assert.equal(pair.client.closed, false);
});

test('step: bytes that wait for their window when it comes end the stream', async () => {
  const { pair, ours, seen, theirs } = listening();
  ours.write(patternBytes(INITIAL_WINDOW));
  await pair.settled();
  ours.write(Buffer.from('behind'));
  theirs().step();
  await pair.settled();
  assert.equal(seen.at(-1), 'reset');
  assert.equal(ours.gone, true);
});

test('step: a whole slab that is sent behind it is behind its answer', async () => {
  const { pair, ours, seen, theirs } = listening();
  ours.write(Buffer.from('first'));
  await pair.settled();
  theirs().step();
  await pair.settled();
  for (const bytes of [patternBytes(200_000), Buffer.from('x')]) ours.write(bytes);
  await pair.settled();
  assert.ok(!seen.includes('reset'));
  assert.equal(theirs().isOutOfStep, false);
});
