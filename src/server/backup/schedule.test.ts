/** When backups are made, on a clock that the test moves; and one real run of the thread. */
import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { Worker } from 'node:worker_threads';
import { silentLog } from '../../base/log.ts';
import { checkServerConfig } from '../../config/load.ts';
import { noteBackup } from '../../control/backups/state.ts';
import { Plane } from '../../control/core/testing/plane.ts';
import { auditEvents } from '../../control/db/schema.ts';
import { BackupRunner, scheduleBackups } from './schedule.ts';
import { type BackupTask, runTask, taskOf } from './task.ts';

const HOUR = 3_600_000;

class PlayedThread extends EventEmitter {
  readonly task: BackupTask;

  constructor(task: BackupTask) {
    super();
    this.task = task;
  }

  end(message: object | undefined, code = 0): void {
    if (message !== undefined) this.emit('message', message);
    this.emit('exit', code);
  }

  succeed(): void {
    const { now, check } = this.task;
    const made = { at: now, name: `at ${now}`, bytes: 1, tookMs: 1, encrypted: false, places: ['/mnt'] };
    this.end({ ok: true, done: { made, checked: check, leftOut: [] } });
  }
}

function fixture(t: TestContext) {
  const plane = new Plane(undefined, { backupEveryMs: 24 * HOUR });
  const target = mkdtempSync(join(tmpdir(), 'culvert-scheduled-'));
  t.after(() => {
    plane.close();
    rmSync(target, { recursive: true, force: true });
  });
  const toml = `data_dir = "${plane.dataDir}"\n[backup]\nfolder = "${target}"\nkeep = 2\n`;
  const { settings } = checkServerConfig(toml, 'x.toml');
  const about = { settingsFile: null, version: '1.0.0', serverId: plane.control.serverId };
  const threads: PlayedThread[] = [];
  const newRunner = () =>
    new BackupRunner({
      ...{ backups: plane.control.backups, everyMs: 24 * HOUR, log: silentLog, clock: plane.clock },
      task: (when) => taskOf(settings, about, when),
      startThread: (task) => {
        threads.push(new PlayedThread(task));
        return threads.at(-1) as unknown as Worker;
      },
    });
  return { plane, settings, about, target, threads, newRunner };
}

const stamp = (at: number) => new Date(at).toISOString().replaceAll(/[:-]|\.\d{3}/g, '');

const check = ({ control }: Plane, name: string) => control.health.report().checks.find((one) => one.name === name);

test('schedule: the first backup is made at once, the next after `every`, also across a restart', (t) => {
  const { plane, threads, newRunner } = fixture(t);
  let runner = newRunner();
  runner.look();
  runner.look();
  assert.equal(threads.length, 1, 'one at a time');
  threads[0]?.succeed();
  plane.now += 23 * HOUR;
  runner = newRunner();
  runner.look();
  assert.equal(threads.length, 1);
  plane.now += HOUR;
  runner.look();
  assert.equal(threads.length, 2);
  assert.deepEqual(
    threads.map(({ task }) => task.check),
    [true, false],
    'restored once a week',
  );
});

test('schedule: a failure shows in health and the audit log, and is tried again after 15 minutes', (t) => {
  const { plane, threads, newRunner } = fixture(t);
  const runner = newRunner();
  runner.look();
  threads[0]?.end({ ok: false, message: 'the disk is full.' });
  assert.deepEqual(
    [check(plane, 'backups')?.status, check(plane, 'backups')?.detail],
    ['warn', 'The last backup failed.'],
  );
  assert.match(check(plane, 'backups')?.full ?? '', /failed: the disk is full\. There is no scheduled backup yet/);
  plane.now += 14 * 60_000;
  runner.look();
  assert.equal(threads.length, 1);
  plane.now += 60_000;
  runner.look();
  threads[1]?.end(undefined, 1);
  plane.now += HOUR;
  runner.look();
  threads[2]?.succeed();
  assert.equal(check(plane, 'backups')?.status, 'ok');
  const items = plane.control.store.db.select({ action: auditEvents.action }).from(auditEvents).all();
  assert.deepEqual(
    items.map(({ action }) => action).filter((action) => action.startsWith('backup.')),
    ['backup.fail', 'backup.fail', 'backup.create'],
  );
});

test('schedule: a manual backup neither takes the place of a scheduled one nor hides its failure', (t) => {
  const { plane, threads, newRunner } = fixture(t);
  const manual = () => ({ at: plane.now, name: 'x', bytes: 1, tookMs: 1, encrypted: false, places: ['/tmp/x'] });
  noteBackup(plane.dataDir, { lastSuccess: manual() });
  const runner = newRunner();
  runner.look();
  assert.equal(threads.length, 1);
  threads[0]?.end({ ok: false, message: 'the disk is full.' });
  plane.now += 60_000;
  noteBackup(plane.dataDir, { lastSuccess: manual() });
  plane.control.backups.look();
  assert.equal(check(plane, 'backups')?.detail, 'The last backup failed.');
  plane.now += 15 * 60_000;
  runner.look();
  threads[1]?.succeed();
  plane.now += 26 * HOUR;
  noteBackup(plane.dataDir, { lastSuccess: manual() });
  plane.control.backups.look();
  assert.equal(check(plane, 'backups')?.detail, 'The last backup is too old.');
});

test('schedule: backups that stopped coming are reported as too old', (t) => {
  const { plane, threads, newRunner } = fixture(t);
  assert.equal(check(plane, 'backups')?.status, 'ok', 'the first one is on its way');
  newRunner().look();
  threads[0]?.succeed();
  plane.now += 24 * HOUR;
  assert.equal(check(plane, 'backups')?.status, 'ok');
  plane.now += 2 * HOUR;
  assert.equal(check(plane, 'backups')?.detail, 'The last backup is too old.');
});

test('schedule: the newest backups of this server stay, other files are left alone', async (t) => {
  const { plane, settings, about, target } = fixture(t);
  const names = () => readdirSync(target).sort();
  const other = { ...about, serverId: 'ffffffff-0000' };
  await runTask(taskOf(settings, other, { now: plane.now, check: false, last: null }));
  for (let day = 0; day < 4; day++) {
    await runTask(taskOf(settings, about, { now: plane.now + day * 24 * HOUR, check: day === 0, last: null }));
  }
  const id = about.serverId.slice(0, 8);
  assert.deepEqual(
    names().filter((name) => name.includes(id)),
    [`culvert-${id}-20261123T000000Z.culvert`, `culvert-${id}-20261124T000000Z.culvert`],
  );
  assert.equal(names().length, 3);
});

test('schedule: attempts that fail after the backup was made leave one file, and earlier backups stay', async (t) => {
  const { plane, settings, about, target } = fixture(t);
  const began = plane.now;
  const name = (at: number) => `culvert-${about.serverId.slice(0, 8)}-${stamp(at)}.culvert`;
  await runTask(taskOf(settings, about, { now: began, check: false, last: null }));
  const access = join(target, 'access');
  writeFileSync(access, 'key');
  const away = { endpoint: 'http://127.0.0.1:1', bucket: 'b', access_key_file: access, secret_key_file: access };
  const withStore = { ...settings, backup: { ...settings.backup, s3: { ...settings.backup.s3, ...away } } };
  let now = began + 24 * HOUR;
  for (let attempt = 0; attempt < 3; attempt++, now += HOUR / 4) {
    await assert.rejects(runTask(taskOf(withStore, about, { now, check: false, last: began })), /127\.0\.0\.1:1/);
    assert.deepEqual(readdirSync(target).sort(), ['access', name(began), name(now)].sort());
  }
  now += HOUR;
  const { made } = await runTask(taskOf(settings, about, { now, check: false, last: began }));
  assert.deepEqual(readdirSync(target).sort(), ['access', name(began), made.name].sort());
});

test('schedule: a backup that was just made stays, also beside those of a clock that was ahead', async (t) => {
  const { plane, settings, about, target } = fixture(t);
  const id = about.serverId.slice(0, 8);
  for (let day = 1; day < 5; day++)
    writeFileSync(join(target, `culvert-${id}-${stamp(plane.now + day * 1_000 * HOUR)}.culvert`), '');
  const last = plane.now + 4_000 * HOUR;
  const first = await runTask(taskOf(settings, about, { now: plane.now, check: false, last }));
  const now = plane.now + 24 * HOUR;
  const second = await runTask(taskOf(settings, about, { now, check: false, last: plane.now }));
  assert.deepEqual(readdirSync(target).sort(), [first.made.name, second.made.name]);
});

test('schedule: a missing folder is not created', async (t) => {
  const { plane, settings, about, target } = fixture(t);
  rmSync(target, { recursive: true });
  const task = taskOf(settings, about, { now: plane.now, check: false, last: null });
  await assert.rejects(runTask(task), { message: /backup\.folder .* can't be used: .*Mount its disk or create it/ });
});

test('schedule: a thread makes a backup, and nothing runs without a folder or a store', async (t) => {
  const { plane, settings, target } = fixture(t);
  const { backups, serverId } = plane.control;
  const done = new EventEmitter();
  const reporting = {
    look: () => backups.look(),
    succeeded: (...args: Parameters<typeof backups.succeeded>) => {
      backups.succeeded(...args);
      done.emit('done');
    },
    failed: (error: unknown) => done.emit('error', error),
  };
  const options = { version: '1.0.0' };
  const scheduled = scheduleBackups({ settings, options, log: silentLog }, { backups: reporting, serverId });
  t.after(() => scheduled.close());
  const isDone = once(done, 'done');
  for (const job of scheduled.jobs) void job.run(AbortSignal.timeout(60_000));
  await isDone;
  assert.equal(readdirSync(target).length, 1);
  assert.equal(backups.status.lastSuccess?.places[0], target);
  const { settings: off } = checkServerConfig('', 'x.toml');
  assert.deepEqual(scheduleBackups({ settings: off, options, log: silentLog }, { backups, serverId }).jobs, []);
});
