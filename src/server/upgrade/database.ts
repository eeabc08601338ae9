/** The database around an upgrade: a test of its migrations by another program, and the way back to a copy from before them. */
import { copyFileSync, existsSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { messageOf } from '../../base/errors.ts';
import { placeDurably } from '../../base/process/durable-file.ts';
import { copyDatabase, DATABASE_FILE, lockDataDir, openDatabase } from '../../control/db/open.ts';
import { SNAPSHOT_DIR } from '../../control/db/snapshots.ts';
import { asOwner, otherOwner } from './owner.ts';
import { ProgramFailed, runProgram } from './run-program.ts';

/** The newer database, after a way back. */
const BEFORE_ROLLBACK = 'before-rollback.db';
const TEST_FOLDER = 'migration-test';
/** A migration of millions of rows takes minutes. */
const MIGRATION_MS = 3_600_000;
/** `config check --migrate` ends with it when the database is newer than the program (src/cli/server/config-check.ts). */
const NEWER = 10;

/**
 * Lets `program` migrate a copy of the database as it is now, beside a running server too, or of `snapshot`. False when that is newer than the
 * program. Rejects with the reason of any other failure.
 */
export async function testMigration(dataDir: string, program: string, snapshot?: string): Promise<boolean> {
  const folder = join(dataDir, TEST_FOLDER);
  const remove = (): void => asOwner(dataDir, () => rmSync(folder, { recursive: true, force: true }));
  remove(); // what a kill has left
  try {
    asOwner(dataDir, () => {
      mkdirSync(folder, { mode: 0o700 });
      const copy = join(folder, DATABASE_FILE);
      if (snapshot === undefined) copyPresent(dataDir, copy);
      else copyFileSync(snapshot, copy);
    });
    const args = ['config', 'check', '--migrate', folder];
    await runProgram(program, args, { owner: otherOwner(dataDir), timeoutMs: MIGRATION_MS });
    return true;
  } catch (error) {
    if (error instanceof ProgramFailed && error.code === NEWER) return false;
    throw error;
  } finally {
    remove();
  }
}

export interface Snapshot {
  readonly file: string;
  readonly takenAt: Date;
}

/** Copies that migrations have made before they began, newest first. */
export function snapshots(dataDir: string): Snapshot[] {
  return asOwner(dataDir, () => {
    const folder = join(dataDir, SNAPSHOT_DIR);
    if (!existsSync(folder)) return [];
    return readdirSync(folder)
      .filter((name) => /^v\d+-to-v\d+\.db$/.test(name))
      .map((name) => ({ file: join(folder, name), takenAt: statSync(join(folder, name)).mtime }))
      .sort((a, b) => b.takenAt.getTime() - a.takenAt.getTime());
  });
}

/** Puts a copy in the place of the database, and returns where that is kept. @throws when a server runs on the folder; nothing has changed then. */
export function replaceDatabase(dataDir: string, copy: string): string {
  return asOwner(dataDir, () => {
    const unlock = lockStopped(dataDir);
    try {
      const newer = join(dataDir, SNAPSHOT_DIR, BEFORE_ROLLBACK);
      copyPresent(dataDir, newer);
      requireNoLog(dataDir);
      placeDurably(join(dataDir, DATABASE_FILE), { replaces: true }, (part) => copyFileSync(copy, part));
      return newer;
    } finally {
      unlock();
    }
  });
}

function lockStopped(dataDir: string): () => void {
  try {
    return lockDataDir(dataDir);
  } catch (cause) {
    throw new Error(`${messageOf(cause)}. Stop the server, and run this again.`, { cause });
  }
}

/** The last connection that closes empties the write-ahead log. */
function copyPresent(dataDir: string, file: string): void {
  const sqlite = openDatabase(dataDir);
  try {
    copyDatabase(sqlite, file, { replaces: true });
  } finally {
    sqlite.close();
  }
}

/** SQLite would apply what is left of the log to the file that comes. */
function requireNoLog(dataDir: string): void {
  const log = join(dataDir, `${DATABASE_FILE}-wal`);
  if ((statSync(log, { throwIfNoEntry: false })?.size ?? 0) > 0) {
    throw new Error(`${log} is in use. End the program that reads the database, and try again.`);
  }
}
