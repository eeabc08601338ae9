/**
 * A visitor's HTTP/2 connection (RFC 9113): the socket, its streams and windows, and its end. What frames mean is in receiver.ts, sending is in
 * sender.ts. Made for a socket that has agreed on `h2`.
 */
import type { Socket } from 'node:net';
import { type Clock, systemClock } from '../../base/clock.ts';
import { readInto, sharedTarget } from '../../base/bytes/socket.ts';
import type { TurnEnd } from '../../base/process/turn.ts';
import type { WindowBudget } from '../../mux/window.ts';
import { Encoder } from '../encoder.ts';
import type { HeadScratch } from '../request-head.ts';
import { CODE, type Http2Limits, type Http2Offence, type Http2User } from '../types.ts';
import { PING, PING_BYTES } from './control-frames.ts';
import { Floods } from './flood.ts';
import { TYPE } from './frame.ts';
import { FrameReader } from './frame-reader.ts';
import type { BufferPool, OutBuffer } from './sending/out-buffer.ts';
import { Receiver, type ReceiverHost } from './receiver.ts';
import { ANY_STREAM, FrameSender, goAway, type SenderHost } from './sending/sender.ts';
import { FIRST_WINDOW, serverSettings } from './settings.ts';
import type { Http2ServerStream } from './stream.ts';
import { StreamTable } from './stream-table.ts';
import { CONNECTION_WINDOW, ConnectionWindow, RoundTrip } from './windows.ts';

/** After the first GOAWAY of a drain, unless the visitor answers its PING sooner. */
const DRAIN_MS = 1_000;
/** A connection that is over waits so long for its visitor to close its side. */
const LINGER_MS = 2_000;
/** While users hold less than this, bodies count against their stream's window alone. */
const HOLD_BYTES = 4 << 20;

/** What the connections of a process share. */
export interface Http2Parts {
  readonly limits: Http2Limits;
  readonly turn: TurnEnd;
  readonly budget: WindowBudget;
  readonly pool: BufferPool;
  readonly head: HeadScratch;
  /** All sockets are read into it. */
  readonly readBuffer: Buffer;
  readonly clock?: Clock;
  /** What the users of a connection may hold of bodies before its window stays closed for as much. */
  readonly holdBytes?: number;
}

export class Http2ServerConnection implements ReceiverHost, SenderHost {
  readonly sender: FrameSender;
  readonly user: Http2User;
  readonly streams = new StreamTable(this);
  readonly window: ConnectionWindow;
  readonly roundTrip = new RoundTrip();
  readonly floods: Floods;
  readonly head: HeadScratch;
  readonly maxStreams: number;
  readonly #socket: Socket;
  readonly #readBuffer: Buffer;
  readonly #clock: Clock;
  readonly #receiver: Receiver;
  readonly #reader: FrameReader;
  #stage: 'open' | 'told' | 'closing' | 'over' = 'open';
  #toldAtMs = 0;
  #overAtMs = 0;
  /** Nothing more is read: what an attacker still sends costs no decryption. */
  #isDeaf = false;
  #hasVisitorEnded = false;
  #isGone = false;

  constructor(socket: Socket, user: Http2User, parts: Http2Parts) {
    const { limits, pool, turn } = parts;
    this.#socket = socket;
    this.user = user;
    this.#readBuffer = parts.readBuffer;
    this.#clock = parts.clock ?? systemClock;
    this.head = parts.head;
    this.maxStreams = limits.maxStreams;
    this.window = new ConnectionWindow(parts.holdBytes ?? HOLD_BYTES, parts.budget);
    this.floods = new Floods(this.#clock, limits.resetsPerSecond);
    this.sender = new FrameSender(socket, new Encoder(), { pool, turn, host: this });
    this.#receiver = new Receiver(this, pool);
    this.#reader = new FrameReader(this.#receiver, pool);
    socket.on('error', () => undefined);
    socket.on('close', () => this.#gone());
    socket.on('end', () => this.#visitorEnded());
    this.sender.raw(serverSettings(limits));
    this.sender.windowUpdate(0, CONNECTION_WINDOW - FIRST_WINDOW);
  }

  // ------------------------------------------------------------------ for the user

  /** Reads from now on: the first request may come before this returns. */
  start(): void {
    readInto(
      this.#socket,
      sharedTarget(this.#readBuffer, (bytes, start, count) => this.#read(bytes, start, start + count)),
    );
  }

  /** Streams that have work. */
  get openStreams(): number {
    return this.streams.size - this.streams.handed;
  }

  /** What waits for the visitor, as it takes of the memory. */
  get heldBytes(): number {
    return this.sender.heldBytes;
  }

  /** No stream is taken any more. */
  get closing(): boolean {
    return this.#stage === 'closing' || this.isOver;
  }

  /** Nothing is received any more; what was said last may be on its way. */
  get isOver(): boolean {
    return this.#stage === 'over';
  }

  /** Everything that was said is with the kernel. */
  get isWritten(): boolean {
    return this.sender.isEmpty && this.#socket.writableLength === 0;
  }

  /** Call about once a second. */
  sweep(nowMs: number): void {
    if (this.#stage === 'told' && nowMs - this.#toldAtMs >= DRAIN_MS) this.#close();
    else if (this.isOver && nowMs - this.#overAtMs >= LINGER_MS) this.#socket.destroy();
    else if (this.#hasVisitorEnded && this.#isStuck()) this.destroy();
    this.streams.trim();
  }

  /** Takes no more streams, in two steps, so that a request which is under way meanwhile is still answered (RFC 9113 §6.8). */
  drain(): void {
    if (this.#stage !== 'open') return;
    this.#stage = 'told';
    this.#toldAtMs = this.nowMs();
    goAway(this.sender, ANY_STREAM);
    this.ping(PING.drain);
  }

  /** With `CODE.none` takes no more streams from now on; with another code the connection ends. */
  goaway(code: number): void {
    if (code === CODE.none) this.#close();
    else this.#end(code);
  }

  /** Cuts at once. */
  destroy(): void {
    this.#over();
    this.#socket.destroy();
  }

  // ------------------------------------------------------------------ for its streams

  get rttMs(): number {
    return this.roundTrip.ms;
  }

  nowMs(): number {
    return this.#clock.monotonic();
  }

  released(bytes: number): void {
    this.window.released(bytes);
    this.giveBack();
  }

  left(stream: Http2ServerStream): void {
    this.forget(stream, !stream.ended, true);
  }

  done(stream: Http2ServerStream): void {
    this.#done(stream);
    this.#endIfDone();
  }

  fault(stream: Http2ServerStream, error: unknown): void {
    stream.reset(CODE.internal);
    this.user.onFault(error);
  }

  // ------------------------------------------------------------------ for the receiver

  forget(stream: Http2ServerStream, mayBring: boolean, isCut: boolean): void {
    const { holding } = stream;
    stream.holding = 0;
    this.#receiver.forgot(stream);
    this.streams.forget(stream, mayBring, isCut);
    if (holding > 0) this.released(holding);
  }

  giveBack(): void {
    if (this.isOver) return;
    const more = this.window.due(this);
    if (more > 0) this.sender.windowUpdate(0, more);
  }

  ping(purpose: number): void {
    const at = this.sender.control(TYPE.ping, 0, 0, PING_BYTES);
    if (at < 0) return;
    this.sender.target.fill(0, at, at + PING_BYTES);
    this.sender.target[at] = purpose;
  }

  drainAnswered(): void {
    if (this.#stage === 'told') this.#close();
  }

  /** What is under way is finished, and nothing more is taken: the visitor closes once it has all of it (RFC 9113 §6.8). */
  visitorLeaves(): void {
    this.#close();
  }

  fail(code: number, offence: Http2Offence): void {
    if (this.isOver) return;
    this.user.onOffence(offence);
    this.#end(code);
  }

  // ------------------------------------------------------------------ for the sender

  endPut(stream: Http2ServerStream): void {
    if (stream.isHalf || (stream.ended && stream.closeCode === CODE.none)) return;
    stream.isGivenUp = true;
    this.sender.reset(stream.id, stream.closeCode);
  }

  handed(count: number): void {
    this.streams.handed += count;
  }

  written(out: OutBuffer): void {
    if (this.isOver) return;
    for (let i = 0; i < out.count; i++) {
      const stream = out.streams[i] as Http2ServerStream;
      if (stream.gone || stream.id !== out.ids[i]) continue;
      stream.backlog -= out.sizes[i] as number;
      if ((out.credits[i] as number) > 0) this.#credit(stream, out.credits[i] as number);
    }
    for (let i = 0; i < out.endCount; i++) {
      const stream = out.ends[i] as Http2ServerStream;
      if (stream.gone || stream.id !== out.endIds[i]) continue;
      if (stream.isHalf) stream.isHalfOut = true;
      else this.#done(stream);
    }
    this.#endIfDone();
  }

  failed(): void {
    this.destroy();
  }

  overwhelmed(): void {
    this.fail(CODE.calm, 'h2_pings');
  }

  #credit(stream: Http2ServerStream, credit: number): void {
    try {
      stream.sink.onCredit(stream, credit);
    } catch (error) {
      this.fault(stream, error);
    }
  }

  #done(stream: Http2ServerStream): void {
    const { sink } = stream;
    this.forget(stream, !stream.ended, !stream.ended || stream.isGivenUp);
    try {
      sink.onDone(stream);
    } catch (error) {
      this.user.onFault(error);
    }
  }

  // ------------------------------------------------------------------ the socket

  /** False: reads no more. */
  #read(bytes: Buffer, start: number, end: number): boolean {
    // What comes behind an end in good order is read and forgotten: unread, it would make a reset of the end.
    if (!this.isOver) {
      try {
        this.#reader.feed(bytes, start, end);
        // The last stream may have been reset, of which nothing is written.
        if (this.#stage === 'closing') this.#endIfDone();
      } catch (error) {
        this.user.onFault(error);
        this.#end(CODE.internal);
      }
    }
    return !this.#isDeaf;
  }

  #visitorEnded(): void {
    if (this.#hasVisitorEnded || this.#isGone) return;
    this.#hasVisitorEnded = true;
    if (!this.isOver) this.user.onVisitorEnd();
    this.#endIfDone();
  }

  /** Something waits for a window, which a visitor that has ended its side will never open. */
  #isStuck(): boolean {
    if (this.isOver || !this.sender.isEmpty) return false;
    for (const stream of this.streams.all()) if (stream.waiting.bytes > 0) return true;
    return false;
  }

  #close(): void {
    if (this.closing) return;
    this.#stage = 'closing';
    goAway(this.sender, this.streams.lastTaken);
    this.#endIfDone();
  }

  /** Ends in good order when nothing is left to do. */
  #endIfDone(): void {
    if (this.isOver || (this.#stage !== 'closing' && !this.#hasVisitorEnded)) return;
    if (this.streams.size > 0 || !this.sender.isEmpty) return;
    this.#over();
    this.sender.end();
  }

  /** Ends with an error. */
  #end(code: number): void {
    if (this.isOver) return;
    this.#isDeaf = true;
    this.#over();
    goAway(this.sender, this.streams.lastTaken, code);
    this.sender.end();
  }

  /** Nothing is received from now on: the streams are over. */
  #over(): void {
    if (this.isOver) return;
    this.#stage = 'over';
    this.#overAtMs = this.nowMs();
    for (const stream of this.streams.all()) {
      const { sink } = stream;
      this.forget(stream, false, true);
      try {
        sink.onReset(stream, CODE.cancel);
      } catch (error) {
        this.user.onFault(error);
      }
    }
    this.#reader.close();
    this.#receiver.close();
    this.window.reset();
  }

  #gone(): void {
    if (this.#isGone) return;
    this.#over();
    this.#isGone = true;
    this.sender.close();
    this.user.onClose();
  }
}
