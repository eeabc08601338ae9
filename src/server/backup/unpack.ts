/** From a backup to a folder that a server can run on, and the checks of it: pages, migrations, and that the key opens what is sealed. */
import { closeSync, fsyncSync, mkdirSync, openSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { flushFolder } from '../../base/process/durable-file.ts';
import { messageOf } from '../../base/errors.ts';
import { sealPurpose } from '../../control/core/secrets/keys.ts';
import { openSealer } from '../../control/core/secrets/sealing.ts';
import { DATABASE_FILE, openCopy, verdictOn } from '../../control/db/open.ts';
import type { Sqlite } from '../../control/db/sqlite.ts';
import type { Archive, PartSink } from './archive.ts';
import { BackupError, type Manifest, type PartInfo, writeAll } from './format.ts';
import { requireKnownSchema, schemaOf } from './schema-check.ts';
import { MAX_SMALL } from './source.ts';
import { type Served, servedBy } from './summary.ts';

/** A part that is not for the data folder: the settings, or a file that they name. */
export interface SettingsPart {
  readonly info: PartInfo;
  readonly bytes: Buffer;
}

export interface Unpacked {
  readonly manifest: Manifest;
  readonly served: Served;
  readonly settings: readonly SettingsPart[];
}

/** Writes the parts of the data folder into an empty folder, and checks what is there. Throws BackupError that names `what`; the caller removes the folder. */
export function unpack(archive: Archive, folder: string, { what, now }: Pick<Checked, 'what' | 'now'>): Unpacked {
  const sink = new FolderSink(folder);
  let manifest: Manifest;
  try {
    manifest = archive.read(sink);
  } finally {
    sink.close();
  }
  for (const name of sink.folders) flushFolder(name);
  flushFolder(folder);
  const sqlite = openCopy(join(folder, DATABASE_FILE));
  try {
    return { manifest, served: checkFolder(sqlite, { folder, what, manifest, now }), settings: sink.settings };
  } finally {
    sqlite.close();
  }
}

interface Checked {
  readonly folder: string;
  readonly what: string;
  readonly manifest: Manifest;
  readonly now: number;
}

function checkFolder(sqlite: Sqlite, { folder, what, manifest, now }: Checked): Served {
  const verdict = verdictOn(sqlite);
  if (verdict !== 'ok') throw new BackupError(`the database in ${what} is damaged: ${verdict}. Use another backup.`);
  requireKnownSchema(schemaOf(sqlite), what, manifest.culvert);
  openKeys(sqlite, { folder, what });
  return servedBy(sqlite, now);
}

/** Opens the signing keys of the database with the key file. */
function openKeys(sqlite: Sqlite, { folder, what }: Pick<Checked, 'folder' | 'what'>): void {
  const rows = sqlite.prepare<[], { id: string; sealed: string }>(
    'SELECT id, sealed_private AS sealed FROM signing_keys',
  );
  try {
    const sealer = openSealer(folder);
    for (const { id, sealed } of rows.all()) sealer.open(sealPurpose(id), sealed);
  } catch (cause) {
    throw new BackupError(`the keys in ${what} do not fit together: ${messageOf(cause)}. Use another backup.`, {
      cause,
    });
  }
}

/** Parts of the data folder become files; settings stay in memory until the folder has its name. */
class FolderSink implements PartSink {
  readonly #folder: string;
  readonly folders = new Set<string>();
  readonly settings: SettingsPart[] = [];
  #fd: number | undefined;
  #small: Buffer[] | undefined;

  constructor(folder: string) {
    this.#folder = folder;
  }

  begin({ name, size }: PartInfo): void {
    if (name === 'settings.toml' || name.startsWith('files/')) {
      if (size > MAX_SMALL)
        throw new BackupError(`the backup has ${size} bytes of settings in ${name}. Use another one.`);
      this.#small = [];
      return;
    }
    const file = join(this.#folder, name);
    if (dirname(file) !== this.#folder) {
      mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
      this.folders.add(dirname(file));
    }
    this.#fd = openSync(file, 'wx', 0o600);
  }

  bytes(chunk: Buffer): void {
    if (this.#fd === undefined) this.#small?.push(Buffer.from(chunk));
    else writeAll(this.#fd, chunk);
  }

  end(info: PartInfo): void {
    if (this.#small !== undefined) this.settings.push({ info, bytes: Buffer.concat(this.#small) });
    this.#small = undefined;
    if (this.#fd !== undefined) fsyncSync(this.#fd);
    this.close();
  }

  close(): void {
    if (this.#fd !== undefined) closeSync(this.#fd);
    this.#fd = undefined;
  }
}
