/**
 * A request's body on its way from DATA frames to the service: by length where the head has one, else in chunks, and as it is on an upgraded stream.
 * What comes while the service takes nothing waits here: a connection of HTTP/2 can't be paused for one of its streams, and a stream of the
 * multiplexer is never given more than it takes. The visitor gets its window back for what has left, which bounds the rest. The body's
 * length is counted here as it is in http2/: a service must never take half a body for a whole one, nor the rest of one for the next request.
 */
import { JoinedBytes, type PieceSource } from '../../../base/bytes/joined-bytes.ts';
import { allowedTrailers, type BodyTap, type TrailerRule } from '../../../http1/body.ts';
import type { Http2Stream } from '../../../http2/types.ts';
import type { MuxStream } from '../../../mux/stream.ts';
import type { WantedBody } from '../exchange/wanted-body.ts';

const LAST_CHUNK = Buffer.from('0\r\n\r\n');
/** The same in front of trailers. */
const NO_MORE = Buffer.from('0\r\n');
const CRLF = Buffer.from('\r\n');
const NOTHING = Buffer.alloc(0);
/** Of a collected body, sent on at once. */
const PIECE_BYTES = 65_536;
/** What a chunk adds to its bytes, at most. */
const CHUNK_BYTES = 16;
/** More of them is no request: as behind a body of HTTP/1.1. */
const MAX_TRAILER_BYTES = 8_192;

/** Lengths that are none: any number of bytes in chunks, or of an upgraded stream. */
export const CHUNKS = -1;
export const RAW = -2;

/** What has become of it. */
export const SENT = {
  /** More is to come, of the visitor or of what waits here. */
  part: 0,
  whole: 1,
  /** More or less than the head said. */
  wrongLength: 2,
  wrongTrailers: 3,
} as const;
export type Sent = (typeof SENT)[keyof typeof SENT];

/** The request, as far as its body must know it: exchange/exchange.ts. */
export interface BodyOwner {
  /** Counts what is sent. */
  countIn(bytes: number): void;
  /** Receives what is sent. */
  readonly requestTap: BodyTap | null;
  /** Names trailers that are not taken. */
  readonly requestRule: TrailerRule | null;
}

export class RequestBody {
  readonly #owner: BodyOwner;
  readonly #wanted: WantedBody;
  readonly #pieces: PieceSource;
  #stream: Http2Stream | null = null;
  #to: MuxStream | null = null;
  /** Bytes still to come, or one of CHUNKS and RAW. */
  #left = 0;
  /** Asked for once: an idle connection holds no record. */
  #tap: BodyTap | null = null;
  #isFull = false;
  /** Bytes that were written for the service, and that it has not taken yet. */
  #owed = 0;
  #held: JoinedBytes | null = null;
  /** Of `#held`, as they came. */
  #waiting = 0;
  #trailers: Buffer | null = null;
  /** The tunnel's policy waits for all of it. */
  #isCollecting = false;
  /** What has been collected for it, as far as it is not sent. */
  #whole: Buffer | null = null;
  #isEnded = false;
  #isSent = false;
  /** There was no room for trailers behind a body with a length. */
  hasDroppedTrailers = false;

  /** `wanted`: where a policy asks for the body. `pieces`: for what waits. */
  constructor(owner: BodyOwner, wanted: WantedBody, pieces: PieceSource) {
    this.#owner = owner;
    this.#wanted = wanted;
    this.#pieces = pieces;
  }

  /** A head has come, on `stream`. Its body waits until there is a way for it. */
  begin(stream: Http2Stream): void {
    this.#stream = stream;
    this.#to = this.#tap = this.#trailers = this.#whole = null;
    this.#isFull = this.#isEnded = this.#isSent = this.#isCollecting = this.hasDroppedTrailers = false;
    this.#owed = 0;
  }

  /** The service, or what is in front of it, takes no more for now. */
  get isFull(): boolean {
    return this.#isFull;
  }

  /** All of it is written, its end too. */
  get isSent(): boolean {
    return this.#isSent;
  }

  /** What waits takes so much of the memory. */
  get heldBytes(): number {
    return (this.#held === null ? 0 : this.#held.heldBytes) + (this.#whole === null ? 0 : this.#whole.length);
  }

  /** The policy waits for what the visitor has yet to send. */
  get isAwaited(): boolean {
    return this.#isCollecting && !this.#isEnded && this.#wanted.isWanted;
  }

  /** The tunnel's policy wants to see the body first. Also once more, of a body that is here: another policy wants it. */
  collect(hasBody: boolean): void {
    if (!hasBody || this.#whole !== null) return this.#wanted.end(this.#whole ?? NOTHING);
    this.#isCollecting = true;
    if (this.#waiting > 0 && !this.#mayKeep(this.#waiting)) return;
    if (this.#isEnded) this.#collected();
  }

  /** There is a way. `length`: what the head says, or CHUNKS, or RAW. */
  start(to: MuxStream, length: number): Sent {
    this.#to = to;
    this.#left = length;
    this.#tap = this.#owner.requestTap;
    return this.#goOn();
  }

  /** Another way for a request without a body. */
  moveTo(to: MuxStream): void {
    if (this.#to !== null) this.#to = to;
  }

  /** Bytes of the visitor: sent, or kept. */
  take(bytes: Buffer, start: number, end: number): Sent {
    let from = start;
    if (this.#to !== null && !this.#isFull) {
      from += this.#fits(this.#to, end - start);
      const sent = this.#send(bytes, start, from);
      // Dropped from within: the stream is over.
      if (from === end || sent !== SENT.part || this.#stream === null) return sent;
      this.#awaitRoom();
    } else if (this.#isCollecting && !this.#mayKeep(end - start)) return SENT.part;
    this.#held ??= new JoinedBytes(this.#pieces);
    this.#held.add(bytes, from, end);
    this.#waiting += end - from;
    return SENT.part;
  }

  /** Lines of trailers, each with its CR LF; the end follows. */
  takeTrailers(bytes: Buffer, start: number, end: number): void {
    this.#trailers = Buffer.from(bytes.subarray(start, end));
  }

  /** The visitor has sent all. */
  end(): Sent {
    this.#isEnded = true;
    if (this.#isCollecting) this.#collected();
    return this.#to === null || this.#isFull || this.#isSent ? SENT.part : this.#finish(this.#to);
  }

  /** The service takes more. */
  drained(): Sent {
    this.#isFull = false;
    this.#stream?.consumed(this.#owed);
    this.#owed = 0;
    return this.#goOn();
  }

  /** Drops what waits, and opens the visitor's window for it: the stream has its answer, or is gone. */
  drop(): void {
    const bytes = this.#owed + this.#waiting;
    if (bytes > 0) this.#stream?.consumed(bytes);
    this.#owed = this.#waiting = 0;
    this.#held?.clear();
    this.#wanted.refuse();
    this.#isCollecting = false;
    this.#stream = null;
    this.#to = this.#tap = this.#trailers = this.#whole = null;
  }

  /** What is collected has its own bounds, and no window holds it up. False: it is refused, and nothing of it is kept. */
  #mayKeep(bytes: number): boolean {
    this.#stream?.consumed(bytes);
    if (this.#wanted.isWanted && this.#wanted.grow(bytes, bytes)) return true;
    this.#held?.clear();
    this.#waiting = 0;
    return false;
  }

  #collected(): void {
    this.#isCollecting = false;
    if (!this.#wanted.isWanted) return;
    this.#whole = Buffer.concat(this.#held?.takeAll() ?? []);
    this.#waiting = 0;
    this.#wanted.end(this.#whole);
  }

  #sendWhole(): Sent {
    for (let whole = this.#whole; whole !== null && whole.length > 0; whole = this.#whole) {
      if (this.#isFull) return SENT.part;
      const length = this.#fits(this.#to as MuxStream, Math.min(PIECE_BYTES, whole.length));
      if (length === 0) return this.#awaitRoom();
      this.#whole = whole.subarray(length);
      const sent = this.#send(whole, 0, length);
      if (sent !== SENT.part) return sent;
    }
    return SENT.part;
  }

  /** Sends what has waited, as far as there is room. */
  #goOn(): Sent {
    if (this.#whole !== null) {
      const sent = this.#sendWhole();
      if (sent !== SENT.part) return sent;
    }
    while (this.#waiting > 0) {
      if (this.#isFull) return SENT.part;
      const held = this.#held as JoinedBytes;
      const first = held.first as Buffer;
      const length = this.#fits(this.#to as MuxStream, first.length);
      if (length === 0) return this.#awaitRoom();
      const sent = this.#send(first, 0, length);
      // Dropped from within: the stream is over.
      if (sent !== SENT.part || this.#waiting === 0) return sent;
      held.drop(length);
      this.#waiting -= length;
    }
    if (!this.#isEnded || this.#isSent || this.#isFull || this.#to === null) return SENT.part;
    return this.#finish(this.#to);
  }

  /** So many of `length` bytes go at once: of more the multiplexer would keep a copy of its own. */
  #fits(to: MuxStream, length: number): number {
    const room = this.#left === CHUNKS ? to.room - CHUNK_BYTES : to.room;
    return Math.max(0, Math.min(length, room));
  }

  #awaitRoom(): typeof SENT.part {
    this.#isFull = true;
    this.#to?.awaitRoom();
    return SENT.part;
  }

  #send(bytes: Buffer, start: number, end: number): Sent {
    const length = end - start;
    if (length === 0) return SENT.part;
    if (this.#left >= 0 && length > this.#left) return SENT.wrongLength;
    if (this.#tap !== null) this.#tap.payload(bytes, start, end);
    this.#owner.countIn(length);
    const to = this.#to as MuxStream;
    let hasRoom: boolean;
    if (this.#left === CHUNKS) hasRoom = writeChunk(bytes, start, end, to);
    else {
      if (this.#left > 0) this.#left -= length;
      hasRoom = to.write(bytes, start, end);
    }
    if (hasRoom) this.#stream?.consumed(length);
    else {
      this.#isFull = true;
      this.#owed += length;
    }
    return SENT.part;
  }

  #finish(to: MuxStream): Sent {
    if (this.#left > 0) return SENT.wrongLength;
    if (this.#left === RAW) to.end();
    else if (this.#left === CHUNKS) {
      const trailer = this.#trailers === null ? CRLF : this.#allowed(this.#trailers);
      if (trailer === null) return SENT.wrongTrailers;
      to.write(trailer === CRLF ? LAST_CHUNK : Buffer.concat([NO_MORE, trailer]));
    } else if (this.#trailers !== null) this.hasDroppedTrailers = true;
    this.#isSent = true;
    return SENT.whole;
  }

  #allowed(lines: Buffer): Buffer | null {
    if (lines.length > MAX_TRAILER_BYTES) return null;
    this.#owner.countIn(lines.length);
    return lines.length === 0
      ? CRLF
      : allowedTrailers(lines.toString('latin1', 0, lines.length - 2), this.#owner.requestRule);
  }
}

function writeChunk(bytes: Buffer, start: number, end: number, to: MuxStream): boolean {
  const size = `${(end - start).toString(16)}\r\n`;
  const length = size.length + (end - start) + 2;
  const at = to.reserve(length);
  if (at < 0) {
    to.write(Buffer.from(size, 'latin1'));
    to.write(bytes, start, end);
    return to.write(CRLF);
  }
  const out = to.target();
  let next = at + out.write(size, at, 'latin1');
  next += bytes.copy(out, next, start, end);
  out[next] = 13;
  out[next + 1] = 10;
  return to.settled();
}
