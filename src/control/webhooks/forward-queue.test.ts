/** Organizations go in turn, however many lines each has. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ForwardQueue } from './forward-queue.ts';

const line = (orgId: string, n: number) => ({ orgId, receiverId: `${orgId}${n}` });
const ids = (queue: ForwardQueue, mayGo: (orgId: string) => boolean) =>
  [...queue.take(mayGo)].map(({ receiverId }) => receiverId);

test('fifty lines of one stand behind the one of another', () => {
  const queue = new ForwardQueue();
  for (let n = 0; n < 50; n++) queue.add(line('a', n));
  queue.add(line('b', 0));
  queue.add(line('c', 0));
  queue.add(line('c', 1));
  queue.add(line('c', 1));
  assert.equal(queue.size, 53);
  const all = ids(queue, () => true);
  assert.deepEqual(all.slice(0, 7), ['a0', 'b0', 'c0', 'a1', 'c1', 'a2', 'a3']);
  assert.deepEqual([all.length, queue.size], [53, 0]);
});

test('who may not go keeps its place; who went is the last, also in the next walk', () => {
  const queue = new ForwardQueue();
  for (const org of ['a', 'b', 'c']) for (let n = 0; n < 3; n++) queue.add(line(org, n));
  let places = 2;
  const two = (orgId: string): boolean => orgId !== 'a' && places-- > 0;
  assert.deepEqual(ids(queue, two), ['b0', 'c0']);
  places = 4;
  assert.deepEqual(
    ids(queue, () => places-- > 0),
    ['a0', 'b1', 'c1', 'a1'],
  );
  assert.equal(queue.size, 3);
});
