import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AppError } from '../../../base/errors.ts';
import { Turns } from './turns.ts';

test('turns: one at a time per key, in order; other keys do not wait', async () => {
  const turns = new Turns();
  const seen: string[] = [];
  const work = (name: string) => async () => {
    seen.push(`${name} in`);
    await new Promise((resolve) => setImmediate(resolve));
    seen.push(`${name} out`);
  };
  await Promise.all([turns.run('a', work('1')), turns.run('a', work('2')), turns.run('b', work('other'))]);
  assert.deepEqual(
    seen.filter((name) => !name.startsWith('other')),
    ['1 in', '1 out', '2 in', '2 out'],
  );
  assert.ok(seen.indexOf('other in') < seen.indexOf('1 out'));
});

test('work that fails fails its caller alone', async () => {
  const turns = new Turns();
  const failing = turns.run('a', () => Promise.reject(new Error('no')));
  const next = turns.run('a', () => Promise.resolve('yes'));
  await assert.rejects(failing, /no/);
  assert.equal(await next, 'yes');
});

test('turns: the eleventh waiter gets a retry, and an empty queue is deleted', async () => {
  const turns = new Turns();
  let release = (): void => {};
  const gate = new Promise<void>((resolve) => {
    release = resolve;
  });
  const ten = Array.from({ length: 10 }, () => turns.run('a', () => gate));
  assert.throws(
    () => turns.run('a', () => gate),
    (error: unknown) => error instanceof AppError && error.code === 'unavailable',
  );
  release();
  await Promise.all(ten);
  assert.equal(await turns.run('a', () => Promise.resolve(1)), 1);
});
