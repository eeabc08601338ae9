import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '../../../base/clock.ts';
import { RefreshOverlap } from './refresh-overlap.ts';

/** Pauses that a test ends. */
function made() {
  const pauses: Array<() => void> = [];
  const overlap = new RefreshOverlap(systemClock, (ms) => {
    assert.equal(ms, 100);
    return new Promise<void>((resolve) => void pauses.push(resolve));
  });
  /** Ends the pause that is under way, and waits for what follows. */
  const next = async (): Promise<void> => {
    pauses.shift()?.();
    // The overlap itself takes two turns of the loop.
    for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
  };
  return { overlap, pauses, next };
}

test('a swap waits for one pause without another tab', async () => {
  const { overlap, next } = made();
  let swaps = 0;
  const first = overlap.hold('a', async () => ++swaps);
  assert.equal(overlap.join('b'), false);
  assert.ok(overlap.isHeld('a'));
  assert.equal(swaps, 0);
  await next();
  assert.equal(await first, 1);
  assert.equal(overlap.isHeld('a'), false);
  assert.equal(overlap.join('a'), false, 'who comes later is late');
});

test('tabs that come one after the other, each within the pause of the one before, all overlap', async () => {
  const { overlap, pauses, next } = made();
  let swaps = 0;
  const first = overlap.hold('a', async () => ++swaps);
  for (let tab = 0; tab < 5; tab++) {
    assert.ok(overlap.join('a'));
    await next();
    assert.equal(swaps, 0);
    assert.equal(pauses.length, 1, 'another pause');
  }
  await next();
  assert.equal(await first, 1);
});

test('a client that resends the cookie without end delays the swap ten times, and no longer', async () => {
  const { overlap, pauses, next } = made();
  const first = overlap.hold('a', async () => 'swapped');
  for (let tab = 0; tab < 10; tab++) {
    assert.ok(overlap.join('a'));
    assert.equal(pauses.length, 1);
    await next();
  }
  assert.equal(pauses.length, 0);
  assert.equal(await first, 'swapped');
});
