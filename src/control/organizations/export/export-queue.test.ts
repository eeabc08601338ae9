import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ExportItem } from './export-items.ts';
import { ExportQueue, type Sent } from './export-queue.ts';
import { ExportRoom } from './export-room.ts';

const item = (id: string): ExportItem => ({
  id,
  type: 'audit',
  at: 0,
  traceId: '',
  text: id,
  isWarning: false,
  data: {},
});
const FAILED: Sent = { ok: false, error: 'the response status is 503', mayRetry: true, retryAfterSeconds: null };

function queueOf(answers: Array<Sent | Error>, room = new ExportRoom(100_000)) {
  const clock = { ms: 0, now: () => 1_000_000 + clock.ms, monotonic: () => clock.ms };
  const batches: Array<[id: string, count: number]> = [];
  let ids = 0;
  const queue = new ExportQueue({
    send: async (items, id) => {
      batches.push([id, items.length]);
      const answer = answers.shift() ?? { ok: true };
      if (answer instanceof Error) throw answer;
      return answer;
    },
    newId: () => `batch-${++ids}`,
    share: room.share(),
    clock,
  });
  const pump = async (afterMs = 0): Promise<void> => {
    clock.ms += afterMs;
    queue.pump();
    await queue.idle();
  };
  return { queue, batches, clock, pump, room };
}

test('export queue: batches of a bounded size, one behind the other', async () => {
  const { queue, batches, pump, room } = queueOf([]);
  for (let i = 0; i < 600; i++) queue.add(item(String(i)));
  await pump();
  await pump();
  assert.deepEqual(batches, [
    ['batch-1', 250],
    ['batch-2', 250],
    ['batch-3', 100],
  ]);
  assert.equal(queue.stats().sent, 600);
  assert.equal(room.left, 100_000, 'all of the room is back');
});

test('export queue: a failed batch goes again under its id, later each time, and no sooner than Retry-After says', async () => {
  const { queue, batches, pump } = queueOf([FAILED, new Error('refused'), { ...FAILED, retryAfterSeconds: 30 }]);
  queue.add(item('a'));
  await pump();
  assert.deepEqual(
    [queue.stats().lastError, queue.stats().failingSince, queue.stats().waiting],
    ['the response status is 503', 1_000_000, 1],
  );
  await pump(999);
  assert.equal(batches.length, 1);
  await pump(1);
  assert.equal(queue.stats().lastError, 'refused');
  await pump(1_999);
  assert.equal(batches.length, 2);
  await pump(1);
  assert.equal(batches.length, 3);
  await pump(29_000);
  assert.equal(batches.length, 3, 'Retry-After is longer than the back-off');
  await pump(1_000);
  assert.deepEqual(new Set(batches.map(([id]) => id)), new Set(['batch-1']));
  const { sent, dropped, lastError, failingSince } = queue.stats();
  assert.deepEqual([sent, dropped, lastError, failingSince], [1, 0, null, null]);
});

test('export queue: a batch is given up after five minutes, or at once where retrying has no sense', async () => {
  const { queue, batches, pump, room } = queueOf(Array.from({ length: 20 }, () => FAILED));
  queue.add(item('a'));
  for (let i = 0; i < 60 && queue.stats().dropped === 0; i++) await pump(10_000);
  assert.ok(batches.length >= 5 && batches.length <= 12, String(batches.length));
  assert.deepEqual([queue.stats().dropped, queue.stats().waiting, room.left], [1, 0, 100_000]);

  const bad = queueOf([{ ...FAILED, mayRetry: false }]);
  bad.queue.add(item('a'));
  bad.queue.add(item('b'));
  await bad.pump();
  bad.queue.add(item('c'));
  await bad.pump(1_000);
  const { sent, dropped } = bad.queue.stats();
  assert.deepEqual([sent, dropped], [1, 2]);
});

test('export queue: what finds no room is dropped and counted, its own or that of all', () => {
  const { queue } = queueOf([], new ExportRoom(3));
  for (const id of ['a', 'b', 'c', 'd']) queue.add(item(id));
  assert.deepEqual([queue.stats().waiting, queue.stats().dropped], [3, 1]);
  const own = queueOf([]);
  for (let i = 0; i < 5_001; i++) own.queue.add(item(String(i)));
  assert.equal(own.queue.stats().dropped, 1);
  own.queue.close();
  assert.deepEqual([own.queue.stats().dropped, own.room.left], [5_001, 100_000]);
});

test('export queue: close gives back the room of a batch that waits for its next attempt, or fails under way', async () => {
  const waiting = queueOf([FAILED]);
  waiting.queue.add(item('a'));
  await waiting.pump();
  waiting.queue.close();
  assert.deepEqual([waiting.queue.stats().dropped, waiting.queue.stats().waiting, waiting.room.left], [1, 0, 100_000]);

  const underWay = queueOf([FAILED]);
  underWay.queue.add(item('a'));
  underWay.queue.pump();
  underWay.queue.close();
  await underWay.queue.idle();
  assert.deepEqual([underWay.queue.stats().dropped, underWay.room.left], [1, 100_000]);
});

test('export queue: without room, the organization with more than its share gives way to one with less', async () => {
  const room = new ExportRoom(10);
  const dead = queueOf([FAILED], room);
  for (let i = 0; i < 9; i++) dead.queue.add(item(String(i)));
  await dead.pump();
  dead.queue.add(item('9'));
  const { queue, pump } = queueOf([], room);
  for (let i = 0; i < 7; i++) queue.add(item(String(i)));
  assert.deepEqual([queue.stats().waiting, queue.stats().dropped], [7, 0], 'its batch gave way as a whole');
  assert.deepEqual([dead.queue.stats().waiting, dead.queue.stats().dropped], [0, 10]);
  await pump();
  assert.deepEqual([queue.stats().sent, room.left], [7, 10]);
});

test('export queue: dead destinations of others never drop what is within a fair share', async () => {
  const room = new ExportRoom(60);
  const dead = Array.from({ length: 5 }, () => queueOf([FAILED], room));
  for (let i = 0; i < 100; i++) for (const { queue } of dead) queue.add(item(String(i)));
  assert.equal(room.left, 0, 'they fill all of it');
  const { queue, pump } = queueOf([], room);
  for (let round = 0; round < 3; round++) {
    for (let i = 0; i < 10; i++) queue.add(item(String(i)));
    for (const one of dead) one.queue.add(item('more'));
    await pump();
  }
  assert.deepEqual([queue.stats().sent, queue.stats().dropped], [30, 0]);
  for (let i = 0; i < 11; i++) queue.add(item(String(i)));
  assert.equal(queue.stats().dropped, 1, 'a sixth of the room is its share');
});
