/**
 * Folds the log (WAL) of `usage.db` back into the file. The disk is waited for beside the thread, which answers lists meanwhile
 * and writes nothing. In the thread alone (usage-desk.ts). The log begins at length 0, so that after a power cut no frame of one
 * log stands behind the header of another. The order of syncs: docs/decisions/0005-group-commit.md.
 */
import { close, fsync, open, statSync } from 'node:fs';
import { promisify } from 'node:util';
import type { Sqlite } from '../sqlite.ts';

/** Copying so much back holds the thread for some milliseconds. */
const FOLD_BYTES = 4 * 1024 * 1024;

const openFile = promisify(open);
const sync = promisify(fsync);
const closeFile = promisify(close);

export class LogFold {
  readonly #sqlite: Sqlite;
  readonly #file: string;
  readonly #log: string;
  /** Of the file. Open for as long as the connection: to close any descriptor of a file takes the process's locks off it (fcntl(2)). */
  #fileId: number | undefined;
  #under: Promise<void> | undefined;

  /** `file`: the path that `sqlite` has open. */
  constructor(sqlite: Sqlite, file: string) {
    this.#sqlite = sqlite;
    this.#file = file;
    this.#log = `${file}-wal`;
  }

  /** While it is there nothing may be written. Resolves when writing may go on; never rejects. */
  get under(): Promise<void> | undefined {
    return this.#under;
  }

  /** Called behind each write: begins to fold once the log is long. A failure goes to `onFault`, and tried again behind a later write. */
  afterWrite(onFault: (error: unknown) => void): void {
    if (this.#under !== undefined || this.#logBytes() < FOLD_BYTES) return;
    this.#under = this.#fold()
      .catch(onFault)
      .finally(() => {
        this.#under = undefined;
      });
  }

  /** After the connection was closed: closing it has folded the rest. */
  async end(): Promise<void> {
    await this.#under;
    if (this.#fileId !== undefined) await closeFile(this.#fileId);
    this.#fileId = undefined;
  }

  async #fold(): Promise<void> {
    this.#fileId ??= await openFile(this.#file, 'r+');
    await this.#syncLog();
    if (!this.#sqlite.open) return;
    this.#sqlite.pragma('wal_checkpoint(PASSIVE)');
    await sync(this.#fileId);
    // Copies nothing any more, for nothing was written. Another program that reads an older state of the file leaves the log as it is.
    if (!this.#sqlite.open) return;
    this.#sqlite.pragma('wal_checkpoint(TRUNCATE)');
    await this.#syncLog();
  }

  async #syncLog(): Promise<void> {
    const id = await openFile(this.#log, 'r+');
    try {
      await sync(id);
    } finally {
      await closeFile(id);
    }
  }

  #logBytes(): number {
    return statSync(this.#log, { throwIfNoEntry: false })?.size ?? 0;
  }
}
