/**
 * The last row of indexed fields of a connection. A browser's heads differ in the path, and repeat a row of indexed fields behind it: the same bytes
 * stand for the same lines as long as the table has not changed, and an integer of HPACK says where it ends, so a row that matches from where a field
 * begins ends where one does. Bytes, and within one connection: what one visitor sends is never compared with what another one sent.
 */
import { copy, isSame } from './primitives.ts';
import type { Table } from './table.ts';

/** Fields from which on a row is worth keeping; and how long it may be, in the block and in the head. */
export const MIN_FIELDS = 4;
const MAX_BLOCK = 64;
const MAX_LINES = 2_048;
const ROUND_UP = 255;

export class Row {
  /** Bytes in a block, and of the lines that they stand for. */
  length = 0;
  linesLength = 0;
  fields = 0;
  lines: Buffer = Buffer.alloc(0);
  readonly #block = Buffer.allocUnsafeSlow(MAX_BLOCK);
  #version = -1;

  /** Whether it comes again in `bytes` at `at`. */
  isAt(bytes: Buffer, at: number, end: number, table: Table): boolean {
    if (this.#version !== table.version || end - at < this.length) return false;
    return isSame(bytes, at, this.#block, 0, this.length);
  }

  /** Keeps `bytes[start, end)`, which stand for `lines[from, to)`, unless the one that it has is longer and still good. */
  keep(bytes: Buffer, start: number, end: number, lines: Buffer, from: number, to: number, table: Table): void {
    const length = end - start;
    if (this.#version === table.version && length < this.length) return;
    this.length = length;
    copy(bytes, start, end, this.#block, 0);
    this.linesLength = to - from;
    if (this.lines.length < to - from) this.lines = Buffer.allocUnsafeSlow((to - from + ROUND_UP) & ~ROUND_UP);
    copy(lines, from, to, this.lines, 0);
    this.#version = table.version;
  }
}

/** Whether a row of so many bytes is worth keeping. */
export function isWorthKeeping(blockBytes: number, lineBytes: number): boolean {
  return blockBytes <= MAX_BLOCK && lineBytes <= MAX_LINES;
}
