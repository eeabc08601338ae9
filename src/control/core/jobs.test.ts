import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLog } from '../../base/log.ts';
import { startJobs } from './jobs.ts';
import { JobTimes } from './job-times.ts';

test('runs each job at its own pace, also after one has failed, and stops', (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  let now = 0;
  const clock = { now: () => now, monotonic: () => now };
  const jobTimes = new JobTimes({ clock });
  const runs = {
    expire: 0,
    graces: 0,
    devices: 0,
    unused: 0,
    forgotten: 0,
    missed: 0,
    domains: 0,
    sweep: 0,
    records: 0,
    keys: 0,
    refused: 0,
    large: 0,
  };
  const count = (what: keyof typeof runs): number => {
    runs[what]++;
    return 0;
  };
  const errors: unknown[] = [];
  const stop = startJobs({
    tunnels: {
      expireDue: () => {
        runs.expire++;
        if (runs.expire === 2) throw new Error('the disk is full');
        return 0;
      },
      removeUnused: () => count('unused'),
      removeForgotten: () => count('forgotten'),
    },
    tokenEnds: { endGraces: () => count('graces') },
    deviceExpiry: { expireDue: () => count('devices') },
    billing: { rereadDue: async () => ++runs.missed },
    domainChecks: { checkDue: async () => ++runs.domains },
    certificates: { tend: () => {}, askTimes: async () => {} },
    retention: { run: async () => void runs.sweep++ },
    drains: { wake: () => void runs.large++ },
    recordSweep: { run: async () => void runs.records++ },
    keys: { sweep: () => void runs.keys++ },
    refusals: { fold: () => void runs.refused++ },
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
  assert.deepEqual(runs, {
    expire: 60,
    graces: 60,
    devices: 60,
    unused: 1,
    forgotten: 0,
    missed: 0,
    domains: 1,
    sweep: 1,
    records: 1,
    keys: 0,
    refused: 6,
    large: 61,
  });
  pass(540);
  assert.deepEqual(runs, {
    expire: 600,
    graces: 600,
    devices: 600,
    unused: 10,
    forgotten: 1,
    missed: 1,
    domains: 1,
    // Ends behind a promise that is not awaited here.
    sweep: 1,
    records: 1,
    keys: 1,
    refused: 60,
    large: 601,
  });
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
    tunnels: { expireDue: () => 0, removeUnused: () => 0, removeForgotten: () => 0 },
    tokenEnds: { endGraces: () => 0 },
    deviceExpiry: { expireDue: () => 0 },
    billing: {
      rereadDue: (signal) => {
        begun.push(signal);
        return new Promise((_, reject) => (fail = reject));
      },
    },
    domainChecks: { checkDue: async () => 0 },
    certificates: { tend: () => {}, askTimes: async () => {} },
    retention: { run: async () => {} },
    drains: { wake: () => {} },
    recordSweep: { run: async () => {} },
    keys: { sweep: () => {} },
    refusals: { fold: () => {} },
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
