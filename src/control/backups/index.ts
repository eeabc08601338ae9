/** Scheduled backups as the control plane knows them: their state, and their entries in the audit log. */
import type { Slice } from '../core/slice.ts';
import { Backups } from './service.ts';

export interface BackupOptions {
  /** `backup.every`, milliseconds; null: no backups are scheduled. */
  readonly backupEveryMs: number | null;
}

export interface BackupServices {
  readonly backups: Backups;
}

export const backups: Slice<BackupServices, BackupOptions> = {
  name: 'backups',
  service: ({ store, dataDir, log }, _use, { backupEveryMs }) => ({
    backups: new Backups({ store, dataDir, everyMs: backupEveryMs, log }),
  }),
  // Commands write the state too.
  jobs: ({ backups: of }) => [{ name: 'state of backups', everyMs: 60_000, run: () => void of.look() }],
};
