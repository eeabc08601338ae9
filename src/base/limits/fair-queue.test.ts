import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FairQueue } from './fair-queue.ts';

function drained(queue: FairQueue<string>): string[] {
  const items: string[] = [];
  for (let item = queue.shift(); item !== undefined; item = queue.shift()) items.push(item);
  return items;
}

test('parties take turns, each in its own order', () => {
  const queue = new FairQueue<string>();
  for (const item of ['a1', 'a2', 'a3', 'b1', 'c1', 'c2']) queue.push([item[0] as string], item);
  assert.equal(queue.size, 6);
  assert.deepEqual(drained(queue), ['a1', 'b1', 'c1', 'a2', 'c2', 'a3']);
  assert.deepEqual([queue.size, queue.shift()], [0, undefined]);
});

test('the people of an organization share its turns', () => {
  const queue = new FairQueue<string>();
  for (const item of ['a-x1', 'a-x2', 'a-y1', 'b-z1', 'b-z2', 'b-z3'])
    queue.push([item[0] as string, item[2] as string], item);
  assert.deepEqual(drained(queue), ['a-x1', 'b-z1', 'a-y1', 'b-z2', 'a-x2', 'b-z3']);
});

test('one that comes later has its turn in the next round', () => {
  const queue = new FairQueue<string>();
  for (let n = 0; n < 100; n++) queue.push(['many'], `many${n}`);
  queue.shift();
  queue.push(['one'], 'one');
  assert.deepEqual([queue.shift(), queue.shift()], ['many1', 'one']);
});

test('a full queue lets the newest of the fullest party go, and of its fullest part; none for that party itself', () => {
  const queue = new FairQueue<string>();
  for (const item of ['a-x1', 'a-x2', 'a-x3', 'a-y1', 'b-z1']) queue.push([item[0] as string, item[2] as string], item);
  assert.equal(queue.displace(['a', 'x']), undefined);
  assert.equal(queue.displace(['c', 'q']), 'a-x3');
  assert.equal(queue.size, 4);
  assert.equal(queue.displace(['a', 'w']), 'a-x2', 'people of one party share its places');
  assert.equal(queue.displace(['a', 'y']), undefined);
  assert.equal(queue.displace(['b', 'z']), undefined, 'it would have as many itself');
  assert.deepEqual(drained(queue), ['a-x1', 'b-z1', 'a-y1']);
  assert.equal(queue.displace(['c']), undefined);
});

test('fair queue: the fullest part of a party gives way when that party may displace no other', () => {
  const queue = new FairQueue<string>();
  for (const item of ['b-z1', 'b-z2', 'b-z3', 'b-z4', 'a-x1', 'a-x2', 'a-x3'])
    queue.push([item[0] as string, item[2] as string], item);
  assert.equal(queue.displace(['a', 'y']), 'a-x3');
  assert.equal(queue.displace(['b', 'z']), undefined, 'that part is the fullest itself');
  assert.deepEqual(drained(queue), ['b-z1', 'a-x1', 'b-z2', 'a-x2', 'b-z3', 'b-z4']);
});

test('fair queue: a party that may not go keeps its turn', () => {
  const queue = new FairQueue<string>();
  for (const item of ['a1', 'b1', 'b2', 'c1']) queue.push([item[0] as string], item);
  assert.equal(
    queue.shift((name) => name !== 'a'),
    'b1',
  );
  assert.equal(
    queue.shift(() => false),
    undefined,
  );
  assert.equal(queue.size, 3);
  assert.deepEqual(drained(queue), ['a1', 'c1', 'b2']);
});
