import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Outgoing } from './outgoing.ts';
import { Schedule } from './schedule.ts';

const FRAME = 16_384;

function stream(id: number, urgency: number, isIncremental: boolean): Outgoing {
  const made = new Outgoing();
  made.id = id;
  made.priority.urgency = urgency;
  made.priority.isIncremental = isIncremental;
  return made;
}

/** Whose turn it is, `count` times, each sending a frame. */
function order(schedule: Schedule, count: number): number[] {
  return Array.from({ length: count }, () => {
    const next = schedule.next as Outgoing;
    schedule.sent(next, FRAME);
    return next.id;
  });
}

test('schedule: the most urgent first', () => {
  const schedule = new Schedule();
  for (const urgency of [7, 3, 0, 5]) schedule.add(stream(urgency, urgency, urgency % 2 === 1));
  const ids: number[] = [];
  for (let next = schedule.next; next !== null; next = schedule.next) {
    ids.push(next.id);
    schedule.remove(next);
  }
  assert.deepEqual(ids, [0, 3, 5, 7]);
  assert.equal(schedule.isEmpty, true);
});

test('schedule: what is not incremental goes one after the other, in the order of requests', () => {
  const schedule = new Schedule();
  for (const id of [5, 1, 3]) schedule.add(stream(id, 3, false));
  assert.deepEqual(order(schedule, 4), [1, 1, 1, 1]);
  schedule.remove(schedule.next as Outgoing);
  assert.deepEqual(order(schedule, 2), [3, 3]);
});

test('schedule: one that is very long lets those behind it go on', () => {
  const schedule = new Schedule();
  for (const id of [1, 3]) schedule.add(stream(id, 3, false));
  const ids = order(schedule, 130);
  assert.deepEqual([ids.indexOf(3), ids.lastIndexOf(3), ids.at(-1)], [64, 127, 1]);
});

test('schedule: a long one that has run out of bytes comes back behind the others, and short ones go before long ones', () => {
  const schedule = new Schedule();
  const [long, other, short] = [1, 3, 5].map((id) => stream(id, 3, false)) as [Outgoing, Outgoing, Outgoing];
  schedule.add(long);
  for (let sent = 0; sent < 64; sent++) {
    assert.equal(schedule.next, long);
    // Each of its frames is all that it has, until its service sends the next.
    schedule.sent(long, FRAME);
    schedule.remove(long);
    schedule.add(long);
  }
  schedule.add(other);
  schedule.add(short);
  assert.deepEqual(order(schedule, 1), [3]);
  schedule.remove(other);
  assert.deepEqual(order(schedule, 1), [5]);
  schedule.remove(short);
  assert.deepEqual(order(schedule, 1), [1]);
});

test('schedule: incremental streams take turns', () => {
  const schedule = new Schedule();
  for (const id of [1, 3, 5]) schedule.add(stream(id, 3, true));
  assert.deepEqual(order(schedule, 7), [1, 3, 5, 1, 3, 5, 1]);
});

test('schedule: where there are both kinds, they take turns', () => {
  const schedule = new Schedule();
  for (const id of [1, 3]) schedule.add(stream(id, 3, false));
  for (const id of [5, 7]) schedule.add(stream(id, 3, true));
  assert.deepEqual(order(schedule, 8), [1, 5, 1, 7, 1, 5, 1, 7]);
});

test('schedule: a change of priority moves a stream, and a stream that is removed leaves the others', () => {
  const schedule = new Schedule();
  const all = [1, 3, 5].map((id) => stream(id, 3, false));
  for (const each of all) schedule.add(each);
  const [first, second, third] = all as [Outgoing, Outgoing, Outgoing];
  third.priority.urgency = 1;
  schedule.moved(third);
  assert.equal(schedule.next, third);
  schedule.remove(third);
  schedule.remove(first);
  schedule.remove(first);
  assert.equal(schedule.next, second);
  schedule.clear();
  assert.equal(schedule.next, null);
});
