/**
 * Cuts what a connection receives into frames. One that lies whole in a read is used where it lies, one that a read has cut is put together in a
 * buffer that idle connections don't have, and bodies go on as they come.
 */
import { copyInto, FLAG, HEADER_BYTES, MAX_PAYLOAD, PREFACE, readLength, readNumber, TYPE } from './frame.ts';
import type { BufferPool } from './sending/out-buffer.ts';
import { CODE } from '../types.ts';

export interface FrameUser {
  /** Nothing that comes is of interest any more. */
  readonly isOver: boolean;
  /** DATA may come now; else it is a frame like any other, out of its place. */
  readonly takesData: boolean;
  /** A whole frame; its payload is `bytes[start, start + length)`. DATA only if it is padded, or out of its place. */
  frame(type: number, flags: number, id: number, bytes: Buffer, start: number, length: number): void;
  /** A frame of DATA begins. */
  dataBegins(id: number, length: number, flags: number): void;
  /** A part of it. */
  data(bytes: Buffer, start: number, end: number, isLast: boolean): void;
  broken(code: number): void;
}

const PIECE_BYTES = HEADER_BYTES + MAX_PAYLOAD;

export class FrameReader {
  readonly #user: FrameUser;
  readonly #pool: BufferPool;
  #prefaceLeft = PREFACE.length;
  /** Of a frame that was cut. */
  #piece: Buffer | null = null;
  #pieceBytes = 0;
  #dataLeft = 0;

  constructor(user: FrameUser, pool: BufferPool) {
    this.#user = user;
    this.#pool = pool;
  }

  /** Uses `bytes[start, end)` before it returns. */
  feed(bytes: Buffer, start: number, end: number): void {
    const user = this.#user;
    let at = this.#prefaceLeft > 0 ? this.#preface(bytes, start, end) : start;
    while (at < end && !user.isOver) {
      if (this.#dataLeft > 0) {
        const stop = Math.min(end, at + this.#dataLeft);
        this.#dataLeft -= stop - at;
        user.data(bytes, at, stop, this.#dataLeft === 0);
        at = stop;
      } else if (this.#pieceBytes > 0) {
        at = this.#complete(bytes, at, end);
      } else {
        const next = this.#whole(bytes, at, end);
        if (next < 0) return this.#keep(bytes, at, end);
        at = next;
      }
    }
  }

  /** Gives back what it has. */
  close(): void {
    if (this.#piece !== null) this.#pool.givePiece(this.#piece);
    this.#piece = null;
    this.#pieceBytes = 0;
  }

  #preface(bytes: Buffer, start: number, end: number): number {
    const from = PREFACE.length - this.#prefaceLeft;
    const length = Math.min(this.#prefaceLeft, end - start);
    for (let i = 0; i < length; i++) {
      if (bytes[start + i] === PREFACE[from + i]) continue;
      this.#user.broken(CODE.protocol);
      return end;
    }
    this.#prefaceLeft -= length;
    return start + length;
  }

  /** Takes the frame at `at`, or the beginning of DATA. Answers where it ends; -1: it is cut. */
  #whole(bytes: Buffer, at: number, end: number): number {
    if (end - at < HEADER_BYTES) return -1;
    const length = readLength(bytes, at);
    if (length > MAX_PAYLOAD) {
      this.#user.broken(CODE.frameSize);
      return end;
    }
    const start = at + HEADER_BYTES;
    if (this.#isPlainData(bytes, at)) {
      this.#begins(bytes, at, length);
      return start;
    }
    if (end - start < length) return -1;
    this.#frame(bytes, at, length);
    return start + length;
  }

  #keep(bytes: Buffer, at: number, end: number): void {
    this.#piece ??= this.#pool.takePiece(PIECE_BYTES);
    copyInto(this.#piece, 0, bytes, at, end);
    this.#pieceBytes = end - at;
  }

  /** Goes on with the frame that was cut by the end of a read. */
  #complete(bytes: Buffer, at: number, end: number): number {
    const piece = this.#piece as Buffer;
    let from = at;
    while (this.#pieceBytes < HEADER_BYTES) {
      if (from === end) return end;
      piece[this.#pieceBytes++] = bytes[from++] as number;
    }
    const length = readLength(piece, 0);
    if (length > MAX_PAYLOAD) {
      this.#user.broken(CODE.frameSize);
      return end;
    }
    // Cut within its header, else its body would have gone on already: none of it is here.
    if (this.#isPlainData(piece, 0)) {
      this.#begins(piece, 0, length);
      this.close();
      return from;
    }
    const count = Math.min(HEADER_BYTES + length - this.#pieceBytes, end - from);
    copyInto(piece, this.#pieceBytes, bytes, from, from + count);
    this.#pieceBytes += count;
    if (this.#pieceBytes === HEADER_BYTES + length) {
      // First of all: what the frame brings about may end the connection, which gives the piece to others.
      this.#piece = null;
      this.#pieceBytes = 0;
      this.#frame(piece, 0, length);
      this.#pool.givePiece(piece);
    }
    return from + count;
  }

  #isPlainData(bytes: Buffer, at: number): boolean {
    return bytes[at + 3] === TYPE.data && ((bytes[at + 4] as number) & FLAG.padded) === 0 && this.#user.takesData;
  }

  #begins(bytes: Buffer, at: number, length: number): void {
    this.#dataLeft = length;
    this.#user.dataBegins(readNumber(bytes, at + 5), length, bytes[at + 4] as number);
  }

  #frame(bytes: Buffer, at: number, length: number): void {
    const id = readNumber(bytes, at + 5);
    this.#user.frame(bytes[at + 3] as number, bytes[at + 4] as number, id, bytes, at + HEADER_BYTES, length);
  }
}
