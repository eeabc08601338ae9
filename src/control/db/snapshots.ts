/**
 * Copies of the database from before its migrations: the way back to the release before. One per pair of versions, whole or not there at all.
 * Called by migrate.ts, while the data folder is locked.
 */
import { mkdirSync, readdirSync, rmSync, statSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { PART_SUFFIX } from '../../base/process/durable-file.ts';
import { fileFault } from '../../base/process/file-fault.ts';
import { copyDatabase, DAMAGED_DATABASE } from './open.ts';
import type { Sqlite } from './sqlite.ts';

export const SNAPSHOT_DIR = 'snapshots';
/** A release that can't be left again needs one; five are a season of updates. */
const KEPT = 5;

interface SnapshotOf {
  readonly dataDir: string;
  /** How many migrations the database has, and how many it will have. */
  readonly from: number;
  readonly to: number;
  readonly nowMs: number;
}

/**
 * Copies the database as it is now, and returns the file. A second attempt at the same migration takes the place of the first, whose copy may be
 * weeks older; that one stays until the new one is whole. @throws when there is no room, or the database is damaged.
 */
export function takeSnapshot(sqlite: Sqlite, { dataDir, from, to, nowMs }: SnapshotOf): string {
  const dir = join(dataDir, SNAPSHOT_DIR);
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  removeParts(dir);
  const file = join(dir, `v${from}-to-v${to}.db`);
  try {
    copyDatabase(sqlite, file, { replaces: true });
  } catch (cause) {
    const doing = `the copy of the database before its migration, ${file}, can't be written`;
    throw fileFault(cause, { doing, file, damaged: DAMAGED_DATABASE });
  }
  utimesSync(file, nowMs / 1000, nowMs / 1000);
  return file;
}

/** Deletes what is older than the newest five. To be called once a migration is done, and not when it has failed. */
export function keepNewest(dataDir: string): void {
  const dir = join(dataDir, SNAPSHOT_DIR);
  const byAge = readdirSync(dir)
    .filter((name) => name.endsWith('.db'))
    .map((name) => ({ name, at: statSync(join(dir, name)).mtimeMs }))
    .sort((a, b) => b.at - a.at);
  for (const { name } of byAge.slice(KEPT)) rmSync(join(dir, name));
}

/** What a server that was killed in the middle of a copy has left. */
function removeParts(dir: string): void {
  for (const name of readdirSync(dir)) if (name.endsWith(PART_SUFFIX)) rmSync(join(dir, name));
}
