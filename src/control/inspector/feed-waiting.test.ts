/** What waits for all readers of live feeds: kept under its bound by cutting the reader with most unread, and counted exactly. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FeedWaiting } from './feed-waiting.ts';

function readers(count: number): { cut: number[]; all: Array<{ terminate(): void }> } {
  const cut: number[] = [];
  return { cut, all: Array.from({ length: count }, (_, i) => ({ terminate: () => void cut.push(i) })) };
}

test('over the bound the fullest goes, the others stay, and its bytes are free at once', () => {
  const waiting = new FeedWaiting(100);
  const { cut, all } = readers(3);
  const [one, two, three] = all;
  assert.ok(one && two && three);
  waiting.add(one, 20);
  waiting.add(two, 60);
  waiting.add(three, 20);
  assert.deepEqual([waiting.bytes, cut], [100, []]);
  waiting.add(one, 1);
  assert.deepEqual([waiting.bytes, waiting.cut, cut], [41, 1, [1]]);
  // Its written bytes are reported afterwards, and must not be counted twice.
  waiting.take(two, 60);
  waiting.forget(two);
  assert.equal(waiting.bytes, 41);
  waiting.add(three, 80);
  assert.deepEqual([waiting.bytes, cut], [21, [1, 2]]);
});

test('feed: a reader sent more than the limit of all is cut, and no other reader', () => {
  const waiting = new FeedWaiting(100);
  const { cut, all } = readers(2);
  const [one, two] = all;
  assert.ok(one && two);
  waiting.add(one, 90);
  waiting.add(two, 101);
  assert.deepEqual([waiting.bytes, cut], [90, [1]]);
});

test('readers that take what they are sent are never cut, however much it is', () => {
  const waiting = new FeedWaiting(100);
  const { cut, all } = readers(10);
  for (let round = 0; round < 1_000; round++) {
    for (const reader of all) waiting.add(reader, 10);
    for (const reader of all) waiting.take(reader, 10);
  }
  assert.deepEqual([waiting.bytes, waiting.cut, cut], [0, 0, []]);
});

test('readers that come and go leave nothing behind', () => {
  const waiting = new FeedWaiting(100);
  for (const reader of readers(50).all) {
    waiting.add(reader, 30);
    waiting.take(reader, 10);
    waiting.forget(reader);
    waiting.take(reader, 20);
    waiting.forget(reader);
  }
  assert.deepEqual([waiting.bytes, waiting.cut], [0, 0]);
});
