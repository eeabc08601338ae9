// alone: it counts the threads of its process
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { getPriority } from 'node:os';
import { afterEach, beforeEach, test } from 'node:test';
import { AppError } from '../base/errors.ts';
import { Argon2Threads } from './argon2-threads.ts';

const HASH = { kind: 'hash', password: 'correct horse', memoryKib: 1024, passes: 1 } as const;
let threads: Argon2Threads;
beforeEach(() => {
  threads = new Argon2Threads();
});
afterEach(() => threads.close());

/** Nice values of the threads of this process (proc_pid_stat(5), field 19). */
const niceValues = (): number[] =>
  readdirSync('/proc/self/task').map((id) => {
    const stat = readFileSync(`/proc/self/task/${id}/stat`, 'utf8');
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[16]);
  });

test('hashes in the PHC form, and verifies its own and others', async () => {
  const stored = String(await threads.run(HASH));
  assert.match(stored, /^\$argon2id\$v=19\$m=1024,t=1,p=1\$/);
  assert.equal(await threads.run({ kind: 'verify', password: 'correct horse', stored }), true);
  assert.equal(await threads.run({ kind: 'verify', password: 'Correct horse', stored }), false);
});

test('a stored value that is no hash fails that one alone', async () => {
  const broken = threads.run({ kind: 'verify', password: 'x', stored: 'rubbish' });
  const stored = threads.run(HASH);
  await assert.rejects(broken, /argon2:/);
  assert.match(String(await stored), /^\$argon2id/);
});

test('two run, two come next, fifty wait, and one more is refused with a time to come back', async () => {
  const taken = Array.from({ length: 54 }, () => threads.run(HASH));
  await assert.rejects(
    threads.run(HASH),
    (error) => error instanceof AppError && error.code === 'unavailable' && error.retryAfterSeconds === 5,
  );
  assert.equal((await Promise.all(taken)).length, 54);
});

test('closing refuses what waits and what runs', async () => {
  const all = Promise.allSettled(Array.from({ length: 10 }, () => threads.run(HASH)));
  threads.close();
  threads.close();
  assert.ok((await all).every(({ status }) => status === 'rejected'));
  await assert.rejects(threads.run(HASH), AppError);
});

const onLinux = { skip: process.platform !== 'linux' && 'Linux alone gives a thread a priority of its own' };
test('the threads have the lowest priority, and no other thread has', onLinux, async () => {
  await Promise.all([threads.run(HASH), threads.run(HASH)]);
  const nice = niceValues();
  assert.ok(nice.filter((value) => value === 19).length >= 2, String(nice));
  // The process itself may have been started with another priority than 0.
  assert.ok(nice.filter((value) => value === getPriority()).length >= 2, String(nice));
});
