/**
 * Long writes beside a server that must not notice: what was written goes to the disk in small portions, and each is followed by a rest as long as
 * it took. For a thread or a command of its own: it holds the caller.
 */
import { fdatasyncSync } from 'node:fs';

/** A disk that is given a gigabyte at once makes every other write wait until all of it is stored. */
const PORTION = 4 * 1024 * 1024;
const MAX_REST_MS = 250;

const cell = new Int32Array(new SharedArrayBuffer(4));

export class Pace {
  readonly #fd: number;
  #bytes = 0;
  #since = performance.now();

  /** `fd`: of the file that is written. */
  constructor(fd: number) {
    this.#fd = fd;
  }

  /** To be called after each write. */
  wrote(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes < PORTION) return;
    fdatasyncSync(this.#fd);
    Atomics.wait(cell, 0, 0, Math.min(performance.now() - this.#since, MAX_REST_MS));
    this.#bytes = 0;
    this.#since = performance.now();
  }
}
