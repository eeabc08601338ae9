/** What the schedule of backups reports, in the audit log and in the file that outlives a restart (state.ts). The work itself is in server/backup/. */
import { messageOf } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import { recordAudit } from '../core/rules/audit.ts';
import type { Actor } from '../core/rules/actor.ts';
import type { Store } from '../db/tx.ts';
import { type BackupState, type MadeBackup, NONE, noteBackup, readBackupState } from './state.ts';

export interface BackupDeps {
  readonly store: Store;
  readonly dataDir: string;
  /** `backup.every`; null: no backups are scheduled. */
  readonly everyMs: number | null;
  readonly log: Logger;
}

/** For the health check and metrics. */
export interface BackupStatus extends BackupState {
  readonly everyMs: number | null;
  /** Since the server started. */
  readonly upMs: number;
}

const SERVER: Actor = { kind: 'system', orgId: null };
/** Error messages of disks and stores are short. */
const MAX_REASON = 500;

export class Backups {
  readonly #deps: BackupDeps;
  readonly #since: number;
  #state: BackupState;

  constructor(deps: BackupDeps) {
    this.#deps = deps;
    this.#since = deps.store.clock.monotonic();
    this.#state = NONE;
    this.look();
  }

  /** Reads the file again: commands write to it too. Never throws. */
  look(): BackupState {
    try {
      this.#state = readBackupState(this.#deps.dataDir);
    } catch (error) {
      this.#deps.log.debug({ cause: messageOf(error) }, 'the state of backups could not be read');
    }
    return this.#state;
  }

  /** As of the last look. */
  get status(): BackupStatus {
    const { store, everyMs } = this.#deps;
    return { ...this.#state, everyMs, upMs: store.clock.monotonic() - this.#since };
  }

  /** A scheduled backup is made, and is where it belongs. `checked`: it was also restored to a temporary folder. */
  succeeded(made: MadeBackup, { checked }: { readonly checked: boolean }): void {
    const { name, bytes, tookMs, encrypted, places } = made;
    const lastCheck = { at: made.at, name };
    this.#note({ lastSuccess: made, lastScheduled: made, ...(checked ? { lastCheck } : {}) });
    this.#deps.log.info({ name, bytes, took_ms: Math.round(tookMs), encrypted, places, checked }, 'backup made');
    const details = { name, bytes, places: places.join(', '), encrypted, checked };
    this.#record({ action: 'backup.create', id: name, details });
  }

  /** A scheduled backup could not be made, or not all of it. */
  failed(error: unknown): void {
    const reason = messageOf(error).slice(0, MAX_REASON);
    this.#note({ lastFailure: { at: this.#deps.store.clock.now(), reason } });
    this.#deps.log.error({ cause: reason }, 'the scheduled backup failed');
    this.#record({ action: 'backup.fail', id: 'scheduled', details: { reason } });
  }

  #note(change: Partial<BackupState>): void {
    this.#state = { ...this.#state, ...change };
    try {
      noteBackup(this.#deps.dataDir, change);
    } catch (error) {
      this.#deps.log.error({ err: error }, 'the state of backups could not be written');
    }
  }

  #record({ action, id, details }: Entry): void {
    try {
      this.#deps.store.inTx((tx) =>
        recordAudit(tx, SERVER, { action, resourceType: 'backup', resourceId: id, details }),
      );
    } catch (error) {
      // The disk may be full: that is why the backup failed.
      this.#deps.log.error({ err: error }, 'the audit log could not be written');
    }
  }
}

interface Entry {
  readonly action: 'backup.create' | 'backup.fail';
  readonly id: string;
  readonly details: Readonly<Record<string, string | number | boolean>>;
}
