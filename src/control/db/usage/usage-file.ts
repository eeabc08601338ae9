/**
 * The file itself: opened, made anew where it is missing, damaged or of another form, and closed. In the thread alone (usage-desk.ts).
 */
import { readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { codeOf, messageOf } from '../../../base/errors.ts';
import { Throttle } from '../../../base/limits/throttle.ts';
import { openUsageFile } from '../open.ts';
import type { Sqlite } from '../sqlite.ts';
import { FORM, TABLES } from './form.ts';
import { LogFold } from './log-fold.ts';
import { WEBSOCKETS } from './websockets/websockets.ts';
import type { FaultKind, Notice } from './questions.ts';

export const USAGE_FILE = 'usage.db';
/** A disk that damages each new file must not be filled with them. */
const DAMAGED_EVERY_MS = 60_000;
const NO_FILE_EVERY_MS = 60_000;
/** The log of the file grows while another program reads an old state of it; beyond this nothing is stored. */
const MAX_WAL_BYTES = 256 * 1024 * 1024;

const DAMAGED = /^SQLITE_(CORRUPT|NOTADB)(_|$)/;
const DISK = /^SQLITE_(FULL|IOERR|READONLY|CANTOPEN)(_|$)|^E(NOSPC|DQUOT|IO|ROFS|ACCES|PERM)$/;
/** What bears its name is no file: a directory, or a link that leads nowhere. It may be in use, so it is not moved away. */
const NO_FILE = /^E(ISDIR|NOTDIR|NOENT|LOOP)$/;
const LOCKED = /^SQLITE_(BUSY|LOCKED)(_|$)/;

/** Said where records were deleted for want of room. */
export const GAVE_WAY =
  'the disk of data_dir is full: all recorded requests were deleted so that the database keeps working. Free some space on it.';

/** Deletes the records of a data folder, also those that were set aside; returns the names of what was there. */
export function removeRecords(dataDir: string): string[] {
  const names = readdirSync(dataDir).filter((name) => name.startsWith(USAGE_FILE));
  for (const name of names) rmSync(join(dataDir, name), { force: true });
  return names;
}

export class UsageFile {
  readonly #path: string;
  readonly #tell: (notice: Notice) => void;
  #sqlite: Sqlite | undefined;
  #fold: LogFold | undefined;
  #setAsideAt = -Infinity;
  readonly #noFold = new Throttle(NO_FILE_EVERY_MS, () => performance.now());
  readonly #noFile = new Throttle(NO_FILE_EVERY_MS, () => performance.now());

  constructor(dataDir: string, tell: (notice: Notice) => void) {
    this.#path = join(dataDir, USAGE_FILE);
    this.#tell = tell;
  }

  /**
   * The open connection. Opens it if need be; a damaged file is set aside for a new one. Throws what SQLite and the system throw.
   */
  open(): Sqlite {
    if (this.#sqlite !== undefined) return this.#sqlite;
    try {
      this.#sqlite = this.#openForm();
    } catch (error) {
      if (!this.setAsideIfDamaged(error)) throw error;
      this.#sqlite = this.#openForm();
    }
    this.#fold = new LogFold(this.#sqlite, this.#path);
    return this.#sqlite;
  }

  /** True: the error says that the file is damaged, it was moved away, and the next `open` begins a new one. */
  setAsideIfDamaged(error: unknown): boolean {
    if (!DAMAGED.test(codeOf(error) ?? '')) return false;
    if (performance.now() - this.#setAsideAt < DAMAGED_EVERY_MS) return false;
    this.#setAsideAt = performance.now();
    this.close();
    for (const name of this.#others('.damaged-')) rmSync(join(dirname(this.#path), name));
    const to = `${this.#path}.damaged-${new Date().toISOString().replaceAll(/[:.]/g, '-')}`;
    this.#moveTo(to);
    this.#tell({
      notice: `${USAGE_FILE} is damaged: the recorded requests are lost. It was moved aside, and a new file was created. Check the disk, and delete the old file when you no longer need it.`,
      level: 'error',
      fields: { file: to, reason: messageOf(error) },
    });
    return true;
  }

  /** Throws when another program keeps the file's log from being folded back. */
  checkLog(): void {
    const size = statSync(`${this.#path}-wal`, { throwIfNoEntry: false })?.size ?? 0;
    if (size <= MAX_WAL_BYTES) return;
    throw Object.assign(new Error('another program has kept an old state of it open for too long'), {
      code: 'SQLITE_BUSY_RECOVERY',
    });
  }

  /** While it is there nothing may be written: the log is being folded back. Never rejects. */
  get folding(): Promise<void> | undefined {
    return this.#fold?.under;
  }

  /** To be called behind each write. */
  written(): void {
    this.#fold?.afterWrite((error) => {
      if (this.#noFold.pass() === undefined) return;
      const notice = `could not checkpoint the write-ahead log of ${USAGE_FILE}: it keeps growing. Check the disk.`;
      this.#tell({ notice, level: 'warn', fields: { reason: messageOf(error) } });
    });
  }

  /** Deletes the file and those that were set aside, and frees what they took. The next `open` begins a new one. */
  remove(): void {
    const names = removeRecords(dirname(this.#path));
    // Frees the room: until then the files are there without their names.
    this.close();
    if (names.length === 0) return;
    this.#tell({ notice: GAVE_WAY, level: 'error', fields: { files: names } });
  }

  close(): void {
    const sqlite = this.#sqlite;
    const fold = this.#fold;
    this.#sqlite = undefined;
    this.#fold = undefined;
    try {
      // The last connection folds the log back while it closes, and then waits for the disk itself.
      sqlite?.pragma('synchronous = NORMAL');
      sqlite?.close();
    } catch (error) {
      this.#tell({ notice: `could not close ${USAGE_FILE}`, level: 'warn', fields: { reason: messageOf(error) } });
    }
    void fold?.end();
  }

  #openForm(): Sqlite {
    const sqlite = this.#openPath();
    try {
      const form = Number(sqlite.pragma('user_version', { simple: true }));
      const isNew = sqlite.prepare('SELECT 1 FROM sqlite_schema').get() === undefined;
      if (isNew) sqlite.transaction(() => sqlite.exec(TABLES)).immediate();
      else if (form !== FORM) return this.#beginAnew(sqlite, form);
      sqlite.exec(WEBSOCKETS);
      return sqlite;
    } catch (error) {
      sqlite.close();
      throw error;
    }
  }

  #openPath(): Sqlite {
    try {
      return openUsageFile(this.#path);
    } catch (error) {
      if (!NO_FILE.test(codeOf(error) ?? '') || this.#noFile.pass() === undefined) throw error;
      this.#tell({
        notice: `${USAGE_FILE} is not a file: requests are neither recorded nor shown. Move away the folder or broken link in its place. The server then creates a new file.`,
        level: 'error',
        fields: { file: this.#path, reason: messageOf(error) },
      });
      throw error;
    }
  }

  /** Kept under its own name for a return to the other version. */
  #beginAnew(sqlite: Sqlite, form: number): Sqlite {
    sqlite.close();
    const to = `${this.#path}.form-${form}`;
    this.#moveTo(to);
    this.#tell({
      notice: `${USAGE_FILE} is from another version of Culvert: its recorded requests are no longer shown. It was moved aside, and a new file was created. Delete the old file when you no longer need it.`,
      level: 'warn',
      fields: { file: to, form, ours: FORM },
    });
    return this.#openForm();
  }

  #moveTo(to: string): void {
    renameSync(this.#path, to);
    // What was not folded back yet belongs to it.
    if (statSync(`${this.#path}-wal`, { throwIfNoEntry: false })) renameSync(`${this.#path}-wal`, `${to}-wal`);
    rmSync(`${this.#path}-shm`, { force: true });
  }

  #others(kind: string): string[] {
    return readdirSync(dirname(this.#path)).filter((name) => name.startsWith(`${USAGE_FILE}${kind}`));
  }
}

/** The kind of this failure, for the caller. */
export function faultKind(error: unknown): FaultKind {
  const code = codeOf(error) ?? '';
  if (DISK.test(code)) return 'disk';
  return [LOCKED, DAMAGED, NO_FILE].some((known) => known.test(code)) ? 'file' : 'fault';
}
