/**
 * Cache of a connection's last response head and its block. A repeated response gets the same bytes. They mean the same head as long as the table has
 * not changed: comparing and copying replace the encoding.
 */
import type { Head } from '../http1/head.ts';
import { copy, isSame } from './primitives.ts';

/** Longer heads, blocks and lists of drops are encoded each time. */
const MAX_LINES = 1_024;
const MAX_BLOCK = 256;
const MAX_DROPS = 4;
const ROUND_UP = 255;
const NONE = Buffer.alloc(0);

export class RepeatedResponse {
  /** What `Encoder.counted` was. */
  counted = 0;
  /** The last head has another length than the one before: keeping it is not worth it. */
  isNew = true;
  #version = -1;
  #status = 0;
  #length = 0;
  #lines = NONE;
  #blockLength = 0;
  #block = NONE;
  /** As in a head, from its first line on. */
  readonly #drops: number[] = [];

  /** Whether `head` of `bytes` would be the same block by a table of this `version`. */
  isAgain(bytes: Buffer, head: Head, version: number): boolean {
    const start = head.lines[0] as number;
    const length = (head.lines[head.lineCount] as number) - start;
    this.isNew = length !== this.#length;
    if (this.isNew) {
      this.#length = length;
      this.#version = -1;
      return false;
    }
    if (version !== this.#version || head.status !== this.#status) return false;
    return this.#hasDrops(head, start) && isSame(bytes, start, this.#lines, 0, length);
  }

  /** Writes the block to `out` at `at`. Answers where it ends. */
  write(out: Buffer, at: number): number {
    return copy(this.#block, 0, this.#blockLength, out, at);
  }

  /** Keeps the block of the head last asked for, of which nothing went to the table. */
  keep(bytes: Buffer, head: Head, version: number, block: Buffer, counted: number): void {
    const length = this.#length;
    if (length > MAX_LINES || block.length > MAX_BLOCK || head.dropCount > MAX_DROPS) return;
    const start = head.lines[0] as number;
    if (this.#lines.length < length) this.#lines = Buffer.allocUnsafeSlow((length + ROUND_UP) & ~ROUND_UP);
    if (this.#block.length === 0) this.#block = Buffer.allocUnsafeSlow(MAX_BLOCK);
    copy(bytes, start, start + length, this.#lines, 0);
    this.#blockLength = copy(block, 0, block.length, this.#block, 0);
    this.#drops.length = 0;
    for (let i = 0; i < 2 * head.dropCount; i++) this.#drops.push((head.drops[i] as number) - start);
    this.#status = head.status;
    this.counted = counted;
    this.#version = version;
  }

  #hasDrops(head: Head, start: number): boolean {
    if (2 * head.dropCount !== this.#drops.length) return false;
    for (let i = 0; i < this.#drops.length; i++) {
      if ((head.drops[i] as number) - start !== this.#drops[i]) return false;
    }
    return true;
  }
}
