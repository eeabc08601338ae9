/**
 * Cache of a connection's last request head that has indexed fields only. A visitor that repeats a request sends the same few bytes. They mean the
 * same head as long as the table has not changed: comparing and copying replace the decoding. Within one connection, as in row.ts.
 */
import { copy, isSame } from './primitives.ts';
import type { HeadScratch } from './request-head.ts';

/** Longer blocks and heads are decoded each time. */
const MAX_BLOCK = 32;
const MAX_HEAD = 1_024;
const ROUND_UP = 255;
const NONE = Buffer.alloc(0);

export class RepeatedRequest {
  #version = -1;
  #isWhole = false;
  #blockLength = 0;
  #block = NONE;
  #headLength = 0;
  #head = NONE;
  #lines = 0;
  #isHead = false;
  #contentLength = -1;
  #urgency = 0;
  #isIncremental = false;

  /** Puts the head of the block `bytes[start, end)` into `into`, if it is this one. */
  isAgain(bytes: Buffer, start: number, end: number, isWhole: boolean, version: number, into: HeadScratch): boolean {
    const length = end - start;
    if (length !== this.#blockLength || version !== this.#version || isWhole !== this.#isWhole) return false;
    if (!isSame(bytes, start, this.#block, 0, length)) return false;
    into.begin(length);
    into.wireBytes = length;
    into.end = copy(this.#head, 0, this.#headLength, into.bytes, into.start);
    into.lines = this.#lines;
    into.isHead = this.#isHead;
    into.contentLength = this.#contentLength;
    into.priority.urgency = this.#urgency;
    into.priority.isIncremental = this.#isIncremental;
    return true;
  }

  /** Keeps the block, of which nothing went to the table, and the head in `of` that it became: the second time that it comes. */
  keep(bytes: Buffer, start: number, end: number, isWhole: boolean, version: number, of: HeadScratch): void {
    const length = end - start;
    const headLength = of.end - of.start;
    if (length > MAX_BLOCK || headLength > MAX_HEAD || of.reason !== '' || of.isWebsocket) return;
    if (length !== this.#blockLength) {
      this.#blockLength = length;
      this.#version = -1;
      return;
    }
    if (this.#block.length === 0) this.#block = Buffer.allocUnsafeSlow(MAX_BLOCK);
    if (this.#head.length < headLength) this.#head = Buffer.allocUnsafeSlow((headLength + ROUND_UP) & ~ROUND_UP);
    copy(bytes, start, end, this.#block, 0);
    this.#headLength = copy(of.bytes, of.start, of.end, this.#head, 0);
    this.#isWhole = isWhole;
    this.#lines = of.lines;
    this.#isHead = of.isHead;
    this.#contentLength = of.contentLength;
    this.#urgency = of.priority.urgency;
    this.#isIncremental = of.priority.isIncremental;
    this.#version = version;
  }
}
