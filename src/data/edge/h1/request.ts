/**
 * The request of a visitor's HTTP/1.1 connection: finds the tunnel, sends the request down a stream, once more if need be; answers by itself where that
 * fails. exchange/response.ts reads the response. One per connection, made by visitor.ts, used for each of its requests in turn.
 */
import type { Slab } from '../../../base/bytes/slab.ts';
import { EDGE_FAULTS, type FaultCode } from '../../../base/codes/edge-faults.ts';
import { BODY, Body, FRAMING, type Framing } from '../../../http1/body.ts';
import type { Head } from '../../../http1/head.ts';
import { faultResponse } from '../../faults/fault.ts';
import type { Verdict } from '../../policy/step.ts';
import type { EdgeContext } from '../exchange/context.ts';
import type { VisitorState } from '../exchange/deadlines.ts';
import { Dispatch } from '../exchange/dispatch.ts';
import { Exchange } from '../exchange/exchange.ts';
import type { VisitorOrigin } from '../exchange/forwarded.ts';
import { Ledger } from '../exchange/ledger.ts';
import { type ResponseOwner, ResponseReader } from '../exchange/response.ts';
import { Http1Sink } from '../exchange/response-sink.ts';
import type { Upstream, UpstreamUser } from '../exchange/upstream.ts';
import { CollectedRequest } from './collected-request.ts';
import { beginUpgrade, sendToVisitor, serviceEnded, type Upgraded, type UpgradedConnection } from './upgrade.ts';

const CONTINUE = Buffer.from('HTTP/1.1 100 Continue\r\n\r\n');

/** The visitor's connection, as far as its request must know it. */
export interface RequestConnection extends UpgradedConnection {
  state: VisitorState;
  /** The response is written, and the connection stays: on to the next request. */
  next(): void;
  /** The same after an answer of the edge itself. */
  nextAfterFault(): void;
  /** Ends it once the visitor has all of the response. */
  end(): void;
  /** Cuts it, and the request. */
  destroy(): void;
}

export class VisitorRequest implements UpstreamUser, ResponseOwner, Upgraded {
  readonly connection: RequestConnection;
  readonly sink: Http1Sink;
  readonly exchange = new Exchange();
  readonly dispatch: Dispatch;
  readonly response: ResponseReader;
  readonly ledger = new Ledger();
  upstream: Upstream | null = null;
  /** The head at hand waits: for the tunnel's policy, and nothing is read; or for its agent, and one more read is kept, so that a visitor's end is seen. */
  isGated = false;
  /** The request at hand and its body, while the tunnel's policy waits for that; null: it does not. */
  collected: CollectedRequest | null = null;
  /** After `feedBody`: the stream takes more. */
  hasRoom = true;
  /** Monotonic, coarse: when the connection was made, or last answered on. */
  usedMs: number;
  readonly #context: EdgeContext;
  readonly #body = new Body();
  #keep = true;
  /** The connection has been answered on before: of those answers some may be under way still, in kernels too. */
  #hasAnswered = false;

  constructor(context: EdgeContext, connection: RequestConnection, of: VisitorOrigin) {
    this.#context = context;
    this.connection = connection;
    this.usedMs = context.nowMs;
    this.dispatch = new Dispatch(context, this.exchange, of, []);
    this.response = new ResponseReader(context, this);
    this.sink = new Http1Sink(context, connection.writer);
  }

  /** A response has begun: it is too late for an answer of the edge itself. */
  get isAnswered(): boolean {
    return this.upstream !== null && this.response.started;
  }

  // ------------------------------------------------------------------ from the visitor

  /**
   * False: the tunnel's policy has yet to decide, or its agent is awaited. The head waits, and is read once more then: what it points into is used by
   * others meanwhile. `readEnd`: the end of what was read with it.
   */
  begin(bytes: Buffer, start: number, end: number, readEnd: number, head: Head): boolean {
    const { exchange, dispatch } = this;
    exchange.begin(bytes, start, head);
    this.#keep = !this.#context.draining && (head.minor === 1 ? !head.close : head.keepAlive && !head.close);
    const framing = head.chunked ? FRAMING.chunked : head.contentLength > 0 ? FRAMING.length : FRAMING.none;
    this.connection.state = framing === FRAMING.none ? 'wait' : 'body';

    dispatch.kept = readEnd - start;
    const upstream = dispatch.find(bytes, start, end);
    const { pending, refusal } = dispatch;
    if (pending !== null) {
      if (dispatch.body.isWanted) this.#collect(end - start, framing, head);
      this.#wait(pending);
      return false;
    }
    if (upstream === null) this.fault(refusal.code, refusal.detail, refusal.fields);
    else {
      const { requestRule, requestTap } = exchange;
      this.#body.start(framing, head.contentLength, false, requestRule, requestTap);
      this.#adopt(upstream);
      dispatch.send(upstream, bytes);
    }
    return true;
  }

  #collect(headBytes: number, framing: Framing, head: Head): void {
    this.collected = new CollectedRequest(this.dispatch.body, { headBytes, framing, length: head.contentLength });
    // Its sender waits for a word that else the service gives.
    if (!head.expectContinue || head.minor === 0) return;
    this.connection.writer.push(CONTINUE, 0, CONTINUE.length, 0, this.#context.slabs.foreign);
  }

  #wait(pending: Promise<Verdict>): void {
    this.connection.state = 'head';
    this.isGated = true;
    void pending.then((verdict) => {
      this.isGated = false;
      this.dispatch.decided(verdict);
      this.connection.resume();
    });
  }

  #adopt(upstream: Upstream): void {
    this.upstream = upstream;
    upstream.carry(this);
    this.ledger.begin(upstream.stream);
    this.response.begin(upstream, this.exchange);
  }

  /** Sends `bytes[start, end)` as far as they are its body. Returns where the rest begins; -1: the framing is bad, and the request has failed. */
  feedBody(bytes: Buffer, start: number, end: number): number {
    const body = this.#body;
    const state = body.feed(bytes, start, end);
    const { stop, next, trailer } = body;
    if (state === BODY.bad) {
      this.#context.drops.add('malformed');
      this.fault('bad_request', 'The request was refused: invalid body framing.');
      return -1;
    }
    const { stream } = this.upstream as Upstream;
    this.hasRoom = stop === start || stream.write(bytes, start, stop);
    if (trailer !== null && state === BODY.done) this.hasRoom = stream.write(trailer);
    this.exchange.countIn(next - start);
    this.connection.deadlines.passed(next - start);
    if (state === BODY.done) {
      this.connection.state = 'wait';
      this.exchange.isWhole = true;
    }
    return next;
  }

  // ------------------------------------------------------------------ from the stream (UpstreamUser)

  onResponse(bytes: Buffer, start: number, end: number): void {
    const { connection, response } = this;
    if (connection.state === 'raw') return sendToVisitor(this, bytes, start, end);
    const { heads } = response;
    try {
      response.feed(bytes, start, end);
      // A part of a head is no progress: it could trickle for ever.
      if (response.started || response.heads !== heads) connection.deadlines.moved();
    } catch (error) {
      this.#context.log.error({ err: error, trace_id: this.exchange.traceId }, 'a response failed');
      connection.destroy();
    }
  }

  onResponseEnd(): void {
    if (this.connection.state === 'raw') return serviceEnded(this);
    if (this.response.ended()) this.responseDone(false);
    else this.onUpstreamLost('local_closed');
  }

  onUpstreamLost(code: FaultCode): void {
    const again = this.dispatch.again(code, this.upstream, this.response);
    if (again !== null) {
      this.#adopt(again.fresh);
      again.fresh.stream.write(again.head);
    } else if (this.connection.state === 'raw') this.connection.destroy();
    else this.fault(code);
  }

  onUpstreamDrain(): void {
    this.connection.resume();
  }

  // ------------------------------------------------------------------ from the response (ResponseOwner)

  owes(bytes: number): void {
    this.ledger.owe(bytes);
  }

  mayKeep(isFramed: boolean): boolean {
    const { state, isHalfClosed } = this.connection;
    if (!isFramed || state !== 'wait' || isHalfClosed || this.#context.draining) this.#keep = false;
    return this.#keep;
  }

  responseDone(isClean: boolean): void {
    const complete = this.connection.state === 'wait';
    this.exchange.status = this.response.status;
    this.finish(isClean && complete);
    if (this.#keep && complete) this.connection.next();
    else this.connection.end();
  }

  responseBad(reason: string): void {
    const { entry, traceId } = this.exchange;
    this.#context.services.tell(entry?.route.tunnelId ?? '', reason, traceId);
    this.fault('local_bad_response', `The service behind the tunnel sent an invalid HTTP response: ${reason}.`);
  }

  switched(bytes: Buffer, start: number, end: number, slab: Slab): void {
    this.connection.state = 'raw';
    beginUpgrade(this, bytes, start, end, slab);
  }

  // ------------------------------------------------------------------ ends

  /** Gives the stream back and counts the exchange. */
  finish(isClean: boolean): void {
    const { upstream } = this;
    this.collected = null;
    this.dispatch.body.refuse();
    this.exchange.finish();
    this.#hasAnswered = true;
    this.usedMs = this.#context.nowMs;
    if (upstream === null) return;
    this.upstream = null;
    this.ledger.end(isClean);
    upstream.release(isClean);
  }

  /** Answers by itself, or cuts off when a response has begun: the visitor must not take half of one for the whole. */
  fault(code: FaultCode, detail?: string, fields?: readonly string[]): void {
    const { connection, exchange } = this;
    const wasComplete = connection.state === 'wait';
    this.#context.faults.add(code);
    exchange.code = code;
    if (this.isAnswered) {
      // A cut would throw away earlier answers too. An end is as clear where a length or chunks tell how much should have come.
      if (!this.#hasAnswered || this.response.ended()) return connection.destroy();
      this.finish(false);
      return connection.end();
    }
    const close = !this.#keep || !wasComplete || connection.isHalfClosed;
    const { acceptsHtml: html, isHead: head, traceId } = exchange;
    const answer = faultResponse({ code, detail, fields, html, head, close, traceId });
    exchange.bytesOut = answer.length;
    exchange.status = EDGE_FAULTS[code].status;
    this.finish(false);
    // Not written at once: the answers to what was pipelined go out together.
    connection.writer.push(answer, 0, answer.length, 0, this.#context.slabs.foreign);
    if (close) connection.end();
    else connection.nextAfterFault();
  }
}
