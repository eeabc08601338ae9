/**
 * What a server leaves in its data folder without its database: a first start over it would begin another server in the place of the old one, and
 * every agent, account and backup would be orphaned. Called by core/core.ts before the database is made, and by server/parts/folder.ts.
 */
import { mkdirSync, readdirSync, renameSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { codeOf } from '../../base/errors.ts';
import { DATABASE_FILE, isEmpty, openDatabase } from './open.ts';

const KEY_FILE = 'seal.key';
/** Files, and folders that count by what is in them. A socket, a lock and earlier `replaced-…` folders tell of no server. */
const FILES = [KEY_FILE, 'usage.db', `${DATABASE_FILE}-wal`] as const;
const FOLDERS = ['certificates', 'snapshots'] as const;
/** Beside those, what SQLite keeps with its files: moved with them, and no sign by itself. */
const COMPANIONS = [DATABASE_FILE, `${DATABASE_FILE}-shm`, 'usage.db-wal', 'usage.db-shm'] as const;
/** Names in the message; a folder of snapshots may have many. */
const MAX_NAMED = 6;

/** A first start that would take the place of another server. The message says what was found and what to do. */
export class RemainsError extends Error {
  override readonly name = 'RemainsError';
}

/** Throws RemainsError when the database is missing or has 0 bytes, and files of a server are there. Opens nothing. */
export function refuseRemains(dataDir: string): void {
  const size = sizeOf(join(dataDir, DATABASE_FILE));
  if (size === undefined) throwIfAny(dataDir, `there is no ${DATABASE_FILE}`, findRemains(dataDir));
  if (size === 0) throwIfAny(dataDir, `${DATABASE_FILE} is empty (0 bytes)`, findRemains(dataDir));
}

/**
 * The same for a database without a table. A first start that was killed leaves one, and the key file beside it, which is made after it: those
 * two alone are begun again.
 */
export function refuseRemainsBeside(dataDir: string): void {
  const found = findRemains(dataDir).filter((name) => name !== KEY_FILE && name !== `${DATABASE_FILE}-wal`);
  throwIfAny(dataDir, `${DATABASE_FILE} has no tables`, found);
}

/**
 * `--new-server`: moves what another server left into a folder of its own in the data folder, and returns that folder's path; undefined when
 * there was nothing. Throws RemainsError when the folder has a database with tables.
 */
export function setRemainsAside(dataDir: string, nowMs: number): string | undefined {
  if (isInUse(dataDir)) {
    throw new RemainsError(
      `--new-server: ${resolve(dataDir)} has the database of a server (${DATABASE_FILE}). ` +
        'Start that server without --new-server, or set another data_dir.',
    );
  }
  if (findRemains(dataDir).length === 0) return undefined;
  const aside = join(resolve(dataDir), `replaced-${new Date(nowMs).toISOString().replaceAll(/[:.]/g, '-')}`);
  mkdirSync(aside, { mode: 0o700 });
  // The key goes last: until then a start without --new-server is refused.
  for (const name of [...FOLDERS, ...COMPANIONS, ...FILES.toReversed()]) move(join(dataDir, name), join(aside, name));
  return aside;
}

function isInUse(dataDir: string): boolean {
  if ((sizeOf(join(dataDir, DATABASE_FILE)) ?? 0) === 0) return false;
  const sqlite = openDatabase(dataDir);
  try {
    return !isEmpty(sqlite);
  } finally {
    sqlite.close();
  }
}

function findRemains(dataDir: string): string[] {
  const files = FILES.filter((name) => (sizeOf(join(dataDir, name)) ?? 0) > 0);
  return [...files, ...FOLDERS.flatMap((name) => entriesOf(join(dataDir, name)).map((entry) => `${name}/${entry}`))];
}

function throwIfAny(dataDir: string, fault: string, found: readonly string[]): void {
  if (found.length === 0) return;
  const more = found.length > MAX_NAMED ? ` and ${found.length - MAX_NAMED} more` : '';
  throw new RemainsError(
    `${resolve(dataDir)} has files of another server, but ${fault}: found ${found.slice(0, MAX_NAMED).join(', ')}${more}. ` +
      'Starting here would create a new server and reject every agent and account of the old one. ' +
      `Mount the volume of the old database or restore ${DATABASE_FILE} from a backup, then start again. ` +
      'To start a new server, run culvert serve --new-server; it moves these files aside.',
  );
}

/** Undefined when there is no such file. */
function sizeOf(path: string): number | undefined {
  try {
    return statSync(path).size;
  } catch (error) {
    if (isAbsent(error)) return undefined;
    throw error;
  }
}

function entriesOf(folder: string): string[] {
  try {
    return readdirSync(folder).sort();
  } catch (error) {
    if (isAbsent(error)) return [];
    throw error;
  }
}

function move(from: string, to: string): void {
  try {
    renameSync(from, to);
  } catch (error) {
    if (!isAbsent(error)) throw error;
  }
}

function isAbsent(error: unknown): boolean {
  return codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR';
}
