/**
 * One stream of a visitor's HTTP/2 connection: one request and its response. What h1/request.ts is for HTTP/1.1, with the same
 * parser, policy, forwarding and deadlines; a connection keeps those that are done for its next streams. States: `head` (the tunnel's policy has
 * yet to decide) → `body` (the request's body flows) → `wait` (the request is sent) → `linger` (the answer is complete, and the visitor has yet to
 * take it) → `gone`. Length: one state machine, whose transitions can be checked against each other on one page.
 */
import { constants, type ServerHttp2Stream } from 'node:http2';
import type { Verdict } from '../../policy/step.ts';
import type { EdgeContext } from '../exchange/context.ts';
import { Deadlines, type VisitorState } from '../exchange/deadlines.ts';
import { Dispatch } from '../exchange/dispatch.ts';
import { Exchange } from '../exchange/exchange.ts';
import { EDGE_FAULTS, type FaultCode } from '../../../base/codes/edge-faults.ts';
import { faultParts } from '../../faults/fault.ts';
import { BAD, parseRequestHead, TARGET_TOO_LONG, TOO_LARGE } from '../../../http1/head.ts';
import { Ledger } from '../exchange/ledger.ts';
import { isOver } from '../../faults/refusal.ts';
import { type ResponseOwner, ResponseReader } from '../exchange/response.ts';
import type { VisitorOrigin } from '../exchange/forwarded.ts';
import type { OwnStreams, Upstream, UpstreamUser } from '../exchange/upstream.ts';
import { CollectedUpload } from './collected-upload.ts';
import { HeldUpload } from './held-upload.ts';
import { RequestBody } from './request-body.ts';
import { WROTE, type WrittenHead } from './request-head.ts';
import { Http2Sink } from './response-sink.ts';
import { BYTES_PER_UPDATE, UNREAD_BYTES } from './session-options.ts';
import type { HeldRanges } from './stream-writer.ts';

const { NGHTTP2_CANCEL, NGHTTP2_INTERNAL_ERROR, NGHTTP2_NO_ERROR, NGHTTP2_FLAG_END_STREAM } = constants;

/** The visitor's connection, and what its exchanges share. */
export interface ExchangeOwner {
  readonly context: EdgeContext;
  readonly origin: VisitorOrigin;
  readonly own: OwnStreams;
  /** Heads are written here for the parser. */
  readonly headBuffer: Buffer;
  readonly written: WrittenHead;
  readonly ranges: HeldRanges;
  /** Bytes that the visitor had a reason to send: heads, bodies, and one for so many that it has taken. */
  useful: number;
  /**
   * Writes a head of these fields into `headBuffer`, see request-head.ts. Answers its bytes on the wire, or -1: HPACK has expanded too much,
   * and the connection ends.
   */
  readHead(raw: readonly string[], isWhole: boolean): number;
  /** `bytes` of a body came. */
  bodyCame(bytes: number): void;
  /** The stream is closed and the exchange free for another one. `code`: with which it ended before its answer did and not by the edge's will. */
  left(exchange: Http2Exchange, code: number | null): void;
}

export class Http2Exchange implements UpstreamUser, ResponseOwner {
  readonly #owner: ExchangeOwner;
  readonly #context: EdgeContext;
  readonly #exchange = new Exchange();
  readonly #dispatch: Dispatch;
  readonly #response: ResponseReader;
  readonly #body = new RequestBody();
  readonly #held: HeldUpload;
  /** A body that the policy wants to see first. */
  readonly #collected: CollectedUpload;
  #deadlines: Deadlines;
  #ledger = new Ledger();
  #stream: ServerHttp2Stream | null = null;
  #sink: Http2Sink | null = null;
  #state: VisitorState = 'gone';
  #upstream: Upstream | null = null;
  #wireBytes = 0;
  /** The tunnel's policy has yet to decide of the head. */
  #isGated = false;
  #isWhole = false;
  #isPaused = false;
  /** The visitor's connection brings nothing more. */
  #isHalfClosed = false;
  /** The edge itself has ended the stream before its time. */
  #isCutHere = false;
  // Of each of its streams in turn. Node calls them: nothing else would catch what they throw.
  readonly #onAborted = (): void => this.#aborted();
  readonly #onClosed = (): void => this.#guarded(() => this.#closed());
  readonly #onCredit = (bytes: number): void => this.#credit(bytes);
  readonly #onFault = (error: unknown): void => this.#failed(error);

  constructor(owner: ExchangeOwner) {
    this.#owner = owner;
    this.#context = owner.context;
    this.#held = new HeldUpload(owner);
    this.#dispatch = new Dispatch(owner.context, this.#exchange, owner.origin, owner.own);
    this.#collected = new CollectedUpload(this.#dispatch.body);
    this.#response = new ResponseReader(owner.context, this);
    this.#deadlines = new Deadlines(owner.context.limits);
  }

  /** Nothing of its last stream is to come. */
  get isFree(): boolean {
    return this.#stream === null && !this.#isGated;
  }

  get isCut(): boolean {
    return this.#state === 'gone';
  }

  /** Bytes that wait: for the visitor, and for the service. */
  get heldBytes(): number {
    return this.#stream === null
      ? 0
      : this.sink.heldBytes + this.#held.heldBytes + this.#collected.heldBytes + this.#stream.readableLength;
  }

  get sink(): Http2Sink {
    return this.#sink as Http2Sink;
  }

  /** Takes a new stream; `raw`: its fields, names and values in turn. */
  begin(stream: ServerHttp2Stream, flags: number, raw: readonly string[]): void {
    this.#stream = stream;
    this.#state = 'head';
    this.#isPaused = this.#isCutHere = this.#isHalfClosed = false;
    this.#isWhole = (flags & NGHTTP2_FLAG_END_STREAM) !== 0;
    this.#deadlines = new Deadlines(this.#context.limits);
    this.#ledger = new Ledger();
    this.#sink = new Http2Sink({
      stream,
      head: this.#context.responseHead,
      exchange: this.#exchange,
      ranges: this.#owner.ranges,
      onCredit: this.#onCredit,
      onFault: this.#onFault,
    });
    stream.on('aborted', this.#onAborted);
    stream.on('close', this.#onClosed);
    this.#guarded(() => this.#read(raw));
    if (this.#isWhole) stream.resume();
  }

  /** Once a second or so: deadlines of the present state, and whether the tunnel may still be served. */
  sweep(nowMs: number): void {
    // The wait for an agent ends by itself, and with the stream.
    if (this.#stream !== null && !this.#dispatch.isHeld) this.#guarded(() => this.#check(nowMs));
  }

  #check(nowMs: number): void {
    // What `aborted` does not tell of: Node takes the answer to a HEAD for written from the start.
    if (this.#stream?.closed === true && this.#state !== 'linger') return this.#aborted();
    const { entry } = this.#exchange;
    const served = this.#upstream?.served;
    if (served !== undefined && entry !== null && (served.cut || isOver(entry))) return this.#fault('tunnel_offline');
    if (served?.payer.exhausted === true) return this.#fault('budget_exhausted');
    const lateness = this.#deadlines.check(nowMs, {
      state: this.#collected.isAwaited ? 'body' : this.#state,
      isHeadCut: false,
      isPaused: this.#isPaused,
      hasBacklog: this.sink.backlog > 0,
      isAnswering: this.#response.started,
      isHalfClosed: this.#isHalfClosed,
    });
    if (lateness === 'go_on') return;
    if (lateness === 'local_timeout') return this.#fault(lateness);
    this.#context.drops.add(lateness);
    if (lateness === 'body_timeout') this.#fault('request_timeout');
    else this.#cut(NGHTTP2_INTERNAL_ERROR);
  }

  /** The visitor will send nothing more: half a request can never be completed. */
  visitorEnded(): void {
    this.#isHalfClosed = true;
    this.#dispatch.leave();
    if (this.#state === 'body' || (this.#state === 'head' && !this.#isWhole)) this.#cut(NGHTTP2_CANCEL);
  }

  /** Its connection ends. */
  destroy(): void {
    this.#cut(NGHTTP2_CANCEL);
  }

  // ------------------------------------------------------------------ the request

  #read(raw: readonly string[]): void {
    const { headBuffer, written } = this.#owner;
    this.#wireBytes = this.#owner.readHead(raw, this.#isWhole);
    if (this.#wireBytes < 0) return this.#cut(NGHTTP2_CANCEL);
    if (written.length === WROTE.bad) return this.#malformed(written.reason);
    if (written.length === WROTE.tooLong) return this.#tooLarge('head_too_large');
    this.#request(headBuffer, written.length, written.lines);
  }

  #request(bytes: Buffer, length: number, lines: number): void {
    const head = this.#context.requestHead;
    const end = parseRequestHead(bytes, 0, length, head);
    if (end === TOO_LARGE) return this.#tooLarge('head_too_large');
    if (end === TARGET_TOO_LONG) return this.#tooLarge('uri_too_long');
    if (end === BAD) return this.#malformed(head.reason);
    // A value that the parser takes for more than one line never came through nghttp2. It would be a second request.
    if (end !== length || head.lineCount !== lines) return this.#malformed('a line break in a field');
    this.#exchange.begin(bytes, 0, head);
    this.#state = this.#isWhole ? 'wait' : 'body';
    const upstream = this.#dispatch.find(bytes, 0, length, this.#wireBytes);
    const { pending, refusal } = this.#dispatch;
    if (pending !== null) return this.#wait(pending, Buffer.from(bytes.subarray(0, length)), lines);
    if (upstream === null) return this.#fault(refusal.code, refusal.detail, refusal.fields);
    this.#body.start(head.chunked ? -1 : Math.max(0, head.contentLength), this.#exchange.requestTap);
    this.#adopt(upstream);
    this.#dispatch.send(upstream, bytes);
    if (this.#collected.isInUse) this.#sendCollected();
    else if (!this.#isWhole) this.#listen();
  }

  /** The policy decides later, or an agent is awaited. The head is read once more then: what it points into is used by others meanwhile. */
  #wait(pending: Promise<Verdict>, head: Buffer, lines: number): void {
    this.#state = 'head';
    this.#isGated = true;
    if (this.#dispatch.body.isWanted) this.#collect();
    else if (!this.#isWhole && !this.#collected.isInUse) this.#held.hold(this.#stream as ServerHttp2Stream);
    void pending.then((verdict) => {
      this.#isGated = false;
      if (this.#state !== 'head') return;
      this.#dispatch.decided(verdict);
      this.#guarded(() => this.#request(head, head.length, lines));
    });
  }

  /** Also once more, of a body that is here: another policy wants it. */
  #collect(): void {
    const stream = this.#stream as ServerHttp2Stream;
    if (this.#collected.isInUse) return this.#collected.again();
    if (this.#context.requestHead.expectContinue) stream.additionalHeaders({ ':status': 100 });
    this.#collected.begin();
    stream.on('data', (bytes: Buffer) => {
      this.#owner.bodyCame(bytes.length);
      if (this.#state !== 'head') return;
      this.#deadlines.passed(bytes.length);
      this.#collected.add(bytes);
    });
    stream.on('end', () => {
      if (this.#state !== 'head') return;
      // As in #ended.
      if (stream.closed) this.#guarded(() => this.#cut(NGHTTP2_CANCEL));
      else this.#collected.end();
    });
    // What another step has waited for.
    this.#held.giveBack();
    if (stream.readableEnded) this.#collected.end();
  }

  /** As far as the service takes it. */
  #sendCollected(): void {
    const { stream } = this.#upstream as Upstream;
    this.#isPaused = false;
    for (let piece = this.#collected.next(); piece !== undefined; piece = this.#collected.next()) {
      this.#exchange.countIn(piece.length);
      const room = this.#body.forward(piece, stream);
      if (room === null) return this.#malformed('more body than its content-length');
      this.#isPaused = !room;
      if (!room) return;
    }
    this.#ended();
  }

  #listen(): void {
    const stream = this.#stream as ServerHttp2Stream;
    stream.on('data', (bytes: Buffer) => this.#received(bytes));
    stream.on('end', () => this.#guarded(() => this.#ended()));
    this.#held.giveBack();
    // An empty body may have ended while the policy was deciding: no event comes for it any more.
    if (stream.readableEnded) this.#guarded(() => this.#ended());
  }

  #received(bytes: Buffer): void {
    this.#owner.bodyCame(bytes.length);
    if (this.#state !== 'body') return;
    this.#deadlines.passed(bytes.length);
    this.#exchange.countIn(bytes.length);
    try {
      const room = this.#body.forward(bytes, (this.#upstream as Upstream).stream);
      if (room === null) return this.#malformed('more body than its content-length');
      if (room) return;
      this.#isPaused = true;
      this.#stream?.pause();
      this.#held.hold(this.#stream as ServerHttp2Stream);
    } catch (error) {
      this.#failed(error);
    }
  }

  /** Node tells of this end also after a reset with NO_ERROR: half a request must not pass for a whole one. */
  #ended(): void {
    if (this.#state !== 'body') return;
    if (this.#stream?.closed === true) return this.#cut(NGHTTP2_CANCEL);
    if (!this.#body.end((this.#upstream as Upstream).stream))
      return this.#malformed('less body than its content-length');
    this.#state = 'wait';
    this.#exchange.isWhole = true;
  }

  #adopt(upstream: Upstream): void {
    this.#upstream = upstream;
    upstream.carry(this);
    this.#ledger.begin(upstream.stream);
    this.#response.begin(upstream, this.#exchange);
  }

  // ------------------------------------------------------------------ from the stream (UpstreamUser)

  onResponse(bytes: Buffer, start: number, end: number): void {
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
    if (this.#response.ended()) this.responseDone(false);
    else this.onUpstreamLost('local_closed');
  }

  onUpstreamLost(code: FaultCode): void {
    const again = this.#dispatch.again(code, this.#upstream, this.#response);
    if (again === null) return this.#fault(code);
    this.#adopt(again.fresh);
    again.fresh.stream.write(again.head);
  }

  onUpstreamDrain(): void {
    if (this.#collected.isInUse) return this.#guarded(() => this.#sendCollected());
    this.#isPaused = false;
    this.#held.giveBack();
    this.#stream?.resume();
  }

  // ------------------------------------------------------------------ from the response (ResponseOwner)

  owes(bytes: number): void {
    this.#ledger.owe(bytes);
  }

  mayKeep(): boolean {
    return true;
  }

  responseDone(isClean: boolean): void {
    const complete = this.#state === 'wait';
    this.#exchange.status = this.#response.status;
    this.#finish(isClean && complete, complete);
  }

  responseBad(reason: string): void {
    const { entry, traceId } = this.#exchange;
    this.#context.services.tell(entry?.route.tunnelId ?? '', reason, traceId);
    this.#fault('local_bad_response', `The service behind the tunnel sent an invalid HTTP response: ${reason}.`);
  }

  /** Upgrades are never asked for (RFC 9113 §8.6): the reader has refused a 101 by now. */
  switched(): void {
    this.#cut(NGHTTP2_INTERNAL_ERROR);
  }

  // ------------------------------------------------------------------ ends

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
      return this.#cut(this.#upstream.stream.resetCode || NGHTTP2_INTERNAL_ERROR);
    this.#exchange.status = EDGE_FAULTS[code].status;
    const { acceptsHtml: html, traceId } = this.#exchange;
    const answer = faultParts({ code, detail, fields, html, traceId });
    this.#exchange.bytesOut = answer.body.length;
    this.sink.fault(answer);
    this.#finish(false, this.#isWhole || this.#state === 'wait');
  }

  /** All of the answer is written: gives the tunnel's stream back. A visitor that still sends gets a reset once it has the response. */
  #finish(isClean: boolean, isComplete: boolean): void {
    const stream = this.#stream as ServerHttp2Stream;
    this.#state = 'linger';
    this.#deadlines.moved();
    this.#release(isClean);
    if (!isComplete) {
      stream.once('finish', () => stream.close(NGHTTP2_NO_ERROR));
      stream.resume();
    }
    this.sink.end();
  }

  #release(isClean: boolean): void {
    const upstream = this.#upstream;
    this.#held.drop();
    this.#collected.drop();
    this.#exchange.finish();
    if (upstream === null) return;
    this.#upstream = null;
    this.#ledger.end(isClean);
    upstream.release(isClean, performance.now(), this.#isCutHere ? 0 : (this.#stream?.rstCode ?? 0));
  }

  #cut(code: number): void {
    if (this.#stream === null || this.#state === 'gone') return;
    this.#isCutHere = true;
    this.#letGo();
    this.#stream.close(code);
  }

  /** The request is over, the stream not yet. */
  #letGo(): void {
    this.#state = 'gone';
    this.#dispatch.leave();
    this.#release(false);
    this.sink.drop();
  }

  /** The visitor has reset the stream before its answer was written. Node would keep one that is paused and reset with NO_ERROR. */
  #aborted(): void {
    const stream = this.#stream;
    if (stream === null || this.#state === 'gone') return;
    // Not at once: Node is in the middle of closing it.
    process.nextTick(() => stream.destroy());
    this.#guarded(() => this.#letGo());
  }

  #closed(): void {
    const stream = this.#stream;
    if (stream === null) return;
    const isBroken = !this.#isCutHere && (this.#state !== 'linger' || stream.rstCode !== NGHTTP2_NO_ERROR);
    this.#letGo();
    // What the visitor had sent before it knew: nghttp2 drops it.
    if (!stream.readableEnded) this.#owner.useful += UNREAD_BYTES;
    this.#held.forget();
    this.#stream = null;
    this.#owner.left(this, isBroken ? stream.rstCode : null);
  }

  #credit(bytes: number): void {
    this.#owner.useful += bytes / BYTES_PER_UPDATE;
    this.#deadlines.passed(bytes);
    this.#ledger.credit(bytes);
  }

  /** A fault in one stream ends that one and no other. */
  #guarded(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#failed(error);
    }
  }

  #failed(error: unknown): void {
    this.#context.log.error({ err: error, trace_id: this.#exchange.traceId }, 'a visitor stream failed');
    this.#cut(NGHTTP2_INTERNAL_ERROR);
  }
}
