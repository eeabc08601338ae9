/**
 * Makes commits durable beside the thread: SQLite writes them to its log (WAL) without waiting for the disk, and one `fdatasync`
 * follows for all that were made until it began. A response waits for it (`Store.durable`).
 * The order of syncs, and why it is safe: docs/decisions/0005-group-commit.md.
 */
import { close, fdatasync, fsyncSync, open, openSync, statSync } from 'node:fs';
import { promisify } from 'node:util';
import type { Sqlite } from '../sqlite.ts';

/** Copying so much back holds the thread for some milliseconds. */
export const FOLD_BYTES = 4 * 1024 * 1024;
/** A log that finds no pause in which it could begin anew is folded in one go, the disk waited for: otherwise it would grow for ever. */
const MAX_BYTES = 64 * 1024 * 1024;

const openFile = promisify(open);
const sync = promisify(fdatasync);

export interface DurableLogOptions {
  readonly file: string;
  /** Opens another connection to the file, for reading. */
  readonly openReader: () => Sqlite;
  /** `fdatasync`, and the one that holds the thread; others in tests. */
  readonly sync?: (fd: number) => Promise<void>;
  readonly syncNow?: (fd: number) => void;
  /** Bytes of the log from which it is folded, and from which it is folded in one go. */
  readonly foldBytes?: number;
  readonly maxBytes?: number;
}

export class DurableLog {
  readonly #sqlite: Sqlite;
  readonly #options: Required<DurableLogOptions>;
  readonly #log: string;
  #reader: Sqlite | undefined;
  /** Of log and file. Open for as long as the connection: to close any descriptor of a file takes the process's locks off it (fcntl(2)). */
  #logId: number | undefined;
  #fileId: number | undefined;
  /** All commits; those that are waited for, and how many of these are on the disk. */
  #all = 0;
  #commits = 0;
  #synced = 0;
  /** The system has said that it could not write, and says so once: what it forgot then is written anew, into the file. */
  #isDoubtful = false;
  #running: Promise<void> | undefined;
  #folding: Promise<void> | undefined;

  constructor(sqlite: Sqlite, options: DurableLogOptions) {
    this.#sqlite = sqlite;
    this.#options = { sync, syncNow: fsyncSync, foldBytes: FOLD_BYTES, maxBytes: MAX_BYTES, ...options };
    this.#log = `${options.file}-wal`;
    // From now on the disk is waited for here alone.
    sqlite.pragma('synchronous = OFF');
    sqlite.pragma('wal_autocheckpoint = 0');
  }

  /** Commits since the start that are waited for. */
  get commits(): number {
    return this.#commits;
  }

  /** Called behind each commit. `isRelaxed`: nothing waits for it. */
  committed(isRelaxed: boolean): void {
    this.#all++;
    if (!isRelaxed) this.#commits++;
  }

  /** Resolves once all that is committed now is on the disk. Rejects as the disk does; the next call tries again. */
  async durable(): Promise<void> {
    const wanted = this.#commits;
    while (this.#synced < wanted) {
      this.#running ??= this.#syncAll().finally(() => {
        this.#running = undefined;
      });
      await this.#running;
    }
  }

  /** Folds the log back once it is long. Rejects as the disk does; the next call tries again. */
  async fold(): Promise<void> {
    this.#folding ??= this.#foldOnce().finally(() => {
      this.#folding = undefined;
    });
    await this.#folding;
  }

  /** Closes the connection, with everything on the disk. May be called twice. */
  close(): void {
    if (!this.#sqlite.open) return;
    this.#reader?.close();
    this.#reader = undefined;
    // Closing folds what is left, and waits for the disk as it did before.
    this.#sqlite.pragma('synchronous = FULL');
    this.#sqlite.close();
    for (const id of [this.#logId, this.#fileId]) if (id !== undefined) close(id, () => undefined);
    this.#logId = this.#fileId = undefined;
  }

  async #syncAll(): Promise<void> {
    const upTo = this.#commits;
    if (this.#isDoubtful) {
      this.#foldNow();
      this.#isDoubtful = false;
    } else await this.#syncLog();
    this.#synced = Math.max(this.#synced, upTo);
  }

  async #syncLog(): Promise<void> {
    this.#logId ??= await openFile(this.#log, 'r+');
    try {
      await this.#options.sync(this.#logId);
    } catch (error) {
      this.#isDoubtful = true;
      throw error;
    }
  }

  async #foldOnce(): Promise<void> {
    if (!this.#sqlite.open || this.#logBytes() < this.#options.foldBytes) return;
    const reader = (this.#reader ??= this.#options.openReader());
    // Pinned here: what is committed later is not copied below, for it may not be on the disk by then.
    reader.exec('BEGIN');
    reader.prepare('SELECT 1 FROM sqlite_schema LIMIT 1').get();
    const pinned = this.#all;
    try {
      await this.#syncAll();
      if (!this.#sqlite.open) return;
      this.#sqlite.pragma('wal_checkpoint(PASSIVE)');
      this.#fileId ??= await openFile(this.#options.file, 'r+');
      await this.#options.sync(this.#fileId);
    } finally {
      if (reader.open) reader.exec('COMMIT');
    }
    if (!this.#sqlite.open) return;
    if (this.#all === pinned) this.#sqlite.pragma('wal_checkpoint(TRUNCATE)');
    else if (this.#logBytes() > this.#options.maxBytes) this.#foldNow();
  }

  #foldNow(): void {
    const { syncNow } = this.#options;
    syncNow((this.#logId ??= openSync(this.#log, 'r+')));
    this.#sqlite.pragma('wal_checkpoint(PASSIVE)');
    syncNow((this.#fileId ??= openSync(this.#options.file, 'r+')));
    this.#sqlite.pragma('wal_checkpoint(TRUNCATE)');
  }

  #logBytes(): number {
    return statSync(this.#log, { throwIfNoEntry: false })?.size ?? 0;
  }
}
