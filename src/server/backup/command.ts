/** `culvert backup`: beside a running server or without one. */
import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { codeOf, messageOf } from '../../base/errors.ts';
import type { Secret } from '../../base/secret.ts';
import type { Settings } from '../../config/schema.ts';
import { noteBackup } from '../../control/backups/state.ts';
import { copyDatabase, openDatabase } from '../../control/db/open.ts';
import { requireDataFolder } from '../data-folder.ts';
import { createBackup } from './create.ts';
import { sourceOf } from './source.ts';

export interface BackupRequest {
  /** Absolute, as all paths. */
  readonly file: string;
  readonly settingsFile: string | null;
  readonly passphrase: Secret | undefined;
  /** How the caller's command is typed, for the message to a wrong user. */
  readonly command: string;
  /** Of the program. */
  readonly version: string;
}

export interface ServerBackup {
  readonly bytes: number;
  readonly isEncrypted: boolean;
  readonly settingsFile: string | null;
  /** How many files of each kind are in it. */
  readonly certificates: number;
  readonly named: number;
  readonly leftOut: readonly string[];
}

/** Makes a backup of the server to a file that must not exist (0600). Throws with what to do. */
export async function backupServer(settings: Settings, request: BackupRequest): Promise<ServerBackup> {
  const { file, settingsFile, passphrase, command, version } = request;
  requireDataFolder(settings.data_dir, command);
  const source = sourceOf(settings, settingsFile, version);
  const now = Date.now();
  const made = await createBackup(source, { file, passphrase, now });
  const isEncrypted = passphrase !== undefined;
  const { bytes, tookMs, leftOut, manifest } = made;
  const name = file.slice(file.lastIndexOf('/') + 1);
  noteBackup(source.dataDir, {
    lastSuccess: { at: now, name, bytes, tookMs, encrypted: isEncrypted, places: [file] },
  });
  const countOf = (folder: string): number => manifest.parts.filter((part) => part.name.startsWith(folder)).length;
  return {
    ...{ bytes, isEncrypted, settingsFile, leftOut },
    certificates: countOf('certificates/'),
    named: countOf('files/'),
  };
}

/**
 * Copies the database alone to a file that must not exist (0600), checks the copy, and returns its size in bytes. Of a command that is killed a
 * `.part` may stay. What is sealed in it opens with the data folder's key file alone, which is not in it.
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
