/**
 * What an HTTP/2 connection (connection.ts) and its user say to each other. The shapes follow those of the multiplexer (mux/stream.ts), so that the
 * edge joins two streams of one contract: bytes come as ranges that are good until the call returns, `consumed(n)` alone opens a window, and
 * credit tells when bytes have left.
 */
import type { Slab } from '../base/bytes/slab.ts';
import type { Head } from '../http1/head.ts';

/** Error codes (RFC 9113 §7). */
export const CODE = {
  none: 0,
  protocol: 1,
  internal: 2,
  flowControl: 3,
  settingsTimeout: 4,
  streamClosed: 5,
  frameSize: 6,
  refused: 7,
  cancel: 8,
  compression: 9,
  connect: 10,
  calm: 11,
  inadequateSecurity: 12,
  http11Required: 13,
} as const;

/** Why a connection, or a stream of it, was ended for the visitor's doing: a drop reason of the edge. */
export type Http2Offence =
  | 'h2_protocol'
  | 'h2_reset_flood'
  | 'h2_made_resets'
  | 'h2_pings'
  | 'h2_settings'
  | 'h2_overhead'
  | 'h2_continuation'
  | 'h2_headers'
  | 'h2_memory';

/**
 * A request head in the form of HTTP/1.1, in `bytes[start, end)`, closing empty line included: what `parseRequestHead` reads. One per process, good
 * until the call that brings it returns.
 */
export interface RequestHead {
  readonly bytes: Buffer;
  readonly start: number;
  readonly end: number;
  /** Field lines that were written: the parser must find as many. */
  readonly lines: number;
  /** Bytes of the block as it came: what the visitor is counted for. */
  readonly wireBytes: number;
  /** Why it is refused, or ''. Then nothing lies in `bytes`. */
  readonly reason: string;
  /** It is refused because it is longer, or has more fields, than allowed. */
  readonly isTooLarge: boolean;
  /** HEAD, as far as known of a refused one: its answer has no body. */
  readonly isHead: boolean;
  /** Extended CONNECT with `:protocol websocket` (RFC 8441): written as a GET with Upgrade and a key of the edge. */
  readonly isWebsocket: boolean;
  /** What a service must answer to that key (RFC 6455 §4.2.2); '': there is none. */
  readonly websocketAccept: string;
}

/** Urgency 0 (first) to 7, and whether parts are of use by themselves (RFC 9218 §4). */
export interface Priority {
  urgency: number;
  isIncremental: boolean;
}

/** Receives what happens on a stream. One object may serve many streams in turn. */
export interface Http2StreamSink {
  /** Body bytes: use them, or copy, before returning; `consumed` once they have left the user's hands. */
  onData(stream: Http2Stream, bytes: Buffer, start: number, end: number): void;
  /** Lines `name: value CRLF` of the trailers in `bytes[start, end)`; `onEnd` follows. */
  onTrailers(stream: Http2Stream, bytes: Buffer, start: number, end: number): void;
  /** The visitor has sent all of it. */
  onEnd(stream: Http2Stream): void;
  /** `credit` bytes given with `push` have gone to the kernel, or were let go of. */
  onCredit(stream: Http2Stream, credit: number): void;
  /**
   * Gone before its answer was whole: reset by the visitor or for an offence of it (`code`), or the connection is gone (`CODE.cancel`).
   * Nothing follows. Never for a `reset` of the user.
   */
  onReset(stream: Http2Stream, code: number): void;
  /** The answer is whole and in the kernel, and the visitor's side is closed or was given up: nothing follows. */
  onDone(stream: Http2Stream): void;
}

/**
 * A stream, as its user sees it. All calls on a stream that is gone do nothing; but it may be another request's by the next turn of the event loop, so
 * its user forgets it then.
 */
export interface Http2Stream {
  readonly id: number;
  sink: Http2StreamSink;
  readonly priority: Priority;
  /** Reset, or done. */
  readonly gone: boolean;
  /** The visitor has ended its side. */
  readonly ended: boolean;
  /** Bytes given with `push` that are not credited yet; and what they take of the memory (whole slabs, copies). */
  readonly backlog: number;
  readonly heldBytes: number;

  /** `n` received bytes have left the user's hands: the window opens again by so many. */
  consumed(n: number): void;

  /**
   * HEADERS of a response: the lines of `head` (parsed from `bytes`) without its drops, then `added` lines (each with CR LF). Names go out in lower
   * case; lines that HTTP/2 has no place for (connection, keep-alive, …) are left out here. An interim one (1xx) has a status below 200. `isEnd`:
   * nothing follows. Answers the bytes of the lines as HTTP/1.1, which is what the visitor is counted for.
   */
  respond(bytes: Buffer, head: Head, added: Buffer, isEnd: boolean): number;
  /** The same for an answer of the edge itself: `fields` as `Name: value`. */
  answer(status: number, fields: readonly string[], body: Buffer, isEnd: boolean): void;
  /** DATA: the slab is held or the range copied until it has left; `credit` comes back by `onCredit`. */
  push(bytes: Buffer, start: number, end: number, credit: number, slab: Slab): void;
  /** HEADERS with END_STREAM behind what was pushed: lines, each with CR LF. */
  trailers(lines: Buffer): void;
  /** END_STREAM behind what was pushed. If the visitor still sends, RST_STREAM NO_ERROR follows it, and its DATA is passed by. */
  end(): void;
  /** END_STREAM behind what was pushed, while the visitor may still send: `end` or `reset` follows once that is of no interest any more. */
  endHalf(): void;
  /** RST_STREAM; what was pushed and has not left is let go of (no `onCredit` for it). */
  reset(code: number): void;
}

/** The user of a connection. */
export interface Http2User {
  /**
   * A request came. Sets `stream.sink`. Of a refused head (`head.reason`) too: the user answers it, and a reset follows the answer. `isWhole`: no
   * body follows, and `onEnd` is not called.
   */
  onRequest(stream: Http2Stream, head: RequestHead, isWhole: boolean): void;
  /** Counted; of a whole connection the end follows by `onClose`. */
  onOffence(reason: Http2Offence): void;
  /** The visitor will send nothing more (its side of the TCP connection ended): requests that are whole still get their answers. */
  onVisitorEnd(): void;
  /** The connection is over; its streams have had `onReset`. */
  onClose(): void;
  /** A fault inside a call to a sink or user: the stream was reset, the connection goes on. */
  onFault(error: unknown): void;
}

export interface Http2Limits {
  readonly maxStreams: number;
  readonly resetsPerSecond: number;
  /** Of a head: decoded bytes, fields. */
  readonly headBytes: number;
  readonly headFields: number;
}
