import assert from 'node:assert/strict';
import { test } from 'node:test';
import { OrderQueue, type Running, type Waiting } from './order-queue.ts';

const NAME: Waiting = {
  name: 'shop.test',
  ownerId: 'ann',
  isFirst: true,
  isUrgent: false,
  isRenewal: false,
  hasFailed: false,
  place: 1,
};
const PEOPLE = { paid: 3, free: 3 };

/** The names of a line as they come to their turns, each done at once. */
function order(...changes: ReadonlyArray<Partial<Waiting>>): number[] {
  const line = new OrderQueue();
  const waiting = new Set(changes.map((change) => ({ ...NAME, ...change })));
  const all = [...waiting];
  const out: number[] = [];
  for (let next = line.next(all, { running: [], population: PEOPLE }); next !== undefined; ) {
    out.push(all.indexOf(next));
    waiting.delete(next);
    next = line.next([...waiting], { running: [], population: PEOPLE });
  }
  return out;
}

test('owners take turns, whatever stands first in their own line', () => {
  const lines = ['ann', 'ann', 'ann', 'bob', 'bob', 'cid'].map((ownerId, i) => ({ ownerId, place: i }));
  assert.deepEqual(order(...lines), [0, 3, 5, 1, 4, 2]);
});

test('who pays comes before who does not, new names before failed ones, and renewals that have time last', () => {
  assert.deepEqual(
    order(
      { ownerId: 'ann', isRenewal: true },
      { ownerId: 'eve', isFirst: false },
      { ownerId: 'bob', hasFailed: true },
      { ownerId: 'cid' },
    ),
    [3, 2, 1, 0],
  );
});

test('an owner that has a place waits for others that have none, also when it pays and they do not', () => {
  const running = [{ ...NAME, ms: 0 }];
  const next = (waiting: readonly Waiting[]) => new OrderQueue().next(waiting, { running, population: PEOPLE })?.name;
  const second = { ...NAME, name: 'second.test' };
  assert.equal(next([second, { ...NAME, ownerId: 'eve', isFirst: false, name: 'eve.test' }]), 'eve.test');
  assert.equal(next([second]), 'second.test', 'alone it may have two');
  running.push({ ...NAME, ms: 0 });
  assert.equal(next([second]), undefined, 'and no more');
});

test('orders that run for long give their places to others, up to sixteen of them', () => {
  const slow = Array.from({ length: 15 }, (_, i) => ({ ...NAME, ownerId: `slow ${i}`, ms: 10_000 }));
  const quick = (count: number) =>
    Array.from({ length: count }, (_, i) => ({ ...NAME, ownerId: `quick ${i}`, ms: 9_999 }));
  const may = (running: readonly Running[], one: Partial<Waiting> = {}) =>
    new OrderQueue().next([{ ...NAME, ...one }], { running, population: PEOPLE }) !== undefined;
  assert.deepEqual([may(quick(2)), may(quick(3)), may(slow), may([...slow, ...quick(1)])], [true, false, true, false]);
  assert.equal(may([...slow.slice(0, 5), ...quick(2)]), true);
  const free = slow.slice(0, 8).map((one) => ({ ...one, isFirst: false }));
  assert.deepEqual([may(free), may(free, { isFirst: false })], [true, false], 'half of them for who pays nothing');
});
