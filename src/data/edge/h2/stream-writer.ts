/**
 * Writes ranges of slabs to an HTTP/2 stream. nghttp2 sends from the bytes it is given, whenever the visitor's window allows, so a
 * range's slab is held or its bytes are copied; credit is given once they have gone to the kernel. One write is outstanding at a
 * time, and what comes meanwhile is copied and goes out as the next. What waits is bounded by the windows of the tunnel's stream.
 */
import type { ServerHttp2Stream } from 'node:http2';
import type { Slab } from '../../../base/slab.ts';

/** Shorter ranges are copied: they would keep a slab of 256 KB from everybody. */
const HOLD_FROM = 65_536;

export class StreamWriter {
  readonly #stream: ServerHttp2Stream;
  readonly #onCredit: (bytes: number) => void;
  readonly #onWritten = (): void => this.#written();
  /** Copies that wait behind the outstanding write. */
  #waiting: Buffer[] = [];
  #waitingBytes = 0;
  #waitingCredit = 0;
  #isOut = false;
  #outBytes = 0;
  #credit = 0;
  #slab: Slab | null = null;
  #isEnding = false;

  constructor(stream: ServerHttp2Stream, onCredit: (bytes: number) => void) {
    this.#stream = stream;
    this.#onCredit = onCredit;
  }

  /** Bytes that have not left yet. */
  get backlog(): number {
    return this.#outBytes + this.#waitingBytes;
  }

  push(bytes: Buffer, start: number, end: number, credit: number, slab: Slab): void {
    const length = end - start;
    if (this.#stream.destroyed || this.#isEnding) return;
    if (this.#isOut) {
      this.#waiting.push(Buffer.from(bytes.subarray(start, end)));
      this.#waitingBytes += length;
      this.#waitingCredit += credit;
      return;
    }
    this.#isOut = true;
    this.#outBytes = length;
    this.#credit = credit;
    if (slab.shared || length < HOLD_FROM) {
      this.#stream.write(Buffer.from(bytes.subarray(start, end)), this.#onWritten);
      return;
    }
    slab.hold();
    this.#slab = slab;
    this.#stream.write(bytes.subarray(start, end), this.#onWritten);
  }

  /** Ends the stream's sending half after everything that was pushed. */
  end(): void {
    if (this.#isEnding) return;
    this.#isEnding = true;
    this.#endIfHandedOver();
  }

  /** Lets go of what waits: for a stream that is gone. What is out comes back by itself. */
  drop(): void {
    this.#waiting = [];
    this.#waitingBytes = this.#waitingCredit = 0;
    this.#isEnding = true;
  }

  /** Also called, with an error, for what a stream that is destroyed has not sent. */
  #written(): void {
    this.#slab?.release();
    this.#slab = null;
    this.#isOut = false;
    this.#outBytes = 0;
    const credit = this.#credit;
    this.#credit = 0;
    if (this.#stream.destroyed) return;
    const waiting = this.#waiting;
    if (waiting.length > 0) {
      this.#isOut = true;
      this.#outBytes = this.#waitingBytes;
      this.#credit = this.#waitingCredit;
      this.#waiting = [];
      this.#waitingBytes = this.#waitingCredit = 0;
      this.#stream.cork();
      for (let i = 0; i < waiting.length - 1; i++) this.#stream.write(waiting[i]);
      this.#stream.write(waiting.at(-1), this.#onWritten);
      this.#stream.uncork();
    }
    if (credit > 0) this.#onCredit(credit);
    if (this.#isEnding) this.#endIfHandedOver();
  }

  /** Not after the outstanding write but with it: its last frame says the end. */
  #endIfHandedOver(): void {
    if (this.#waiting.length === 0 && !this.#stream.writableEnded) this.#stream.end();
  }
}
