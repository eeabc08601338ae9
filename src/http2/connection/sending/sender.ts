/**
 * The sending half of a connection: frames of a turn of the event loop are put side by side in one buffer, and one write sends it. Control frames and
 * heads always have room; bodies wait for it, and for the visitor's windows, in the order of schedule.ts.
 */
import type { Socket } from 'node:net';
import type { TurnEnd, TurnJob } from '../../../base/process/turn.ts';
import type { Head } from '../../../http1/head.ts';
import type { Encoder } from '../../encoder.ts';
import { copyInto, FLAG, HEADER_BYTES, MAX_NUMBER, MAX_PAYLOAD, TYPE, writeHeader, writeUint32 } from '../frame.ts';
import { type BufferPool, OUT_BYTES, type OutBuffer } from './out-buffer.ts';
import { END, type Outgoing } from './outgoing.ts';
import { Schedule } from './schedule.ts';
import { FIRST_WINDOW } from '../settings.ts';
import { CODE } from '../../types.ts';
import type { HeldRanges } from './waiting.ts';

/** A body's frame is not begun with less room. */
const MIN_ROOM = 1_024;
/** Shorter pieces are put in the buffer at once while it holds no more than this: what is more urgent waits for no more either. */
const AT_ONCE_BYTES = 16_384;
const AT_ONCE_UP_TO = 32_768;
/** With this much of one stream the write does not wait for the end of the turn. */
const FLUSH_BYTES = 65_536;
/** Answers to control frames that the visitor does not take. */
const MAX_CONTROL_BYTES = 65_536;
/** What a head may take beyond its lines as HTTP/1.1: so many bytes, and a part of their length. */
const HEAD_ROOM = 64;
const HEAD_SHIFT = 5;

/** The connection of a sender. */
export interface SenderHost {
  /** The last frame of the stream was put: what else is to be said of it is said now. */
  endPut(stream: Outgoing): void;
  /** The end of `count` streams is with the socket. */
  handed(count: number): void;
  /** The socket has taken what is noted in `out`. */
  written(out: OutBuffer): void;
  /** A write has failed. */
  failed(): void;
  /** The visitor provokes answers, and reads none. */
  overwhelmed(): void;
}

export class FrameSender implements TurnJob {
  /** What the visitor lets this side send on all streams together. */
  window = FIRST_WINDOW;
  readonly held: HeldRanges;
  readonly encoder: Encoder;
  readonly #socket: Socket;
  /** A TLSSocket, when idle, has encrypted the bytes of a write when `write` returns. */
  readonly #isTls: boolean;
  readonly #pool: BufferPool;
  readonly #turn: TurnEnd;
  readonly #host: SenderHost;
  readonly #onWritten = (error?: Error | null): void => this.#written(error);
  #schedule: Schedule | null = null;
  #out: OutBuffer | null = null;
  /** Full ones, before `#out`. */
  #full: OutBuffer[] = [];
  #flight: OutBuffer | null = null;
  #controls = 0;
  #isScheduled = false;
  #isClosed = false;
  #isEnding = false;

  constructor(socket: Socket, encoder: Encoder, parts: { pool: BufferPool; turn: TurnEnd; host: SenderHost }) {
    this.#socket = socket;
    this.#isTls = (socket as { encrypted?: boolean }).encrypted === true;
    this.encoder = encoder;
    this.#pool = parts.pool;
    this.held = { slabs: 0, bytes: 0, pool: parts.pool };
    this.#turn = parts.turn;
    this.#host = parts.host;
  }

  /** What waits for the visitor, as it takes of the memory. */
  get heldBytes(): number {
    return this.held.bytes + OUT_BYTES * this.#full.length;
  }

  /** Nothing is left to be written, and nothing is under way. */
  get isEmpty(): boolean {
    return this.#flight === null && (this.#out === null || this.#out.used === 0) && this.#full.length === 0;
  }

  /** Opens a control frame, and answers where its payload goes in `target`; -1: nothing is sent any more. */
  control(type: number, flags: number, id: number, length: number): number {
    if (this.#isClosed) return -1;
    const size = HEADER_BYTES + length;
    const out = this.#room(size);
    const at = out.used;
    writeHeader(out.bytes, at, type, flags, id, length);
    out.used = at + size;
    out.controls += size;
    this.#controls += size;
    this.#schedules();
    if (this.#controls > MAX_CONTROL_BYTES && this.#flight !== null) this.#host.overwhelmed();
    return at + HEADER_BYTES;
  }

  /** The buffer that the last `control` points into. */
  get target(): Buffer {
    return (this.#out as OutBuffer).bytes;
  }

  reset(id: number, code: number): void {
    const at = this.control(TYPE.reset, 0, id, 4);
    if (at >= 0) writeUint32(this.target, at, code);
  }

  windowUpdate(id: number, more: number): void {
    const at = this.control(TYPE.window, 0, id, 4);
    if (at >= 0) writeUint32(this.target, at, more);
  }

  /** Bytes as they are. */
  raw(bytes: Buffer): void {
    const out = this.#room(bytes.length);
    copyInto(out.bytes, out.used, bytes, 0, bytes.length);
    out.used += bytes.length;
    this.#schedules();
  }

  // ------------------------------------------------------------------ heads and bodies

  /** HEADERS of a parsed head. Answers its bytes as HTTP/1.1, or -1: it is too long. */
  respond(stream: Outgoing, bytes: Buffer, head: Head, added: Buffer, isEnd: boolean): number {
    const { lines, lineCount } = head;
    const length = (lines[lineCount] as number) - (lines[0] as number);
    const out = this.#room(headRoom(length + added.length));
    const end = this.encoder.response(bytes, head, added, out.bytes, out.used + HEADER_BYTES, OUT_BYTES);
    if (end < 0) return -1;
    this.#head(stream, out, end, isEnd);
    return this.encoder.counted;
  }

  /** HEADERS of an answer of this side's own. False: it is too long. */
  answer(stream: Outgoing, status: number, fields: readonly string[], isEnd: boolean): boolean {
    let length = 0;
    for (const field of fields) length += field.length + 2;
    const out = this.#room(headRoom(length));
    const end = this.encoder.answer(status, fields, out.bytes, out.used + HEADER_BYTES, OUT_BYTES);
    if (end < 0) return false;
    this.#head(stream, out, end, isEnd);
    return true;
  }

  /** `bytes[start, end)` of a body can go into the buffer as they are: nothing is before them, and nothing holds them up. */
  takesAtOnce(stream: Outgoing, length: number): boolean {
    return (
      length <= AT_ONCE_BYTES &&
      length <= stream.sendWindow &&
      length <= this.window &&
      stream.waiting.bytes === 0 &&
      (this.#schedule === null || this.#schedule.isEmpty) &&
      this.#full.length === 0 &&
      (this.#out === null || this.#out.used + length <= AT_ONCE_UP_TO) &&
      !this.#isClosed
    );
  }

  /** DATA, after `takesAtOnce`. */
  data(stream: Outgoing, bytes: Buffer, start: number, end: number, credit: number): void {
    const length = end - start;
    const out = this.#room(HEADER_BYTES + length);
    copyInto(out.bytes, out.used + HEADER_BYTES, bytes, start, end);
    this.#dataHead(stream, out, length, 0);
    out.note(stream, length, credit);
    this.#schedules();
  }

  /** The stream has something that waits, and its window allows some of it. */
  enqueue(stream: Outgoing): void {
    if (this.#isClosed || stream.sendWindow <= 0) return;
    this.#schedule ??= new Schedule();
    this.#schedule.add(stream);
    this.#schedules();
    if (stream.waiting.bytes >= FLUSH_BYTES) this.flush();
  }

  /** The visitor takes `more` on all streams together. False: the sum is too large. */
  windowGrew(more: number): boolean {
    this.window += more;
    if (this.#schedule !== null && !this.#schedule.isEmpty) this.#schedules();
    return this.window <= MAX_NUMBER;
  }

  dequeue(stream: Outgoing): void {
    this.#schedule?.remove(stream);
  }

  /** Its priority has changed. */
  moved(stream: Outgoing): void {
    this.#schedule?.moved(stream);
  }

  /** All of the body is in the buffer, or there is none: says the end, in the stream's last frame while that is still here. */
  finish(stream: Outgoing): void {
    if (this.#isClosed) return;
    if (stream.ending === END.trailers) return this.#trailers(stream);
    const out = this.#room(HEADER_BYTES);
    if (stream.lastSerial === out.serial) {
      const at = stream.lastAt + 4;
      out.bytes[at] = (out.bytes[at] as number) | FLAG.endStream;
      if (stream.spareCredit > 0) this.#noteSpare(stream, out);
    } else this.#dataHead(stream, out, 0, FLAG.endStream);
    this.#ended(stream, out);
  }

  // ------------------------------------------------------------------ writes

  atTurnEnd(): void {
    this.#isScheduled = false;
    this.flush();
  }

  /** Hands what there is to the socket, unless a write is under way: its end does so then. */
  flush(): void {
    if (this.#flight !== null || this.#isClosed) return;
    if (this.#schedule !== null && !this.#schedule.isEmpty) this.#fill(this.#schedule);
    let out = this.#full.shift();
    if (out === undefined) {
      if (this.#out === null || this.#out.used === 0) return;
      out = this.#out;
      this.#out = null;
    }
    this.#flight = out;
    this.#controls -= out.controls;
    const ends = out.hand();
    if (ends > 0) this.#host.handed(ends);
    const socket = this.#socket;
    const isIdle = this.#isTls && socket.writableLength === 0;
    socket.write(out.bytes.subarray(0, out.used), this.#onWritten);
    if (isIdle) this.#pool.freeBytes(out);
  }

  /** Sends what is in the buffers, and ends the socket behind it. What comes now is not sent. */
  end(): void {
    if (this.#isEnding) return;
    this.#isEnding = true;
    this.#schedule?.clear();
    this.flush();
    this.#isClosed = true;
    this.#endIfEmpty();
  }

  /** Drops everything: the socket is gone. */
  close(): void {
    this.#isClosed = true;
    this.#schedule?.clear();
    for (const out of this.#full) this.#pool.giveOut(out);
    this.#full = [];
    if (this.#out !== null) this.#pool.giveOut(this.#out);
    this.#out = null;
  }

  #schedules(): void {
    if (this.#isScheduled || this.#flight !== null) return;
    this.#isScheduled = true;
    this.#turn.add(this);
  }

  #written(error?: Error | null): void {
    const out = this.#flight;
    this.#flight = null;
    if (out === null) return;
    if (error) this.#host.failed();
    else this.#host.written(out);
    this.#pool.giveOut(out);
    if (error || this.#socket.destroyed) return;
    if (this.#isEnding) {
      this.#flushRest();
      this.#endIfEmpty();
    } else if (!this.#isScheduled) this.flush();
  }

  /** After `end`. */
  #flushRest(): void {
    this.#isClosed = false;
    this.flush();
    this.#isClosed = true;
  }

  #endIfEmpty(): void {
    if (this.isEmpty && !this.#socket.writableEnded) this.#socket.end();
  }

  /** Bodies in their order, as far as windows and buffer allow. */
  #fill(schedule: Schedule): void {
    while (this.window > 0 && this.#full.length === 0) {
      const stream = schedule.next;
      if (stream === null) return;
      // Settings may have closed its window while it waited for its turn.
      if (stream.sendWindow <= 0) {
        schedule.remove(stream);
        continue;
      }
      const out = this.#room(HEADER_BYTES);
      const room = OUT_BYTES - out.used - HEADER_BYTES;
      if (room < MIN_ROOM) return;
      const { waiting } = stream;
      const length = Math.min(waiting.bytes, MAX_PAYLOAD, stream.sendWindow, this.window, room);
      const credit = waiting.take(out.bytes, out.used + HEADER_BYTES, length, this.held);
      const isDone = waiting.bytes === 0;
      const isLast = isDone && stream.ending === END.stream;
      this.#dataHead(stream, out, length, isLast ? FLAG.endStream : 0);
      out.note(stream, length, credit);
      if (isDone || stream.sendWindow <= 0) schedule.remove(stream);
      else schedule.sent(stream, length);
      if (isLast) this.#ended(stream, out);
      else if (isDone && stream.ending === END.trailers) this.#trailers(stream);
    }
  }

  #dataHead(stream: Outgoing, out: OutBuffer, length: number, flags: number): void {
    const at = out.used;
    writeHeader(out.bytes, at, TYPE.data, flags, stream.id, length);
    out.used = at + HEADER_BYTES + length;
    stream.sendWindow -= length;
    this.window -= length;
    stream.lastAt = at;
    stream.lastSerial = out.serial;
    if (stream.spareCredit > 0) this.#noteSpare(stream, out);
  }

  #noteSpare(stream: Outgoing, out: OutBuffer): void {
    out.note(stream, 0, stream.spareCredit);
    stream.spareCredit = 0;
  }

  #trailers(stream: Outgoing): void {
    const lines = stream.trailerLines as Buffer;
    stream.trailerLines = null;
    const out = this.#room(headRoom(lines.length));
    const end = this.encoder.trailers(lines, out.bytes, out.used + HEADER_BYTES, OUT_BYTES);
    // Without them the body is whole all the same: there are none that HTTP/2 has a place for, or they are too long.
    if (end <= out.used + HEADER_BYTES) {
      stream.ending = END.stream;
      return this.finish(stream);
    }
    this.#head(stream, out, end, true);
  }

  /** The block of a head lies in `out` up to `end`, behind room for a header: makes frames of it. */
  #head(stream: Outgoing, out: OutBuffer, end: number, isEnd: boolean): void {
    const { bytes } = out;
    const at = out.used;
    const start = at + HEADER_BYTES;
    const more = Math.ceil((end - start) / MAX_PAYLOAD) - 1;
    for (let k = more; k > 0; k--) {
      const from = start + k * MAX_PAYLOAD;
      const length = Math.min(MAX_PAYLOAD, end - from);
      const to = from + k * HEADER_BYTES;
      bytes.copyWithin(to, from, from + length);
      writeHeader(bytes, to - HEADER_BYTES, TYPE.continuation, k === more ? FLAG.endHeaders : 0, stream.id, length);
    }
    const flags = (more > 0 ? 0 : FLAG.endHeaders) | (isEnd ? FLAG.endStream : 0);
    writeHeader(bytes, at, TYPE.headers, flags, stream.id, more > 0 ? MAX_PAYLOAD : end - start);
    out.used = end + Math.max(0, more) * HEADER_BYTES;
    stream.lastAt = at;
    stream.lastSerial = out.serial;
    if (isEnd) this.#ended(stream, out);
    this.#schedules();
  }

  #ended(stream: Outgoing, out: OutBuffer): void {
    stream.ending = END.sent;
    out.noteEnd(stream);
    this.#schedules();
    this.#host.endPut(stream);
  }

  /** The buffer to go on in, with room for `length` bytes (of a head: if it is no longer than a whole buffer). */
  #room(length: number): OutBuffer {
    const out = this.#out;
    if (out !== null) {
      if (out.used + length <= OUT_BYTES || out.used === 0) return out;
      this.#full.push(out);
    }
    this.#out = this.#pool.takeOut();
    return this.#out;
  }
}

function headRoom(length: number): number {
  return HEADER_BYTES + HEAD_ROOM + length + (length >>> HEAD_SHIFT);
}

/** GOAWAY's "whatever you may still send" (RFC 9113 §6.8). */
export const ANY_STREAM = MAX_NUMBER;

export function goAway(sender: FrameSender, last: number, code: number = CODE.none): void {
  const at = sender.control(TYPE.goAway, 0, 0, 8);
  if (at < 0) return;
  writeUint32(sender.target, at, last);
  writeUint32(sender.target, at + 4, code);
}
