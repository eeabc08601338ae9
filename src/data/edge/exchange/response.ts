/**
 * The response half of an exchange: reads what the service sends, strictly, and decides what the visitor gets. One per visitor
 * connection (HTTP/2: per stream), reused. It never blocks and gathers no body: ranges of the read slab go on to a ResponseSink.
 * A service that breaks HTTP gets the visitor a 502 while nothing has been sent, and is cut off after that. Bytes behind a
 * complete response never reach the next visitor: docs/decisions/0003-idle-streams.md.
 */
import type { Slab } from '../../../base/bytes/slab.ts';
import type { AccessDraft } from '../../access-log/access-draft.ts';
import type { Draft } from '../../inspect/draft.ts';
import type { HeaderRule } from '../../policy/header-rule.ts';
import { BODY, Body, type BodyTap, FRAMING } from '../../../http1/body.ts';
import type { EdgeContext } from './context.ts';
import { CutHead } from '../../../http1/cut-head.ts';
import { BAD, type Head, INCOMPLETE, parseResponseHead, TOO_LARGE, TOO_MANY_FIELDS } from '../../../http1/head.ts';
import { normalResponseHead } from '../../../http1/response-form.ts';
import { responseLines } from '../rewrite/response-lines.ts';
import type { PublicOrigin, Rewrite } from '../rewrite/rewrite.ts';
import { FirstPart, type ResponseSink } from './response-sink.ts';
import type { Upstream } from './upstream.ts';
import { saysAccept } from '../../../http1/websocket-accept.ts';

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
  /** The Sec-WebSocket-Accept that an upgrade must have; '': the visitor checks it. */
  readonly accept: string;
  /** What the tunnel's policy sets on it. */
  readonly responseRule: HeaderRule | null;
  /** Makes the service's own URLs public ones again; null: there are none. */
  readonly rewrite: Rewrite | null;
  readonly origin: PublicOrigin | null;
  /** Counts bytes to the visitor. */
  countOut(bytes: number): void;
  /** Its record; null: it is not recorded. */
  readonly draft: Draft | null;
  readonly access: AccessDraft | null;
  readonly responseTap: BodyTap | null;
  /** The head of the final response leaves; `isWhole`: with all of the body. */
  answered(status: number, isWhole: boolean): void;
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
  /** Up to here the window of the bytes at hand was given back before. */
  #settled = 0;
  #interim = 0;
  #inBody = false;
  #serviceCloses = false;
  /** A head of it was not strictly one. */
  #isMended = false;
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
    this.#serviceCloses = this.#isMended = false;
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
    const held = this.#partial;
    if (held === null) {
      this.#settled = start;
      this.#feedHead(bytes, start, end, slab);
      return;
    }
    const longer = this.#cut?.add(held, bytes, start, end) ?? null;
    if (longer !== null) {
      this.#partial = longer;
      upstream.stream.consumed(end - start);
      return;
    }
    const whole = Buffer.concat([held, bytes.subarray(start, end)]);
    this.#partial = null;
    this.#settled = held.length;
    this.#feedHead(whole, 0, whole.length, this.#context.slabs.foreign);
  }

  /** The service has ended its direction: true when that completes the response. */
  ended(): boolean {
    return this.#inBody && this.#body.framing === FRAMING.untilClose;
  }

  #feedHead(of: Buffer, start: number, end: number, ofSlab: Slab): void {
    const head = this.#context.responseHead;
    const asked = this.#asked as Asked;
    const { stream } = this.#upstream as Upstream;
    let [bytes, from, to, slab] = [of, start, end, ofSlab];
    for (;;) {
      let headEnd = parseResponseHead(bytes, from, to, head);
      if (headEnd === BAD) {
        const mended = this.#mend(bytes, from, to);
        if (typeof mended === 'number') headEnd = mended;
        else {
          [bytes, from, to, slab] = [mended, 0, mended.length, this.#context.slabs.foreign];
          headEnd = parseResponseHead(bytes, 0, to, head);
        }
      }
      if (headEnd === INCOMPLETE) return this.#keep(bytes, from, to);
      if (headEnd < 0) return this.#owner.responseBad(reasonOf(headEnd, head));
      if (asked.draft !== null && (head.status >= 200 || head.status === 101))
        asked.draft.answered(bytes, from, headEnd, head);
      if (asked.access !== null && (head.status >= 200 || head.status === 101)) asked.access.answered(head.status);
      if (head.cookieCount > 0) this.#context.cookies.dropFrom(bytes, head);
      // An intermediary says its own version (RFC 9112 §2.3): a visitor that reads 1.0 would take the connection for closed.
      if (head.minor === 0) bytes[from + VERSION_DIGIT] = ONE;
      if (head.status === 101) return this.#switch(bytes, from, headEnd, to, slab);
      if (head.status >= 200) return this.#final(bytes, from, headEnd, to, slab);
      if (++this.#interim > MAX_INTERIM) return this.#owner.responseBad('too many interim responses');
      if (!asked.isHttp10) this.#count(this.#owner.sink.interim(bytes, from, headEnd, NOTHING));
      stream.consumed(this.#unsettled(from, headEnd));
      from = headEnd;
      if (from === to) return;
    }
  }

  /** The beginning of a head. Its window comes back at once: under a bandwidth limit it may be shorter than the head. */
  #keep(bytes: Buffer, from: number, to: number): void {
    this.#cut ??= new CutHead(this.#context.responseHead.maxBytes, 'empty line');
    this.#partial = this.#cut.keep(bytes, from, to);
    this.#upstream?.stream.consumed(this.#unsettled(from, to));
  }

  /** What begins with a head that is not strictly one, with its strict form in its place; or what there is of it (INCOMPLETE), or that there is none. */
  #mend(bytes: Buffer, from: number, to: number): Buffer | number {
    const form = normalResponseHead(bytes, from, to, this.#context.responseHead);
    if (typeof form === 'number') return form;
    this.#upstream?.stream.consumed(this.#unsettled(from, form.end));
    this.#settled = form.bytes.length;
    this.#isMended = true;
    return Buffer.concat([form.bytes, bytes.subarray(form.end, to)]);
  }

  /** Of the bytes at hand between these two, those whose window is still to be given back. */
  #unsettled(from: number, to: number): number {
    return Math.max(0, to - Math.max(from, this.#settled));
  }

  #switch(bytes: Buffer, start: number, headEnd: number, end: number, slab: Slab): void {
    const head = this.#context.responseHead;
    if (!this.#asked?.wantsUpgrade || !head.upgradeWebsocket || !head.connectionUpgrade) {
      return this.#owner.responseBad('status 101 without an upgrade request');
    }
    if (this.#asked.accept !== '' && !saysAccept(bytes, head, this.#asked.accept))
      return this.#owner.responseBad('a wrong sec-websocket-accept');
    this.status = 101;
    this.#inBody = true;
    this.#asked.switched();
    const lines = this.#asked.rewrite === null ? NOTHING : responseLines(bytes, head, this.#asked);
    const added = lines.length === 0 ? CONNECTION_UPGRADE : Buffer.concat([lines, CONNECTION_UPGRADE]);
    this.#count(this.#owner.sink.interim(bytes, start, headEnd, added));
    this.#upstream?.stream.consumed(this.#unsettled(start, headEnd));
    this.#owner.switched(bytes, headEnd, end, slab);
  }

  #final(bytes: Buffer, start: number, headEnd: number, end: number, slab: Slab): void {
    const head = this.#context.responseHead;
    const asked = this.#asked as Asked;
    const upstream = this.#upstream as Upstream;
    if (head.chunked && head.minor === 0) return this.#owner.responseBad('transfer-encoding in HTTP/1.0');
    if (head.status > this.#owner.sink.maxStatus) return this.#owner.responseBad('invalid status code');
    this.status = head.status;
    // A service that refuses an upgrade may have taken its connection out of HTTP already (node:http does): never used again.
    // One whose head had to be mended is not trusted to end where it says either.
    this.#serviceCloses = head.close || (head.minor === 0 && !head.keepAlive) || asked.wantsUpgrade || this.#isMended;
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
      return this.#owner.responseBad('invalid body framing');
    }
    const { stop, next } = this.#body;
    if (this.#body.trailer !== null) asked.draft?.trailed(this.#body.trailer);
    const trailer = asked.isHttp10 ? null : this.#body.trailer;
    const connection = keep ? (asked.isHttp10 ? CONNECTION_KEEP : NOTHING) : CONNECTION_CLOSE;
    const rule = asked.responseRule;
    rule?.dropFrom(bytes, head);
    const lines = asked.rewrite === null ? NOTHING : responseLines(bytes, head, asked);
    const added =
      rule === null && lines.length === 0 ? connection : Buffer.concat([lines, rule?.lines ?? NOTHING, connection]);
    const credit = this.#unsettled(start, next);
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
    asked.answered(head.status, part.isDone);
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
      if (state === BODY.bad) return this.#owner.responseBad('invalid body framing');
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
      if (body.trailer !== null) this.#asked?.draft?.trailed(body.trailer);
      if (body.trailer !== null && !(this.#asked as Asked).isHttp10) {
        this.#count(body.trailer.length);
        sink.trailer(body.trailer);
      }
      sink.flush();
      return this.#done(next < end);
    }
  }

  #count(bytes: number): void {
    (this.#asked as Asked).countOut(bytes);
  }

  #done(hasMore: boolean): void {
    this.#owner.responseDone(!hasMore && !this.#serviceCloses);
  }
}

/** Why a head is refused, and by which setting. */
function reasonOf(end: number, { reason, maxBytes, maxFields }: Head): string {
  if (end !== TOO_LARGE) return reason;
  return reason === TOO_MANY_FIELDS
    ? `more than ${maxFields} header fields (edge.max_response_fields)`
    : `a head of more than ${maxBytes} bytes (edge.max_response_head_bytes)`;
}
