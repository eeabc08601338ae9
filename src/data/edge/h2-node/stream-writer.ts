/**
 * Writes ranges of slabs to an HTTP/2 stream. nghttp2 sends from the bytes it is given, whenever the visitor's window allows, so a
 * range's slab is held or its bytes are copied; credit is given once they have gone to the kernel. One write is outstanding at a
 * time, and what comes meanwhile goes out together as the next. What waits is bounded by the windows of the tunnel's stream: short copies are
 * joined, so that a service which sends byte by byte takes no more memory than it sends.
 */
import type { ServerHttp2Stream } from 'node:http2';
import { type Slab, SLAB_BYTES } from '../../../base/bytes/slab.ts';
import { MAX_HELD } from '../h2/stream-memory.ts';

/** Shorter ranges are copied: they would pin a shared slab of 256 KB. */
const HOLD_FROM = 16_384;
/** Copies are joined in buffers of this size. */
const JOINED_BYTES = 16_384;

/** Ranges that the streams of one connection hold. */
export interface HeldRanges {
  held: number;
}

/** No more than this is written at once, unless it came as one: that a slow visitor goes on taking it shows between two writes. */
const WRITE_BYTES = 131_072;

interface Range {
  readonly bytes: Buffer;
  /** So much of `bytes` is used. */
  length: number;
  credit: number;
  /** Held until it is out; null: the bytes are a copy. */
  readonly slab: Slab | null;
}

export class StreamWriter {
  readonly #stream: ServerHttp2Stream;
  readonly #ranges: HeldRanges;
  readonly #onCredit: (bytes: number) => void;
  readonly #onWritten = (): void => this.#written();
  readonly #waiting: Range[] = [];
  /** What nghttp2 has now. */
  readonly #out: Range[] = [];
  #backlog = 0;
  #heldBytes = 0;
  #isEnding = false;

  constructor(stream: ServerHttp2Stream, ranges: HeldRanges, onCredit: (bytes: number) => void) {
    this.#stream = stream;
    this.#ranges = ranges;
    this.#onCredit = onCredit;
  }

  /** Bytes that have not left yet. */
  get backlog(): number {
    return this.#backlog;
  }

  /** What it takes of the memory: buffers and slabs are counted as long as they are, not as far as they are used. */
  get heldBytes(): number {
    return this.#heldBytes;
  }

  push(bytes: Buffer, start: number, end: number, credit: number, slab: Slab): void {
    if (this.#stream.destroyed || this.#isEnding) return;
    this.#backlog += end - start;
    if (slab.shared || end - start < HOLD_FROM || this.#ranges.held >= MAX_HELD) this.#copy(bytes, start, end, credit);
    else {
      slab.hold();
      this.#ranges.held++;
      this.#add({ bytes: bytes.subarray(start, end), length: end - start, credit, slab });
    }
    if (this.#out.length === 0) this.#write();
  }

  /** Ends the stream's sending half after everything that was pushed. */
  end(): void {
    if (this.#isEnding) return;
    this.#isEnding = true;
    this.#endIfHandedOver();
  }

  /** Lets go of what waits: for a stream that is gone. What is out comes back by itself. */
  drop(): void {
    this.#letGo(this.#waiting);
    this.#isEnding = true;
  }

  #add(range: Range): void {
    this.#heldBytes += sizeOf(range);
    this.#waiting.push(range);
  }

  /** To the end of the last copy as far as it goes, the rest to a new one. What goes out at once is copied as it is. */
  #copy(bytes: Buffer, start: number, end: number, credit: number): void {
    const last = this.#waiting.at(-1);
    let from = start;
    if (last !== undefined && last.slab === null) {
      from += bytes.copy(last.bytes, last.length, start, end);
      last.length += from - start;
      if (from === end) {
        last.credit += credit;
        return;
      }
    }
    const length = end - from;
    const isAlone = this.#out.length === 0 || length >= JOINED_BYTES;
    const copy = isAlone ? Buffer.allocUnsafe(length) : Buffer.allocUnsafeSlow(JOINED_BYTES);
    bytes.copy(copy, 0, from, end);
    this.#add({ bytes: copy, length, credit, slab: null });
  }

  #write(): void {
    let bytes = 0;
    while (this.#waiting.length > 0 && (bytes === 0 || bytes + (this.#waiting[0] as Range).length <= WRITE_BYTES)) {
      const range = this.#waiting.shift() as Range;
      bytes += range.length;
      this.#out.push(range);
    }
    const last = this.#out.length - 1;
    if (last > 0) this.#stream.cork();
    for (let i = 0; i < last; i++) this.#stream.write(usedOf(this.#out[i] as Range));
    this.#stream.write(usedOf(this.#out[last] as Range), this.#onWritten);
    if (last > 0) this.#stream.uncork();
  }

  /** Also called, with an error, for what a stream that is destroyed has not sent. */
  #written(): void {
    const credit = this.#letGo(this.#out);
    if (this.#stream.destroyed) return;
    if (this.#waiting.length > 0) this.#write();
    if (credit > 0) this.#onCredit(credit);
    if (this.#isEnding) this.#endIfHandedOver();
  }

  /** Empties the list; answers the credit of what was in it. */
  #letGo(ranges: Range[]): number {
    let credit = 0;
    for (const range of ranges) {
      credit += range.credit;
      this.#backlog -= range.length;
      this.#heldBytes -= sizeOf(range);
      if (range.slab === null) continue;
      range.slab.release();
      this.#ranges.held--;
    }
    ranges.length = 0;
    return credit;
  }

  /** Not after the outstanding write but with it: its last frame says the end. */
  #endIfHandedOver(): void {
    if (this.#waiting.length === 0 && !this.#stream.writableEnded) this.#stream.end();
  }
}

function usedOf({ bytes, length }: Range): Buffer {
  return length === bytes.length ? bytes : bytes.subarray(0, length);
}

function sizeOf({ bytes, slab }: Range): number {
  return slab === null ? bytes.length : SLAB_BYTES;
}
