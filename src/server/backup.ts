/**
 * `culvert backup`: a copy of the database that is known to be whole, taken beside a running server or without one.
 */
import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { codeOf, messageOf } from '../base/errors.ts';
import type { Settings } from '../config/schema.ts';
import { copyDatabase, openDatabase } from '../control/db/open.ts';
import { requireDataFolder } from './data-folder.ts';

/**
 * Copies the database as of now to a file that must not exist (0600), checks the copy, and returns its size in bytes. The file has its name
 * once it is whole and on the disk; of a command that is killed a `.part` may stay. What is sealed in it opens with the data folder's key file alone, which is not in it.
 * `command`: how the caller's command is typed, for the message to a wrong user.
 */
export function backupDatabase(settings: Settings, file: string, command: string): number {
  requireDataFolder(settings.data_dir, command);
  const sqlite = openDatabase(settings.data_dir);
  try {
    copyDatabase(sqlite, file);
  } catch (cause) {
    if (codeOf(cause) === 'EEXIST') throw new Error(`${file} already exists. Choose another file name.`, { cause });
    throw new Error(`${file} can't be written: ${messageOf(cause)}`, { cause });
  } finally {
    sqlite.close();
  }
  return statSync(resolve(file)).size;
}
