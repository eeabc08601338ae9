/**
 * The form of a backup file, `culvert-backup/1`: two lines of text, then the payload. docs/contributing/backup-format.md describes it.
 *
 *   culvert-backup/1 ⏎
 *   {"created_at": …, "culvert": …, "encryption": null | {…}} ⏎
 *   payload: length of the manifest (4 bytes, big-endian), manifest (JSON), the parts one after the other
 */
import { readSync, writeSync } from 'node:fs';

export const MAGIC = 'culvert-backup/1';
/** Payloads are written, checked and encrypted in pieces of this size. */
export const CHUNK = 64 * 1024;
/** Both lines. */
const MAX_HEADER = 4_096;
export const MAX_MANIFEST = 16 * 1024 * 1024;

/** Why a backup can't be made, read or restored, and what to do: one line for the operator. */
export class BackupError extends Error {
  override readonly name = 'BackupError';
}

export interface Encryption {
  readonly kdf: 'scrypt';
  readonly log_n: number;
  readonly r: number;
  readonly p: number;
  /** Base64, as all that follow. */
  readonly salt: string;
  /** The file's own key, encrypted with the key that scrypt makes of the passphrase. */
  readonly key: string;
  readonly nonce: string;
}

export interface Header {
  readonly created_at: string;
  /** Version of the program that made the file. */
  readonly culvert: string;
  readonly encryption: Encryption | null;
}

export interface PartInfo {
  /** `culvert.db`, `seal.key`, `certificates/…`, `settings.toml`, `files/…`. */
  readonly name: string;
  readonly size: number;
  readonly sha256: string;
  /** Of a part of `files/`: where it was. */
  readonly path?: string;
  readonly executable?: boolean;
}

export interface Manifest {
  readonly created_at: string;
  readonly culvert: string;
  /** The migrations that the database has. */
  readonly schema: { readonly count: number; readonly tag: string; readonly hash: string };
  /** The data folder and the settings file that it was made from. */
  readonly data_dir: string;
  readonly settings_file: string | null;
  readonly parts: readonly PartInfo[];
}

/** What a backup may have. Anything else in a manifest would be written where its author wants it. */
const PART_NAME =
  /^(?:culvert\.db|seal\.key|settings\.toml|(?:certificates|files)\/[A-Za-z0-9_-][A-Za-z0-9._-]{0,200})$/;

export function headerBytes(header: Header): Buffer {
  return Buffer.from(`${MAGIC}\n${JSON.stringify(header)}\n`);
}

/** Reads both lines. Throws BackupError when the file is no backup that this program can read. */
export function readHeader(fd: number, file: string): { readonly header: Header; readonly bytes: Buffer } {
  const start = Buffer.alloc(MAX_HEADER);
  const text = start.subarray(0, readSync(fd, start, 0, MAX_HEADER, 0)).toString('latin1');
  const [first = ''] = text.split('\n', 1);
  if (first !== MAGIC) throw new BackupError(otherFile(file, first));
  const end = text.indexOf('\n', MAGIC.length + 1);
  const header = end < 0 ? undefined : headerOf(start.subarray(MAGIC.length + 1, end).toString());
  if (header === undefined) throw damaged(file);
  return { header, bytes: start.subarray(0, end + 1) };
}

function otherFile(file: string, first: string): string {
  if (first.startsWith('SQLite format 3'))
    return `${file} is a copy of a database alone, without keys and settings. The page about backups says how to put it back.`;
  const version = /^culvert-backup\/(\d{1,6})$/.exec(first)?.[1];
  return version === undefined
    ? `${file} is not a backup of Culvert. Name a file that culvert backup has made.`
    : `${file} has format ${version}, and this program reads format 1. Restore it with a newer Culvert.`;
}

/** The error for a file that is not as it was written. */
export function damaged(file: string, cause?: unknown): BackupError {
  return new BackupError(
    `${file} is damaged: it was cut short or changed after it was written. Use another backup, or copy this one again.`,
    { cause },
  );
}

function headerOf(line: string): Header | undefined {
  const value = jsonOf(line);
  if (!isTable(value)) return undefined;
  const { created_at: at, culvert, encryption } = value;
  if (typeof at !== 'string' || typeof culvert !== 'string') return undefined;
  if (encryption === null) return { created_at: at, culvert, encryption };
  return isEncryption(encryption) ? { created_at: at, culvert, encryption } : undefined;
}

function isEncryption(value: unknown): value is Encryption {
  if (!isTable(value)) return false;
  const { kdf, log_n: logN, r, p, salt, key, nonce } = value;
  // A file may not make the reader take gigabytes, or hours.
  const fits = (of: unknown, most: number): boolean => Number.isInteger(of) && Number(of) >= 1 && Number(of) <= most;
  return (
    kdf === 'scrypt' &&
    fits(logN, 20) &&
    fits(r, 16) &&
    fits(p, 4) &&
    [salt, key, nonce].every((of) => typeof of === 'string')
  );
}

/** The manifest of a payload. Undefined when it is none. */
export function manifestOf(text: string): Manifest | undefined {
  const value = jsonOf(text);
  if (!isTable(value) || !isTable(value['schema']) || !Array.isArray(value['parts'])) return undefined;
  const parts: readonly unknown[] = value['parts'];
  const names = parts.map((part) => (isPart(part) ? part.name : ''));
  const isWhole = ['culvert.db', 'seal.key'].every((name) => names.includes(name));
  return isWhole && !names.includes('') && new Set(names).size === names.length
    ? (value as unknown as Manifest)
    : undefined;
}

function isPart(value: unknown): value is PartInfo {
  if (!isTable(value)) return false;
  const { name, size, sha256 } = value;
  return typeof name === 'string' && PART_NAME.test(name) && Number.isSafeInteger(size) && typeof sha256 === 'string';
}

function isTable(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Writes all of it: a nearly full disk takes a part first, and refuses the next. */
export function writeAll(fd: number, bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length; ) at += writeSync(fd, bytes, at);
}
