import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLog } from '../../base/log.ts';
import type { AccessBatch, AccessEntry } from '../../plane/access-log.ts';
import { AccessDraft } from './access-draft.ts';
import { AccessQueue } from './access-queue.ts';

const entry: AccessEntry = new AccessDraft({ add: () => undefined }, undefined, true);

function add(queue: AccessQueue, count: number): void {
  for (let i = 0; i < count; i++) queue.add(entry);
}

test('access queue: one batch at a time, and what finds no room is counted', async () => {
  const batches: number[] = [];
  const gate = Promise.withResolvers<void>();
  const link = {
    logAccess: async ({ entries }: AccessBatch): Promise<void> => {
      batches.push(entries.length);
      await gate.promise;
    },
  };
  const queue = new AccessQueue({ link, log: silentLog }, { maxWaiting: 5, maxEntries: 2, gatherMs: 1 });
  add(queue, 3);
  await new Promise((resolve) => setTimeout(resolve, 20));
  assert.deepEqual(batches, [2]);
  add(queue, 9);
  assert.deepEqual(queue.stats(), { sent: 0, dropped: 5, waiting: 7 });
  gate.resolve();
  await queue.close(1_000);
  assert.deepEqual(batches, [2, 2, 2, 1]);
  assert.deepEqual(queue.stats(), { sent: 7, dropped: 5, waiting: 0 });
  add(queue, 1);
  assert.equal(queue.stats().dropped, 6, 'nothing is taken behind the end');
});

test('access queue: a batch without an answer is lost and counted, and the next one goes', async () => {
  let calls = 0;
  const link = {
    logAccess: async (): Promise<void> => {
      if (++calls === 1) throw new Error('the other thread is gone');
    },
  };
  const queue = new AccessQueue({ link, log: silentLog }, { maxEntries: 2, gatherMs: 1 });
  add(queue, 3);
  await queue.close(1_000);
  assert.deepEqual(queue.stats(), { sent: 1, dropped: 2, waiting: 0 });
});

test('access queue: long entries are bounded by bytes, and give them back once they are sent', async () => {
  const gate = Promise.withResolvers<void>();
  const queue = new AccessQueue(
    { link: { logAccess: () => gate.promise }, log: silentLog },
    { maxBytes: 6_000, maxEntries: 1, gatherMs: 1 },
  );
  const long = { ...entry, target: '/'.padEnd(2_048, 'x'), userAgent: 'u'.repeat(400) };
  for (let i = 0; i < 3; i++) queue.add(long);
  assert.deepEqual(queue.stats(), { sent: 0, dropped: 1, waiting: 2 });
  gate.resolve();
  await queue.close(1_000);
  assert.deepEqual(queue.stats(), { sent: 2, dropped: 1, waiting: 0 });

  const again = new AccessQueue(
    { link: { logAccess: async () => undefined }, log: silentLog },
    { maxBytes: 3_000, maxEntries: 1, gatherMs: 0 },
  );
  for (let i = 0; i < 3; i++) {
    again.add(long);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  assert.deepEqual([again.stats().dropped, again.stats().sent], [0, 3]);
});
