import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CATCH_UP, SeenRequests } from './seen-requests.ts';

const id = (n: number): string => n.toString().padStart(6, '0');
/** Newest first, as they are fetched. */
const upTo = (last: number): string[] => Array.from({ length: CATCH_UP }, (_, i) => id(last - i));

test('what was there is not new; what ended later is, also with an older id', () => {
  const seen = new SeenRequests([id(30), id(20)]);
  assert.deepEqual([seen.mayBeNew(id(30)), seen.add(id(20))], [false, false]);
  assert.deepEqual([seen.mayBeNew(id(25)), seen.mayBeNew(id(1)), seen.mayBeNew(id(31))], [true, true, true]);
  assert.deepEqual([seen.add(id(1)), seen.add(id(1)), seen.mayBeNew(id(1))], [true, false, false]);
});

test('of more than one answer holds, what stands behind it was there when it is fetched, and is new when the feed tells it', () => {
  const seen = new SeenRequests(upTo(1_000));
  assert.equal(seen.mayBeNew(id(400)), false);
  assert.equal(seen.add(id(400)), true);
});

test('what is fetched again is known, however much was shown, in whatever order', () => {
  const seen = new SeenRequests([]);
  const shown = Array.from({ length: 5_000 }, (_, i) => 10_000 + i);
  for (const n of shown) seen.add(id(n));
  // Long ones that began before all of these.
  for (let n = 0; n < 5_000; n++) seen.add(id(n));
  assert.deepEqual(
    upTo(14_999).filter((one) => seen.mayBeNew(one)),
    [],
  );
  assert.equal(seen.mayBeNew(id(10_000)), false, 'nor what comes up when newer ones are deleted');
  assert.equal(seen.mayBeNew(id(15_000)), true);
});
