import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import type { Clock } from '../../../base/clock.ts';
import { MAX_QUEUED, MAX_QUEUED_OF_ORG, TEST_BURST, PolicyTestQueue } from './test-queue.ts';

const HERE = new AbortController().signal;
const LIMITED = { code: 'rate_limited' };
const FULL = { code: 'unavailable' };

let now = 0;
const clock: Clock = { now: () => now, monotonic: () => now };

/** Who has had a turn, in order, and what gives each place back. */
class Entrants {
  readonly queue: PolicyTestQueue;
  readonly had: string[] = [];
  readonly #leave: Array<() => void> = [];

  constructor(maxWaitMs = 60_000) {
    this.queue = new PolicyTestQueue({ clock, maxWaitMs });
  }

  /** Settles with the turn. */
  async come(org: string, { gone = HERE, person = `of ${org}` } = {}): Promise<void> {
    const leave = await this.queue.enter({ orgId: org, userId: person }, gone);
    this.had.push(org);
    this.#leave.push(leave);
  }

  /** The one whose turn came first is done. */
  async leave(): Promise<void> {
    const leave = this.#leave.shift();
    assert.ok(leave !== undefined, 'one organization has a turn');
    leave();
    leave();
    await setImmediate();
  }
}

test('policy test queue: organizations get turns, however many tests of one wait', async () => {
  const all = new Entrants();
  await all.come('a');
  await all.come('b');
  const waiting = ['a', 'a', 'b', 'b', 'c', 'd'].map((org) => all.come(org));
  for (let i = 0; i < waiting.length; i++) await all.leave();
  assert.deepEqual(all.had, ['a', 'b', 'a', 'b', 'c', 'd', 'a', 'b']);
  await Promise.all(waiting);
});

test('policy test queue: one test of an organization runs and two wait; in all two run and 64 wait', async () => {
  const all = new Entrants();
  await all.come('a');
  const waiting = Array.from({ length: MAX_QUEUED_OF_ORG }, () => all.come('a'));
  await assert.rejects(all.come('a'), LIMITED);
  await all.come('b');
  assert.deepEqual(all.had, ['a', 'b'], 'a place that one may not have is free for the others');
  for (let i = waiting.length; i < MAX_QUEUED; i++) waiting.push(all.come(`org-${i}`));
  await assert.rejects(all.come('z'), FULL);
  await all.leave();
  waiting.push(all.come('z'));
  for (let i = 1; i < waiting.length; i++) await all.leave();
  await Promise.all(waiting);
});

test('ten in a row of an organization and then one every three seconds; others are not concerned', async () => {
  const all = new Entrants();
  const once = async (org: string): Promise<void> => {
    await all.come(org);
    await all.leave();
  };
  for (let i = 0; i < TEST_BURST; i++) await once('a');
  await assert.rejects(once('a'), { ...LIMITED, retryAfterSeconds: 3 });
  await once('b');
  now += 2_900;
  await assert.rejects(once('a'), { ...LIMITED, retryAfterSeconds: 1 });
  now += 100;
  await once('a');
});

test('so many has a person too, whatever organization it is in; who was refused has spent nothing of the other', async () => {
  const all = new Entrants();
  const once = async (org: string, person: string): Promise<void> => {
    await all.come(org, { person });
    await all.leave();
  };
  for (let i = 0; i < TEST_BURST; i++) await once(`org-${i}`, 'ann');
  await assert.rejects(once('fresh', 'ann'), {
    ...LIMITED,
    message: /^You have tested too many/,
    retryAfterSeconds: 3,
  });
  for (let i = 0; i < TEST_BURST; i++) await once('fresh', `person-${i}`);
  await assert.rejects(once('fresh', 'bob'), { ...LIMITED, message: /^Your organization has tested too many/ });
  for (let i = 0; i < TEST_BURST; i++) await once(`other-${i}`, 'bob');
});

test('policy test queue: a caller that waited too long or left has no place any more', async () => {
  const all = new Entrants(20);
  await all.come('a');
  await all.come('b');
  await assert.rejects(all.come('a'), FULL);
  const left = new AbortController();
  const waits = assert.rejects(all.come('b', { gone: left.signal }), FULL);
  left.abort();
  await waits;
  await assert.rejects(all.come('b', { gone: left.signal }), FULL);
  await all.leave();
  await all.leave();
  for (const org of ['a', 'b']) await all.come(org);
  assert.deepEqual(all.had, ['a', 'b', 'a', 'b']);
});
