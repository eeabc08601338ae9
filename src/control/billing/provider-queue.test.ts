import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AppError } from '../../base/errors.ts';
import { ProviderQueue } from './provider-queue.ts';

test('provider queue: one at a time per key, in order; other keys do not wait', async () => {
  const queue = new ProviderQueue();
  const seen: string[] = [];
  const work = (name: string) => async () => {
    seen.push(`${name} in`);
    await new Promise((resolve) => setImmediate(resolve));
    seen.push(`${name} out`);
  };
  await Promise.all([queue.run('a', work('1')), queue.run('a', work('2')), queue.run('b', work('other'))]);
  assert.deepEqual(
    seen.filter((name) => !name.startsWith('other')),
    ['1 in', '1 out', '2 in', '2 out'],
  );
  assert.ok(seen.indexOf('other in') < seen.indexOf('1 out'));
});

test('work that fails fails its caller alone', async () => {
  const queue = new ProviderQueue();
  const failing = queue.run('a', () => Promise.reject(new Error('no')));
  const next = queue.run('a', () => Promise.resolve('yes'));
  await assert.rejects(failing, /no/);
  assert.equal(await next, 'yes');
});

test('provider queue: the eleventh waiter gets a retry, and an empty queue is deleted', async () => {
  const queue = new ProviderQueue();
  let release = (): void => {};
  const gate = new Promise<void>((resolve) => {
    release = resolve;
  });
  const ten = Array.from({ length: 10 }, () => queue.run('a', () => gate));
  assert.throws(
    () => queue.run('a', () => gate),
    (error: unknown) => error instanceof AppError && error.code === 'unavailable',
  );
  release();
  await Promise.all(ten);
  assert.equal(await queue.run('a', () => Promise.resolve(1)), 1);
});
