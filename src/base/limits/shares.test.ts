/** Places are shared so that who holds none gets one. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Shares } from './shares.ts';

/** Takes all that the party is given. */
function fill(shares: Shares, party: string): Array<() => void> {
  const held: Array<() => void> = [];
  for (let give = shares.take(party); give !== undefined; give = shares.take(party)) held.push(give);
  return held;
}

test('one party has its share and no more; a place that is given back is there again', () => {
  const shares = new Shares({ places: 32, each: 8 });
  const held = fill(shares, 'a');
  assert.deepEqual([held.length, shares.of('a'), shares.taken], [8, 8, 8]);
  held.pop()?.();
  assert.deepEqual([shares.of('a'), shares.taken, shares.hasPlace('a')], [7, 7, true]);
  for (const give of held) give();
  assert.deepEqual([shares.of('a'), shares.taken], [0, 0]);
});

test('shares: no party holds more than are free, so that a late one finds a place; none does at the bound', () => {
  const shares = new Shares({ places: 32, each: 8 });
  const counts = Array.from({ length: 7 }, (_, i) => fill(shares, `p${i}`).length);
  assert.deepEqual(counts, [8, 8, 8, 4, 2, 1, 1]);
  assert.equal(shares.taken, 32);
  assert.equal(shares.hasPlace('late'), false);
});

test('parties that take all they get, again and again, leave a place to who has none', () => {
  const shares = new Shares({ places: 32, each: 8 });
  const greedy = Array.from({ length: 16 }, (_, i) => `p${i}`);
  const held = greedy.flatMap((party) => fill(shares, party));
  // Each that ends is followed by all that they get then.
  for (let turn = 0; turn < 200; turn++) {
    held.shift()?.();
    for (const party of greedy) held.push(...fill(shares, party));
  }
  assert.equal(shares.hasPlace('late'), true);
  for (const party of greedy)
    assert.ok(shares.of(party) >= 1 && shares.of(party) <= 4, `${party}: ${shares.of(party)}`);
});
