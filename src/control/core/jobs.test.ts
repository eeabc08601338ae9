import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLog } from '../../base/log.ts';
import { inBatches, startJobs } from './jobs.ts';
import { JobTimes } from './job-times.ts';

test('runs each job at its own pace, also after one has failed, and stops', (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  let now = 0;
  const clock = { now: () => now, monotonic: () => now };
  const jobTimes = new JobTimes({ clock });
  const runs = { expire: 0, unused: 0, forgotten: 0, domains: 0, refused: 0, large: 0 };
  const errors: unknown[] = [];
  const stop = startJobs({
    drains: { wake: () => void runs.large++ },
    jobs: [
      inBatches('expire tunnels', 1_000, () => {
        runs.expire++;
        if (runs.expire === 2) throw new Error('the disk is full');
        return 0;
      }),
      { name: 'refused webhooks', everyMs: 10_000, run: () => void runs.refused++ },
      { name: 'remove unused tunnels', everyMs: 60_000, run: () => void runs.unused++ },
      // Ends behind a promise that is not awaited here.
      { name: 'custom domains', everyMs: 60_000, run: async () => ++runs.domains },
      { name: 'remove forgotten tunnels', everyMs: 600_000, run: () => void runs.forgotten++ },
    ],
    ...{ clock, jobTimes },
    log: { ...silentLog, error: (fields) => void errors.push(fields) },
  });
  const pass = (seconds: number): void => {
    for (let i = 0; i < seconds; i++) {
      now += 1000;
      t.mock.timers.tick(1000);
    }
  };
  pass(60);
  assert.deepEqual(runs, { expire: 60, unused: 1, forgotten: 0, domains: 1, refused: 6, large: 61 });
  pass(540);
  assert.deepEqual(runs, { expire: 600, unused: 10, forgotten: 1, domains: 1, refused: 60, large: 601 });
  assert.equal(errors.length, 1);
  const expire = jobTimes.list().find(({ name }) => name === 'expire tunnels');
  assert.deepEqual(expire, { name: 'expire tunnels', lateMs: 0, tookMs: 0, runs: 600, failures: 1, lastFailed: false });
  stop();
  pass(5);
  assert.equal(runs.expire, 600);
});

test('jobs: a waiting job starts once, logs its failure, and gets the stop signal', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  let now = 0;
  const clock = { now: () => now, monotonic: () => now };
  const jobTimes = new JobTimes({ clock });
  const begun: AbortSignal[] = [];
  const errors: unknown[] = [];
  let fail: ((error: Error) => void) | undefined;
  const stop = startJobs({
    drains: { wake: () => {} },
    jobs: [
      {
        name: 'missed events of the payment provider',
        everyMs: 600_000,
        run: (signal) => {
          begun.push(signal);
          return new Promise((_, reject) => (fail = reject));
        },
      },
    ],
    ...{ clock, jobTimes },
    log: { ...silentLog, error: (fields) => void errors.push(fields) },
  });
  const pass = (seconds: number): void => {
    now += seconds * 1000;
    t.mock.timers.tick(1000);
  };
  pass(600);
  pass(1800);
  assert.equal(begun.length, 1);
  const seen = () => jobTimes.list().find(({ name }) => name.startsWith('missed events'));
  // The job hangs: its next turn was 20 minutes ago.
  assert.deepEqual([seen()?.lateMs, seen()?.tookMs, seen()?.runs], [1_200_000, null, 1]);
  fail?.(new Error('it is down'));
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(errors.length, 1);
  pass(1);
  assert.equal(begun.length, 2);
  assert.deepEqual([seen()?.lateMs, seen()?.tookMs, seen()?.failures], [1_201_000, 1_800_000, 1]);
  stop();
  assert.ok(begun[1]?.aborted);
});
