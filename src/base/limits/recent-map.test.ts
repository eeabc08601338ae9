import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RecentMap } from './recent-map.ts';

function filled(max: number, keys: string): RecentMap<string, number> {
  const map = new RecentMap<string, number>({ max });
  for (let i = 0; i < keys.length; i++) map.set(keys.charAt(i), i);
  return map;
}

const kept = (map: RecentMap<string, number>): string => [...map.keys()].sort().join('');

test('one more than it holds, and the one used longest ago is forgotten', () => {
  const map = filled(3, 'abc');
  assert.equal(map.get('a'), 0);
  map.set('d', 3);
  assert.equal(kept(map), 'acd');
  map.set('c', 4);
  map.set('e', 5);
  assert.equal(kept(map), 'cde');
  assert.deepEqual([map.get('c'), map.get('d'), map.get('e')], [4, 3, 5]);
  assert.equal(map.size, 3);
});

test('asking whether something is there is no use of it', () => {
  const map = filled(2, 'ab');
  assert.equal(map.has('a'), true);
  map.set('c', 2);
  assert.equal(map.has('a'), false);
});

test('deleting makes room, at either end and between', () => {
  for (const gone of 'abc') {
    const map = filled(3, 'abc');
    map.delete(gone);
    map.delete('absent');
    map.set('d', 3);
    assert.equal(kept(map), 'abcd'.replace(gone, ''));
    for (const key of 'xyz') map.set(key, 0);
    assert.equal(kept(map), 'xyz');
  }
});

test('it can be emptied, and filled anew', () => {
  const map = filled(2, 'ab');
  map.clear();
  assert.equal(map.size, 0);
  for (const key of 'cde') map.set(key, 0);
  assert.equal(kept(map), 'de');
});

test('holds one, and falsy values', () => {
  const map = filled(1, 'ab');
  map.set('c', 0);
  assert.equal(kept(map), 'c');
  assert.equal(map.get('c'), 0);
  assert.equal(map.get('b'), undefined);
});

test('what has a time is forgotten when it is over, however often it was used', () => {
  let nowMs = 0;
  const map = new RecentMap<string, number>({ max: 2, ttlMs: 10, monotonic: () => nowMs });
  map.set('a', 1);
  nowMs = 9;
  assert.equal(map.get('a'), 1);
  nowMs = 10;
  assert.equal(map.has('a'), false);
  assert.equal(map.get('a'), undefined);
  assert.equal(map.size, 0);
  map.set('b', 1);
  nowMs = 15;
  map.set('b', 2);
  nowMs = 24;
  assert.equal(map.get('b'), 2);
  nowMs = 25;
  assert.equal(map.get('b'), undefined);
});

test('keeps its bound and its order whatever comes', () => {
  const map = new RecentMap<number, number>({ max: 50 });
  const expected: number[] = [];
  let seed = 1;
  for (let i = 0; i < 20_000; i++) {
    seed = (seed * 48_271) % 2_147_483_647;
    const key = seed % 120;
    const at = expected.indexOf(key);
    if (at >= 0) expected.splice(at, 1);
    if (i % 7 === 0) map.delete(key);
    else {
      if (i % 3 === 0 && at >= 0) assert.equal(map.get(key), key);
      else map.set(key, key);
      expected.push(key);
      if (expected.length > 50) expected.shift();
    }
  }
  assert.deepEqual(
    [...map.keys()].sort((a, b) => a - b),
    [...expected].sort((a, b) => a - b),
  );
});
