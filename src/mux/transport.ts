/**
 * A socket as a session writes to it: whole slabs, or, under a bandwidth limit, pieces of one with the wait for the bucket in between, or for
 * the peer. One write is under way at a time, and each is of whole frames. Made by attach.ts.
 */
import type { Socket } from 'node:net';
import { FLAG, HEADER_BYTES, TYPE, writeHeader } from './frame.ts';
import type { ShapedSide, Shaper } from './shaper.ts';
import type { MuxTransport } from './types.ts';

/** After `end` the peer gets this long to close its side. */
const LINGER_MS = 2_000;

type Done = (error?: Error | null) => void;

export class SocketTransport implements MuxTransport, ShapedSide {
  readonly #socket: Socket;
  readonly #shaper: Shaper | null;
  readonly #onPiece: Done = (error) => this.#pieceWritten(error);
  readonly #onRoom = (): void => this.lifted();
  debt = 0;
  allowance = 0;
  /** The write that goes out in pieces, and how much of it has gone. */
  #bytes: Uint8Array | null = null;
  #at = 0;
  #piece = 0;
  #waits = false;
  #done: Done | null = null;

  constructor(socket: Socket, shaper: Shaper | null) {
    this.#socket = socket;
    this.#shaper = shaper;
    shaper?.join(this);
  }

  write(bytes: Uint8Array, done: Done): void {
    if (this.#shaper === null || !this.#shaper.shapes) {
      this.#socket.write(bytes, done);
      return;
    }
    this.#bytes = bytes;
    this.#at = 0;
    this.#done = done;
    this.#next(bytes);
  }

  end(): void {
    this.#socket.end();
    setTimeout(() => this.#socket.destroy(), LINGER_MS).unref();
  }

  destroy(): void {
    this.#socket.destroy();
  }

  paid(): void {
    this.#waits = false;
    const bytes = this.#bytes;
    if (bytes !== null) this.#socket.write(bytes.subarray(this.#at, this.#at + this.#piece), this.#onPiece);
  }

  /** Also when the socket is gone: the write then fails, and `done` says so. */
  lifted(): void {
    if (this.#waits) this.paid();
  }

  #next(bytes: Uint8Array): void {
    const bucket = this.#shaper?.bucket ?? null;
    const flight = this.#shaper?.flight ?? null;
    const left = bytes.length - this.#at;
    this.#piece = bucket === null ? left : Math.min(left, bucket.step);
    this.#waits = true;
    if (flight?.waits(this.#onRoom)) return;
    if (bucket === null) return this.paid();
    const owed = (this.#shaper as Shaper).owed(this.#piece);
    if (owed === 0 || bucket.spend(this, owed)) this.paid();
  }

  #pieceWritten(error?: Error | null): void {
    const bytes = this.#bytes;
    if (bytes === null) return;
    this.#at += this.#piece;
    if (!error && this.#at < bytes.length) return this.#next(bytes);
    const mark = this.#shaper?.flight?.sent(bytes.length) ?? null;
    if (mark !== null && !error) this.#socket.write(markFrame(mark));
    const done = this.#done;
    this.#bytes = this.#done = null;
    done?.(error);
  }
}

/** A ping with that number. It goes past the sender, for it has to follow at once what it marks. */
function markFrame(number: number): Uint8Array {
  const frame = new Uint8Array(HEADER_BYTES);
  writeHeader(frame, 0, TYPE.ping, FLAG.syn, 0, number);
  return frame;
}
