/**
 * The response half of an exchange: reads what the local service sends, strictly, and decides what the visitor gets of it. One object
 * per visitor connection (HTTP/2: per stream), reused for each of its requests. It never blocks and never gathers a body: ranges
 * of the read slab go on as they are, to a ResponseSink that says them in the visitor's version of HTTP.
 *
 * A service (or a hostile agent) that breaks HTTP is answered for with a 502 while nothing has been sent, and cut off after
 * that. Bytes behind a complete response never reach the next visitor: their stream is given up.
 */
import type { Slab } from '../../base/slab.ts';
import type { Draft } from '../inspect/draft.ts';
import type { HeaderRule } from '../policy/header-rule.ts';
import type { TunnelMeter } from '../routing/entry.ts';
import { BODY, Body, type BodyTap, FRAMING } from '../../http1/body.ts';
import type { EdgeContext } from './context.ts';
import { CutHead } from '../../http1/cut-head.ts';
import { BAD, INCOMPLETE, parseResponseHead } from '../../http1/head.ts';
import { FirstPart, type ResponseSink } from './response-sink.ts';
import type { Upstream } from './upstream.ts';

/** Interim responses (1xx) before the real one. */
const MAX_INTERIM = 16;
const CONNECTION_CLOSE = Buffer.from('Connection: close\r\n');
const CONNECTION_KEEP = Buffer.from('Connection: keep-alive\r\n');
const CONNECTION_UPGRADE = Buffer.from('Connection: Upgrade\r\nUpgrade: websocket\r\n');
/** Where `HTTP/1.0` has its last digit. */
const VERSION_DIGIT = 7;
const ONE = 49;
const NOTHING = Buffer.alloc(0);

/** What the response needs of the visitor's connection. */
export interface ResponseOwner {
  readonly sink: ResponseSink;
  /** Takes bytes into account that were given to the sink with their credit. */
  owes(bytes: number): void;
  /** Whether the connection stays open after this exchange; asked when the head is written. Not when its end is that of the body. */
  mayKeep(isFramed: boolean): boolean;
  /** The response is complete. `isClean`: the stream can carry another request. */
  responseDone(isClean: boolean): void;
  /** The service sent what is no response. */
  responseBad(reason: string): void;
  /** 101: from here on both directions are raw; `bytes[start, end)` are the first of them. */
  switched(bytes: Buffer, start: number, end: number, slab: Slab): void;
}

/** How the request was asked, as far as its response depends on it. */
export interface Asked {
  readonly isHead: boolean;
  readonly isHttp10: boolean;
  readonly wantsUpgrade: boolean;
  /** What the tunnel's policy sets on it. */
  readonly responseRule: HeaderRule | null;
  readonly meter: TunnelMeter;
  /** Its record; null: it is not recorded. */
  readonly draft: Draft | null;
  readonly responseTap: BodyTap | null;
  /** The upgrade is made. */
  switched(): void;
}

export class ResponseReader {
  readonly #context: EdgeContext;
  readonly #owner: ResponseOwner;
  readonly #body = new Body();
  readonly #part = new FirstPart();
  #upstream: Upstream | null = null;
  #asked: Asked | null = null;
  #partial: Buffer | null = null;
  #cut: CutHead | null = null;
  #interim = 0;
  #inBody = false;
  #serviceCloses = false;
  /** Status of the response whose head was sent last. */
  status = 0;

  constructor(context: EdgeContext, owner: ResponseOwner) {
    this.#context = context;
    this.#owner = owner;
  }

  /** True once a byte of a final response was sent: it is too late for an error page. */
  get started(): boolean {
    return this.#inBody;
  }

  /** How many heads have come, interim ones included: what a part of a head is not is progress. */
  get heads(): number {
    return this.#interim + (this.#inBody ? 1 : 0);
  }

  /** True when not even a part of a head has come. */
  get untouched(): boolean {
    return !this.#inBody && this.#partial === null && this.#interim === 0;
  }

  begin(upstream: Upstream, asked: Asked): void {
    this.#upstream = upstream;
    this.#asked = asked;
    this.#partial = null;
    this.#interim = 0;
    this.#inBody = false;
    this.#serviceCloses = false;
    this.status = 0;
  }

  /** Bytes from the service. */
  feed(bytes: Buffer, start: number, end: number): void {
    const upstream = this.#upstream as Upstream;
    const slab = upstream.stream.session.readSlab;
    if (this.#inBody) {
      this.#feedBody(bytes, start, end, slab);
      return;
    }
    upstream.dropReplay();
    if (this.#partial === null) {
      this.#feedHead(bytes, start, end, slab);
      return;
    }
    const longer = this.#cut?.add(this.#partial, bytes, start, end) ?? null;
    if (longer !== null) {
      this.#partial = longer;
      return;
    }
    const whole = Buffer.concat([this.#partial, bytes.subarray(start, end)]);
    this.#partial = null;
    this.#feedHead(whole, 0, whole.length, this.#context.slabs.foreign);
  }

  /** The service has ended its direction: true when that completes the response. */
  ended(): boolean {
    return this.#inBody && this.#body.framing === FRAMING.untilClose;
  }

  #feedHead(bytes: Buffer, start: number, end: number, slab: Slab): void {
    const head = this.#context.responseHead;
    const upstream = this.#upstream as Upstream;
    const asked = this.#asked as Asked;
    let from = start;
    for (;;) {
      const headEnd = parseResponseHead(bytes, from, end, head);
      if (headEnd === INCOMPLETE) {
        // Its window comes back with the whole head: 32 KB at most, an eighth of what the service may send meanwhile.
        this.#cut ??= new CutHead(head.maxBytes);
        this.#partial = this.#cut.keep(bytes, from, end);
        return;
      }
      if (headEnd < 0) return this.#owner.responseBad(headEnd === BAD ? head.reason : 'head too large');
      if (asked.draft !== null && (head.status >= 200 || head.status === 101))
        asked.draft.answered(bytes, from, headEnd, head);
      if (head.cookieCount > 0) this.#context.cookies.dropFrom(bytes, head);
      // An intermediary says its own version (RFC 9112 §2.3): a visitor that reads 1.0 would take the connection for closed.
      if (head.minor === 0) bytes[from + VERSION_DIGIT] = ONE;
      if (head.status === 101) return this.#switch(bytes, from, headEnd, end, slab);
      if (head.status >= 200) return this.#final(bytes, from, headEnd, end, slab);
      if (++this.#interim > MAX_INTERIM) return this.#owner.responseBad('too many interim responses');
      if (!asked.isHttp10) this.#count(this.#owner.sink.interim(bytes, from, headEnd, NOTHING));
      upstream.stream.consumed(headEnd - from);
      from = headEnd;
      if (from === end) return;
    }
  }

  #switch(bytes: Buffer, start: number, headEnd: number, end: number, slab: Slab): void {
    const head = this.#context.responseHead;
    if (!this.#asked?.wantsUpgrade || !head.upgradeWebsocket || !head.connectionUpgrade) {
      return this.#owner.responseBad('101 that was not asked for');
    }
    this.status = 101;
    this.#inBody = true;
    this.#asked.switched();
    this.#count(this.#owner.sink.interim(bytes, start, headEnd, CONNECTION_UPGRADE));
    this.#upstream?.stream.consumed(headEnd - start);
    this.#owner.switched(bytes, headEnd, end, slab);
  }

  #final(bytes: Buffer, start: number, headEnd: number, end: number, slab: Slab): void {
    const head = this.#context.responseHead;
    const asked = this.#asked as Asked;
    const upstream = this.#upstream as Upstream;
    if (head.chunked && head.minor === 0) return this.#owner.responseBad('transfer-encoding in HTTP/1.0');
    if (head.status > this.#owner.sink.maxStatus) return this.#owner.responseBad('status');
    this.status = head.status;
    // A service that refuses an upgrade may have taken its connection out of HTTP already (node:http does): never used again.
    this.#serviceCloses = head.close || (head.minor === 0 && !head.keepAlive) || asked.wantsUpgrade;
    if (head.keepAliveSeconds >= 0) upstream.limitIdle(head.keepAliveSeconds);
    const bodiless = asked.isHead || head.status === 204 || head.status === 304;
    // A service that is wrong about this sends the body that its head tells of, a moment later: it would be the next visitor's.
    if (bodiless && (head.chunked || head.contentLength > 0)) this.#serviceCloses = true;
    const framing = bodiless
      ? FRAMING.none
      : head.chunked
        ? FRAMING.chunked
        : head.contentLength >= 0
          ? FRAMING.length
          : FRAMING.untilClose;
    const { sink } = this.#owner;
    const isUnchunked = asked.isHttp10 || sink.framesItself;
    const strip = framing === FRAMING.chunked && isUnchunked;
    if (head.chunked && isUnchunked && head.status !== 204) head.drop(head.codingLine, head.codingLineEnd);
    const keep = this.#owner.mayKeep(framing !== FRAMING.untilClose && !strip);
    this.#body.start(framing, head.contentLength, strip, asked.responseRule, asked.responseTap);
    this.#inBody = true;

    // Head and whatever of the body came with it go out as one write.
    const state = this.#body.feed(bytes, headEnd, end);
    if (state === BODY.bad) {
      this.#inBody = false;
      return this.#owner.responseBad('body framing');
    }
    const { stop, next } = this.#body;
    const trailer = asked.isHttp10 ? null : this.#body.trailer;
    const connection = keep ? (asked.isHttp10 ? CONNECTION_KEEP : NOTHING) : CONNECTION_CLOSE;
    const rule = asked.responseRule;
    rule?.dropFrom(bytes, head);
    const added = rule === null ? connection : Buffer.concat([rule.lines, connection]);
    const credit = next - start;
    this.#owner.owes(credit);
    const part = this.#part;
    part.start = start;
    part.headEnd = headEnd;
    part.stop = stop;
    part.added = added;
    part.credit = credit;
    part.slab = slab;
    part.isDone = state === BODY.done;
    part.trailer = trailer;
    this.#count(sink.final(bytes, part));
    if (state === BODY.done) this.#done(next < end);
    else if (state === BODY.cut) this.#feedBody(bytes, next, end, slab);
  }

  #feedBody(bytes: Buffer, start: number, end: number, slab: Slab): void {
    const body = this.#body;
    const { sink } = this.#owner;
    let from = start;
    while (from < end) {
      const state = body.feed(bytes, from, end);
      if (state === BODY.bad) return this.#owner.responseBad('body framing');
      const { stop, next } = body;
      if (stop > from) {
        this.#owner.owes(next - from);
        this.#count(stop - from);
        sink.body(bytes, from, stop, next - from, slab);
      } else if (next > from) {
        // Nothing of it goes to the visitor: its window comes back at once.
        this.#upstream?.stream.consumed(next - from);
      }
      from = next;
      if (state !== BODY.done) continue;
      if (body.trailer !== null && !(this.#asked as Asked).isHttp10) {
        this.#count(body.trailer.length);
        sink.trailer(body.trailer);
      }
      sink.flush();
      return this.#done(next < end);
    }
  }

  #count(bytes: number): void {
    (this.#asked as Asked).meter.bytesOut += bytes;
  }

  #done(hasMore: boolean): void {
    this.#owner.responseDone(!hasMore && !this.#serviceCloses);
  }
}
