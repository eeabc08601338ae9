/**
 * Writes ranges of slabs to an HTTP/2 stream. nghttp2 sends from the bytes it is given, whenever the visitor's window allows, so a
 * range's slab is held or its bytes are copied; credit is given once they have gone to the kernel. One write is outstanding at a
 * time, and what comes meanwhile goes out together as the next. What waits is bounded by the windows of the tunnel's stream.
 */
import type { ServerHttp2Stream } from 'node:http2';
import type { Slab } from '../../../base/slab.ts';

/** Shorter ranges are copied: they would keep a slab of 256 KB from everybody. */
const HOLD_FROM = 16_384;
/** So many ranges of one connection are held, beyond that they are copied: visitors that take nothing would keep a slab for each. */
const MAX_HELD = 8;

/** Ranges that the streams of one connection hold. */
export interface HeldRanges {
  held: number;
}

/** What is written at once. */
class Batch {
  pieces: Buffer[] = [];
  /** Held until it is out. */
  slabs: Slab[] = [];
  bytes = 0;
  credit = 0;
  readonly #ranges: HeldRanges;

  constructor(ranges: HeldRanges) {
    this.#ranges = ranges;
  }

  add(bytes: Buffer, start: number, end: number, credit: number, slab: Slab): void {
    const view = bytes.subarray(start, end);
    if (slab.shared || end - start < HOLD_FROM || this.#ranges.held >= MAX_HELD) this.pieces.push(Buffer.from(view));
    else {
      slab.hold();
      this.#ranges.held++;
      this.slabs.push(slab);
      this.pieces.push(view);
    }
    this.bytes += end - start;
    this.credit += credit;
  }

  /** Lets go of everything: it is out, or never will be. */
  clear(): void {
    for (const slab of this.slabs) slab.release();
    this.#ranges.held -= this.slabs.length;
    this.pieces.length = this.slabs.length = this.bytes = this.credit = 0;
  }
}

export class StreamWriter {
  readonly #stream: ServerHttp2Stream;
  readonly #onCredit: (bytes: number) => void;
  readonly #onWritten = (): void => this.#written();
  #out: Batch;
  #waiting: Batch;
  #isOut = false;
  #isEnding = false;

  constructor(stream: ServerHttp2Stream, ranges: HeldRanges, onCredit: (bytes: number) => void) {
    this.#stream = stream;
    this.#out = new Batch(ranges);
    this.#waiting = new Batch(ranges);
    this.#onCredit = onCredit;
  }

  /** Bytes that have not left yet. */
  get backlog(): number {
    return this.#out.bytes + this.#waiting.bytes;
  }

  push(bytes: Buffer, start: number, end: number, credit: number, slab: Slab): void {
    if (this.#stream.destroyed || this.#isEnding) return;
    this.#waiting.add(bytes, start, end, credit, slab);
    if (!this.#isOut) this.#write();
  }

  /** Ends the stream's sending half after everything that was pushed. */
  end(): void {
    if (this.#isEnding) return;
    this.#isEnding = true;
    this.#endIfHandedOver();
  }

  /** Lets go of what waits: for a stream that is gone. What is out comes back by itself. */
  drop(): void {
    this.#waiting.clear();
    this.#isEnding = true;
  }

  #write(): void {
    const batch = this.#waiting;
    this.#waiting = this.#out;
    this.#out = batch;
    this.#isOut = true;
    const last = batch.pieces.length - 1;
    if (last > 0) this.#stream.cork();
    for (let i = 0; i < last; i++) this.#stream.write(batch.pieces[i]);
    this.#stream.write(batch.pieces[last], this.#onWritten);
    if (last > 0) this.#stream.uncork();
  }

  /** Also called, with an error, for what a stream that is destroyed has not sent. */
  #written(): void {
    const { credit } = this.#out;
    this.#out.clear();
    this.#isOut = false;
    if (this.#stream.destroyed) return;
    if (this.#waiting.pieces.length > 0) this.#write();
    if (credit > 0) this.#onCredit(credit);
    if (this.#isEnding) this.#endIfHandedOver();
  }

  /** Not after the outstanding write but with it: its last frame says the end. */
  #endIfHandedOver(): void {
    if (this.#waiting.pieces.length === 0 && !this.#stream.writableEnded) this.#stream.end();
  }
}
