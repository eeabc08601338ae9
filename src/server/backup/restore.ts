/**
 * `culvert restore`: everything is checked before anything is written, and the data folder appears at once and whole. Also the restore check: the
 * same into a temporary folder, where the database is migrated as a start would.
 */
import { chownSync, existsSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { messageOf } from '../../base/errors.ts';
import { silentLog } from '../../base/log.ts';
import { diskSpaceNow, sizeText } from '../../base/process/disk-space.ts';
import { writeDurably } from '../../base/process/durable-file.ts';
import type { Secret } from '../../base/secret.ts';
import { migrate } from '../../control/db/migrate.ts';
import { MIGRATIONS } from '../../control/db/migrations.gen.ts';
import { openDatabase } from '../../control/db/open.ts';
import { type Archive, openArchive } from './archive.ts';
import { BackupError, type Manifest } from './format.ts';
import { openPlace, realFolder, requireEmpty } from './place.ts';
import { requireKnownSchema } from './schema-check.ts';
import type { Served } from './summary.ts';
import { type SettingsPart, unpack } from './unpack.ts';
import { makeWorkFolder } from './work-folder.ts';

export interface RestoreOptions {
  readonly file: string;
  readonly passphrase: Secret | undefined;
  /** All paths are absolute. */
  readonly dataDir: string;
  /** Where the settings go: a file, a folder for them and the files that they name, or nowhere. */
  readonly settingsFile: string | undefined;
  readonly settingsFolder: string | undefined;
  readonly now: number;
}

export interface Restored {
  readonly manifest: Manifest;
  readonly bytes: number;
  readonly served: Served;
  /** Files of the settings that were written. */
  readonly written: readonly string[];
  /** Files that the settings name: where they were, and whether a file is there now. */
  readonly named: ReadonlyArray<{ readonly path: string; readonly exists: boolean }>;
}

/** Throws BackupError with what to do; then the data folder is as it was. */
export function restoreBackup(options: RestoreOptions): Restored {
  const { file, settingsFile, settingsFolder, now } = options;
  const dataDir = realFolder(options.dataDir);
  requireEmpty(dataDir);
  for (const path of [settingsFile, settingsFolder]) {
    if (path !== undefined && existsSync(path))
      throw new BackupError(`${path} already exists, and a restore replaces no settings. Choose another name.`);
  }
  return withArchive(options, (archive, manifest) => {
    requireRoom(dataDir, archive.size);
    if (settingsFile !== undefined && !manifest.parts.some(({ name }) => name === 'settings.toml'))
      throw new BackupError(`${file} has no settings: its server ran on the defaults. Leave out --config.`);
    const place = openPlace(dataDir);
    try {
      const { served, settings } = unpack(archive, place.folder, { what: file, now });
      place.put();
      const written = writeSettings(settings, options);
      const paths = manifest.parts.flatMap(({ path }) => path ?? []);
      const named = paths.map((path) => ({ path, exists: existsSync(path) }));
      return { manifest, bytes: archive.size, served, written, named };
    } finally {
      place.drop();
    }
  });
}

/** Checks a backup by restoring it to a new folder in `parent`, which is removed. Throws BackupError with what is wrong. */
export function checkBackup(
  { file, passphrase, now }: Pick<RestoreOptions, 'file' | 'passphrase' | 'now'>,
  parent: string,
): Pick<Restored, 'manifest' | 'served' | 'bytes'> {
  return withArchive({ file, passphrase }, (archive, manifest) => {
    requireRoom(parent, archive.size);
    const folder = makeWorkFolder(parent, 'culvert-restore-check-');
    try {
      const { served } = unpack(archive, folder, { what: file, now });
      const sqlite = openDatabase(folder);
      try {
        migrate(sqlite, { dataDir: folder, migrations: MIGRATIONS, nowMs: now, log: silentLog });
      } finally {
        sqlite.close();
      }
      return { manifest, served, bytes: archive.size };
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
}

/** Reads the whole file before `use` may write anything. */
function withArchive<T>(
  { file, passphrase }: Pick<RestoreOptions, 'file' | 'passphrase'>,
  use: (archive: Archive, manifest: Manifest) => T,
): T {
  const archive = openArchive(file, passphrase);
  try {
    const manifest = archive.read();
    requireKnownSchema(manifest.schema, file, manifest.culvert);
    return use(archive, manifest);
  } finally {
    archive.close();
  }
}

function requireRoom(folder: string, bytes: number): void {
  let there = folder;
  while (!existsSync(there)) there = dirname(there);
  const { free, total } = diskSpaceNow(there);
  if (total === 0 || free > bytes) return;
  throw new BackupError(
    `the disk of ${there} has ${sizeText(free)} free, and the backup needs ${sizeText(bytes)}. Free space, or choose another disk.`,
  );
}

/** The data are in place: what goes wrong here says so. */
function writeSettings(settings: readonly SettingsPart[], options: RestoreOptions): string[] {
  const { dataDir, settingsFile, settingsFolder } = options;
  const written: string[] = [];
  const write = (file: string, { info, bytes }: SettingsPart): void => {
    if (info.executable === true) writeFileSync(file, bytes, { flag: 'wx', mode: 0o700 });
    else writeDurably(file, bytes, { replaces: false });
    giveGroup(file, dataDir);
    written.push(file);
  };
  try {
    for (const part of settings) {
      const isMain = part.info.name === 'settings.toml';
      if (isMain && settingsFile !== undefined) write(settingsFile, part);
      if (settingsFolder === undefined) continue;
      // Folders above it are the system's, such as /etc/culvert: the server must be able to enter them.
      mkdirSync(dirname(settingsFolder), { recursive: true, mode: 0o755 });
      mkdirSync(join(settingsFolder, 'files'), { recursive: true, mode: 0o700 });
      write(join(settingsFolder, isMain ? 'culvert.toml' : part.info.name), part);
    }
  } catch (cause) {
    throw new BackupError(
      `the data are restored to ${dataDir}, but the settings can't be written: ${messageOf(cause)}. ` +
        'Write them by hand, or move the data folder away and restore again.',
      { cause },
    );
  }
  return written;
}

/** Settings that root restores are for the server's user, too: the owner of the data folder. */
function giveGroup(file: string, dataDir: string): void {
  if (process.getuid?.() !== 0) return;
  const { uid, gid } = statSync(dataDir);
  if (uid !== 0) chownSync(file, uid, gid);
}
