/**
 * What is known of the backups of a data folder: the last that was made, the last that failed, the last that was checked by restoring it. A small
 * file of the folder, since commands make backups beside a running server. Read by the schedule, the health check and `culvert doctor`.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeDurably } from '../../base/process/durable-file.ts';
import { codeOf } from '../../base/errors.ts';

const STATE_FILE = 'backups.json';

/** Times are milliseconds since the epoch. */
export interface BackupState {
  /** By the schedule or by a command. */
  readonly lastSuccess: MadeBackup | null;
  /** By the schedule alone. */
  readonly lastScheduled: MadeBackup | null;
  /** Of the schedule. */
  readonly lastFailure: { readonly at: number; readonly reason: string } | null;
  /** A backup was restored to a temporary folder, and opened there. */
  readonly lastCheck: { readonly at: number; readonly name: string } | null;
}

export interface MadeBackup {
  readonly at: number;
  /** File name. */
  readonly name: string;
  readonly bytes: number;
  readonly tookMs: number;
  readonly encrypted: boolean;
  /** Where it is: folders, and `s3://bucket`. */
  readonly places: readonly string[];
}

export const NONE: BackupState = { lastSuccess: null, lastScheduled: null, lastFailure: null, lastCheck: null };

/** As the file has it. Without a file, or with one that is no longer whole, nothing is known. */
export function readBackupState(dataDir: string): BackupState {
  let text: string;
  try {
    text = readFileSync(join(dataDir, STATE_FILE), 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR') return NONE;
    throw error;
  }
  try {
    return { ...NONE, ...(JSON.parse(text) as Partial<BackupState>) };
  } catch {
    // The next backup writes it anew.
    return NONE;
  }
}

/** Changes what is known, and leaves the rest. */
export function noteBackup(dataDir: string, change: Partial<BackupState>): void {
  const state = { ...readBackupState(dataDir), ...change };
  writeDurably(join(dataDir, STATE_FILE), `${JSON.stringify(state)}\n`, { replaces: true });
}
