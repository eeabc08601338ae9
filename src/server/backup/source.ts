/** What a backup is made of: the data folder, the settings file, and the files that the settings name. Plain data, so that a thread can have it. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { codeOf, messageOf } from '../../base/errors.ts';
import { PART_SUFFIX } from '../../base/process/durable-file.ts';
import { given } from '../../base/given.ts';
import type { Settings } from '../../config/schema.ts';
import { SEAL_KEY_FILE } from '../../control/core/secrets/sealing.ts';
import type { Part } from './archive.ts';
import { BackupError } from './format.ts';

/** Keys, certificates and settings are small: what is larger was named by mistake. */
export const MAX_SMALL = 1024 * 1024;
const CERTIFICATES = 'certificates';

export interface BackupSource {
  readonly dataDir: string;
  /** Null: the server runs on the defaults. */
  readonly settingsFile: string | null;
  /** Absolute paths. */
  readonly namedFiles: readonly string[];
  /** Of the program. */
  readonly version: string;
}

/** `settingsFile`: an absolute path. */
export function sourceOf(settings: Settings, settingsFile: string | null, version: string): BackupSource {
  return { dataDir: resolve(settings.data_dir), settingsFile, namedFiles: namedFiles(settings), version };
}

/** Not the passphrase of backups and the keys of their store: a backup that opens itself protects nothing. */
function namedFiles({ edge, agents, acme, metrics }: Settings): string[] {
  const { cert_file: edgeCert, key_file: edgeKey } = edge.tls;
  const files = [edgeCert, edgeKey, agents.cert_file, agents.key_file, acme.ca_file, acme.dns_hook, metrics.token_file];
  return [...new Set(files.filter((file) => file !== null))];
}

export interface SmallParts {
  readonly parts: readonly Part[];
  /** Files that the settings name and that could not be read, each with its reason. */
  readonly leftOut: readonly string[];
}

/** All but the database. Throws when a key can't be read. */
export function readSmallParts({ dataDir, settingsFile, namedFiles: named }: BackupSource): SmallParts {
  const parts: Part[] = [partOf(SEAL_KEY_FILE, join(dataDir, SEAL_KEY_FILE))];
  for (const name of certificateFiles(dataDir)) {
    parts.push(partOf(`${CERTIFICATES}/${name}`, join(dataDir, CERTIFICATES, name)));
  }
  if (settingsFile !== null) parts.push(partOf('settings.toml', settingsFile));
  const leftOut: string[] = [];
  for (const [index, path] of named.entries()) {
    // Without it the database and its keys are still worth a backup.
    try {
      parts.push(namedPart(path, index));
    } catch (error) {
      leftOut.push(messageOf(error));
    }
  }
  return { parts, leftOut };
}

function certificateFiles(dataDir: string): string[] {
  try {
    return readdirSync(join(dataDir, CERTIFICATES), { withFileTypes: true })
      .filter((entry) => entry.isFile() && !entry.name.endsWith(PART_SUFFIX))
      .map(({ name }) => name)
      .sort();
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return [];
    throw error;
  }
}

function namedPart(path: string, index: number): Part {
  const isProgram = (statSync(path, { throwIfNoEntry: false })?.mode ?? 0) & 0o100;
  const name = `files/${index}-${basename(path)
    .replaceAll(/[^A-Za-z0-9._-]/g, '_')
    .slice(0, 100)}`;
  return { ...partOf(name, path), path, ...given({ executable: isProgram === 0 ? undefined : true }) };
}

function partOf(name: string, file: string): Part {
  try {
    const { size } = statSync(file);
    if (size > MAX_SMALL) throw new Error(`it has ${size} bytes, and keys and settings have at most ${MAX_SMALL}`);
    return { name, from: { bytes: readFileSync(file) } };
  } catch (cause) {
    throw new BackupError(`${file} can't be read: ${messageOf(cause)}. Make it readable for the user of the server.`, {
      cause,
    });
  }
}
