/**
 * What a connection receives: requests and their bodies, what is an error of a stream and what one of the connection (RFC 9113 §5, §6). Frames of
 * other kinds are in control-frames.ts.
 */
import { Decoder } from '../decoder.ts';
import type { HeadScratch } from '../request-head.ts';
import { CODE } from '../types.ts';
import { ControlFrames, type ControlHost, PING } from './control-frames.ts';
import type { Floods } from './flood.ts';
import { FLAG, HEADER_BYTES, readNumber, TYPE } from './frame.ts';
import type { FrameUser } from './frame-reader.ts';
import { HeadBlock } from './head-block.ts';
import { type OffenceHost, Offences } from './offences.ts';
import type { BufferPool } from './sending/out-buffer.ts';
import type { Http2ServerStream, StreamHost } from './stream.ts';
import type { StreamTable } from './stream-table.ts';
import type { ConnectionWindow } from './windows.ts';

const PRIORITY_BYTES = 5;
/** A frame of DATA that brings less than its own header counts as so much that is of no use; an empty one costs more. A message of gRPC brings more. */
const TINY_DATA_COST = 32;
const EMPTY_DATA_COST = 1_024;
/** Reading a head is work; one that is refused counts so many times. */
const REFUSED_COST = 8;

/** The connection of a receiver. */
export interface ReceiverHost extends StreamHost, OffenceHost, ControlHost {
  readonly sender: StreamHost['sender'];
  readonly window: ConnectionWindow;
  readonly floods: Floods;
  readonly head: HeadScratch;
  readonly maxStreams: number;
  /** Streams that come now are refused: the visitor has been sent the last number. */
  readonly closing: boolean;
  nowMs(): number;
  ping(purpose: number): void;
  giveBack(): void;
}

export class Receiver implements FrameUser {
  readonly #host: ReceiverHost;
  readonly #streams: StreamTable;
  readonly #offences: Offences;
  readonly #control: ControlFrames;
  readonly #decoder = new Decoder();
  readonly #block: HeadBlock;
  /** Whose DATA is under way; null: it is passed by. */
  #data: Http2ServerStream | null = null;
  #dataEnds = false;

  constructor(host: ReceiverHost, pool: BufferPool) {
    this.#host = host;
    this.#streams = host.streams;
    this.#offences = new Offences(host, host.floods);
    this.#control = new ControlFrames(host, this.#offences);
    this.#block = new HeadBlock(pool);
  }

  get isOver(): boolean {
    return this.#host.isOver;
  }

  get takesData(): boolean {
    return this.#control.hasSettings && this.#block.id === 0;
  }

  broken(code: number): void {
    this.#offences.fail(code);
  }

  frame(type: number, flags: number, id: number, bytes: Buffer, start: number, length: number): void {
    if (!this.#control.hasSettings && (type !== TYPE.settings || (flags & FLAG.ack) !== 0))
      return this.#offences.fail(CODE.protocol);
    if (this.#block.id !== 0 && (type !== TYPE.continuation || id !== this.#block.id))
      return this.#offences.fail(CODE.protocol);
    switch (type) {
      case TYPE.data:
        return this.#paddedData(id, flags, bytes, start, length);
      case TYPE.headers:
        return this.#headersFrame(id, flags, bytes, start, length);
      case TYPE.continuation:
        return this.#continuationFrame(flags, bytes, start, length);
      default:
        this.#control.frame(type, flags, id, bytes, start, length);
    }
  }

  /** Lets go of what it has. */
  close(): void {
    this.#block.close();
    this.#data = null;
  }

  /** The stream is over: the rest of its DATA is passed by. */
  forgot(stream: Http2ServerStream): void {
    if (this.#data === stream) this.#data = null;
  }

  // ------------------------------------------------------------------ bodies

  dataBegins(id: number, length: number, flags: number): void {
    this.#dataFrame(id, length, length, (flags & FLAG.endStream) !== 0);
  }

  data(bytes: Buffer, start: number, end: number, isLast: boolean): void {
    const host = this.#host;
    const length = end - start;
    const stream = this.#data;
    host.window.came(length, stream === null ? 0 : length);
    if (host.roundTrip.isDue(length, host.window.size, host)) host.ping(PING.roundTrip);
    if (stream !== null) {
      stream.holding += length;
      try {
        stream.sink.onData(stream, bytes, start, end);
      } catch (error) {
        host.fault(stream, error);
      }
      // Else it was reset meanwhile.
      if (isLast && this.#data === stream) {
        this.#data = null;
        if (this.#dataEnds) this.#bodyEnd(stream);
      }
    }
    host.giveBack();
  }

  #paddedData(id: number, flags: number, bytes: Buffer, start: number, length: number): void {
    if (length === 0) return this.#offences.fail(CODE.frameSize);
    const padding = 1 + (bytes[start] as number);
    if (padding > length) return this.#offences.fail(CODE.protocol);
    const useful = length - padding;
    this.#dataFrame(id, length, useful, (flags & FLAG.endStream) !== 0);
    if (this.isOver) return;
    // Padding counts for the windows, and is out of the way at once.
    this.#host.window.came(padding, 0);
    const stream = this.#streams.get(id);
    if (stream !== undefined && !stream.isGivenUp) stream.reopen(padding);
    if (useful > 0) this.data(bytes, start + 1, start + 1 + useful, true);
    else this.#host.giveBack();
  }

  /** A frame of `length` bytes, of which `useful` are body. */
  #dataFrame(id: number, length: number, useful: number, isEnd: boolean): void {
    const host = this.#host;
    this.#data = null;
    if (id === 0 || this.#streams.isIdle(id)) return this.#offences.fail(CODE.protocol);
    if (!host.window.admit(length, host)) return this.#offences.fail(CODE.flowControl);
    const stream = this.#streams.get(id);
    if (stream === undefined || (stream.isGivenUp && !stream.ended)) return this.#passBy(id, stream, length, isEnd);
    if (stream.ended) return this.#behindEnd(stream);
    if (!stream.window.admit(length, host)) return this.#offences.offend(stream, CODE.flowControl);
    stream.received += useful;
    const { contentLength, received } = stream;
    if (contentLength >= 0 && (received > contentLength || (isEnd && received < contentLength)))
      return this.#offences.offend(stream, CODE.protocol);
    if (!isEnd && useful < HEADER_BYTES && this.#offences.isWaste(useful === 0 ? EMPTY_DATA_COST : TINY_DATA_COST))
      return;
    if (useful === 0) {
      if (isEnd) this.#bodyEnd(stream);
      return;
    }
    this.#data = stream;
    this.#dataEnds = isEnd;
  }

  /** DATA of a stream that is over. What this side has left before its time may have been under way. */
  #passBy(id: number, stream: Http2ServerStream | undefined, length: number, isEnd: boolean): void {
    if (stream !== undefined) {
      if (!stream.window.admit(length, this.#host)) return this.#offences.offend(stream, CODE.flowControl);
      stream.ended = isEnd;
    } else if (this.#streams.left.admit(id, length)) {
      if (isEnd) this.#streams.left.delete(id);
    } else if (id > this.#streams.lastCut) this.#offences.fail(CODE.streamClosed);
    // It may have been reset: a visitor that is late with its DATA does not lose the streams beside it.
    else this.#offences.refuse(id, CODE.streamClosed, 'h2_protocol');
  }

  /** DATA behind the visitor's end of a stream. To the visitor it is closed on both sides once the answer's end is with the socket (RFC 9113 §5.1). */
  #behindEnd(stream: Http2ServerStream): void {
    if (stream.isHanded && !stream.isGivenUp) this.#offences.fail(CODE.streamClosed);
    else this.#offences.offend(stream, CODE.streamClosed);
  }

  #bodyEnd(stream: Http2ServerStream): void {
    stream.ended = true;
    try {
      stream.sink.onEnd(stream);
    } catch (error) {
      this.#host.fault(stream, error);
    }
  }

  // ------------------------------------------------------------------ heads

  #headersFrame(id: number, flags: number, bytes: Buffer, start: number, length: number): void {
    if ((id & 1) === 0) return this.#offences.fail(CODE.protocol);
    let from = start;
    let end = start + length;
    if ((flags & FLAG.padded) !== 0) {
      if (length === 0) return this.#offences.fail(CODE.frameSize);
      end -= bytes[from++] as number;
    }
    if ((flags & FLAG.priority) !== 0) {
      if (start + length - from < PRIORITY_BYTES) return this.#offences.fail(CODE.frameSize);
      if (readNumber(bytes, from) === id) return this.#offences.fail(CODE.protocol);
      from += PRIORITY_BYTES;
    }
    if (from > end) return this.#offences.fail(CODE.protocol);
    if (!this.#mayHaveHead(id)) return this.#offences.fail(CODE.streamClosed);
    if ((flags & FLAG.endHeaders) !== 0) return this.#head(id, flags, bytes, from, end);
    this.#block.begin(id, flags);
    this.#addToBlock(bytes, from, end);
  }

  /** A new stream, or one whose trailers they may be; or one that this side has left, of which the visitor may not know. */
  #mayHaveHead(id: number): boolean {
    if (id > this.#streams.last) return true;
    const stream = this.#streams.get(id);
    return stream === undefined ? this.#streams.left.has(id) : !stream.ended;
  }

  #continuationFrame(flags: number, bytes: Buffer, start: number, length: number): void {
    const block = this.#block;
    if (block.id === 0) return this.#offences.fail(CODE.protocol);
    if (!this.#addToBlock(bytes, start, start + length) || (flags & FLAG.endHeaders) === 0) return;
    const { id } = block;
    block.id = 0;
    this.#head(id, block.flags, block.bytes, 0, block.length);
    block.close();
  }

  #addToBlock(bytes: Buffer, start: number, end: number): boolean {
    if (this.#block.add(bytes, start, end)) return true;
    this.#offences.fail(CODE.calm, 'h2_continuation');
    return false;
  }

  /** A whole block. It is decoded in any case: the next one builds on it. */
  #head(id: number, flags: number, bytes: Buffer, start: number, end: number): void {
    const { head } = this.#host;
    const isEnd = (flags & FLAG.endStream) !== 0;
    if (id <= this.#streams.last) {
      if (!this.#decoder.decode(bytes, start, end, head)) return this.#offences.fail(CODE.compression);
      return this.#trailers(id, isEnd, end - start);
    }
    if (!this.#decoder.request(bytes, start, end, isEnd, head)) return this.#offences.fail(CODE.compression);
    this.#streams.last = id;
    const isRefused = this.#host.closing || this.#streams.size - this.#streams.handed >= this.#host.maxStreams;
    if (isRefused) {
      if (this.#offences.isWaste(end - start)) return;
      this.#streams.refused(id, !isEnd, this.#host.window.size);
      return this.#offences.refuse(id, CODE.refused, null);
    }
    if (head.reason !== '' && this.#offences.isWaste(REFUSED_COST * (end - start))) return;
    this.#request(id, isEnd, head);
  }

  #request(id: number, isEnd: boolean, head: HeadScratch): void {
    const host = this.#host;
    const isMalformed = head.reason !== '' && !head.isTooLarge;
    // The user answers it, and a reset follows the answer.
    if (isMalformed && !this.#offences.isAnswered('h2_made_resets')) return;
    const stream = this.#streams.begin(id, this.#control.sendWindow, head.reason === '' ? head.contentLength : -1);
    stream.ended = isEnd;
    stream.priority.urgency = head.priority.urgency;
    stream.priority.isIncremental = head.priority.isIncremental;
    this.#control.prioritize(stream);
    if (isMalformed) stream.closeCode = CODE.protocol;
    try {
      host.user.onRequest(stream, head, isEnd);
    } catch (error) {
      host.fault(stream, error);
    }
  }

  #trailers(id: number, isEnd: boolean, wireBytes: number): void {
    const { head } = this.#host;
    const stream = this.#streams.get(id);
    if (stream === undefined || stream.isGivenUp) {
      if (!isEnd || this.#offences.isWaste(wireBytes)) return;
      if (stream === undefined) this.#streams.left.delete(id);
      else stream.ended = true;
      return;
    }
    const { contentLength, received } = stream;
    if (!isEnd || (contentLength >= 0 && received !== contentLength))
      return this.#offences.offend(stream, CODE.protocol);
    const reason = head.finishTrailers();
    if (reason !== '') {
      if (!this.#offences.isWaste(REFUSED_COST * wireBytes))
        this.#offences.offend(stream, CODE.protocol, head.isTooLarge ? 'h2_headers' : 'h2_protocol');
      return;
    }
    try {
      if (head.end > head.start) stream.sink.onTrailers(stream, head.bytes, head.start, head.end);
    } catch (error) {
      return this.#host.fault(stream, error);
    }
    if (!stream.gone) this.#bodyEnd(stream);
  }
}
