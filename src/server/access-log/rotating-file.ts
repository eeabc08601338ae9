/**
 * A log file that rotates by size and age, keeps some old files, and opens its path again when another program has moved it. One write at a time: its
 * user waits for each. A write that fails leaves the file closed, and the next one tries again. A rotation that fails leaves it open: lines go on
 * into it, and the rotation is tried again after a minute.
 */
import { type FileHandle, open, readdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { codeOf } from '../../base/errors.ts';

export interface RotationRules {
  /** Bytes of a file; null: as many as come. */
  readonly maxBytes: number | null;
  readonly maxAgeMs: number | null;
  /** Old files that stay beside it. */
  readonly keep: number;
}

/** Called once for a series of failed rotations, and once when one works again. */
export interface RotationWatch {
  readonly failed: (error: unknown) => void;
  readonly mended: () => void;
}

interface RotationParts {
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly watch: RotationWatch;
}

/** After a rotation that failed: permissions stay as they are for a while, and each try costs. */
const ROTATE_AGAIN_MS = 60_000;
/** Other users of the machine read no addresses of visitors. */
const MODE = 0o640;
const NEWLINE = Buffer.from('\n');

export class RotatingFile {
  readonly #path: string;
  readonly #rules: RotationRules;
  readonly #now: () => number;
  readonly #watch: RotationWatch;
  #file: FileHandle | null = null;
  #bytes = 0;
  #since = 0;
  /** The last write was cut short: what comes next begins a line of its own. */
  #isTorn = false;
  #mustReopen = false;
  #failedRotations = 0;
  /** The last rotation failed. */
  #isStuck = false;
  #rotateAfter = 0;

  constructor(path: string, rules: RotationRules, { now, watch }: RotationParts) {
    this.#path = path;
    this.#rules = rules;
    this.#now = now;
    this.#watch = watch;
  }

  /** Since the start. */
  get failedRotations(): number {
    return this.#failedRotations;
  }

  /** Rejects when not all of it is written: the disk is full, the folder has gone. */
  async append(bytes: Buffer): Promise<void> {
    const file = await this.#ready(bytes.length);
    const whole = this.#isTorn ? Buffer.concat([NEWLINE, bytes]) : bytes;
    try {
      let done = 0;
      while (done < whole.length) {
        const { bytesWritten } = await file.write(whole, done, whole.length - done);
        done += bytesWritten;
        this.#bytes += bytesWritten;
        this.#isTorn = done < whole.length;
      }
    } catch (error) {
      await this.close().catch(() => undefined);
      throw error;
    }
  }

  /** The path is opened again before the next write. */
  reopen(): void {
    this.#mustReopen = true;
  }

  async close(): Promise<void> {
    const file = this.#file;
    this.#file = null;
    await file?.close();
  }

  async #ready(bytes: number): Promise<FileHandle> {
    if (this.#mustReopen) {
      this.#mustReopen = false;
      this.#rotateAfter = 0;
      await this.close();
    }
    this.#file ??= await this.#opened();
    if (this.#isDue(bytes)) await this.#rotate();
    return (this.#file ??= await this.#opened());
  }

  async #opened(): Promise<FileHandle> {
    const file = await open(this.#path, 'a', MODE);
    const { size, birthtimeMs } = await file.stat();
    this.#bytes = size;
    // Some file systems know no time of birth.
    this.#since = size === 0 || birthtimeMs <= 0 ? this.#now() : Math.min(birthtimeMs, this.#now());
    return file;
  }

  #isDue(more: number): boolean {
    const { maxBytes, maxAgeMs } = this.#rules;
    if (this.#bytes === 0 || this.#now() < this.#rotateAfter) return false;
    return (
      (maxBytes !== null && this.#bytes + more > maxBytes) ||
      (maxAgeMs !== null && this.#now() - this.#since >= maxAgeMs)
    );
  }

  async #rotate(): Promise<void> {
    try {
      await this.#moveAway();
      await this.#removeOld();
      if (this.#isStuck) this.#watch.mended();
      this.#isStuck = false;
    } catch (error) {
      this.#failedRotations++;
      this.#rotateAfter = this.#now() + ROTATE_AGAIN_MS;
      if (!this.#isStuck) this.#watch.failed(error);
      this.#isStuck = true;
    }
  }

  async #moveAway(): Promise<void> {
    try {
      await rename(this.#path, await this.#oldName());
    } catch (error) {
      // Another program has moved it already.
      if (codeOf(error) !== 'ENOENT') throw error;
    }
    this.#isTorn = false;
    await this.close();
  }

  async #removeOld(): Promise<void> {
    const old = await this.#oldFiles();
    const tooMany = old.slice(0, Math.max(0, old.length - this.#rules.keep));
    await Promise.all(tooMany.map((name) => rm(join(dirname(this.#path), name), { force: true })));
  }

  /** `access.log.2026-11-26T17-20-00Z`: names sort by time; a second one of a second gets a number. */
  async #oldName(): Promise<string> {
    const time = new Date(this.#now()).toISOString().slice(0, 19).replaceAll(':', '-');
    const name = `${basename(this.#path)}.${time}Z`;
    const taken = (await this.#oldFiles()).filter((old) => old.startsWith(name)).length;
    return join(dirname(this.#path), taken === 0 ? name : `${name}.${taken}`);
  }

  /** The oldest first. */
  async #oldFiles(): Promise<string[]> {
    const prefix = `${basename(this.#path)}.`;
    const names = await readdir(dirname(this.#path));
    const isOld = (name: string): boolean =>
      name.startsWith(prefix) && /^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ(\.\d+)?$/.test(name.slice(prefix.length));
    return names.filter(isOld).sort();
  }
}
