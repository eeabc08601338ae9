/**
 * One request and its answer, as the user of a connection has it (types.ts). A connection keeps streams that are over for those to come, so a user
 * drops its reference with `onReset`, `onDone` or its own `reset`.
 */
import type { Slab } from '../../base/bytes/slab.ts';
import type { Head } from '../../http1/head.ts';
import { resetPriority } from '../priority.ts';
import { END, Outgoing } from './sending/outgoing.ts';
import type { FrameSender } from './sending/sender.ts';
import { CODE, type Http2Stream, type Http2StreamSink } from '../types.ts';
import { type ConnectionWindow, type Pace, ReceiveWindow, STREAM_WINDOW } from './windows.ts';

/** The connection of a stream (connection.ts). */
export interface StreamHost extends Pace {
  readonly window: ConnectionWindow;
  readonly sender: FrameSender;
  /** `bytes` of a body that the user held have left its hands. */
  released(bytes: number): void;
  /** The user has reset it. */
  left(stream: Http2ServerStream): void;
  /** Its end was put before, for one half. */
  endPut(stream: Http2ServerStream): void;
  /** Its end is out, and now it is for both halves. */
  done(stream: Http2ServerStream): void;
  /** What the user gave could not be sent: a fault of ours. */
  fault(stream: Http2ServerStream, error: unknown): void;
}

/** Takes what arrives on a stream without a user: window is given back, so that the visitor ends. */
export const deafSink: Http2StreamSink = {
  onData: (stream, _bytes, start, end) => stream.consumed(end - start),
  onTrailers: () => {},
  onEnd: () => {},
  onCredit: () => {},
  onReset: () => {},
  onDone: () => {},
};

export class Http2ServerStream extends Outgoing implements Http2Stream {
  readonly #host: StreamHost;
  sink: Http2StreamSink = deafSink;
  ended = false;
  backlog = 0;
  readonly window: ReceiveWindow;
  /** What the visitor announced, or -1; and what has come of it. */
  contentLength = -1;
  received = 0;
  /** What the user was given and has not `consumed`. */
  holding = 0;
  /** The code of the reset behind its answer, when there has to be one in any case: it answers a request that is malformed. */
  closeCode: number = CODE.none;
  /** This side has said that the rest of the request is not wanted. */
  isGivenUp = false;
  /** Of one that is half over: its end is out. */
  isHalfOut = false;

  constructor(host: StreamHost) {
    super();
    this.#host = host;
    this.window = new ReceiveWindow(STREAM_WINDOW, host.window);
  }

  get heldBytes(): number {
    return this.waiting.held;
  }

  consumed(n: number): void {
    const bytes = Math.min(n, this.holding);
    if (bytes === 0 || this.gone) return;
    this.holding -= bytes;
    this.reopen(bytes);
    this.#host.released(bytes);
  }

  respond(bytes: Buffer, head: Head, added: Buffer, isEnd: boolean): number {
    if (this.#isClosing) return 0;
    const counted = this.#host.sender.respond(this, bytes, head, added, isEnd);
    if (counted >= 0) return counted;
    this.#tooLong();
    return 0;
  }

  answer(status: number, fields: readonly string[], body: Buffer, isEnd: boolean): void {
    if (this.#isClosing) return;
    const { sender } = this.#host;
    if (!sender.answer(this, status, fields, isEnd && body.length === 0)) return this.#tooLong();
    if (body.length === 0) return;
    this.backlog += body.length;
    if (sender.takesAtOnce(this, body.length)) {
      sender.data(this, body, 0, body.length, 0);
      if (isEnd) this.end();
      return;
    }
    this.waiting.keep(body, sender.held);
    if (isEnd) this.ending = END.stream;
    sender.enqueue(this);
  }

  push(bytes: Buffer, start: number, end: number, credit: number, slab: Slab): void {
    if (this.#isClosing) return;
    const length = end - start;
    if (length === 0) {
      this.spareCredit += credit;
      return;
    }
    this.backlog += length;
    const { sender } = this.#host;
    if (sender.takesAtOnce(this, length)) return sender.data(this, bytes, start, end, credit);
    this.waiting.add(bytes, start, end, credit, slab, sender.held);
    sender.enqueue(this);
  }

  trailers(lines: Buffer): void {
    if (this.#isClosing) return;
    // The user's bytes may change before they are sent.
    this.trailerLines = Buffer.from(lines);
    this.#endBy(END.trailers);
  }

  end(): void {
    if (this.isHalf) this.#endOther();
    else if (!this.#isClosing) this.#endBy(END.stream);
  }

  endHalf(): void {
    if (this.#isClosing) return;
    this.isHalf = true;
    this.#endBy(END.stream);
  }

  reset(code: number): void {
    this.sink = deafSink;
    if (this.gone) return;
    this.#host.sender.reset(this.id, code);
    this.#host.left(this);
  }

  // ------------------------------------------------------------------ called by the connection only

  /** Takes the next request. */
  begin(id: number, sendWindow: number, contentLength: number): void {
    this.id = id;
    this.sendWindow = sendWindow;
    this.contentLength = contentLength;
    this.received = this.holding = this.backlog = this.spareCredit = 0;
    this.gone = this.ended = this.isGivenUp = this.isHanded = this.isHalf = this.isHalfOut = false;
    this.closeCode = CODE.none;
    this.ending = END.none;
    this.lastSerial = this.turnBytes = 0;
    this.isLong = false;
    resetPriority(this.priority);
  }

  /** The visitor takes more. */
  windowGrew(): void {
    if (this.waiting.bytes > 0) this.#host.sender.enqueue(this);
  }

  /** `bytes` that came count no more against its window. */
  reopen(bytes: number): void {
    if (this.ended) return;
    const more = this.window.give(bytes, this.#host);
    if (more > 0) this.#host.sender.windowUpdate(this.id, more);
  }

  /** It is over, whatever the reason: lets go of what it has. */
  leave(): void {
    const { sender } = this.#host;
    this.gone = true;
    this.sink = deafSink;
    sender.dequeue(this);
    this.waiting.drop(sender.held);
    this.trailerLines = null;
    this.backlog = 0;
    this.window.reset();
  }

  // ------------------------------------------------------------------

  get #isClosing(): boolean {
    return this.gone || this.ending !== END.none;
  }

  #endOther(): void {
    this.isHalf = false;
    if (this.gone || this.ending !== END.sent) return;
    this.#host.endPut(this);
    if (this.isHalfOut) this.#host.done(this);
  }

  #endBy(end: typeof END.stream | typeof END.trailers): void {
    this.ending = end;
    if (this.waiting.bytes === 0) this.#host.sender.finish(this);
  }

  #tooLong(): void {
    this.#host.fault(this, new Error('the head of a response is too long'));
  }
}
