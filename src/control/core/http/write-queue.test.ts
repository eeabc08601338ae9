/** Changes by the API: whose turn it is, what waits for the disk, and what a locked database answers. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import Database from 'better-sqlite3';
import { AppError } from '../../../base/errors.ts';
import { WriteQueue } from './write-queue.ts';
import { Plane } from '../testing/plane.ts';
import { servePlane } from '../testing/plane-api.ts';
import { Team } from '../testing/team.ts';

interface Slow {
  /** Called for each change; resolves when the disk has it. */
  durable(): Promise<void>;
}

async function serve(t: TestContext, plane: Plane, slow?: Slow) {
  const { store } = plane.control;
  const writes = {
    get commits() {
      return store.commits;
    },
    writable: () => store.writable(),
    durable: () => (isSlow ? slow?.durable() : undefined) ?? store.durable(),
  };
  let isSlow = false;
  const api = await servePlane(plane, { writes });
  t.after(() => api.close());
  const ann = await new Team(plane, api).person('ann@example.test');
  isSlow = true;
  return { ann };
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('parties take turns, and what is over the bound is refused with a time to come again', async () => {
  const queue = new WriteQueue();
  const order: string[] = [];
  for (let n = 0; n < 999; n++) void queue.take(['many', 'x']).then(() => order.push('many'));
  const one = queue.take(['one', 'y']).then(() => order.push('one'));
  await assert.rejects(
    queue.take(['many', 'x']),
    (error) => error instanceof AppError && error.code === 'rate_limited' && error.retryAfterSeconds !== undefined,
  );
  await one;
  assert.deepEqual(order.slice(0, 2), ['many', 'one']);
  while (order.length < 1_000) await turn();
  await queue.take(['late', 'z']);
});

test('write queue: when it is full the party with most in it is refused, and others have their turn', async () => {
  const queue = new WriteQueue();
  const order: string[] = [];
  let refused = 0;
  const wait = (org: string, user: string): void => {
    const done = queue.take([org, user]).then(
      () => order.push(org),
      (error: unknown) => {
        assert.ok(error instanceof AppError && error.code === 'rate_limited');
        refused++;
      },
    );
    void done;
  };
  for (let n = 0; n < 1_000; n++) wait('flood', `user-${n % 10}`);
  for (let n = 0; n < 20; n++) wait('strangers', `192.0.2.${n}`);
  while (order.length + refused < 1_020) await turn();
  assert.equal(refused, 20);
  assert.equal(
    order.filter((org) => org === 'strangers').length,
    20,
    'no log-in is refused for what one customer does',
  );
  const last = order.lastIndexOf('strangers');
  assert.ok(last <= 40, `in turns: the last of 20 came as number ${last}`);
});

test('write queue: 60 changes of one person leave another organization every second turn', async () => {
  const queue = new WriteQueue();
  const order: string[] = [];
  const all = Array.from({ length: 60 }, () => queue.take(['many', 'x']).then(() => order.push('many')));
  await turn();
  for (let n = 0; n < 5; n++) all.push(queue.take(['one', 'y']).then(() => order.push('one')));
  await Promise.all(all);
  assert.ok(order.lastIndexOf('one') <= 11, order.join(' '));
});

test('a change is answered once the disk has it, a look at once', async (t) => {
  const plane = new Plane();
  const held: PromiseWithResolvers<void>[] = [];
  const durable = (): Promise<void> => {
    const one = Promise.withResolvers<void>();
    held.push(one);
    return one.promise;
  };
  const { ann } = await serve(t, plane, { durable });
  let status = 0;
  const change = ann.call('PATCH', '/auth/me', { name: 'Ann' }).then((answer) => (status = answer.status));
  while (held.length === 0) await turn();
  assert.match((await ann.call('GET', '/auth/me')).text, /"name":"Ann"/);
  assert.equal(status, 0);
  held[0]?.resolve();
  await change;
  assert.equal(status, 200);
  assert.equal(held.length, 1);
});

test('a disk that does not confirm is 503 with a time to come again', async (t) => {
  const plane = new Plane();
  const durable = (): Promise<void> =>
    Promise.reject(new AppError('unavailable', 'not confirmed', { retryAfterSeconds: 5 }));
  const { ann } = await serve(t, plane, { durable });
  const answer = await ann.call('PATCH', '/auth/me', { name: 'Ann' });
  assert.deepEqual([answer.status, answer.body['error'], answer.headers.get('retry-after')], [503, 'unavailable', '5']);
  assert.equal((await ann.call('GET', '/auth/me')).status, 200);
});

test('a change waits while another program has the database locked, and goes on when it lets go', async (t) => {
  const plane = new Plane();
  const { ann } = await serve(t, plane);
  const other = new Database(join(plane.dataDir, 'culvert.db'));
  t.after(() => other.close());
  other.exec('BEGIN IMMEDIATE');
  let isDone = false;
  const change = ann.call('PATCH', '/auth/me', { name: 'Ann' }).finally(() => {
    isDone = true;
  });
  // Looks go on meanwhile.
  for (let n = 0; n < 5; n++) assert.equal((await ann.call('GET', '/auth/me')).status, 200);
  assert.equal(isDone, false);
  other.exec('ROLLBACK');
  assert.equal((await change).status, 200);
});

test('a database that stays locked is 503 with a time to come again', async (t) => {
  const plane = new Plane();
  const { ann } = await serve(t, plane);
  const other = new Database(join(plane.dataDir, 'culvert.db'));
  t.after(() => other.close());
  other.exec('BEGIN IMMEDIATE');
  const answer = await ann.call('PATCH', '/auth/me', { name: 'Ann' });
  assert.equal(answer.status, 503);
  assert.match(String(answer.body['message']), /locked by another program/);
  assert.ok(Number(answer.headers.get('retry-after')) > 0);
  other.exec('ROLLBACK');
});
