/**
 * A copy of the database beside a running server: pages of one snapshot, with rests in between. Not `VACUUM INTO` as open.ts: that one call
 * takes a core and the disk for as long as it runs. Called by server/backup/.
 */
import { closeSync, openSync } from 'node:fs';
import { Pace } from '../../base/process/pace.ts';
import { makeSingleFile, openCopy, verdictOn } from './open.ts';
import type { Sqlite } from './sqlite.ts';

/** A quarter of a megabyte of pages of 4 KB: a step takes below a millisecond. */
const STEP_PAGES = 64;

/**
 * Copies the database as of now to a file (0600) that must not exist, and checks the copy. All that was acknowledged before is in it.
 * @throws what is wrong with the database or the disk.
 */
export async function copyPaced(sqlite: Sqlite, file: string): Promise<void> {
  const fd = openSync(file, 'wx', 0o600);
  const pageSize = Number(sqlite.pragma('page_size', { simple: true }));
  const pace = new Pace(fd);
  // The snapshot: while it is read from, pages that others write do not begin the copy anew.
  sqlite.exec('BEGIN');
  try {
    sqlite.prepare('SELECT 1 FROM sqlite_schema').get();
    await sqlite.backup(file, {
      progress: () => {
        pace.wrote(STEP_PAGES * pageSize);
        return STEP_PAGES;
      },
    });
  } finally {
    sqlite.exec('COMMIT');
    closeSync(fd);
  }
  makeSingleFile(file);
  checkPages(file, sqlite.name);
}

function checkPages(file: string, database: string): void {
  const copy = openCopy(file);
  try {
    const verdict = verdictOn(copy);
    if (verdict !== 'ok') throw new Error(`${database} is damaged, so no backup was made: ${verdict}`);
  } finally {
    copy.close();
  }
}
