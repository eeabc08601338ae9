/**
 * The file of `--save-file`, or of `--output` with a WireGuard configuration: a key for its owner alone, whole or not at all. It is opened beside its place before the key is made, so that what can
 * fail has failed by then; an agent that reads the file meanwhile finds the old key or the new one.
 */
import { constants, realpathSync } from 'node:fs';
import { type FileHandle, link, open, rename, rm, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { codeOf, messageOf } from '../../base/errors.ts';
import { usageError } from '../terminal/exit.ts';

/** Of an earlier file's mode: its group keeps read access. Only the owner writes. */
const KEPT = 0o640;
const OWNER = 0o600;

export interface KeyFileOptions {
  /** Folder that a relative path begins in. */
  readonly cwd: string;
  /** One that is there is replaced. */
  readonly replaces: boolean;
  /** True: the readers of the replaced file can read this one. False: only the caller can. */
  readonly keepsReaders: boolean;
}

export class KeyFile {
  /** As the user wrote it. */
  readonly path: string;
  readonly #place: string;
  readonly #part: string;
  readonly #handle: FileHandle;
  readonly #replaces: boolean;

  private constructor(path: string, opened: { place: string; part: string; handle: FileHandle; replaces: boolean }) {
    this.path = path;
    this.#place = opened.place;
    this.#part = opened.part;
    this.#handle = opened.handle;
    this.#replaces = opened.replaces;
  }

  /** Makes room for a key. @throws ExitError (usage) when the file is there and may not be replaced, or can't be written. */
  static async open(path: string, { cwd, replaces, keepsReaders }: KeyFileOptions): Promise<KeyFile> {
    const place = realPlace(resolve(cwd, path));
    const part = `${place}.${process.pid}.part`;
    try {
      const found = await stat(resolve(cwd, path)).catch((error: unknown) => {
        if (codeOf(error) === 'ENOENT') return undefined;
        throw error;
      });
      if (found !== undefined && !found.isFile()) throw usageError(`${path}: is not a file`);
      if (found !== undefined && !replaces) throw usageError(`${path}: already exists. Use --force to replace it`);
      await rm(part, { force: true }); // of an earlier process with this id
      const handle = await open(part, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, OWNER);
      const file = new KeyFile(path, { place, part, handle, replaces });
      if (found !== undefined && keepsReaders) await file.#take(found);
      return file;
    } catch (cause) {
      await rm(part, { force: true });
      if (codeOf(cause) === undefined) throw cause;
      const why = codeOf(cause) === 'ENOENT' ? 'its folder does not exist' : messageOf(cause);
      throw usageError(`${path}: cannot be written: ${why}`, cause);
    }
  }

  /** Puts the key in its place. @throws Error when that fails after all; nothing is left then. */
  async keep(key: string): Promise<void> {
    try {
      await this.#handle.writeFile(`${key}\n`);
      await this.#handle.sync();
      if (this.#replaces) await rename(this.#part, this.#place);
      else await link(this.#part, this.#place); // unlike a rename, this replaces nothing that came meanwhile
    } finally {
      await this.close();
    }
  }

  /** Leaves the place as it was. May be called twice. */
  async close(): Promise<void> {
    await this.#handle.close();
    await rm(this.#part, { force: true });
  }

  /** Readers of the old key, such as an agent of another user, can read the new one. No other user of this machine can. */
  async #take(old: { mode: number; uid: number; gid: number }): Promise<void> {
    const mine = await this.#handle.stat();
    if (mine.uid !== old.uid || mine.gid !== old.gid) await this.#handle.chown(old.uid, old.gid);
    await this.#handle.chmod((old.mode & KEPT) | OWNER);
  }
}

/** Where the bytes lie: a link to the file stays a link. */
function realPlace(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path; // nothing there yet; what else is wrong with it, opening it tells
  }
}
