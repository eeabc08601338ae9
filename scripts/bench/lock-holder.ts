/**
 * Another program that locks the database: node lock-holder.ts DATA_DIR MILLISECONDS. Holds the write lock for so long, releases it for a moment, and
 * so on until it is ended. Prints "locked" each time.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { openDatabase } from '../../src/control/db/open.ts';

/** Between two holds. */
const FREE_MS = 100;

const [dataDir = '', holdMs = ''] = process.argv.slice(2);
const sqlite = openDatabase(dataDir);
for (;;) {
  try {
    sqlite.exec('BEGIN IMMEDIATE');
  } catch {
    continue; // the server writes now
  }
  process.stdout.write('locked\n');
  await pause(Number(holdMs));
  sqlite.exec('ROLLBACK');
  await pause(FREE_MS);
}
