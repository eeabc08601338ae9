// alone: it counts the threads of its process
import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { getPriority } from 'node:os';
import { afterEach, beforeEach, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import type { Worker } from 'node:worker_threads';
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
  readdirSync('/proc/self/task').flatMap((id) => {
    try {
      const stat = readFileSync(`/proc/self/task/${id}/stat`, 'utf8');
      return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[16]);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code !== 'ENOENT' && code !== 'ESRCH') throw error;
      return []; // it has ended meanwhile
    }
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

test('three run, two come next, fifty wait, and one more is refused with a time to come back', async () => {
  const taken = Array.from({ length: 55 }, () => threads.run(HASH));
  await assert.rejects(
    threads.run(HASH),
    (error) => error instanceof AppError && error.code === 'unavailable' && error.retryAfterSeconds === 5,
  );
  assert.equal((await Promise.all(taken)).length, 55);
});

test('closing refuses what waits and what runs', async () => {
  const all = Promise.allSettled(Array.from({ length: 10 }, () => threads.run(HASH)));
  threads.close();
  threads.close();
  assert.ok((await all).every(({ status }) => status === 'rejected'));
  await assert.rejects(threads.run(HASH), AppError);
});

const onLinux = { skip: process.platform !== 'linux' && 'Linux alone gives a thread a priority of its own' };
test(
  'one hash has the priority of visitors, many at once have the lowest, and no other thread has',
  onLinux,
  async () => {
    // Those of the test before are about to end.
    while (niceValues().includes(19)) await pause(5);
    await threads.run(HASH);
    assert.ok(!niceValues().includes(19), String(niceValues()));
    await Promise.all([threads.run(HASH), threads.run(HASH), threads.run(HASH)]);
    const nice = niceValues();
    assert.ok(nice.filter((value) => value === 19).length >= 2, String(nice));
    // The process itself may have been started with another priority than 0.
    assert.ok(nice.filter((value) => value === getPriority()).length >= 2, String(nice));
  },
);

/** Stands for a thread: it answers when the test says so. */
class HeldThread extends EventEmitter {
  readonly isPrompt: boolean;
  jobs = 0;

  constructor(isPrompt: boolean) {
    super();
    this.isPrompt = isPrompt;
  }

  postMessage(): void {
    this.jobs++;
  }

  answer(): void {
    this.jobs--;
    this.emit('message', { ok: true, value: 'hash', tookMs: 16 });
  }

  ref(): void {}
  unref(): void {}
  terminate(): void {}
}

test('where threads of low priority get no processor, ten hashes at once and two per second are prompt', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  let nowMs = 0;
  const held: HeldThread[] = [];
  const startWorker = (isPrompt: boolean): Worker => {
    const thread = new HeldThread(isPrompt);
    held.push(thread);
    return thread as unknown as Worker;
  };
  const busy = new Argon2Threads({ clock: { now: () => nowMs, monotonic: () => nowMs }, startWorker });
  t.after(() => busy.close());
  const prompt = async (): Promise<void> => {
    const job = busy.run(HASH);
    assert.deepEqual(held.map(({ jobs }) => jobs).slice(0, 1), [1]);
    held[0]?.answer();
    await job;
  };
  for (let i = 0; i < 10; i++) await prompt();
  assert.deepEqual(
    held.map(({ isPrompt }) => isPrompt),
    [true],
  );

  const stuck = Promise.allSettled(Array.from({ length: 7 }, () => busy.run(HASH)));
  const jobs = () => held.map((thread) => thread.jobs);
  assert.deepEqual([jobs(), busy.waiting], [[0, 2, 2], 3]);
  const move = (ms: number): void => {
    nowMs += ms;
    t.mock.timers.tick(ms);
  };
  move(499);
  assert.deepEqual(jobs(), [0, 2, 2]);
  move(1);
  assert.deepEqual([jobs(), busy.waiting], [[1, 2, 2], 2]);
  held[0]?.answer();
  move(500);
  assert.deepEqual([jobs(), busy.waiting], [[1, 2, 2], 1]);
  busy.close();
  assert.deepEqual(
    (await stuck).map(({ status }) => status),
    ['rejected', 'rejected', 'rejected', 'rejected', 'fulfilled', 'rejected', 'rejected'],
  );
});
