/** The state of backups without a server: for `culvert doctor`. */
import { resolve } from 'node:path';
import type { Settings } from '../../config/schema.ts';
import { type BackupState, readBackupState } from '../../control/backups/state.ts';
import { type BackupVerdict, verdictOf } from '../../control/backups/verdict.ts';
import { isBackupOn } from './task.ts';

export interface BackupReport extends BackupVerdict, BackupState {}

/** Age and state of the last backup of these settings. Throws when the data folder can't be read. */
export function backupReport(settings: Settings, now: number): BackupReport {
  const state = readBackupState(resolve(settings.data_dir));
  const everyMs = isBackupOn(settings) ? settings.backup.every : null;
  return { ...state, ...verdictOf(state, { everyMs, upMs: Number.POSITIVE_INFINITY, now }) };
}
