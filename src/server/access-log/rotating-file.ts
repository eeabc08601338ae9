/**
 * A log file that rotates by size and age, keeps some old files, and opens its path again when another program has moved it. One write at a time: its
 * user waits for each. What fails leaves the file closed, and the next write tries again.
 */
import { type FileHandle, open, readdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

export interface RotationRules {
  /** Bytes of a file; null: as many as come. */
  readonly maxBytes: number | null;
  readonly maxAgeMs: number | null;
  /** Old files that stay beside it. */
  readonly keep: number;
}

/** Other users of the machine read no addresses of visitors. */
const MODE = 0o640;
const NEWLINE = Buffer.from('\n');

export class RotatingFile {
  readonly #path: string;
  readonly #rules: RotationRules;
  readonly #now: () => number;
  #file: FileHandle | null = null;
  #bytes = 0;
  #since = 0;
  /** The last write was cut short: what comes next begins a line of its own. */
  #isTorn = false;
  #mustReopen = false;

  constructor(path: string, rules: RotationRules, now: () => number) {
    this.#path = path;
    this.#rules = rules;
    this.#now = now;
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
      await this.close();
    }
    if (this.#file !== null && this.#isDue(bytes)) await this.#rotate();
    if (this.#file !== null) return this.#file;
    const file = await open(this.#path, 'a', MODE);
    const { size, birthtimeMs } = await file.stat();
    this.#file = file;
    this.#bytes = size;
    // Some file systems know no time of birth.
    this.#since = size === 0 || birthtimeMs <= 0 ? this.#now() : Math.min(birthtimeMs, this.#now());
    if (!this.#isDue(bytes)) return file;
    await this.#rotate();
    return this.#ready(bytes);
  }

  #isDue(more: number): boolean {
    const { maxBytes, maxAgeMs } = this.#rules;
    if (this.#bytes === 0) return false;
    return (
      (maxBytes !== null && this.#bytes + more > maxBytes) ||
      (maxAgeMs !== null && this.#now() - this.#since >= maxAgeMs)
    );
  }

  async #rotate(): Promise<void> {
    await this.close();
    await rename(this.#path, await this.#oldName());
    this.#isTorn = false;
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
