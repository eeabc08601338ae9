/**
 * When the server makes backups: `backup.every` after the last one of the schedule, also across restarts, and a quarter of an hour after one that failed. The work is
 * done by a thread (backup-worker.ts).
 */
import type { Worker } from 'node:worker_threads';
import { type Clock, DAY_MS, systemClock } from '../../base/clock.ts';
import type { Logger } from '../../base/log.ts';
import { startWorker } from '../../base/process/assets.ts';
import type { Settings } from '../../config/schema.ts';
import type { Backups } from '../../control/backups/service.ts';
import type { Job } from '../../control/core/jobs.ts';
import type { ServerOptions } from '../server.ts';
import type { TaskAnswer } from './backup-worker.ts';
import { type BackupTask, isBackupOn, type TaskDone, taskOf, type TaskTime } from './task.ts';

const LOOK_MS = 10_000;
const RETRY_MS = 15 * 60_000;
/** How often a backup is also restored, to a temporary folder. */
const CHECK_MS = 7 * DAY_MS;

export interface BackupSchedule {
  readonly jobs: readonly Job[];
  /** Ends what runs. */
  close(): Promise<void>;
}

interface Scheduling {
  readonly settings: Settings;
  readonly options: Pick<ServerOptions, 'version' | 'settingsFile'>;
  readonly log: Logger;
}

/** No jobs where neither a folder nor a store is set. */
export function scheduleBackups(
  { settings, options, log }: Scheduling,
  { backups, serverId }: { readonly backups: RunnerDeps['backups']; readonly serverId: string },
): BackupSchedule {
  if (!isBackupOn(settings)) return { jobs: [], close: () => Promise.resolve() };
  const about = { settingsFile: options.settingsFile ?? null, version: options.version, serverId };
  const runner = new BackupRunner({
    ...{ backups, log: log.child({ part: 'backup' }), everyMs: settings.backup.every },
    task: (when) => taskOf(settings, about, when),
  });
  // Not awaited by the clock: a large backup is no late job.
  const job: Job = { name: 'scheduled backup', everyMs: LOOK_MS, run: () => runner.look() };
  return { jobs: [job], close: () => runner.close() };
}

export interface RunnerDeps {
  readonly backups: Pick<Backups, 'look' | 'succeeded' | 'failed'>;
  readonly everyMs: number;
  readonly task: (when: TaskTime) => BackupTask;
  readonly log: Logger;
  readonly clock?: Clock;
  readonly startThread?: (task: BackupTask) => Worker;
}

function startBackupWorker(task: BackupTask): Worker {
  return startWorker('backup-worker', new URL('./backup-worker.ts', import.meta.url), task);
}

/** Starts a thread when a backup is due. One at a time. */
export class BackupRunner {
  readonly #deps: RunnerDeps;
  readonly #clock: Clock;
  #worker: Worker | undefined;
  #isClosed = false;

  constructor(deps: RunnerDeps) {
    this.#deps = deps;
    this.#clock = deps.clock ?? systemClock;
  }

  /** Begins a backup if one is due. */
  look(): void {
    if (this.#worker !== undefined || this.#isClosed || !this.#isDue()) return;
    const { backups, task, startThread = startBackupWorker } = this.#deps;
    const now = this.#clock.now();
    const { lastCheck, lastScheduled } = backups.look();
    const check = lastCheck === null || now - lastCheck.at >= CHECK_MS;
    const worker = startThread(task({ now, check, last: lastScheduled?.at ?? null }));
    this.#worker = worker;
    let answer: TaskAnswer | undefined;
    let fault: unknown;
    worker.on('message', (said: TaskAnswer) => (answer = said));
    worker.on('error', (error: unknown) => (fault = error));
    worker.on('exit', (code) => {
      this.#worker = undefined;
      if (this.#isClosed) return;
      if (answer?.ok === true) this.#done(answer.done);
      else backups.failed(new Error(answer?.message ?? threadFault(fault, code)));
    });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#worker?.terminate();
  }

  #done({ made, checked, leftOut }: TaskDone): void {
    for (const reason of leftOut) this.#deps.log.warn({ reason }, 'a file of the settings is not in the backup');
    this.#deps.backups.succeeded(made, { checked });
  }

  #isDue(): boolean {
    const { backups, everyMs } = this.#deps;
    const { lastScheduled, lastFailure } = backups.look();
    const now = this.#clock.now();
    const retryMs = Math.min(RETRY_MS, everyMs);
    if (lastFailure !== null && isWithin(now - lastFailure.at, retryMs)) return false;
    return lastScheduled === null || !isWithin(now - lastScheduled.at, everyMs);
  }
}

/** A time that lies ahead is of a clock that was wrong. */
function isWithin(ageMs: number, ms: number): boolean {
  return ageMs >= 0 && ageMs < ms;
}

function threadFault(fault: unknown, code: number): string {
  return fault instanceof Error ? fault.message : `the thread of the backup ended with code ${code}`;
}
