/**
 * A visitor's HTTP/2 connection: http2/connection reads and writes its frames, here are an exchange per stream, and what holds for all of them:
 * time, memory, the end. Made by data/edge/http.ts when a visitor has chosen `h2` by ALPN.
 */
import type { TLSSocket } from 'node:tls';
import { systemClock } from '../../../base/clock.ts';
import { Bucket } from '../../../http2/connection/flood.ts';
import { BufferPool } from '../../../http2/connection/sending/out-buffer.ts';
import { Http2ServerConnection, type Http2Parts } from '../../../http2/connection/connection.ts';
import { HeadScratch } from '../../../http2/request-head.ts';
import { CODE, type Http2Offence, type Http2Stream, type Http2User, type RequestHead } from '../../../http2/types.ts';
import { WindowBudget } from '../../../mux/window.ts';
import type { EdgeConnection, EdgeContext } from '../exchange/context.ts';
import type { VisitorOrigin } from '../exchange/forwarded.ts';
import type { OwnStreams } from '../exchange/upstream.ts';
import { Expansion } from './expansion.ts';
import { type ExchangeOwner, Http2Exchange } from './exchange.ts';

/** Fields as they come: cookies are in crumbs. The head that is made of them is bounded like every other one. */
const MAX_CRUMBS = 400;
/** First TCP keep-alive probe after this long without traffic. */
const KEEP_ALIVE_MS = 60_000;
/** What may come at once, in seconds of the rate. */
const BURST_SECONDS = 10;
/** A visitor without a request for this long has nothing under way, and is not waited for at a drain. */
const IN_USE_MS = 1_000;

/** What the connections of one edge share. */
export function http2Parts({ limits, turn, readBuffer }: EdgeContext): Http2Parts {
  const of = {
    maxStreams: limits.http2MaxStreams,
    resetsPerSecond: limits.http2ResetsPerSecond,
    headBytes: limits.head.headBytes,
    headFields: limits.head.fields + MAX_CRUMBS,
  };
  const budget = new WindowBudget(limits.http2MemoryBytes);
  return { limits: of, turn, budget, pool: new BufferPool(), head: new HeadScratch(of), readBuffer };
}

export class EdgeHttp2Connection implements EdgeConnection, ExchangeOwner, Http2User {
  readonly context: EdgeContext;
  readonly origin: VisitorOrigin;
  readonly own: OwnStreams = [];
  readonly pieces: BufferPool;
  readonly #connection: Http2ServerConnection;
  readonly #expansion = new Expansion();
  #offences: Bucket | null = null;
  readonly #exchanges = new Set<Http2Exchange>();
  /** Done, and good for streams to come; no more than streams may be open. */
  #free: Http2Exchange[] = [];
  /** Since when there has been no request; 0: not looked at yet. */
  #idleSinceMs = 0;
  /** Since when nothing is left to do but to see the visitor go; 0: not yet. */
  #lingerSinceMs = 0;
  #isLeaving = false;
  #isGone = false;
  /** What was last told of. */
  #heldBytes = 0;

  constructor(context: EdgeContext, parts: Http2Parts, socket: TLSSocket, origin: VisitorOrigin) {
    this.context = context;
    this.origin = origin;
    this.pieces = parts.pool;
    socket.setKeepAlive(true, KEEP_ALIVE_MS);
    this.#connection = new Http2ServerConnection(socket, this, parts);
    context.sweeper.add(this);
    this.#connection.start();
  }

  // ------------------------------------------------------------------ from the connection (Http2User)

  onRequest(stream: Http2Stream, head: RequestHead, isWhole: boolean): void {
    this.#idleSinceMs = 0;
    if (!this.expanded(head.end - head.start, head.wireBytes)) return;
    const exchange = this.#free.pop() ?? new Http2Exchange(this);
    this.#exchanges.add(exchange);
    stream.sink = exchange;
    exchange.begin(stream, head, isWhole);
  }

  /** A stream that the edge is made to reset has cost as much work as one that the visitor resets. */
  onOffence(reason: Http2Offence): void {
    this.context.drops.add(reason);
    if (reason !== 'h2_protocol') return;
    const { http2ResetsPerSecond: perSecond } = this.context.limits;
    this.#offences ??= new Bucket(systemClock, perSecond, perSecond * BURST_SECONDS);
    if (this.#offences.take(1)) return;
    this.context.drops.add('h2_made_resets');
    this.#connection.goaway(CODE.calm);
  }

  /** Requests that are whole still get their answers. */
  onVisitorEnd(): void {
    for (const exchange of [...this.#exchanges]) exchange.visitorEnded();
  }

  onClose(): void {
    if (this.#isGone) return;
    this.#isGone = true;
    this.context.sweeper.delete(this);
    this.context.http2Memory.changed(this.#heldBytes, 0);
    for (const exchange of [...this.#exchanges]) exchange.destroy();
    this.#free = [];
  }

  onFault(error: unknown): void {
    this.context.log.error({ err: error }, 'a visitor stream failed');
  }

  expanded(text: number, wire: number): boolean {
    if (this.#expansion.add(text, wire)) return true;
    this.context.drops.add('h2_expansion');
    this.#connection.goaway(CODE.calm);
    return false;
  }

  left(exchange: Http2Exchange): void {
    this.#exchanges.delete(exchange);
    if (!this.#isGone && exchange.isFree) this.#free.push(exchange);
  }

  // ------------------------------------------------------------------ time

  /** Once a second or so: the deadlines of each stream, and of the connection when there is none. */
  sweep(nowMs: number): void {
    const connection = this.#connection;
    connection.sweep(nowMs);
    if (this.#isGone) return;
    this.#holds();
    for (const exchange of this.#exchanges) exchange.sweep(nowMs);
    if (connection.isOver || (connection.closing && this.#exchanges.size === 0)) return this.#linger(nowMs);
    this.#lingerSinceMs = 0;
    if (this.#exchanges.size > 0 || this.#isLeaving) return;
    if (this.#idleSinceMs === 0) {
      this.#idleSinceMs = nowMs;
      // What it had at its busiest.
      this.#free = [];
    }
    if (nowMs - this.#idleSinceMs <= this.context.limits.idleTimeoutMs) return;
    this.context.drops.add('idle');
    this.#leave();
  }

  /** All is said. The visitor may take its time to read it, and to close its side of the TCP connection, but not for ever. */
  #linger(nowMs: number): void {
    if (this.#lingerSinceMs === 0) this.#lingerSinceMs = nowMs;
    const { lingerTimeoutMs, bodyIdleTimeoutMs } = this.context.limits;
    if (nowMs - this.#lingerSinceMs <= (this.#connection.isWritten ? lingerTimeoutMs : bodyIdleTimeoutMs)) return;
    this.context.drops.add('linger');
    this.destroy();
  }

  /** Looked at once a second and not per piece: what comes meanwhile is bounded by what the network brings in a second. */
  #holds(): void {
    const before = this.#heldBytes;
    let held = this.#connection.heldBytes;
    for (const exchange of this.#exchanges) held += exchange.heldBytes;
    this.#heldBytes = held;
    if (this.context.http2Memory.changed(before, held)) return;
    this.context.drops.add('h2_memory');
    this.#connection.goaway(CODE.calm);
  }

  /** The server leaves: the visitor gets GOAWAY, and its open streams are finished. */
  drain(isLast: boolean): void {
    const isIdle = this.#idleSinceMs > 0 && performance.now() - this.#idleSinceMs >= IN_USE_MS;
    this.#leave();
    if (isLast || isIdle) this.#connection.goaway(CODE.none);
  }

  get stage(): EdgeConnection['stage'] {
    const connection = this.#connection;
    if (connection.isOver) return connection.isWritten ? 'done' : 'busy';
    // Told to leave, and not heard of yet: what it has under way is waited for, however busy it is besides.
    if (this.#isLeaving && !connection.closing) return 'open';
    if (connection.openStreams > 0) return 'busy';
    return connection.closing ? 'done' : 'open';
  }

  destroy(): void {
    this.#connection.destroy();
  }

  /** In two steps, so that a request which is under way meanwhile is still answered (RFC 9113 §6.8). */
  #leave(): void {
    this.#isLeaving = true;
    this.#idleSinceMs = 0;
    this.#connection.drain();
  }
}
