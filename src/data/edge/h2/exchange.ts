/**
 * One stream of a visitor's HTTP/2 connection: one request and its response. What h1/request.ts is for HTTP/1.1, with the same
 * parser, policy, forwarding and deadlines; a connection keeps those that are done for its next streams. States: `head` (the tunnel's policy has
 * yet to decide) → `body` (the request's body flows) → `wait` (the request is sent) → `linger` (the answer is complete, and the visitor has yet to
 * take it) → `gone`; `raw` after an extended CONNECT. Length: one state machine, whose transitions can be checked against each other on one page.
 */
import type { PieceSource } from '../../../base/bytes/joined-bytes.ts';
import type { Slab } from '../../../base/bytes/slab.ts';
import { EDGE_FAULTS, type FaultCode } from '../../../base/codes/edge-faults.ts';
import { BAD, parseRequestHead, TARGET_TOO_LONG, TOO_LARGE } from '../../../http1/head.ts';
import { CODE, type Http2Stream, type Http2StreamSink, type RequestHead } from '../../../http2/types.ts';
import type { Verdict } from '../../policy/step.ts';
import { faultParts } from '../../faults/fault.ts';
import { isOver } from '../../faults/refusal.ts';
import type { EdgeContext } from '../exchange/context.ts';
import { Deadlines, type Verdict as Lateness, type VisitorState } from '../exchange/deadlines.ts';
import { Dispatch } from '../exchange/dispatch.ts';
import { Exchange } from '../exchange/exchange.ts';
import type { VisitorOrigin } from '../exchange/forwarded.ts';
import { Ledger } from '../exchange/ledger.ts';
import { type ResponseOwner, ResponseReader } from '../exchange/response.ts';
import type { OwnStreams, Upstream, UpstreamUser } from '../exchange/upstream.ts';
import { CHUNKS, RAW, RequestBody, SENT, type Sent } from './request-body.ts';
import { Http2Sink } from './response-sink.ts';

const NOTHING = Buffer.alloc(0);

/** The visitor's connection, and what its exchanges share. */
export interface ExchangeOwner {
  readonly context: EdgeContext;
  readonly origin: VisitorOrigin;
  readonly own: OwnStreams;
  /** For bodies that wait. */
  readonly pieces: PieceSource;
  /** Trailers of `text` bytes came, in `wire` bytes. False: HPACK has expanded too much, and the connection ends. */
  expanded(text: number, wire: number): boolean;
  /** Nothing of its stream is to come. */
  left(exchange: Http2Exchange): void;
}

export class Http2Exchange implements UpstreamUser, ResponseOwner, Http2StreamSink {
  readonly sink: Http2Sink;
  readonly #owner: ExchangeOwner;
  readonly #context: EdgeContext;
  readonly #exchange = new Exchange();
  readonly #dispatch: Dispatch;
  readonly #response: ResponseReader;
  readonly #body: RequestBody;
  readonly #deadlines: Deadlines;
  readonly #ledger = new Ledger();
  /** null: it is gone. */
  #stream: Http2Stream | null = null;
  #state: VisitorState = 'gone';
  #upstream: Upstream | null = null;
  #wireBytes = 0;
  /** The head waits: for the tunnel's policy, or its agent. */
  #isGated = false;
  /** The head came with the end of the stream: there is no body. */
  #isBodiless = false;
  /** The visitor has ended the stream. */
  #isEnded = false;
  /** The visitor's connection brings nothing more. */
  #isHalfClosed = false;

  constructor(owner: ExchangeOwner) {
    const { context } = owner;
    this.#owner = owner;
    this.#context = context;
    this.#dispatch = new Dispatch(context, this.#exchange, owner.origin, owner.own);
    this.#response = new ResponseReader(context, this);
    this.#body = new RequestBody(this.#exchange, this.#dispatch.body, owner.pieces);
    this.#deadlines = new Deadlines(context.limits);
    this.sink = new Http2Sink({
      head: context.responseHead,
      exchange: this.#exchange,
      onCredit: (bytes) => this.#credit(bytes),
      onGone: () => this.#letGo(),
    });
  }

  /** It may take another stream: nothing of its last request is to come either. */
  get isFree(): boolean {
    return !this.#isGated;
  }

  /** What waits for the service takes so much of the memory. */
  get heldBytes(): number {
    return this.#body.heldBytes;
  }

  /** Takes a new stream. `isWhole`: no body follows. */
  begin(stream: Http2Stream, head: RequestHead, isWhole: boolean): void {
    this.#stream = stream;
    this.#state = 'head';
    this.#isHalfClosed = false;
    this.#isBodiless = this.#isEnded = isWhole;
    this.#deadlines.restart();
    this.#ledger.restart();
    this.#body.begin(stream);
    this.sink.begin(stream);
    this.#exchange.isHead = head.isHead;
    try {
      this.#read(head);
    } catch (error) {
      this.#failed(error);
    }
  }

  /** Once a second or so: deadlines of the present state, and whether the tunnel may still be served. */
  sweep(nowMs: number): void {
    // The wait for an agent ends by itself, and with the stream.
    if (this.#stream === null || this.#dispatch.isHeld) return;
    try {
      this.#check(nowMs);
    } catch (error) {
      this.#failed(error);
    }
  }

  #check(nowMs: number): void {
    const { entry } = this.#exchange;
    const served = this.#upstream?.served;
    if (served !== undefined && entry !== null && (served.cut || isOver(entry))) return this.#fault('tunnel_offline');
    if (served?.payer.exhausted === true) return this.#fault('budget_exhausted');
    this.#exchange.websocket?.tick(nowMs);
    const lateness = this.#deadlines.check(nowMs, {
      state: this.#body.isAwaited ? 'body' : this.#state,
      isHeadCut: false,
      isPaused: this.#body.isFull,
      hasBacklog: this.sink.backlog > 0,
      isAnswering: this.#response.started,
      isHalfClosed:
        this.#isHalfClosed || (this.#state === 'raw' && (this.#isEnded || this.#upstream?.stream.ended === true)),
    });
    if (lateness !== 'go_on') this.#late(lateness);
  }

  #late(lateness: Exclude<Lateness, 'go_on'>): void {
    if (lateness === 'local_timeout') return this.#fault(lateness);
    this.#context.drops.add(lateness);
    if (lateness === 'body_timeout') this.#fault('request_timeout');
    else this.#cut(CODE.internal);
  }

  /** The visitor will send nothing more: half a request can never be completed. */
  visitorEnded(): void {
    this.#isHalfClosed = true;
    this.#dispatch.leave();
    if (this.#state === 'body' || (this.#state === 'head' && !this.#isEnded)) this.#cut(CODE.cancel);
    else if (this.#state === 'raw') this.#sent(this.#body.end());
  }

  /** Ends it at once. */
  destroy(): void {
    this.#cut(CODE.cancel);
  }

  // ------------------------------------------------------------------ the request

  #read({ bytes, start, end, lines, wireBytes, reason, isTooLarge, websocketAccept }: RequestHead): void {
    if (isTooLarge) return this.#tooLarge('head_too_large');
    if (reason !== '') return this.#refused(reason);
    // By no head is a visitor charged for more than over HTTP/1.1.
    this.#wireBytes = Math.min(wireBytes, end - start);
    this.#exchange.accept = websocketAccept;
    this.#request(bytes, start, end, lines);
  }

  #request(bytes: Buffer, start: number, end: number, lines: number): void {
    const head = this.#context.requestHead;
    const headEnd = parseRequestHead(bytes, start, end, head);
    if (headEnd === TOO_LARGE) return this.#tooLarge('head_too_large');
    if (headEnd === TARGET_TOO_LONG) return this.#tooLarge('uri_too_long');
    if (headEnd === BAD) return this.#malformed(head.reason);
    // A value that the parser takes for more than one line would be a second request.
    if (headEnd !== end || head.lineCount !== lines) return this.#malformed('a line break in a field');
    const exchange = this.#exchange;
    const isWebsocket = exchange.accept !== '';
    exchange.begin(bytes, start, head);
    const hasBody = !this.#isBodiless && !isWebsocket;
    this.#state = hasBody ? 'body' : 'wait';
    const upstream = this.#dispatch.find(bytes, start, end, this.#wireBytes);
    const { pending, refusal } = this.#dispatch;
    if (pending !== null) {
      if (this.#dispatch.body.isWanted) this.#collect(hasBody, head.expectContinue);
      return this.#wait(pending, Buffer.from(bytes.subarray(start, end)), lines);
    }
    if (upstream === null) return this.#fault(refusal.code, refusal.detail, refusal.fields);
    this.#adopt(upstream);
    this.#dispatch.send(upstream, bytes);
    if (hasBody) this.#sent(this.#body.start(upstream.stream, head.chunked ? CHUNKS : Math.max(0, head.contentLength)));
  }

  /** The policy decides later, or an agent is awaited. The head is read once more then: what it points into is used by others meanwhile. */
  #wait(pending: Promise<Verdict>, head: Buffer, lines: number): void {
    this.#state = 'head';
    this.#isGated = true;
    void pending.then((verdict) => {
      this.#isGated = false;
      if (this.#state !== 'head') return;
      try {
        this.#dispatch.decided(verdict);
        this.#request(head, 0, head.length, lines);
      } catch (error) {
        this.#failed(error);
      }
    });
  }

  /** The policy wants the body first. Its sender may wait for a word that else the service gives. */
  #collect(hasBody: boolean, expectsContinue: boolean): void {
    if (hasBody && expectsContinue && !this.#isEnded) this.#stream?.answer(100, [], NOTHING, false);
    this.#body.collect(hasBody);
  }

  /** What the body has come to. */
  #sent(sent: Sent): void {
    if (sent === SENT.part) return;
    if (sent === SENT.wrongLength) return this.#malformed('its body is not as long as its content-length');
    if (sent === SENT.wrongTrailers) return this.#malformed('invalid trailers');
    if (this.#body.hasDroppedTrailers) this.#context.drops.add('request_trailers');
    if (this.#state === 'raw' && this.#upstream?.stream.ended === true) return this.#finish(false);
    if (this.#state !== 'body') return;
    this.#state = 'wait';
    this.#exchange.isWhole = true;
  }

  #adopt(upstream: Upstream): void {
    this.#upstream = upstream;
    upstream.carry(this);
    this.#ledger.begin(upstream.stream);
    this.#response.begin(upstream, this.#exchange);
  }

  // ------------------------------------------------------------------ from the visitor's stream (Http2StreamSink)

  onData(_stream: Http2Stream, bytes: Buffer, start: number, end: number): void {
    if (this.#state === 'linger') return this.#stream?.consumed(end - start);
    this.#deadlines.passed(end - start);
    this.#dispatch.keepMore(end - start);
    try {
      this.#sent(this.#body.take(bytes, start, end));
    } catch (error) {
      this.#failed(error);
    }
  }

  onTrailers(_stream: Http2Stream, bytes: Buffer, start: number, end: number): void {
    if (!this.#owner.expanded(end - start, 0)) return;
    if (this.#state === 'body' || this.#state === 'head') this.#body.takeTrailers(bytes, start, end);
  }

  onEnd(): void {
    this.#isEnded = true;
    if (this.#state === 'linger' || this.#state === 'gone') return;
    try {
      this.#sent(this.#body.end());
    } catch (error) {
      this.#failed(error);
    }
  }

  onCredit(_stream: Http2Stream, credit: number): void {
    this.#credit(credit);
  }

  /** The visitor has given up, or broken the protocol: the agent hears of it at once, and why. */
  onReset(_stream: Http2Stream, code: number): void {
    this.#letGo(code);
  }

  onDone(): void {
    this.#letGo();
  }

  // ------------------------------------------------------------------ from the stream to the service (UpstreamUser)

  onResponse(bytes: Buffer, start: number, end: number): void {
    if (this.#state === 'raw') {
      const { stream } = this.#upstream as Upstream;
      return this.#toVisitor(bytes, start, end, stream.session.readSlab);
    }
    const { heads } = this.#response;
    try {
      this.#response.feed(bytes, start, end);
    } catch (error) {
      this.#failed(error);
    }
    // A part of a head is no progress: it could trickle for ever.
    if (this.#response.started || this.#response.heads !== heads) this.#deadlines.moved();
  }

  onResponseEnd(): void {
    if (this.#state === 'raw') return this.#serviceEnded();
    if (this.#response.ended()) this.responseDone(false);
    else this.onUpstreamLost('local_closed');
  }

  onUpstreamLost(code: FaultCode): void {
    const again = this.#dispatch.again(code, this.#upstream, this.#response);
    if (again !== null) {
      this.#adopt(again.fresh);
      this.#body.moveTo(again.fresh.stream);
      again.fresh.stream.write(again.head);
    } else if (this.#state === 'raw') this.#cut(this.#upstream?.stream.resetCode || CODE.cancel);
    else this.#fault(code);
  }

  onUpstreamDrain(): void {
    try {
      this.#sent(this.#body.drained());
    } catch (error) {
      this.#failed(error);
    }
  }

  // ------------------------------------------------------------------ from the response (ResponseOwner)

  owes(bytes: number): void {
    this.#ledger.owe(bytes);
  }

  mayKeep(): boolean {
    return true;
  }

  responseDone(isClean: boolean): void {
    if (this.#stream === null) return;
    this.#exchange.status = this.#response.status;
    this.#finish(isClean && this.#state === 'wait');
  }

  responseBad(reason: string): void {
    const { entry, traceId } = this.#exchange;
    this.#context.services.tell(entry?.route.tunnelId ?? '', reason, traceId);
    this.#fault('local_bad_response', `The service behind the tunnel sent an invalid HTTP response: ${reason}.`);
  }

  /** An extended CONNECT has its way: bytes go both ways, metered; its record counts their frames. */
  switched(bytes: Buffer, start: number, end: number, slab: Slab): void {
    if (this.#stream === null) return;
    this.#state = 'raw';
    if (start < end) this.#toVisitor(bytes, start, end, slab);
    this.#sent(this.#body.start((this.#upstream as Upstream).stream, RAW));
  }

  /** Of an upgraded stream; the visitor may go on in its own direction. */
  #serviceEnded(): void {
    if (this.#body.isSent) return this.#finish(false);
    this.#deadlines.moved();
    this.#stream?.endHalf();
  }

  #toVisitor(bytes: Buffer, start: number, end: number, slab: Slab): void {
    this.#deadlines.moved();
    const exchange = this.#exchange;
    this.#ledger.owe(end - start);
    exchange.countOut(end - start);
    if (exchange.websocket !== null) exchange.websocket.fromService.payload(bytes, start, end);
    this.#stream?.push(bytes, start, end, end - start, slab);
  }

  // ------------------------------------------------------------------ ends

  /** HTTP/2 itself has no such request: behind the answer its stream is reset (RFC 9113 §8.1.1). */
  #refused(reason: string): void {
    this.#context.drops.add('h2_headers');
    this.#fault('bad_request', `The request was refused: ${reason}.`);
  }

  #malformed(reason: string): void {
    this.#context.drops.add('malformed');
    this.#fault('bad_request', `The request was refused: ${reason}.`);
  }

  #tooLarge(code: 'head_too_large' | 'uri_too_long'): void {
    this.#context.drops.add('h2_headers');
    this.#fault(code);
  }

  /** Answers by itself, or resets the stream when a response has begun: the visitor must not take half of one for the whole. */
  #fault(code: FaultCode, detail?: string, fields?: readonly string[]): void {
    if (this.#state === 'linger' || this.#state === 'gone') return;
    this.#context.faults.add(code);
    this.#exchange.code = code;
    if (this.#upstream !== null && this.#response.started)
      return this.#cut(this.#upstream.stream.resetCode || CODE.internal);
    this.#exchange.status = EDGE_FAULTS[code].status;
    const { acceptsHtml: html, traceId } = this.#exchange;
    const answer = faultParts({ code, detail, fields, html, traceId });
    this.#exchange.bytesOut = answer.body.length;
    this.sink.fault(answer);
    this.#finish(false);
  }

  /** All of the answer is given: the tunnel's stream goes back. A visitor that still sends gets a reset once it has the response. */
  #finish(isClean: boolean): void {
    if (this.#stream === null) return;
    this.#state = 'linger';
    this.#deadlines.moved();
    this.#release(isClean);
    this.sink.end();
  }

  #release(isClean: boolean, code = 0): void {
    const upstream = this.#upstream;
    this.#body.drop();
    this.#exchange.finish();
    if (upstream === null) return;
    this.#upstream = null;
    this.#ledger.end(isClean);
    upstream.release(isClean, performance.now(), code);
  }

  #cut(code: number): void {
    const stream = this.#stream;
    if (stream === null) return;
    stream.reset(code);
    this.#letGo();
  }

  /** The stream is gone, and with it what it held. `code`: with which the visitor has reset it. */
  #letGo(code = 0): void {
    if (this.#stream === null) return;
    // The service may have ended its half: the other one must not look whole to it.
    if (this.#state === 'raw') this.#upstream?.stream.reset(code);
    this.#state = 'gone';
    this.#dispatch.leave();
    this.#release(false, code);
    this.#stream = null;
    this.sink.leave();
    this.#owner.left(this);
  }

  #credit(bytes: number): void {
    this.#deadlines.passed(bytes);
    this.#ledger.credit(bytes);
  }

  /** A fault in one stream ends that one and no other. */
  #failed(error: unknown): void {
    this.#context.log.error({ err: error, trace_id: this.#exchange.traceId }, 'a visitor stream failed');
    this.#cut(CODE.internal);
  }
}
