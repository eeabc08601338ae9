import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLog } from '../base/log.ts';
import { startJobs } from './jobs.ts';

test('runs each job at its own pace, also after one has failed, and stops', (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  let now = 0;
  const runs = { expire: 0, graces: 0, unused: 0, forgotten: 0, sweep: 0, keys: 0 };
  const errors: unknown[] = [];
  const stop = startJobs({
    tunnels: {
      expireDue: () => {
        runs.expire++;
        if (runs.expire === 2) throw new Error('the disk is full');
        return 0;
      },
      removeUnused: () => ++runs.unused,
      removeForgotten: () => ++runs.forgotten,
    },
    tokenEnds: { endGraces: () => ++runs.graces },
    retention: { sweep: () => void runs.sweep++ },
    keys: { sweep: () => void runs.keys++ },
    clock: { now: () => now, monotonic: () => now },
    log: { ...silentLog, error: (fields) => void errors.push(fields) },
  });
  const pass = (seconds: number): void => {
    for (let i = 0; i < seconds; i++) {
      now += 1000;
      t.mock.timers.tick(1000);
    }
  };
  pass(60);
  assert.deepEqual(runs, { expire: 60, graces: 60, unused: 1, forgotten: 0, sweep: 1, keys: 0 });
  pass(540);
  assert.deepEqual(runs, { expire: 600, graces: 600, unused: 10, forgotten: 1, sweep: 10, keys: 1 });
  assert.equal(errors.length, 1);
  stop();
  pass(5);
  assert.equal(runs.expire, 600);
});
