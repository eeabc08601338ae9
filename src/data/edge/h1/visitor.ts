/**
 * One visitor's connection over HTTP/1.1: reads requests, finds the tunnel, sends the request down a stream; response.ts writes the answer.
 * States: `head` (also between requests) → `body` (the request's body flows) → `wait` (the request is sent) → `head`; `raw` after an upgrade;
 * `linger` while the visitor is still sending behind the last answer (closing would make its kernel drop the answer); `gone`. Made by http.ts.
 * Length: one state machine, checked on one page; what could leave has left (deadlines.ts, dispatch.ts, ledger.ts, response.ts).
 */
import type { Socket } from 'node:net';
import type { Slab } from '../../../base/bytes/slab.ts';
import { cutSocket, type ReadTarget, readInto, resumeReading } from '../../../base/bytes/socket.ts';
import { SocketWriter } from '../../../base/bytes/socket-writer.ts';
import type { TurnJob } from '../../../base/process/turn.ts';
import { BODY, Body, FRAMING } from '../../../http1/body.ts';
import type { EdgeConnection, EdgeContext } from '../exchange/context.ts';
import { CutHead } from '../../../http1/cut-head.ts';
import { Deadlines, type Verdict as Lateness, type VisitorState } from '../exchange/deadlines.ts';
import { Dispatch } from '../exchange/dispatch.ts';
import { Exchange } from '../exchange/exchange.ts';
import { EDGE_FAULTS, type FaultCode } from '../../../base/codes/edge-faults.ts';
import { faultResponse } from '../../faults/fault.ts';
import type { VisitorOrigin } from '../exchange/forwarded.ts';
import { BAD, type Head, INCOMPLETE, parseRequestHead, TARGET_TOO_LONG } from '../../../http1/head.ts';
import type { Verdict } from '../../policy/step.ts';
import { Ledger } from '../exchange/ledger.ts';
import { isOver } from '../../faults/refusal.ts';
import { ResponseReader } from '../exchange/response.ts';
import { Http1Sink } from '../exchange/response-sink.ts';
import type { Upstream, UpstreamUser } from '../exchange/upstream.ts';

/** A visitor that reads this much more slowly than it asks gets its next request looked at later. */
const MAX_BACKLOG = 65_536;
/** First TCP keep-alive probe after this long without traffic. */
const KEEP_ALIVE_MS = 60_000;
/** After the last answer so much more is read; a visitor that goes on is left to wait until its time is over. */
const LINGER_BYTES = 16 << 20;
/** So many requests are answered by the edge itself, then the next one waits for the end of the turn: one read may bring thousands. */
const MAX_ANSWERS = 4;

/** A connection that was made, or answered on, so lately is in use: its next request may be under way when the server leaves. */
const IN_USE_MS = 1_000;

export class Visitor implements ReadTarget, UpstreamUser, TurnJob, EdgeConnection {
  readonly writer: SocketWriter;
  readonly sink: Http1Sink;
  readonly #context: EdgeContext;
  readonly #socket: Socket;
  readonly #requestBody = new Body();
  readonly #response: ResponseReader;
  readonly #exchange = new Exchange();
  readonly #dispatch: Dispatch;
  readonly #deadlines: Deadlines;
  readonly #ledger = new Ledger();

  #state: VisitorState = 'head';
  /** Bytes that wait: a head cut by the end of a read, or what was sent behind the present request. */
  #partial: Buffer | null = null;
  /** What waited, while it is looked at. */
  #waited: Buffer | null = null;
  #cut: CutHead | null = null;
  #upstream: Upstream | null = null;
  /** Request bytes that the stream could not take are the stream's; this says that reading waits for it. */
  #readPaused = false;
  #halfClosed = false;
  #keep = true;
  /** The head at hand waits: for the tunnel's policy, and nothing is read; or for its agent, and one more read is kept, so that a visitor's end is seen. */
  #gated = false;
  /** Has been answered before: of those answers some may be under way still, in kernels too. */
  #hasAnswered = false;

  /** Monotonic, coarse: when it was made, or last answered on. */
  #usedMs: number;

  /** `#take` is running: it goes on by itself with what follows a fault. */
  #taking = false;
  /** Answers of the edge itself since it last waited for the end of a turn. */
  #answers = 0;
  #lingered = 0;
  #isProbed = false;

  constructor(context: EdgeContext, socket: Socket, of: VisitorOrigin & { secure: boolean }) {
    this.#context = context;
    this.#socket = socket;
    this.#usedMs = context.nowMs;
    this.#dispatch = new Dispatch(context, this.#exchange, { ...of, tls: of.tls || of.secure }, []);
    this.#deadlines = new Deadlines(context.limits);
    this.#response = new ResponseReader(context, this);
    this.writer = new SocketWriter(socket, {
      tls: of.tls,
      slabs: context.slabs,
      turn: context.turn,
      onCredit: (bytes) => this.#credit(bytes),
      onEmpty: () => this.#writerEmpty(),
    });
    this.sink = new Http1Sink(context, this.writer);
    socket.on('end', () => this.#visitorEnded());
    socket.on('error', () => this.destroy());
    socket.on('close', () => this.destroy());
    context.sweeper.add(this);
    readInto(socket, this);
  }

  // ------------------------------------------------------------------ from the visitor's socket

  view(): Buffer {
    return this.#context.readBuffer;
  }

  filled(count: number): boolean {
    return this.#received(this.#context.readBuffer, 0, count);
  }

  chunk(bytes: Buffer): boolean {
    return this.#received(bytes, 0, bytes.length);
  }

  atTurnEnd(): void {
    this.#answers = 0;
    this.#resume();
  }

  /** False pauses reading. A fault in here ends this visitor alone. */
  #received(bytes: Buffer, start: number, end: number): boolean {
    try {
      if (this.#state !== 'linger') this.#deadlines.moved();
      this.#taking = true;
      const goOn = this.#take(bytes, start, end);
      this.#taking = false;
      this.#readPaused = !goOn;
      return goOn;
    } catch (error) {
      this.#taking = false;
      this.#context.log.error({ err: error }, 'a visitor connection failed');
      this.destroy();
      return false;
    }
  }

  #take(bytes: Buffer, start: number, end: number): boolean {
    let b = bytes;
    let from = start;
    let to = end;
    if (this.#partial !== null) {
      const longer = this.#cut?.add(this.#partial, bytes, start, end) ?? null;
      if (longer !== null) {
        this.#partial = longer;
        return true;
      }
      // A TLS socket may deliver what it has decrypted after it was paused: what waits comes first, in every state.
      b = Buffer.concat([this.#partial, bytes.subarray(start, end)]);
      this.#partial = null;
      from = 0;
      to = b.length;
    }
    if (this.#gated) {
      this.#dispatch.keepMore(end - start);
      return this.#keepForLater(b, from, to);
    }
    while (from < to) {
      switch (this.#state) {
        case 'head': {
          if (this.#answers >= MAX_ANSWERS || this.writer.backlog > MAX_BACKLOG) return this.#keepForLater(b, from, to);
          const head = this.#context.requestHead;
          const end = parseRequestHead(b, from, to, head);
          if (end === INCOMPLETE) {
            this.#cut ??= new CutHead(head.maxBytes);
            this.#partial = this.#cut.keep(b, from, to);
            return true;
          }
          this.#deadlines.headDone();
          if (end < 0) {
            this.#context.drops.add(end === BAD ? 'malformed' : 'head_too_large');
            const code = end === BAD ? 'bad_request' : end === TARGET_TOO_LONG ? 'uri_too_long' : 'head_too_large';
            this.#fault(code, end === BAD ? `The request was refused: ${head.reason}.` : undefined);
            return true;
          }
          if (!this.#request(b, from, end, to, head)) return this.#keepForLater(b, from, to) || this.#dispatch.isHeld;
          from = end;
          break;
        }
        case 'body': {
          const state = this.#requestBody.feed(b, from, to);
          const { stop, next, trailer } = this.#requestBody;
          if (state === BODY.bad) {
            this.#context.drops.add('malformed');
            this.#fault('bad_request', 'The request was refused: body framing.');
            return true;
          }
          const upstream = this.#upstream as Upstream;
          let room = stop === from || upstream.stream.write(b, from, stop);
          if (trailer !== null && state === BODY.done) room = upstream.stream.write(trailer);
          this.#exchange.meter.bytesIn += next - from;
          this.#deadlines.passed(next - from);
          from = next;
          if (state === BODY.done) {
            this.#state = 'wait';
            this.#exchange.isWhole = true;
          }
          if (!room) return this.#keepForLater(b, from, to);
          break;
        }
        case 'wait':
          return this.#keepForLater(b, from, to);
        case 'raw':
          this.#exchange.meter.bytesIn += to - from;
          return (this.#upstream as Upstream).stream.write(b, from, to);
        case 'linger':
          this.#lingered += to - from;
          // Not cut for what it sends: a visitor that pipelines, or sends before it reads, has megabytes under way when the answer leaves,
          // and a reset would take the answer from it.
          return this.#lingered < LINGER_BYTES;
        case 'gone':
          return false;
      }
    }
    return true;
  }

  /** What was sent ahead waits here, and the visitor is not read until it is looked at: one read at most is kept. */
  #keepForLater(bytes: Buffer, start: number, end: number): boolean {
    const left = bytes.subarray(start, end);
    // What has waited before is ours: copying it again each time would cost more than the requests in it.
    if (start < end) this.#partial = bytes === this.#waited ? left : Buffer.from(left);
    return false;
  }

  #visitorEnded(): void {
    this.#halfClosed = true;
    // Most visitors that end their direction are gone. One that is not gets the response that it would get without a hold.
    if (this.#dispatch.isHeld) this.#dispatch.leave();
    else if (this.#state === 'raw') this.#upstream?.stream.end();
    else if (this.#state === 'head' || this.#state === 'body' || this.#state === 'linger') {
      // Between requests: done. In the middle of one: it can never be completed. What waits for the backlog is still answered.
      if (this.#state === 'body' || (this.#partial !== null && !this.#readPaused)) this.destroy();
      else if (this.#partial === null) this.writer.end();
    }
    // In `wait` the visitor has merely said all that it had to say: it still gets its answer.
  }

  // ------------------------------------------------------------------ the request

  /**
   * False: the tunnel's policy has yet to decide, or its agent is awaited. The head waits, and is read once more then: what it points into is used by
   * others meanwhile. `readEnd`: the end of what was read with it.
   */
  #request(bytes: Buffer, start: number, end: number, readEnd: number, head: Head): boolean {
    const context = this.#context;
    this.#exchange.begin(bytes, start, head);
    this.#keep = !context.draining && (head.minor === 1 ? !head.close : head.keepAlive && !head.close);
    const framing = head.chunked ? FRAMING.chunked : head.contentLength > 0 ? FRAMING.length : FRAMING.none;
    this.#state = framing === FRAMING.none ? 'wait' : 'body';

    this.#dispatch.kept = readEnd - start;
    const upstream = this.#dispatch.find(bytes, start, end);
    const { pending, refusal } = this.#dispatch;
    if (pending !== null) {
      this.#wait(pending);
      return false;
    }
    if (upstream === null) this.#fault(refusal.code, refusal.detail, refusal.fields);
    else {
      const { requestRule, requestTap } = this.#exchange;
      this.#requestBody.start(framing, head.contentLength, false, requestRule, requestTap);
      this.#adopt(upstream);
      this.#dispatch.send(upstream, bytes);
    }
    return true;
  }

  #wait(pending: Promise<Verdict>): void {
    this.#state = 'head';
    this.#gated = true;
    void pending.then((verdict) => {
      this.#gated = false;
      this.#dispatch.decided(verdict);
      this.#resume();
    });
  }

  #adopt(upstream: Upstream): void {
    this.#upstream = upstream;
    upstream.carry(this);
    this.#ledger.begin(upstream.stream);
    this.#response.begin(upstream, this.#exchange);
  }

  // ------------------------------------------------------------------ from the stream (UpstreamUser)

  onResponse(bytes: Buffer, start: number, end: number): void {
    if (this.#state === 'raw') {
      this.#deadlines.moved();
      this.#ledger.owe(end - start);
      this.#exchange.meter.bytesOut += end - start;
      this.writer.push(bytes, start, end, end - start, (this.#upstream as Upstream).stream.session.readSlab);
      return;
    }
    const { heads } = this.#response;
    try {
      this.#response.feed(bytes, start, end);
      // A part of a head is no progress: it could trickle for ever.
      if (this.#response.started || this.#response.heads !== heads) this.#deadlines.moved();
    } catch (error) {
      this.#context.log.error({ err: error }, 'a response failed');
      this.destroy();
    }
  }

  onResponseEnd(): void {
    if (this.#state === 'raw') {
      this.writer.end();
      if (this.#halfClosed) this.#finishExchange(false);
      return;
    }
    if (this.#response.ended()) this.responseDone(false);
    else this.onUpstreamLost('local_closed');
  }

  onUpstreamLost(code: FaultCode): void {
    const again = this.#dispatch.again(code, this.#upstream, this.#response);
    if (again !== null) {
      this.#adopt(again.fresh);
      again.fresh.stream.write(again.head);
    } else if (this.#state === 'raw') this.destroy();
    else this.#fault(code);
  }

  onUpstreamDrain(): void {
    this.#resume();
  }

  // ------------------------------------------------------------------ from the response (ResponseOwner)

  owes(bytes: number): void {
    this.#ledger.owe(bytes);
  }

  mayKeep(isFramed: boolean): boolean {
    if (!isFramed || this.#state !== 'wait' || this.#halfClosed || this.#context.draining) this.#keep = false;
    return this.#keep;
  }

  responseDone(isClean: boolean): void {
    const complete = this.#state === 'wait';
    this.#exchange.status = this.#response.status;
    this.#finishExchange(isClean && complete);
    if (this.#keep && complete) this.#next();
    else this.#finishConnection();
  }

  responseBad(reason: string): void {
    this.#context.services.tell(this.#exchange.entry?.route.tunnelId ?? '', reason);
    this.#fault('local_bad_response', `The service behind the tunnel sent no valid HTTP response: ${reason}.`);
  }

  switched(bytes: Buffer, start: number, end: number, slab: Slab): void {
    this.#state = 'raw';
    this.#deadlines.moved();
    const upstream = this.#upstream as Upstream;
    const { meter } = this.#exchange;
    if (start < end) {
      this.#ledger.owe(end - start);
      meter.bytesOut += end - start;
      this.writer.push(bytes, start, end, end - start, slab);
    }
    const early = this.#partial;
    this.#partial = null;
    if (early !== null) {
      meter.bytesIn += early.length;
      upstream.stream.write(early);
    }
    if (this.#halfClosed) upstream.stream.end();
    this.#resume();
  }

  // ------------------------------------------------------------------ ends

  /** Gives the stream back and counts the exchange. */
  #finishExchange(isClean: boolean): void {
    const upstream = this.#upstream;
    this.#exchange.finish();
    this.#hasAnswered = true;
    this.#usedMs = this.#context.nowMs;
    if (upstream === null) return;
    this.#upstream = null;
    this.#ledger.end(isClean);
    upstream.release(isClean);
  }

  /** On to the next request, which may be here already. */
  #next(): void {
    this.#state = 'head';
    if ((this.#halfClosed || this.#context.draining) && this.#partial === null) return this.#finishConnection();
    if (this.#readPaused || this.#partial !== null) this.#resume();
  }

  /** Reads on, beginning with what waits. */
  #resume(): void {
    if (this.#state === 'gone' || this.#gated) return;
    const waiting = this.#partial;
    if (waiting !== null && this.#state !== 'wait') {
      this.#partial = null;
      this.#waited = waiting;
      const goOn = this.#received(waiting, 0, waiting.length);
      this.#waited = null;
      if (!goOn) return;
    }
    if (this.#state !== 'wait' || this.#partial === null) {
      this.#readPaused = false;
      resumeReading(this.#socket);
    }
  }

  #finishConnection(): void {
    this.#partial = null;
    this.#state = 'linger';
    this.#deadlines.moved();
    this.writer.end();
    resumeReading(this.#socket);
  }

  /** Answers by itself, or cuts off when a response has begun: the visitor must not take half of one for the whole. */
  #fault(code: FaultCode, detail?: string, fields?: readonly string[]): void {
    const started = this.#upstream !== null && this.#response.started;
    const wasComplete = this.#state === 'wait';
    this.#context.faults.add(code);
    this.#exchange.code = code;
    if (started) {
      // A cut would throw away earlier answers too. An end is as clear where a length or chunks tell how much should have come.
      if (!this.#hasAnswered || this.#response.ended()) return this.destroy();
      this.#finishExchange(false);
      return this.#finishConnection();
    }
    const exchange = this.#exchange;
    const close = !this.#keep || !wasComplete || this.#halfClosed;
    const answer = faultResponse({ code, detail, fields, html: exchange.acceptsHtml, head: exchange.isHead, close });
    exchange.status = EDGE_FAULTS[code].status;
    this.#finishExchange(false);
    // Not written at once: the answers to what was pipelined go out together.
    this.writer.push(answer, 0, answer.length, 0, this.#context.slabs.foreign);
    if (close) this.#finishConnection();
    else {
      if (++this.#answers === MAX_ANSWERS) this.#context.turn.add(this);
      this.#state = 'head';
      if (!this.#taking) this.#resume();
    }
  }

  /** Cuts the connection and the request that it carries. */
  destroy(): void {
    if (this.#state === 'gone') return;
    const truncated = this.#upstream !== null && this.#response.started;
    this.#state = 'gone';
    this.#dispatch.leave();
    this.#partial = null;
    this.#context.sweeper.delete(this);
    this.#finishExchange(false);
    this.writer.drop();
    // A response without length ends with the connection: only a reset says that it was cut.
    if (truncated) cutSocket(this.#socket);
    else this.#socket.destroy();
  }

  #credit(bytes: number): void {
    this.#deadlines.passed(bytes);
    this.#ledger.credit(bytes);
  }

  #writerEmpty(): void {
    if (this.#state === 'head' && this.#partial !== null) this.#resume();
  }

  // ------------------------------------------------------------------ time

  /** Once a second or so: deadlines of the present state. */
  sweep(nowMs: number): void {
    // The wait for an agent ends by itself.
    if (this.#dispatch.isHeld) return;
    if (this.#upstream === null && this.#state === 'head' && this.#partial === null && this.#deadlines.isResting(nowMs))
      return;
    const { entry } = this.#exchange;
    if (this.#upstream !== null && entry !== null) {
      const { served } = this.#upstream;
      if (served.cut || isOver(entry)) return this.#fault('tunnel_offline');
      if (served.payer.exhausted) return this.#fault('budget_exhausted');
    }
    if (this.#state === 'raw' || (this.#state === 'wait' && this.#response.started)) this.#probeForDeath();
    const verdict = this.#deadlines.check(nowMs, {
      state: this.#state,
      isHeadCut: this.#state === 'head' && this.#partial !== null && !this.#readPaused,
      isPaused: this.#readPaused,
      hasBacklog: this.writer.backlog > 0,
      isAnswering: this.#response.started,
      isHalfClosed: this.#halfClosed || (this.#state === 'raw' && this.#upstream?.stream.ended === true),
    });
    if (verdict !== 'go_on') this.#late(verdict);
  }

  #late(verdict: Exclude<Lateness, 'go_on'>): void {
    if (verdict === 'local_timeout') return this.#fault(verdict);
    this.#context.drops.add(verdict);
    if (verdict === 'head_timeout' || verdict === 'body_timeout') this.#fault('request_timeout');
    else this.destroy();
  }

  /**
   * A visitor that vanishes without a word from a quiet event stream or WebSocket is found by TCP alone. Asked for late, because
   * it costs four system calls, which most connections don't live long enough to be worth.
   */
  #probeForDeath(): void {
    if (this.#isProbed) return;
    this.#isProbed = true;
    this.#socket.setKeepAlive(true, KEEP_ALIVE_MS);
  }

  /** The server leaves: idle connections end now, the others after their present answer. */
  drain(isLast: boolean): void {
    const isInUse = this.#context.nowMs - this.#usedMs < IN_USE_MS;
    if (this.stage === 'open' && (isLast || !isInUse)) this.#finishConnection();
  }

  get stage(): EdgeConnection['stage'] {
    if (this.#state === 'head' && this.#partial === null) return 'open';
    return this.#state === 'linger' && this.writer.backlog === 0 ? 'done' : 'busy';
  }
}
