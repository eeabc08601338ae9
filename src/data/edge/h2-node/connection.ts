/**
 * A visitor's HTTP/2 connection where `edge.http2` is "node": the session of node:http2 (nghttp2), an exchange per stream, and what holds for all of them: limits, time, the
 * end. Made by data/edge/http.ts when a visitor has chosen `h2` by ALPN. Extended CONNECT is not offered (RFC 8441): browsers
 * open a connection of HTTP/1.1 for their WebSockets.
 */
import { constants, performServerHandshake, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2';
import type { TLSSocket } from 'node:tls';
import { codeOf } from '../../../base/errors.ts';
import type { EdgeConnection, EdgeContext } from '../exchange/context.ts';
import type { DropReason } from '../../faults/drops.ts';
import type { VisitorOrigin } from '../exchange/forwarded.ts';
import type { OwnStreams } from '../exchange/upstream.ts';
import { type ExchangeOwner, Http2Exchange } from './exchange.ts';
import { FloodGuard } from './flood.ts';
import { CONNECTION_WINDOW, sessionOptions } from './session-options.ts';
import { type WrittenHead, writeRequestHead } from './request-head.ts';
import { textBytes, WireCount } from './wire-count.ts';

const { NGHTTP2_ENHANCE_YOUR_CALM, NGHTTP2_NO_ERROR, NGHTTP2_REFUSED_STREAM } = constants;
/** What frames may take that bring nothing: WINDOW_UPDATE, PRIORITY, heads of frames, unknown ones. Their bytes show a flood. */
const OVERHEAD_PER_SECOND = 524_288;
/** Of a head beside its text, and what may come behind it for its stream. */
const HEAD_BYTES = 128;
/** First TCP keep-alive probe after this long without traffic. */
const KEEP_ALIVE_MS = 60_000;
/** PING and SETTINGS that are answered: some clients measure round trips while they download. */
const CONTROLS_PER_SECOND = 100;
/** After GOAWAY a visitor's last streams may still arrive for this long. */
const LEAVE_MS = 1_000;
/** Announced in the first GOAWAY: streams that are under way are still taken. */
const ANY_STREAM = 2 ** 31 - 1;

/** Of nghttp2, and of what Node counts above it; others are of the network, or of a visitor that gives up. */
const PROTOCOL_ERRORS = new Set(['ERR_HTTP2_ERROR', 'ERR_HTTP2_TOO_MANY_INVALID_FRAMES']);
/** What a stream is reset for that breaks the protocol, by nghttp2 or by a visitor that takes the edge for such a one. */
const OFFENCES = new Set([
  constants.NGHTTP2_PROTOCOL_ERROR,
  constants.NGHTTP2_FLOW_CONTROL_ERROR,
  constants.NGHTTP2_STREAM_CLOSED,
  constants.NGHTTP2_FRAME_SIZE_ERROR,
]);
/** What a connection was ended for, by nghttp2's words. */
const FAILURES: ReadonlyArray<readonly [string, DropReason]> = [
  ['CONTINUATION', 'h2_continuation'],
  ['Flooding', 'h2_pings'],
  ['SETTINGS', 'h2_settings'],
];

export class NodeHttp2Connection implements EdgeConnection, ExchangeOwner {
  readonly context: EdgeContext;
  readonly origin: VisitorOrigin;
  readonly own: OwnStreams = [];
  readonly headBuffer: Buffer;
  readonly written: WrittenHead = { length: 0, lines: 0, reason: '' };
  readonly ranges = { held: 0 };
  useful = 0;
  readonly #socket: TLSSocket;
  readonly #session: ServerHttp2Session;
  readonly #exchanges = new Set<Http2Exchange>();
  /** Done, and good for streams to come; no more than streams may be open. */
  readonly #free: Http2Exchange[] = [];
  readonly #resets: FloodGuard;
  readonly #controls: FloodGuard;
  readonly #overheads: FloodGuard;
  readonly #wire = new WireCount();
  /** Bytes of no use so far. */
  #overhead = 0;
  /** The highest stream that has come, or has been refused by nghttp2. */
  #lastStream = -1;
  /** The newest that nghttp2 had read of when it was looked at last. */
  #newestBefore = -1;
  /** Since when there has been no request; 0: not looked at yet. */
  #idleSinceMs = 0;
  #leaving: 'no' | 'told' | 'closing' | 'flooded' = 'no';
  #leaveAtMs = 0;
  /** Since when nothing is left to do but to see the visitor go; 0: not yet. */
  #lingerSinceMs = 0;
  #gone = false;
  /** What was last told of. */
  #heldBytes = 0;

  constructor(context: EdgeContext, socket: TLSSocket, origin: VisitorOrigin) {
    this.context = context;
    this.origin = origin;
    this.headBuffer = context.readBuffer;
    const { nowMs, limits } = context;
    this.#resets = new FloodGuard({
      perSecond: limits.http2ResetsPerSecond,
      burst: limits.http2ResetsPerSecond * 10,
      nowMs,
    });
    this.#controls = new FloodGuard({ perSecond: CONTROLS_PER_SECOND, burst: CONTROLS_PER_SECOND * 10, nowMs });
    this.#overheads = new FloodGuard({ perSecond: OVERHEAD_PER_SECOND, burst: OVERHEAD_PER_SECOND * 10, nowMs });
    socket.setKeepAlive(true, KEEP_ALIVE_MS);
    const session = performServerHandshake(socket, sessionOptions(limits));
    this.#session = session;
    this.#socket = socket;
    session.on('stream', (stream, _headers, flags, raw) => this.#open(stream, flags, raw));
    session.on('error', (error: Error) => this.#failed(error));
    session.on('close', () => this.#closed());
    session.on('ping', () => this.#control('h2_pings'));
    session.on('remoteSettings', () => this.#control('h2_settings'));
    socket.on('end', () => this.#visitorEnded());
    // Node takes its own listener away with the session, and what was written may fail after that.
    socket.on('error', () => undefined);
    session.setLocalWindowSize(CONNECTION_WINDOW);
    context.sweeper.add(this);
  }

  // ------------------------------------------------------------------ streams

  #open(stream: ServerHttp2Stream, flags: number, raw: readonly string[]): void {
    // Before anything else: it may fail in the same turn.
    stream.on('error', () => undefined);
    if (this.#gone) return;
    this.#skipped((stream.id as number) - 2);
    this.#lastStream = stream.id as number;
    if (this.#leaving === 'closing' || this.#leaving === 'flooded') {
      stream.close(NGHTTP2_REFUSED_STREAM);
      return;
    }
    this.#idleSinceMs = 0;
    const exchange = this.#free.pop() ?? new Http2Exchange(this);
    this.#exchanges.add(exchange);
    // They go to no service, and cost as much to read as a head.
    stream.on('trailers', (_fields, _flags, trailers: readonly string[]) => void this.#headCame(trailers));
    exchange.begin(stream, flags, raw);
  }

  readHead(raw: readonly string[], isWhole: boolean): number {
    writeRequestHead(raw, isWhole, this.headBuffer, this.written);
    return this.#headCame(raw);
  }

  #headCame(raw: readonly string[]): number {
    const bytes = this.#wire.head(textBytes(raw), this.#socket.bytesRead);
    if (bytes < 0) this.#endFlood('h2_expansion');
    this.useful += Math.max(0, bytes) + HEAD_BYTES;
    return bytes;
  }

  bodyCame(bytes: number): void {
    this.useful += bytes;
    this.#wire.body(bytes);
  }

  left(exchange: Http2Exchange, code: number | null): void {
    this.#exchanges.delete(exchange);
    if (this.#gone) return;
    if (exchange.isFree) this.#free.push(exchange);
    if (code === null) return;
    if (OFFENCES.has(code)) this.context.drops.add('h2_protocol');
    if (!this.#resets.add(this.context.nowMs)) this.#endFlood('h2_reset_flood');
  }

  /** nghttp2 refuses by itself, and says nothing of, requests whose fields it can't read or are too many: their streams never come here. */
  #skipped(upTo: number): void {
    for (; this.#lastStream < upTo; this.#lastStream += 2) this.context.drops.add('h2_headers');
  }

  // ------------------------------------------------------------------ the connection

  /** Requests that are whole still get their answers. */
  #visitorEnded(): void {
    this.#skipped(this.#session.state.lastProcStreamID || -1);
    for (const exchange of [...this.#exchanges]) exchange.visitorEnded();
    if (!this.#session.closed) this.#session.close();
  }

  /** Each of these costs an answer. */
  #control(reason: DropReason): void {
    if (!this.#gone && !this.#controls.add(this.context.nowMs)) this.#endFlood(reason);
  }

  /** Not at once: this is called by nghttp2, which can't say goodbye in the middle of a read. Nothing more is taken. */
  #endFlood(reason: DropReason): void {
    if (this.#leaving === 'flooded') return;
    this.#leaving = 'flooded';
    this.context.drops.add(reason);
    setImmediate(() => {
      if (!this.#session.destroyed) this.#session.destroy(new Error(reason), NGHTTP2_ENHANCE_YOUR_CALM);
    });
  }

  #failed(error: Error): void {
    if (this.#leaving !== 'flooded' && PROTOCOL_ERRORS.has(codeOf(error) ?? '')) {
      const known = FAILURES.find(([words]) => error.message.includes(words));
      this.context.drops.add(known === undefined ? 'h2_protocol' : known[1]);
    }
    this.context.log.debug({ err: error.message }, 'an HTTP/2 visitor connection failed');
  }

  #closed(): void {
    if (this.#gone) return;
    this.#gone = true;
    this.context.sweeper.delete(this);
    this.context.http2Memory.changed(this.#heldBytes, 0);
    for (const exchange of [...this.#exchanges]) exchange.destroy();
    this.#free.length = 0;
  }

  // ------------------------------------------------------------------ time

  /** Once a second or so: the deadlines of each stream, and of the connection when there is none. */
  sweep(nowMs: number): void {
    if (this.#leaving === 'flooded') return this.destroy();
    this.#holds();
    // Of the newest the head may have come by half: it is refused when nothing is heard of it until the next look.
    this.#skipped(this.#newestBefore);
    this.#newestBefore = this.#session.state.lastProcStreamID || -1;
    for (const exchange of this.#exchanges) exchange.sweep(nowMs);
    this.#weigh(nowMs);
    const isBusy = this.#isBusy();
    if (this.#session.destroyed || (!isBusy && (this.#exchanges.size > 0 || this.#session.closed)))
      return this.#linger(nowMs);
    this.#lingerSinceMs = 0;
    if (this.#leaving === 'told' && nowMs - this.#leaveAtMs >= LEAVE_MS) this.#close();
    if (isBusy || this.#leaving !== 'no') return;
    if (this.#idleSinceMs === 0) this.#idleSinceMs = nowMs;
    if (nowMs - this.#idleSinceMs <= this.context.limits.idleTimeoutMs) return;
    this.context.drops.add('idle');
    this.#leave(nowMs);
  }

  /**
   * The session is over, or will be once the visitor takes the resets of streams that were cut. Node waits for the visitor to close its side of
   * the TCP connection, or to take what was written, for as long as it likes.
   */
  #linger(nowMs: number): void {
    if (this.#lingerSinceMs === 0) this.#lingerSinceMs = nowMs;
    const { lingerTimeoutMs, bodyIdleTimeoutMs } = this.context.limits;
    // The end of its last answer may still be on its way to a slow reader.
    const isTaking = this.#session.destroyed && !this.#socket.writableFinished;
    if (nowMs - this.#lingerSinceMs <= (isTaking ? bodyIdleTimeoutMs : lingerTimeoutMs)) return;
    this.context.drops.add(isTaking ? 'slow_reader' : 'linger');
    this.destroy();
  }

  /** The least that comes is counted: a visitor that was of use before has something to spare. */
  #weigh(nowMs: number): void {
    const overhead = this.#socket.bytesRead - this.useful;
    const more = overhead - this.#overhead;
    if (more <= 0) return;
    this.#overhead = overhead;
    if (!this.#overheads.add(nowMs, more)) this.#endFlood('h2_overhead');
  }

  /** Streams that were cut wait only for a visitor to take their reset: one that reads nothing keeps no connection by them. */
  #isBusy(): boolean {
    for (const exchange of this.#exchanges) if (!exchange.isCut) return true;
    return false;
  }

  /** Looked at once a second and not per piece: what comes meanwhile is bounded by what the network brings in a second. */
  #holds(): void {
    const before = this.#heldBytes;
    this.#heldBytes = 0;
    for (const exchange of this.#exchanges) this.#heldBytes += exchange.heldBytes;
    if (!this.context.http2Memory.changed(before, this.#heldBytes)) this.#endFlood('h2_memory');
  }

  /** The server leaves: the visitor gets GOAWAY, and its open streams are finished. */
  drain(isLast: boolean): void {
    const nowMs = performance.now();
    const isIdle = this.#idleSinceMs > 0 && nowMs - this.#idleSinceMs >= LEAVE_MS;
    this.#leave(nowMs);
    if ((isLast || isIdle) && this.#leaving === 'told') this.#close();
  }

  get stage(): EdgeConnection['stage'] {
    if (this.#session.destroyed) return this.#socket.writableLength === 0 ? 'done' : 'busy';
    if (this.#isBusy()) return 'busy';
    return this.#leaving === 'no' || this.#leaving === 'told' ? 'open' : 'done';
  }

  /** A session that ends waits until its socket has taken what was written, for ever without a reader: so the socket is cut too. */
  destroy(): void {
    if (!this.#gone) this.#session.destroy();
    this.#socket.destroy();
  }

  #close(): void {
    this.#leaving = 'closing';
    this.#session.close();
  }

  /** In two steps, so that a request which is under way meanwhile is still answered (RFC 9113 §6.8). */
  #leave(nowMs: number): void {
    if (this.#leaving !== 'no' || this.#session.destroyed) return;
    this.#leaving = 'told';
    this.#leaveAtMs = nowMs;
    this.#idleSinceMs = 0;
    this.#session.goaway(NGHTTP2_NO_ERROR, ANY_STREAM);
  }
}
