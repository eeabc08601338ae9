/**
 * The response half of an exchange: reads what the local service sends, strictly, and writes it to the visitor. One object per
 * visitor connection, reused for each of its requests. It never blocks and never gathers a body: ranges of the read slab go
 * to the socket as they are; only the head is put together anew where something must be left out of it or added.
 *
 * A service (or a hostile agent) that breaks HTTP is answered for with a 502 while nothing has been sent, and cut off after
 * that. Bytes behind a complete response never reach the next visitor: their stream is given up.
 */
import type { Slab } from '../../base/slab.ts';
import type { SocketWriter } from '../../base/socket-writer.ts';
import type { HeaderRule } from '../policy/header-rule.ts';
import type { TunnelMeter } from '../routing/entry.ts';
import { BODY, Body, FRAMING } from './body.ts';
import type { EdgeContext } from './context.ts';
import { BAD, type Head, INCOMPLETE, parseResponseHead } from './head.ts';
import type { Upstream } from './upstream.ts';

/** Interim responses (1xx) before the real one. */
const MAX_INTERIM = 16;
/** Body bytes that are copied behind a rewritten head to save a write; more than a TLS record brings is not. */
const MAX_JOINED = 32_768;
const CONNECTION_CLOSE = Buffer.from('Connection: close\r\n');
const CONNECTION_KEEP = Buffer.from('Connection: keep-alive\r\n');
const CONNECTION_UPGRADE = Buffer.from('Connection: Upgrade\r\nUpgrade: websocket\r\n');
/** Where `HTTP/1.0` has its last digit. */
const VERSION_DIGIT = 7;
const ONE = 49;
const NOTHING = Buffer.alloc(0);

/** What the response needs of the visitor's connection. */
export interface ResponseOwner {
  readonly writer: SocketWriter;
  /** Takes bytes into account that were given to the writer with their credit. */
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
}

export class ResponseReader {
  readonly #context: EdgeContext;
  readonly #owner: ResponseOwner;
  readonly #body = new Body();
  #upstream: Upstream | null = null;
  #asked: Asked | null = null;
  #partial: Buffer | null = null;
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
        this.#partial = Buffer.from(bytes.subarray(from, end));
        return;
      }
      if (headEnd < 0) return this.#owner.responseBad(headEnd === BAD ? head.reason : 'head too large');
      if (head.cookieCount > 0) this.#context.cookies.dropFrom(bytes, head);
      // An intermediary says its own version (RFC 9112 §2.3): a visitor that reads 1.0 would take the connection for closed.
      if (head.minor === 0) bytes[from + VERSION_DIGIT] = ONE;
      if (head.status === 101) return this.#switch(bytes, from, headEnd, end, slab);
      if (head.status >= 200) return this.#final(bytes, from, headEnd, end, slab);
      if (++this.#interim > MAX_INTERIM) return this.#owner.responseBad('too many interim responses');
      if (!asked.isHttp10) this.#writeHead(bytes, from, headEnd, headEnd, NOTHING);
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
    this.#writeHead(bytes, start, headEnd, headEnd, CONNECTION_UPGRADE);
    this.#upstream?.stream.consumed(headEnd - start);
    this.#owner.switched(bytes, headEnd, end, slab);
  }

  #final(bytes: Buffer, start: number, headEnd: number, end: number, slab: Slab): void {
    const head = this.#context.responseHead;
    const asked = this.#asked as Asked;
    const upstream = this.#upstream as Upstream;
    if (head.chunked && head.minor === 0) return this.#owner.responseBad('transfer-encoding in HTTP/1.0');
    this.status = head.status;
    // A service that refuses an upgrade may have taken its connection out of HTTP already (node:http does): never used again.
    this.#serviceCloses = head.close || (head.minor === 0 && !head.keepAlive) || asked.wantsUpgrade;
    if (head.keepAliveSeconds >= 0) upstream.limitIdle(head.keepAliveSeconds);
    const bodiless = asked.isHead || head.status === 204 || head.status === 304;
    const framing = bodiless
      ? FRAMING.none
      : head.chunked
        ? FRAMING.chunked
        : head.contentLength >= 0
          ? FRAMING.length
          : FRAMING.untilClose;
    const strip = framing === FRAMING.chunked && asked.isHttp10;
    if (head.chunked && asked.isHttp10 && head.status !== 204) head.drop(head.codingLine, head.codingLineEnd);
    const keep = this.#owner.mayKeep(framing !== FRAMING.untilClose && !strip);
    this.#body.start(framing, head.contentLength, strip);
    this.#inBody = true;

    // Head and whatever of the body came with it go out as one write.
    const state = this.#body.feed(bytes, headEnd, end);
    if (state === BODY.bad) {
      this.#inBody = false;
      return this.#owner.responseBad('body framing');
    }
    const { stop, next, trailer } = this.#body;
    const connection = keep ? (asked.isHttp10 ? CONNECTION_KEEP : NOTHING) : CONNECTION_CLOSE;
    const rule = asked.responseRule;
    rule?.dropFrom(bytes, head);
    const added = rule === null ? connection : Buffer.concat([rule.lines, connection]);
    const credit = next - start;
    this.#owner.owes(credit);
    if (stop - headEnd > MAX_JOINED) {
      this.#writeHead(bytes, start, headEnd, headEnd, added);
      this.#count(stop - headEnd);
      this.#owner.writer.push(bytes, headEnd, stop, credit, slab);
      if (trailer !== null) this.#writeTrailer(trailer);
      if (state === BODY.done) this.#owner.writer.flush();
    } else if (head.dropCount === 0 && added.length === 0 && trailer === null) {
      this.#count(stop - start);
      if (state === BODY.done) this.#owner.writer.write(bytes, start, stop, credit, slab);
      else this.#owner.writer.push(bytes, start, stop, credit, slab);
    } else {
      this.#writeHead(bytes, start, headEnd, stop, added, credit);
      if (trailer !== null) this.#writeTrailer(trailer);
    }
    if (state === BODY.done) this.#done(next < end);
    else if (state === BODY.cut) this.#feedBody(bytes, next, end, slab);
  }

  #feedBody(bytes: Buffer, start: number, end: number, slab: Slab): void {
    const body = this.#body;
    const { writer } = this.#owner;
    let from = start;
    while (from < end) {
      const state = body.feed(bytes, from, end);
      if (state === BODY.bad) return this.#owner.responseBad('body framing');
      const { stop, next } = body;
      if (stop > from) {
        this.#owner.owes(next - from);
        this.#count(stop - from);
        writer.push(bytes, from, stop, next - from, slab);
      } else if (next > from) {
        // Nothing of it goes to the visitor: its window comes back at once.
        this.#upstream?.stream.consumed(next - from);
      }
      from = next;
      if (state !== BODY.done) continue;
      if (body.trailer !== null) this.#writeTrailer(body.trailer);
      writer.flush();
      return this.#done(next < end);
    }
  }

  #count(bytes: number): void {
    (this.#asked as Asked).meter.bytesOut += bytes;
  }

  #done(hasMore: boolean): void {
    this.#owner.responseDone(!hasMore && !this.#serviceCloses);
  }

  #writeTrailer(trailer: Buffer): void {
    this.#count(trailer.length);
    this.#owner.writer.write(trailer, 0, trailer.length, 0, this.#context.slabs.foreign);
  }

  /** Writes the head `bytes[start, headEnd)` without its dropped spans and with `added`, and the body bytes up to `stop` behind it. */
  #writeHead(bytes: Buffer, start: number, headEnd: number, stop: number, added: Buffer, credit = 0): void {
    const head = this.#context.responseHead;
    const { writer } = this.#owner;
    const { scratch } = this.#context;
    let length = stop - start + added.length;
    for (let d = 0; d < head.dropCount; d++)
      length -= (head.drops[2 * d + 1] as number) - (head.drops[2 * d] as number);
    const at = scratch.room(length);
    const out = scratch.slab.bytes;
    let to = at + copyKept(bytes, start, headEnd - 2, head, out, at);
    to += added.copy(out, to);
    to += bytes.copy(out, to, headEnd - 2, stop);
    this.#count(to - at);
    writer.write(out, at, to, credit, scratch.slab);
  }
}

function copyKept(bytes: Buffer, start: number, end: number, head: Head, out: Buffer, at: number): number {
  let to = at;
  let from = start;
  for (let d = 0; d < head.dropCount; d++) {
    const drop = head.drops[2 * d] as number;
    if (drop > from) to += bytes.copy(out, to, from, drop);
    from = head.drops[2 * d + 1] as number;
  }
  if (end > from) to += bytes.copy(out, to, from, end);
  return to - at;
}
