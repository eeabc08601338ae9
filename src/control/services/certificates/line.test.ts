import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Line, type Waiting } from './line.ts';

const NAME: Waiting = {
  name: 'shop.test',
  orgId: 'ann',
  isFirst: true,
  isUrgent: false,
  isRenewal: false,
  hasFailed: false,
  place: 1,
};
const PEOPLE = { paid: 3, free: 3 };

/** The names of a line as they come to their turns, each done at once. */
function order(...changes: ReadonlyArray<Partial<Waiting>>): number[] {
  const line = new Line();
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

test('organizations take turns, whatever stands first in their own line', () => {
  const lines = ['ann', 'ann', 'ann', 'bob', 'bob', 'cid'].map((orgId, i) => ({ orgId, place: i }));
  assert.deepEqual(order(...lines), [0, 3, 5, 1, 4, 2]);
});

test('who pays comes before who does not, new names before failed ones, and renewals that have time last', () => {
  assert.deepEqual(
    order(
      { orgId: 'ann', isRenewal: true },
      { orgId: 'eve', isFirst: false },
      { orgId: 'bob', hasFailed: true },
      { orgId: 'cid' },
    ),
    [3, 2, 1, 0],
  );
});

test('an organization that has a place waits for others that have none, also when it pays and they do not', () => {
  const running = [{ ...NAME }];
  const next = (waiting: readonly Waiting[]) => new Line().next(waiting, { running, population: PEOPLE })?.name;
  const second = { ...NAME, name: 'second.test' };
  assert.equal(next([second, { ...NAME, orgId: 'eve', isFirst: false, name: 'eve.test' }]), 'eve.test');
  assert.equal(next([second]), 'second.test', 'alone it may have two');
  running.push({ ...NAME });
  assert.equal(next([second]), undefined, 'and no more');
});
