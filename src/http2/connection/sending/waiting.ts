/**
 * Body bytes of one stream that wait to be sent. Long ranges hold their slab, the others are copied and joined; what waits is bounded by the
 * windows of the tunnel's stream, so a service that sends byte by byte takes no more memory than it sends.
 */
import { type Slab, SLAB_BYTES } from '../../../base/bytes/slab.ts';
import { copyInto } from '../frame.ts';

/** Shorter ranges are copied: they would pin a shared slab of 256 KB. */
const HOLD_FROM = 16_384;
/** So many ranges of one connection are held, beyond that they are copied: visitors that take nothing would keep a slab for each. */
export const MAX_HELD = 8;
/** Copies are joined in pieces of this size, which come from the pool: a buffer for each 64 KB answer cost a tenth of the time in collecting it. */
export const PIECE_BYTES = 16_384;

/** Where pieces come from: out-buffer.ts. */
interface Pieces {
  takePiece(size: number): Buffer;
  givePiece(piece: Buffer): void;
}

/** What the streams of one connection hold. */
export interface HeldRanges {
  slabs: number;
  /** What they take of the memory: buffers and slabs are counted as long as they are, not as far as they are used. */
  bytes: number;
  readonly pool: Pieces;
}

interface Range {
  readonly bytes: Buffer;
  start: number;
  end: number;
  credit: number;
  /** Held until it is out; null: the bytes are a copy. */
  readonly slab: Slab | null;
  /** A copy in a piece of the pool. */
  readonly isPiece: boolean;
}

export class Waiting {
  /** How many bytes wait. */
  bytes = 0;
  /** What they take of the memory. */
  held = 0;
  readonly #ranges: Range[] = [];

  /** `bytes[start, end)`, for which `credit` is due once they have left. */
  add(bytes: Buffer, start: number, end: number, credit: number, slab: Slab, all: HeldRanges): void {
    this.bytes += end - start;
    if (slab.shared || end - start < HOLD_FROM || all.slabs >= MAX_HELD) this.#copy(bytes, start, end, credit, all);
    else {
      slab.hold();
      all.slabs++;
      this.#push({ bytes, start, end, credit, slab, isPiece: false }, all);
    }
  }

  /** Bytes that nothing changes any more: kept as they are. */
  keep(bytes: Buffer, all: HeldRanges): void {
    this.bytes += bytes.length;
    this.#push({ bytes, start: 0, end: bytes.length, credit: 0, slab: null, isPiece: false }, all);
  }

  /** Moves the first `length` bytes to `out` at `at`. Answers the credit that is due for them. */
  take(out: Uint8Array, at: number, length: number, all: HeldRanges): number {
    this.bytes -= length;
    let credit = 0;
    let left = length;
    while (left > 0) {
      const range = this.#ranges[0] as Range;
      const part = Math.min(left, range.end - range.start);
      copyInto(out, at + length - left, range.bytes, range.start, range.start + part);
      range.start += part;
      left -= part;
      const due = range.start === range.end ? range.credit : Math.min(part, range.credit);
      range.credit -= due;
      credit += due;
      if (range.start < range.end) break;
      this.#ranges.shift();
      this.#letGo(range, all);
    }
    return credit;
  }

  /** Lets go of all of it. */
  drop(all: HeldRanges): void {
    if (this.#ranges.length === 0) return;
    for (const range of this.#ranges) this.#letGo(range, all);
    this.#ranges.length = this.bytes = 0;
  }

  /** To the end of the last piece as far as it goes, the rest to new ones. */
  #copy(bytes: Buffer, start: number, end: number, credit: number, all: HeldRanges): void {
    let last = this.#ranges.at(-1);
    let left = credit;
    for (let from = start; from < end; ) {
      if (last === undefined || !last.isPiece || last.end === PIECE_BYTES) {
        const piece = all.pool.takePiece(PIECE_BYTES);
        last = { bytes: piece, start: 0, end: 0, credit: 0, slab: null, isPiece: true };
        this.#push(last, all);
      }
      const part = Math.min(end - from, PIECE_BYTES - last.end);
      copyInto(last.bytes, last.end, bytes, from, from + part);
      last.end += part;
      from += part;
      const due = from === end ? left : Math.min(part, left);
      last.credit += due;
      left -= due;
    }
  }

  #push(range: Range, all: HeldRanges): void {
    this.#ranges.push(range);
    this.held += sizeOf(range);
    all.bytes += sizeOf(range);
  }

  #letGo(range: Range, all: HeldRanges): void {
    this.held -= sizeOf(range);
    all.bytes -= sizeOf(range);
    if (range.isPiece) all.pool.givePiece(range.bytes);
    if (range.slab === null) return;
    range.slab.release();
    all.slabs--;
  }
}

function sizeOf({ bytes, slab }: Range): number {
  return slab === null ? bytes.length : SLAB_BYTES;
}
