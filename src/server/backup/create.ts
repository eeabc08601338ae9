/**
 * Makes a backup: a copy of the database out of one snapshot, keys, certificates and settings in one file. Works beside a running server. The file
 * has its name once it is whole, read back and on the disk.
 */
import { closeSync, openSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { codeOf, messageOf } from '../../base/errors.ts';
import { diskSpaceNow, sizeText } from '../../base/process/disk-space.ts';
import { placeDurably } from '../../base/process/durable-file.ts';
import type { Secret } from '../../base/secret.ts';
import { DATABASE_FILE, openCopy, openDatabase } from '../../control/db/open.ts';
import { copyPaced } from '../../control/db/paced-copy.ts';
import { writeArchive } from './archive.ts';
import { BackupError, type Manifest } from './format.ts';
import { type Schema, schemaOf } from './schema-check.ts';
import { type BackupSource, readSmallParts } from './source.ts';
import { makeWorkFolder } from './work-folder.ts';

/** In the data folder: a copy of the database in clear may be nowhere else. */
const WORK = 'backup-work-';
export const PARTIAL = '.partial';
/** Beside what the files need. */
const SPARE = 16 * 1024 * 1024;

export interface BackupOptions {
  /** Absolute; no file may have that name. */
  readonly file: string;
  readonly passphrase: Secret | undefined;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

export interface CreatedBackup {
  readonly file: string;
  readonly bytes: number;
  readonly tookMs: number;
  readonly manifest: Manifest;
  /** Files that the settings name and that are not in it, with the reason. */
  readonly leftOut: readonly string[];
}

/** All that was acknowledged before the call is in it. Throws what is wrong with the database, a key, the disk or the name; nothing has changed then. */
export async function createBackup(source: BackupSource, options: BackupOptions): Promise<CreatedBackup> {
  const began = performance.now();
  const { file, passphrase, now } = options;
  if (statSync(file, { throwIfNoEntry: false }) !== undefined) throw taken(file);
  requireRoom(source.dataDir, dirname(file));
  const work = makeWorkFolder(source.dataDir, WORK);
  try {
    const database = join(work, DATABASE_FILE);
    const schema = await copyOf(source.dataDir, database);
    const { parts, leftOut } = readSmallParts(source);
    const all = [...parts, { name: DATABASE_FILE, from: { file: database } }];
    const about = {
      created_at: new Date(now).toISOString(),
      culvert: source.version,
      schema,
      data_dir: source.dataDir,
      settings_file: source.settingsFile,
    };
    const manifest = place(file, (fd) => writeArchive(fd, all, { about, passphrase }));
    return { file, bytes: statSync(file).size, tookMs: performance.now() - began, manifest, leftOut };
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

async function copyOf(dataDir: string, to: string): Promise<Schema> {
  const sqlite = openDatabase(dataDir);
  try {
    await copyPaced(sqlite, to);
  } finally {
    sqlite.close();
  }
  const copy = openCopy(to);
  try {
    return schemaOf(copy);
  } finally {
    copy.close();
  }
}

function place(file: string, write: (fd: number) => Manifest): Manifest {
  let manifest: Manifest | undefined;
  try {
    placeDurably(file, { replaces: false, part: `${file}${PARTIAL}` }, (part) => {
      const fd = openSync(part, 'r+');
      try {
        manifest = write(fd);
      } finally {
        closeSync(fd);
      }
    });
  } catch (cause) {
    if (codeOf(cause) === 'EEXIST') throw taken(file, cause);
    throw new BackupError(`${file} can't be written: ${messageOf(cause)}. Free space, or choose another folder.`, {
      cause,
    });
  }
  if (manifest === undefined) throw new Error('a backup was placed without being written');
  return manifest;
}

function taken(file: string, cause?: unknown): BackupError {
  return new BackupError(`${file} already exists. Choose another file name.`, { cause });
}

/** The copy in the data folder, and the file. A backup must not be what fills the disk of the server. */
function requireRoom(dataDir: string, folder: string): void {
  const needed = sizeOf(join(dataDir, DATABASE_FILE)) + sizeOf(join(dataDir, `${DATABASE_FILE}-wal`)) + SPARE;
  const isSameDisk = statSync(dataDir).dev === deviceOf(folder);
  for (const [where, bytes] of [
    [dataDir, isSameDisk ? 2 * needed : needed],
    [folder, needed],
  ] as const) {
    const { free, total } = diskSpaceNow(where);
    if (total === 0 || free >= bytes) continue;
    throw new BackupError(
      `the disk of ${where} has ${sizeText(free)} free, and a backup needs ${sizeText(bytes)}. Free space, or choose another disk.`,
    );
  }
}

function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}

function deviceOf(folder: string): number {
  try {
    return statSync(folder).dev;
  } catch (cause) {
    throw new BackupError(`the folder ${folder} can't be used: ${messageOf(cause)}. Create it, or choose another.`, {
      cause,
    });
  }
}
