/** Organizations go in turn, however many lines each has. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Turns } from './forward-turns.ts';

const line = (orgId: string, n: number) => ({ orgId, receiverId: `${orgId}${n}` });
const ids = (turns: Turns, mayGo: (orgId: string) => boolean) =>
  [...turns.take(mayGo)].map(({ receiverId }) => receiverId);

test('fifty lines of one stand behind the one of another', () => {
  const turns = new Turns();
  for (let n = 0; n < 50; n++) turns.add(line('a', n));
  turns.add(line('b', 0));
  turns.add(line('c', 0));
  turns.add(line('c', 1));
  turns.add(line('c', 1));
  assert.equal(turns.size, 53);
  const all = ids(turns, () => true);
  assert.deepEqual(all.slice(0, 7), ['a0', 'b0', 'c0', 'a1', 'c1', 'a2', 'a3']);
  assert.deepEqual([all.length, turns.size], [53, 0]);
});

test('who may not go keeps its place; who went is the last, also in the next walk', () => {
  const turns = new Turns();
  for (const org of ['a', 'b', 'c']) for (let n = 0; n < 3; n++) turns.add(line(org, n));
  let places = 2;
  const two = (orgId: string): boolean => orgId !== 'a' && places-- > 0;
  assert.deepEqual(ids(turns, two), ['b0', 'c0']);
  places = 4;
  assert.deepEqual(
    ids(turns, () => places-- > 0),
    ['a0', 'b1', 'c1', 'a1'],
  );
  assert.equal(turns.size, 3);
});
