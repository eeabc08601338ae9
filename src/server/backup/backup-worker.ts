/** The thread of scheduled backups: one task, then it ends. At the lowest priority: visitors come first. Started by schedule.ts. */
import { constants, setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import { messageOf } from '../../base/errors.ts';
import { type BackupTask, runTask, type TaskDone } from './task.ts';

export type TaskAnswer =
  | { readonly ok: true; readonly done: TaskDone }
  | { readonly ok: false; readonly message: string };

try {
  // On Linux 0 means the calling thread; elsewhere it would be the whole process.
  if (process.platform === 'linux') setPriority(0, constants.priority.PRIORITY_LOW);
} catch {
  // A sandbox forbids it: the rests of the copy remain.
}

void answer(workerData as BackupTask).then((said) => parentPort?.postMessage(said));

async function answer(task: BackupTask): Promise<TaskAnswer> {
  try {
    return { ok: true, done: await runTask(task) };
  } catch (error) {
    return { ok: false, message: messageOf(error) };
  }
}
