/**
 * One visitor's connection over HTTP/1.1: reads, keeps it open between requests, ends it. request.ts forwards what it reads, upgrade.ts what follows a 101.
 * States: `head` (also between requests) → `body` (the request's body flows) → `wait` (the request is sent) → `head`; `raw` after an upgrade;
 * `linger` while the visitor is still sending behind the last answer (closing would make its kernel drop the answer); `gone`. Made by http.ts.
 */
import type { Socket } from 'node:net';
import { cutSocket, type ReadTarget, readInto, resumeReading } from '../../../base/bytes/socket.ts';
import { SocketWriter } from '../../../base/bytes/socket-writer.ts';
import type { TurnJob } from '../../../base/process/turn.ts';
import { CutHead } from '../../../http1/cut-head.ts';
import { BAD, INCOMPLETE, parseRequestHead, TARGET_TOO_LONG } from '../../../http1/head.ts';
import { isOver } from '../../faults/refusal.ts';
import type { EdgeConnection, EdgeContext } from '../exchange/context.ts';
import { Deadlines, type Verdict as Lateness, type VisitorState } from '../exchange/deadlines.ts';
import type { VisitorOrigin } from '../exchange/forwarded.ts';
import type { CollectedRequest } from './collected-request.ts';
import { type RequestConnection, VisitorRequest } from './request.ts';
import { sendToService } from './upgrade.ts';

/** A visitor that reads this much more slowly than it asks gets its next request looked at later. */
const MAX_BACKLOG = 65_536;
/** First TCP keep-alive probe after this long without traffic. */
const KEEP_ALIVE_MS = 60_000;
/** After the last answer so much more is read; a visitor that goes on is left to wait until its time is over. */
const LINGER_BYTES = 16 << 20;
/** So many requests are answered by the edge itself, then the next one waits for the end of the turn: one read may bring thousands. */
const MAX_ANSWERS = 4;

/** Bytes of a body that are sent on at once: as many as one read has. */
const MAX_FED = 131_072;

/** A connection that was made, or answered on, so lately is in use: its next request may be under way when the server leaves. */
const IN_USE_MS = 1_000;

export class Visitor implements ReadTarget, RequestConnection, TurnJob, EdgeConnection {
  readonly writer: SocketWriter;
  readonly deadlines: Deadlines;
  state: VisitorState = 'head';
  isHalfClosed = false;
  readonly #context: EdgeContext;
  readonly #socket: Socket;
  readonly #request: VisitorRequest;

  /** Bytes that wait: a head cut by the end of a read, or what was sent behind the present request. */
  #partial: Buffer | null = null;
  /** What waited, while it is looked at. */
  #waited: Buffer | null = null;
  #cut: CutHead | null = null;
  /** Request bytes that the stream could not take are the stream's; this says that reading waits for it. */
  #readPaused = false;
  /** `#take` is running: it goes on by itself with what follows a fault. */
  #taking = false;
  /** Answers of the edge itself since it last waited for the end of a turn. */
  #answers = 0;
  #lingered = 0;
  #isProbed = false;

  constructor(context: EdgeContext, socket: Socket, of: VisitorOrigin & { secure: boolean }) {
    this.#context = context;
    this.#socket = socket;
    this.deadlines = new Deadlines(context.limits);
    this.writer = new SocketWriter(socket, {
      tls: of.tls,
      slabs: context.slabs,
      turn: context.turn,
      onCredit: (bytes) => this.#credit(bytes),
      onEmpty: () => this.#writerEmpty(),
    });
    this.#request = new VisitorRequest(context, this, { ...of, tls: of.tls || of.secure });
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
    this.resume();
  }

  /** False pauses reading. A fault in here ends this visitor alone. */
  #received(bytes: Buffer, start: number, end: number): boolean {
    try {
      if (this.state !== 'linger') this.deadlines.moved();
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
    if (this.#request.collected !== null) return this.#collect(this.#request.collected, bytes, start, end);
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
    if (this.#request.isGated) {
      this.#request.dispatch.keepMore(end - start);
      return this.#keepForLater(b, from, to);
    }
    while (from < to) {
      switch (this.state) {
        case 'head': {
          if (this.#answers >= MAX_ANSWERS || this.writer.backlog > MAX_BACKLOG) return this.#keepForLater(b, from, to);
          const head = this.#context.requestHead;
          const end = parseRequestHead(b, from, to, head);
          if (end === INCOMPLETE) {
            this.#cut ??= new CutHead(head.maxBytes);
            this.#partial = this.#cut.keep(b, from, to);
            return true;
          }
          this.deadlines.headDone();
          if (end < 0) {
            this.#context.drops.add(end === BAD ? 'malformed' : 'head_too_large');
            const code = end === BAD ? 'bad_request' : end === TARGET_TOO_LONG ? 'uri_too_long' : 'head_too_large';
            this.#request.fault(code, end === BAD ? `The request was refused: ${head.reason}.` : undefined);
            return true;
          }
          if (!this.#request.begin(b, from, end, to, head)) {
            const { collected, dispatch } = this.#request;
            if (collected !== null) return this.#collect(collected, b, from, to);
            return this.#keepForLater(b, from, to) || dispatch.isHeld;
          }
          from = end;
          break;
        }
        case 'body': {
          // A request that was collected is longer than a read, and a stream takes only so much at once.
          const next = this.#request.feedBody(b, from, Math.min(to, from + MAX_FED));
          if (next < 0) return true;
          from = next;
          if (!this.#request.hasRoom) return this.#keepForLater(b, from, to);
          break;
        }
        case 'wait':
          return this.#keepForLater(b, from, to);
        case 'raw':
          return sendToService(this.#request, b, from, to);
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

  /** The tunnel's policy waits for the body. Then all of the request waits here, and is read once more. */
  #collect(collected: CollectedRequest, bytes: Buffer, start: number, end: number): boolean {
    this.deadlines.passed(end - start);
    if (collected.add(bytes, start, end)) return true;
    this.#request.collected = null;
    this.#partial = collected.take();
    return false;
  }

  /** What was sent ahead waits here, and the visitor is not read until it is looked at: one read at most is kept. */
  #keepForLater(bytes: Buffer, start: number, end: number): boolean {
    const left = bytes.subarray(start, end);
    // What has waited before is ours: copying it again each time would cost more than the requests in it.
    if (start < end) this.#partial = bytes === this.#waited ? left : Buffer.from(left);
    return false;
  }

  #visitorEnded(): void {
    this.isHalfClosed = true;
    // Most visitors that end their direction are gone. One that is not gets the response that it would get without a hold.
    if (this.#request.dispatch.isHeld) this.#request.dispatch.leave();
    else if (this.state === 'raw') this.#request.upstream?.stream.end();
    else if (this.state === 'head' || this.state === 'body' || this.state === 'linger') {
      // Between requests: done. In the middle of one: it can never be completed. What waits for the backlog is still answered.
      const isCut = this.state === 'body' || this.#request.collected !== null;
      if (isCut || (this.#partial !== null && !this.#readPaused)) this.destroy();
      else if (this.#partial === null) this.writer.end();
    }
    // In `wait` the visitor has merely said all that it had to say: it still gets its answer.
  }

  // ------------------------------------------------------------------ from the request (RequestConnection)

  takeWaiting(): Buffer | null {
    const waiting = this.#partial;
    this.#partial = null;
    return waiting;
  }

  /** On to the next request, which may be here already. */
  next(): void {
    this.state = 'head';
    if ((this.isHalfClosed || this.#context.draining) && this.#partial === null) return this.end();
    if (this.#readPaused || this.#partial !== null) this.resume();
  }

  /** Reads on, beginning with what waits. */
  resume(): void {
    if (this.state === 'gone' || this.#request.isGated) return;
    const waiting = this.#partial;
    if (waiting !== null && this.state !== 'wait') {
      this.#partial = null;
      this.#waited = waiting;
      const goOn = this.#received(waiting, 0, waiting.length);
      this.#waited = null;
      if (!goOn) return;
    }
    if (this.state !== 'wait' || this.#partial === null) {
      this.#readPaused = false;
      resumeReading(this.#socket);
    }
  }

  end(): void {
    this.#partial = null;
    this.state = 'linger';
    this.deadlines.moved();
    this.writer.end();
    resumeReading(this.#socket);
  }

  nextAfterFault(): void {
    if (++this.#answers === MAX_ANSWERS) this.#context.turn.add(this);
    this.state = 'head';
    if (!this.#taking) this.resume();
  }

  /** Cuts the connection and the request that it carries. */
  destroy(): void {
    if (this.state === 'gone') return;
    const truncated = this.#request.isAnswered;
    this.state = 'gone';
    this.#request.dispatch.leave();
    this.#partial = null;
    this.#context.sweeper.delete(this);
    this.#request.finish(false);
    this.writer.drop();
    // A response without length ends with the connection: only a reset says that it was cut.
    if (truncated) cutSocket(this.#socket);
    else this.#socket.destroy();
  }

  #credit(bytes: number): void {
    this.deadlines.passed(bytes);
    this.#request.ledger.credit(bytes);
  }

  #writerEmpty(): void {
    if (this.state === 'head' && this.#partial !== null) this.resume();
  }

  // ------------------------------------------------------------------ time

  /** Once a second or so: deadlines of the present state. */
  sweep(nowMs: number): void {
    const { upstream, dispatch, exchange, response, collected } = this.#request;
    const state = collected === null ? this.state : 'body';
    // The wait for an agent ends by itself.
    if (dispatch.isHeld) return;
    if (upstream === null && state === 'head' && this.#partial === null && this.deadlines.isResting(nowMs)) return;
    const { entry } = exchange;
    if (upstream !== null && entry !== null) {
      const { served } = upstream;
      if (served.cut || isOver(entry)) return this.#request.fault('tunnel_offline');
      if (served.payer.exhausted) return this.#request.fault('budget_exhausted');
    }
    if (this.state === 'raw' || (this.state === 'wait' && response.started)) this.#probeForDeath();
    exchange.websocket?.tick(nowMs);
    const verdict = this.deadlines.check(nowMs, {
      state,
      isHeadCut: state === 'head' && this.#partial !== null && !this.#readPaused,
      isPaused: this.#readPaused,
      hasBacklog: this.writer.backlog > 0,
      isAnswering: response.started,
      isHalfClosed: this.isHalfClosed || (this.state === 'raw' && upstream?.stream.ended === true),
    });
    if (verdict !== 'go_on') this.#late(verdict);
  }

  #late(verdict: Exclude<Lateness, 'go_on'>): void {
    if (verdict === 'local_timeout') return this.#request.fault(verdict);
    this.#context.drops.add(verdict);
    if (verdict === 'head_timeout' || verdict === 'body_timeout') this.#request.fault('request_timeout');
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
    const isInUse = this.#context.nowMs - this.#request.usedMs < IN_USE_MS;
    if (this.stage === 'open' && (isLast || !isInUse)) this.end();
  }

  get stage(): EdgeConnection['stage'] {
    if (this.state === 'head' && this.#partial === null && this.#request.collected === null) return 'open';
    return this.state === 'linger' && this.writer.backlog === 0 ? 'done' : 'busy';
  }
}
