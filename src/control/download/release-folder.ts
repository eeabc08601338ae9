/**
 * The kept files of one release: which of them are as its signed list says. A file is hashed once, and again when it changes; links are never
 * followed. What does not fit is logged once and not offered.
 */
import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, lstat, open } from 'node:fs/promises';
import { join } from 'node:path';
import { codeOf, messageOf } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import {
  checkRelease,
  INSTALLER_FILES,
  MAX_ARCHIVE_BYTES,
  SIGNATURE_FILE,
  type SignedRelease,
  SUMS_FILE,
} from '../../base/release/signed-release.ts';
import { sha256 } from '../../base/release/verify.ts';

/** The signed list and its signature are far smaller. */
const MAX_LIST_BYTES = 1_000_000;
const HASHED_PIECE = 256 * 1024;
/** Not on Windows, where `lstat` alone finds links. */
const NO_FOLLOW = constants.O_NOFOLLOW ?? 0;
const NOT_THERE = new Set(['ENOENT', 'ENOTDIR']);

/** A file that is what the release signed. */
export interface VerifiedFile {
  readonly name: string;
  readonly size: number;
  readonly sum: string;
  /** Changes with the content. */
  readonly stamp: string;
}

export interface VerifiedRelease {
  readonly release: SignedRelease;
  readonly files: ReadonlyMap<string, VerifiedFile>;
}

interface OpenFile {
  readonly handle: FileHandle;
  readonly size: number;
  readonly stamp: string;
}

interface Known {
  readonly stamp: string;
  readonly sum: string;
}

export class ReleaseFolder {
  readonly #folder: string;
  readonly #version: string;
  readonly #key: string;
  readonly #log: Logger;
  /** Hashes by name, of the files of the present list alone. */
  #known = new Map<string, Known>();
  /** Faults that the log has, each once as long as it stays. */
  #faults = new Set<string>();

  constructor(at: { readonly folder: string; readonly version: string; readonly key: string; readonly log: Logger }) {
    this.#folder = at.folder;
    this.#version = at.version;
    this.#key = at.key;
    this.#log = at.log;
  }

  /** Reads the list, and hashes what has changed since the last call. Undefined: no release is kept, or its signature is not valid. */
  async look(): Promise<VerifiedRelease | undefined> {
    const faults = new Set<string>();
    const found = await this.#read(faults);
    for (const fault of faults)
      if (!this.#faults.has(fault)) this.#log.error({ folder: this.#folder }, `not offered for download: ${fault}`);
    this.#faults = faults;
    return found;
  }

  /** Opens a file that `look` has found; undefined when it is another one by now. The caller closes the handle. */
  async open({ name, stamp }: VerifiedFile): Promise<FileHandle | undefined> {
    const file = await openRegular(join(this.#folder, name));
    if (file?.stamp === stamp) return file.handle;
    await file?.handle.close();
    return undefined;
  }

  async #read(faults: Set<string>): Promise<VerifiedRelease | undefined> {
    const release = await this.#readList(faults);
    if (release === undefined) {
      this.#known = new Map();
      return undefined;
    }
    const files = new Map<string, VerifiedFile>();
    const known = new Map<string, Known>();
    for (const name of [...INSTALLER_FILES, ...release.archives.values()]) {
      const wanted = release.sums.get(name);
      const found = wanted === undefined ? undefined : await this.#hash(name, faults);
      if (found === undefined) continue;
      known.set(name, found);
      if (found.sum === wanted) files.set(name, { name, ...found });
      else faults.add(`${name} is not the signed file: its checksum differs. Fetch it again`);
    }
    this.#known = known;
    return { release, files };
  }

  async #readList(faults: Set<string>): Promise<SignedRelease | undefined> {
    try {
      if (!(await lstat(this.#folder)).isDirectory()) {
        faults.add('it is not a folder');
        return undefined;
      }
      const list = await readSmall(join(this.#folder, SUMS_FILE));
      const signature = await readSmall(join(this.#folder, SIGNATURE_FILE));
      if (list === undefined || signature === undefined) return undefined;
      const release = checkRelease({ list, signature }, this.#key, this.#folder);
      if (release.version === this.#version) return release;
      faults.add(`its files are of version ${release.version}`);
    } catch (error) {
      if (!NOT_THERE.has(codeOf(error) ?? '')) faults.add(messageOf(error));
    }
    return undefined;
  }

  async #hash(name: string, faults: Set<string>): Promise<(Known & { readonly size: number }) | undefined> {
    try {
      const file = await openRegular(join(this.#folder, name));
      if (file === undefined) return undefined;
      const { handle, size, stamp } = file;
      try {
        if (size > MAX_ARCHIVE_BYTES) throw new Error(`${name} is too large for a file of a release`);
        const known = this.#known.get(name);
        return { size, stamp, sum: known?.stamp === stamp ? known.sum : await hashOf(handle) };
      } finally {
        await handle.close();
      }
    } catch (error) {
      faults.add(messageOf(error));
      return undefined;
    }
  }
}

/** Undefined when it is not there. @throws when it is a link, a folder or a device, or can't be read. */
async function openRegular(path: string): Promise<OpenFile | undefined> {
  let handle: FileHandle | undefined;
  try {
    // First, for an open of a pipe waits for its other end.
    if (!(await lstat(path)).isFile()) throw new Error(`${path} is not a regular file`);
    handle = await open(path, constants.O_RDONLY | NO_FOLLOW);
    const found = await handle.stat({ bigint: true });
    if (!found.isFile()) throw new Error(`${path} is not a regular file`);
    const { dev, ino, size, mtimeNs, ctimeNs } = found;
    return { handle, size: Number(size), stamp: [dev, ino, size, mtimeNs, ctimeNs].join(':') };
  } catch (error) {
    await handle?.close();
    if (NOT_THERE.has(codeOf(error) ?? '')) return undefined;
    throw error;
  }
}

async function readSmall(path: string): Promise<Buffer | undefined> {
  const file = await openRegular(path);
  if (file === undefined) return undefined;
  try {
    if (file.size > MAX_LIST_BYTES) throw new Error(`${path} is too large`);
    return await file.handle.readFile();
  } finally {
    await file.handle.close();
  }
}

async function hashOf(handle: FileHandle): Promise<string> {
  const hash = createHash('sha256');
  for await (const piece of handle.createReadStream({ start: 0, autoClose: false, highWaterMark: HASHED_PIECE }))
    hash.update(piece as Buffer);
  return hash.digest('hex');
}

/** The two files that the list itself is in, from memory: as they were verified. */
export function listFiles({ list, signature }: SignedRelease): ReadonlyMap<string, { bytes: Buffer; sum: string }> {
  return new Map(
    Object.entries({ [SUMS_FILE]: list, [SIGNATURE_FILE]: signature }).map(([name, bytes]) => [
      name,
      { bytes, sum: sha256(bytes) },
    ]),
  );
}
