import assert from 'node:assert/strict';
import { randomUUIDv7 } from 'node:crypto';
import { test } from 'node:test';
import { RecordIds } from './record-ids.ts';

test('ids rise in the order in which they are made, and are UUIDs of version 7', () => {
  const ids = new RecordIds();
  const made = Array.from({ length: 20_000 }, () => ids.next());
  for (const id of made) assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  // More than there are counts in a millisecond come in no particular order there.
  const early = made.filter((id) => id.slice(15, 18) !== 'fff');
  assert.deepEqual(early, early.toSorted());
  assert.equal(new Set(made).size, made.length);
});

test('within one millisecond they count, and time is that of the clock, also of one that is set back', () => {
  const times = ['019aa3c2-5b78', '019aa3c2-5b78', '019aa3c2-5b79', '019aa3c2-5b77', '019aa3c2-5b77'];
  const left = [...times];
  const ids = new RecordIds(() => `${left.shift()}${randomUUIDv7().slice(13)}`);
  const made = times.map(() => ids.next().slice(0, 18));
  assert.deepEqual(
    made,
    times.map((time, i) => `${time}-700${[0, 1, 0, 0, 1][i]}`),
  );
});
