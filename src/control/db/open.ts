/**
 * Opens the database, the file of recorded requests, and the lock of the data folder. The only file that loads better-sqlite3.
 * Called by core/core.ts, which hands others a Store (tx.ts), and by the thread of usage/.
 */
import { chmodSync, closeSync, mkdirSync, openSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import Database from 'better-sqlite3';
import { diskSpaceNow } from '../../base/process/disk-space.ts';
import { type DurableOptions, placeDurably } from '../../base/process/durable-file.ts';
import { codeOf } from '../../base/errors.ts';
import { fileFault } from '../../base/process/file-fault.ts';
import { DurableLog, FOLD_BYTES } from './disk/durable-log.ts';
import type { Sqlite } from './sqlite.ts';

export const DATABASE_FILE = 'culvert.db';
const LOCK_FILE = 'serve.lock';
const LEAST_FOLD_BYTES = 256 * 1024;

/** Each with its reason; all are per connection except journal_mode, which the file keeps. */
const PRAGMAS: readonly string[] = [
  // Readers (`culvert backup`) never wait for the writer, and a commit is one append.
  'journal_mode = WAL',
  // A revocation that was answered must survive a power cut. While a server runs, the disk is waited for beside the thread (disk/durable-log.ts).
  'synchronous = FULL',
  // Nothing writes beside the process that holds the lock; a backup reads. The thread waits no longer: requests wait for their turn (core/http/write-queue.ts).
  'busy_timeout = 50',
  // The last net under the services: a row can't point at nothing. Off by default in SQLite.
  'foreign_keys = ON',
  // 16 MiB of pages: a table of 100,000 tunnels stays in memory.
  'cache_size = -16384',
  // Reads come from the page cache of the system without a copy. A bound, not a reservation.
  'mmap_size = 268435456',
  // Sorts of a few rows need no file.
  'temp_store = MEMORY',
  // The WAL is folded back at about 4 MiB and cut to that length: the folder does not grow after a burst.
  'wal_autocheckpoint = 1000',
  'journal_size_limit = 4194304',
  // A corrupt or hostile schema can't run functions with side effects.
  'trusted_schema = OFF',
];

/** Of the file of recorded requests, which may be lost. The first two count for a new file alone. */
const USAGE_PRAGMAS: readonly string[] = [
  // Heads and small bodies, some 2 KB a record, fill pages of this size best: fewer chains of pages, fewer pages half empty.
  'page_size = 8192',
  // What was deleted can be given back to the disk a few pages at a time.
  'auto_vacuum = INCREMENTAL',
  'journal_mode = WAL',
  // A power cut takes the last seconds and leaves the file whole: the log is folded back, and both are synchronized, by usage/log-fold.ts. Within a
  // commit that held the thread, and so all lists, for 50 to 300 ms where the disk is busy.
  'synchronous = OFF',
  'wal_autocheckpoint = 0',
  // Who else writes to it has no business there; readers block no writer. While it waits, lists wait too.
  'busy_timeout = 250',
  // 16 MiB: what the indexes need. No mmap_size: a disk that fails under a mapped file ends the process.
  'cache_size = -16384',
  'temp_store = MEMORY',
  'trusted_schema = OFF',
];

/** What to do about a database that can't be read. */
export const DAMAGED_DATABASE =
  'Keep the damaged file, and replace it with your last `culvert backup` or the newest file of snapshots/ in the data folder.';

const ELSEWHERE = 'set data_dir to another folder';

/** Makes the data folder (0700) if it is missing. Throws with what to do when it can't be made. */
export function makeDataDir(dataDir: string): void {
  try {
    makeFolder(resolve(dataDir));
  } catch (cause) {
    const doing = `data_dir ${dataDir} can't be created`;
    const fault = fileFault(cause, { doing, file: resolve(dataDir), elsewhere: ELSEWHERE });
    // No folder can be there: the setting is wrong, which commands know by the name of its error.
    if (/^(ENOTDIR|EEXIST|ENOENT)$/.test(codeOf(cause) ?? '')) fault.name = 'ConfigError';
    throw fault;
  }
}

/** Not mkdir's `recursive`: where a folder is there and takes none (/proc), that goes on for ever. */
function makeFolder(folder: string): void {
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    const code = codeOf(error);
    if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() === true) return;
    const above = dirname(folder);
    if (code !== 'ENOENT' || above === folder || statSync(above, { throwIfNoEntry: false })?.isDirectory() === true) {
      throw error;
    }
    makeFolder(above);
    mkdirSync(folder, { mode: 0o700 });
  }
}

/** Opens the database of a data folder, making it (0600) if it is missing. Throws when the file is no database. */
export function openDatabase(dataDir: string): Sqlite {
  makeDataDir(dataDir);
  const file = join(dataDir, DATABASE_FILE);
  try {
    return openFile(file, PRAGMAS);
  } catch (cause) {
    throw fileFault(cause, { doing: `${file} can't be opened`, file, damaged: DAMAGED_DATABASE });
  }
}

/** The database, for a Store. */
export interface OpenStore {
  readonly sqlite: Sqlite;
  readonly durableLog: DurableLog;
}

/** Takes over the waiting for the disk; `sqlite` is that of `openDatabase`. */
export function openStore(sqlite: Sqlite, dataDir: string): OpenStore {
  const file = join(dataDir, DATABASE_FILE);
  const openReader = (): Sqlite => new Database(file, { readonly: true, fileMustExist: true, timeout: 0 });
  return { sqlite, durableLog: new DurableLog(sqlite, { file, openReader, foldBytes: foldBytesOn(dataDir) }) };
}

/** A log of megabytes is much of a small disk. */
function foldBytesOn(dataDir: string): number {
  const { total } = diskSpaceNow(dataDir);
  return total === 0 ? FOLD_BYTES : Math.min(Math.max(total / 16, LEAST_FOLD_BYTES), FOLD_BYTES);
}

/** Opens the file of recorded requests, making it (0600) if it is missing. Throws SQLite's own error. Called in the thread of usage/ alone. */
export function openUsageFile(file: string): Sqlite {
  return openFile(file, USAGE_PRAGMAS);
}

function openFile(file: string, pragmas: readonly string[]): Sqlite {
  // Made by us with its mode before SQLite sees it; -wal and -shm take the mode of the main file.
  closeSync(openSync(file, 'a', 0o600));
  chmodSync(file, 0o600);
  const sqlite = new Database(file);
  try {
    for (const pragma of pragmas) sqlite.pragma(pragma);
  } catch (error) {
    sqlite.close();
    throw error;
  }
  return sqlite;
}

/** True until the first table is made. */
export function isEmpty(sqlite: Sqlite): boolean {
  return sqlite.prepare('SELECT 1 FROM sqlite_schema').get() === undefined;
}

/**
 * Holds the data folder for one server: two would both believe that they own the tunnels. A lock of the operating system on a
 * tiny database of its own, so that kill -9 leaves nothing behind. `culvert admin` holds it while no server does.
 * Returns the unlocker. Throws when another process holds it.
 */
export function lockDataDir(dataDir: string): () => void {
  makeDataDir(dataDir);
  const file = join(dataDir, LOCK_FILE);
  let lock: Sqlite | undefined;
  try {
    closeSync(openSync(file, 'a', 0o600));
    lock = new Database(file, { timeout: 0 });
    // Nothing is ever written: a full disk must not look like a lock.
    lock.pragma('journal_mode = MEMORY');
    lock.exec('BEGIN EXCLUSIVE');
  } catch (cause) {
    lock?.close();
    if (codeOf(cause)?.startsWith('SQLITE_BUSY') === true) {
      throw new Error(`${dataDir} is in use by another culvert serve, or by culvert admin`, { cause });
    }
    const damaged = 'It should be empty. If no culvert serve uses the folder, delete it and start again.';
    throw fileFault(cause, { doing: `${file} can't be locked`, file, damaged, elsewhere: ELSEWHERE });
  }
  const held = lock;
  return () => {
    held.close();
  };
}

/**
 * Copies the database, as of now, to a file (0600) that must not exist, unless it may be replaced. Works beside a running server. The copy is
 * checked, and on the disk, before it has its name: whatever dies meanwhile, a file of that name is a whole copy.
 * @throws what is wrong with the database, the disk or the name; nothing has changed then.
 */
export function copyDatabase(sqlite: Sqlite, file: string, options: DurableOptions = { replaces: false }): void {
  placeDurably(file, options, (part) => {
    // VACUUM INTO accepts an empty file, which is there already with its mode.
    sqlite.prepare('VACUUM INTO ?').run(part);
    checkCopy(part, sqlite.name);
  });
}

/** Reads every page of a copy and changes nothing. Throws with the first thing that is wrong in it, and so in the database. */
function checkCopy(file: string, database: string): void {
  const sqlite = openCopy(file);
  try {
    const verdict = verdictOn(sqlite);
    if (verdict !== 'ok') throw new Error(`${database} is damaged, so no copy was kept: ${verdict}`);
  } finally {
    sqlite.close();
  }
}

/** Opens a copy of the database for reading. Throws when the file is no database. */
export function openCopy(file: string): Sqlite {
  return new Database(file, { readonly: true, fileMustExist: true });
}

/** Makes a copy of pages that is in WAL mode one file, without a log beside it. */
export function makeSingleFile(file: string): void {
  const sqlite = new Database(file, { fileMustExist: true });
  try {
    sqlite.pragma('journal_mode = DELETE');
  } finally {
    sqlite.close();
  }
}

/** `ok`, or the first thing that is wrong. Reads every page. */
export function verdictOn(sqlite: Sqlite): string {
  return String(sqlite.pragma('integrity_check(1)', { simple: true }));
}
