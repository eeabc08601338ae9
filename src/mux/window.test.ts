/** How receive windows grow, and that what they took from the budget comes back. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FLAG, INITIAL_WINDOW, TYPE } from './frame.ts';
import type { MuxStream } from './stream.ts';
import { Scripted, sinkOf, turns } from './testing.ts';
import { MAX_WINDOW, nextWindow, WindowBudget } from './window.ts';

const syn = { type: TYPE.window, flags: FLAG.syn, id: 1 };
const read = (count: number) => ({ id: 1, payload: Buffer.alloc(count) });

/** A session that has measured a round trip of `rttMs`. */
async function withRtt(rttMs: number, budget = new WindowBudget(256 << 20)): Promise<Scripted> {
  const peer = new Scripted({ budget, heartbeatMs: 0, accept: (s) => (s.sink = sinkOf({ onData: () => {} })) });
  const measured = peer.session.ping();
  await turns();
  peer.clock.ms += rttMs;
  peer.says({ type: TYPE.ping, flags: FLAG.ack, length: peer.frames[0]?.length ?? -1 });
  assert.equal(await measured, rttMs);
  peer.says(syn);
  await turns();
  peer.forgetSent();
  return peer;
}

/** The peer fills the window, the reader takes it all `afterMs` later; answers the window that the peer then has. */
async function round(peer: Scripted, window: number, afterMs: number): Promise<number> {
  const stream = peer.streams[0] as MuxStream;
  peer.says(read(window));
  peer.clock.ms += afterMs;
  stream.consumed(window);
  await turns();
  const updates = peer.frames.filter((f) => f.type === TYPE.window);
  for (const f of peer.frames) {
    if (f.type === TYPE.ping) peer.says({ type: TYPE.ping, flags: FLAG.ack, length: f.length });
  }
  peer.forgetSent();
  return updates.reduce((sum, f) => sum + f.length, 0);
}

test('doubles while half a window lasts less than two round trips, and stops at 16 MB', () => {
  const sizes: number[] = [];
  for (let w = INITIAL_WINDOW; sizes.at(-1) !== w; w = nextWindow(w, 100, 50)) sizes.push(w);
  assert.equal(sizes.at(-1), MAX_WINDOW);
  assert.equal(nextWindow(INITIAL_WINDOW, 101, 50), INITIAL_WINDOW);
  assert.equal(nextWindow(INITIAL_WINDOW, 1.5, 0), 2 * INITIAL_WINDOW, 'a round trip counts as 0.75 ms at least');
  assert.equal(nextWindow(INITIAL_WINDOW, 1.6, 0), INITIAL_WINDOW);
});

test('a reader that outruns the window gets it doubled step by step', async () => {
  const peer = await withRtt(50);
  let window = INITIAL_WINDOW;
  window = await round(peer, window, 60);
  assert.equal(window, INITIAL_WINDOW, 'the first report has nothing to compare with');
  const seen: number[] = [];
  for (let i = 0; i < 8; i++) seen.push((window = await round(peer, window, 60)));
  assert.deepEqual(
    seen.map((w) => w / INITIAL_WINDOW),
    [2, 4, 8, 16, 32, 64, 64, 64],
  );
  assert.equal(peer.budget.left, 256 << 20, 'the budget of another session is untouched');
  assert.equal(peer.session.budget.left, (256 << 20) - (MAX_WINDOW - INITIAL_WINDOW));
  peer.says({ type: TYPE.window, flags: FLAG.rst, id: 1 });
  assert.equal(peer.session.budget.left, 256 << 20);
});

test('a slow reader never gets more than the first window', async () => {
  const peer = await withRtt(50);
  for (let i = 0; i < 20; i++) assert.equal(await round(peer, INITIAL_WINDOW, 101), INITIAL_WINDOW);
  assert.equal(peer.session.budget.left, 256 << 20);
});

test('a stream that may not grow keeps its first window, however fast its reader is', async () => {
  const peer = await withRtt(50);
  (peer.streams[0] as MuxStream).mayGrow = false;
  for (let i = 0; i < 6; i++) assert.equal(await round(peer, INITIAL_WINDOW, 10), INITIAL_WINDOW);
  assert.equal(peer.session.budget.left, 256 << 20);
});

test('growth stops where the budget ends, and goes on as before', async () => {
  const budget = new WindowBudget(3 * INITIAL_WINDOW + 5);
  const peer = await withRtt(50, budget);
  let window = INITIAL_WINDOW;
  for (let i = 0; i < 6; i++) window = await round(peer, window, 10);
  assert.equal(window, 4 * INITIAL_WINDOW);
  assert.equal(budget.left, 5);
  peer.session.destroy();
  assert.equal(budget.left, 3 * INITIAL_WINDOW + 5);
});

test('nothing is given back before half of the window is read', async () => {
  const peer = await withRtt(5);
  const stream = peer.streams[0] as MuxStream;
  peer.says(read(INITIAL_WINDOW));
  stream.consumed(INITIAL_WINDOW / 2 - 1);
  await turns();
  assert.equal(peer.frames.length, 0);
  stream.consumed(1);
  await turns();
  assert.equal(peer.frames.find((f) => f.type === TYPE.window)?.length, INITIAL_WINDOW / 2);
});

test('no window is given back to a peer that has ended', async () => {
  const peer = await withRtt(5);
  const stream = peer.streams[0] as MuxStream;
  peer.says(read(INITIAL_WINDOW), { type: TYPE.window, flags: FLAG.fin, id: 1 });
  stream.consumed(INITIAL_WINDOW);
  await turns();
  assert.deepEqual(peer.frames, []);
});
