/** Who shares a bucket, and that coming back does not fill it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ShapedSide, Shaper } from '../../mux/shaper.ts';
import type { TokenGrant } from '../../plane/routes.ts';
import { testGrant } from '../fixtures/link.ts';
import { BandwidthShares } from './bandwidth.ts';

/** 125 bytes per millisecond, and 16 KB at once. */
const grant: TokenGrant = testGrant('token-1', { lineageId: 'line', bandwidthLimitMbps: 1 });

/** A session that moves as much as it may, and the piece that it could not help. */
function useUp(shares: BandwidthShares, of: TokenGrant): { moved: number; end(): void } {
  const shaper = new Shaper();
  const side: ShapedSide = { debt: 0, allowance: 0, paid: () => {}, lifted: () => {} };
  shaper.join(side);
  shares.join(shaper, of);
  let moved = 0;
  do moved += 4_096;
  while (shaper.bucket?.spend(side, 4_096) === true);
  const end = (): void => {
    shares.leave(shaper);
    shaper.lift();
  };
  return { moved, end };
}

test('sessions one after the other have one limit: who comes back finds the bucket as it left it, and owes what it owed', () => {
  const shares = new BandwidthShares();
  const began = performance.now();
  let moved = 0;
  for (let i = 0; i < 50; i++) {
    const session = useUp(shares, grant);
    moved += session.moved;
    session.end();
  }
  const allowed = 16_384 + (performance.now() - began) * 125;
  // One piece each is moved before it is paid for; that of a session that came before counts, but the level may be below zero by then.
  assert.ok(moved <= allowed + 51 * 4_096, `${moved} of ${allowed}`);
  const late = useUp(shares, grant);
  assert.equal(late.moved, 4_096, 'nothing is left for it');
  late.end();
});

test('a lineage is remembered until its bucket is full again, and no longer', (t) => {
  let nowMs = 0;
  t.mock.method(performance, 'now', () => nowMs);
  const shares = new BandwidthShares();
  useUp(shares, grant).end();
  useUp(shares, testGrant('token-2', { lineageId: 'other', bandwidthLimitMbps: 1 })).end();
  assert.deepEqual([shares.size, shares.resting], [0, 2]);
  shares.sweep();
  assert.equal(shares.resting, 2);
  const back = useUp(shares, grant);
  assert.deepEqual([shares.size, shares.resting], [1, 1]);
  nowMs += 60_000;
  shares.sweep();
  assert.deepEqual([shares.size, shares.resting], [1, 0]);
  back.end();
  nowMs += 60_000;
  shares.sweep();
  assert.deepEqual([shares.size, shares.resting], [0, 0]);
});

test('a limit that changes holds for sessions that go on, also for one that had none', (t) => {
  let nowMs = 0;
  t.mock.method(performance, 'now', () => nowMs);
  const shares = new BandwidthShares();
  const shaper = new Shaper();
  const side: ShapedSide = { debt: 0, allowance: 0, paid: () => {}, lifted: () => {} };
  shaper.join(side);
  shares.join(shaper, { ...grant, bandwidthLimitMbps: null });
  const isLimited = (): boolean => shaper.bucket !== null;
  assert.equal(isLimited(), false);
  shares.change(shaper, grant);
  assert.equal(isLimited(), true);
  shares.change(shaper, { ...grant, bandwidthLimitMbps: 100 });
  nowMs += 60_000;
  let moved = 0;
  while (shaper.bucket?.spend(side, 4_096) === true) moved += 4_096;
  // A tenth of a second's worth; of the first limit it was 16 KB.
  assert.ok(moved > 1_000_000, `${moved} bytes`);
  shares.leave(shaper);
  shaper.lift();
});
