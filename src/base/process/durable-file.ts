/**
 * Files that a kill or a power cut leaves whole or not there at all: written aside, on the disk before they get their name, and the name on
 * the disk before the call returns. For keys, certificates, logins, and copies of the database.
 */
import { randomBytes } from 'node:crypto';
import { closeSync, existsSync, fsyncSync, linkSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { codeOf } from '../errors.ts';

/** The end of a file that is being written. One that stays was cut short, and may be deleted. */
export const PART_SUFFIX = '.part';
/** What a file system says that has no hard links (FAT, some network shares). */
const NO_LINKS = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EINVAL']);
/** What one says that does not flush folders. */
const NO_FLUSH = new Set(['EINVAL', 'ENOTSUP', 'EOPNOTSUPP', 'EISDIR']);

export interface DurableOptions {
  /** False: throws EEXIST where a file has the name already. */
  readonly replaces: boolean;
  /** Its name until it is whole; a file that has it is replaced. Default: a random name beside it. */
  readonly part?: string;
}

/** Writes a file that its owner alone may read (0600). @throws the system's error; nothing has changed then. */
export function writeDurably(file: string, content: string | Uint8Array, options: DurableOptions): void {
  placeDurably(file, options, (part) => writeFileSync(part, content, { flag: 'r+' }));
}

/**
 * Gives `file` what `fill` writes into the empty file (0600) that it receives, unless that throws.
 * @throws what `fill` throws, or the system's error; `file` is as it was then.
 */
export function placeDurably(file: string, options: DurableOptions, fill: (part: string) => void): void {
  const { replaces, part = `${file}.${randomBytes(6).toString('hex')}${PART_SUFFIX}` } = options;
  if (!replaces && existsSync(file)) throw alreadyThere(file);
  try {
    if (options.part !== undefined) rmSync(part, { force: true });
    closeSync(openSync(part, 'wx', 0o600));
    fill(part);
    flush(part, 'r+');
    if (replaces) renameSync(part, file);
    else linkNew(part, file);
  } finally {
    rmSync(part, { force: true });
  }
  flushFolder(dirname(file));
}

/** Unlike a rename, a link takes the place of no file that came meanwhile. */
function linkNew(part: string, file: string): void {
  try {
    linkSync(part, file);
  } catch (error) {
    if (!NO_LINKS.has(codeOf(error) ?? '')) throw error;
    if (existsSync(file)) throw alreadyThere(file);
    renameSync(part, file);
  }
}

/** Names are kept in the folder: without this a power cut may take one. */
export function flushFolder(folder: string): void {
  // Windows opens no folders; its file system logs names by itself.
  if (process.platform === 'win32') return;
  try {
    flush(folder, 'r');
  } catch (error) {
    if (!NO_FLUSH.has(codeOf(error) ?? '')) throw error;
  }
}

function flush(path: string, flags: 'r' | 'r+'): void {
  const fd = openSync(path, flags);
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

function alreadyThere(file: string): Error {
  return Object.assign(new Error(`${file} already exists`), { code: 'EEXIST' });
}
