/**
 * One request that the control plane sends down a tunnel, and its response: what h1/request.ts is for a visitor's connection, with the same parser,
 * policy, forwarding, metering and deadlines. The response goes no further than counting-sink.ts: it is read strictly. Made by tunnel-requests.ts,
 * which bounds how many there are. States: `head` (the tunnel's policy has yet to decide) → `body` (the request's body flows) → `wait` (the
 * request is sent) → `gone`.
 */
import { randomUUIDv7 } from 'node:crypto';
import { isIP } from 'node:net';
import type { TunnelRequest } from '../../../plane/inspection.ts';
import type { Verdict } from '../../policy/step.ts';
import type { EdgeConnection, EdgeContext } from '../exchange/context.ts';
import { CountingSink } from './counting-sink.ts';
import { Deadlines, type VisitorState } from '../exchange/deadlines.ts';
import { Dispatch } from '../exchange/dispatch.ts';
import { Exchange } from '../exchange/exchange.ts';
import { EDGE_FAULTS, type FaultCode } from '../../../base/codes/edge-faults.ts';
import { withoutPort } from '../exchange/forwarded.ts';
import { isOver } from '../../faults/refusal.ts';
import { type ResponseOwner, ResponseReader } from '../exchange/response.ts';
import { marksOf, readTunnelHead, type TunnelHead, writeTunnelHead } from './tunnel-request-head.ts';
import type { Upstream, UpstreamUser } from '../exchange/upstream.ts';

/** The body goes out in pieces of so many bytes: a stream takes 1 MB beyond its window, and is lost when given more. */
const PIECE_BYTES = 65_536;
/** A visitor without a known address. */
const UNKNOWN = 'unknown';

/** How it went. */
export interface Outcome {
  /** The service's; of the edge when it answered by itself. */
  readonly status: number;
  /** Why the edge answered by itself, or gave up an answer that had begun; `internal`: a fault of its own. */
  readonly code: FaultCode | 'internal' | null;
  /** An agent was given the request: the service may have seen it. */
  readonly wasForwarded: boolean;
}

export class TunnelExchange implements EdgeConnection, UpstreamUser, ResponseOwner {
  /** Of its record. */
  readonly id = randomUUIDv7();
  readonly sink: CountingSink;
  readonly #context: EdgeContext;
  readonly #request: TunnelRequest;
  #onDone: (outcome: Outcome) => void = () => {};
  readonly #exchange = new Exchange();
  readonly #dispatch: Dispatch;
  readonly #response: ResponseReader;
  readonly #deadlines: Deadlines;
  readonly #head: TunnelHead | null;
  readonly #endMs: number;
  #state: VisitorState = 'head';
  #upstream: Upstream | null = null;
  #wasForwarded = false;
  /** Bytes of the body that the stream has. */
  #sent = 0;

  constructor(context: EdgeContext, request: TunnelRequest) {
    this.#context = context;
    this.#request = request;
    this.sink = new CountingSink(context.responseHead, request.keepBytes);
    const of = {
      ip: isIP(request.clientIp) === 0 ? UNKNOWN : request.clientIp,
      tls: request.scheme === 'https',
      names: null,
      load: null,
      sentBy: { lines: marksOf(request), record: { id: this.id, replayOf: request.replayOf } },
    };
    this.#dispatch = new Dispatch(context, this.#exchange, of, []);
    this.#response = new ResponseReader(context, this);
    this.#deadlines = new Deadlines(context.limits);
    this.#head = writeTunnelHead(request);
    this.#endMs = performance.now() + request.timeoutMs;
  }

  /** To be called once. `onDone` is called once, perhaps before this returns. */
  begin(onDone: (outcome: Outcome) => void): void {
    this.#onDone = onDone;
    this.#context.sweeper.add(this);
    this.#guarded(() => this.#find());
  }

  // ------------------------------------------------------------------ the request

  #find(): void {
    const { requestHead: head, table } = this.#context;
    if (this.#head === null) return this.#fault('bad_request');
    const refused = readTunnelHead(this.#head, this.#request, head);
    if (refused !== null) return this.#fault(refused);
    const { bytes } = this.#head;
    this.#exchange.begin(bytes, 0, head);
    // A name that is another tunnel's by now leads nowhere: a request for one service goes to no other.
    const entry = table.findByHost(withoutPort(this.#request.host));
    if (entry?.route.tunnelId !== this.#request.tunnelId) return this.#fault('tunnel_offline');
    const upstream = this.#dispatch.find(bytes, 0, bytes.length);
    const { pending, refusal } = this.#dispatch;
    if (pending !== null) return this.#wait(pending);
    if (upstream === null) return this.#fault(refusal.code);
    this.#state = 'body';
    this.#adopt(upstream);
    this.#dispatch.send(upstream, bytes);
    this.#sendBody();
  }

  /** The policy decides later. The head is read once more then: what it was read into is used by others meanwhile. */
  #wait(pending: Promise<Verdict>): void {
    void pending.then((verdict) => {
      if (this.#state !== 'head') return;
      this.#dispatch.decided(verdict);
      this.#guarded(() => this.#find());
    });
  }

  #adopt(upstream: Upstream): void {
    this.#upstream = upstream;
    this.#wasForwarded = true;
    upstream.carry(this);
    this.#response.begin(upstream, this.#exchange);
  }

  /** As far as the stream takes it. */
  #sendBody(): void {
    const { buffer, byteOffset, byteLength } = this.#request.body;
    const body = Buffer.from(buffer, byteOffset, byteLength);
    this.#deadlines.moved();
    while (this.#sent < body.length) {
      const end = Math.min(this.#sent + PIECE_BYTES, body.length);
      this.#exchange.requestTap?.payload(body, this.#sent, end);
      const room = (this.#upstream as Upstream).stream.write(body, this.#sent, end);
      this.#exchange.countIn(end - this.#sent);
      this.#sent = end;
      if (!room && end < body.length) return;
    }
    this.#state = 'wait';
    this.#exchange.isWhole = true;
  }

  // ------------------------------------------------------------------ from the stream (UpstreamUser)

  onResponse(bytes: Buffer, start: number, end: number): void {
    const { heads } = this.#response;
    this.#guarded(() => this.#response.feed(bytes, start, end));
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
    if (this.#state === 'body') this.#guarded(() => this.#sendBody());
  }

  // ------------------------------------------------------------------ from the response (ResponseOwner)

  /** No visitor takes them: their window comes back at once. */
  owes(bytes: number): void {
    this.#upstream?.stream.consumed(bytes);
  }

  mayKeep(): boolean {
    return true;
  }

  responseDone(isClean: boolean): void {
    const isWhole = this.#state === 'wait';
    this.#exchange.status = this.#response.status;
    this.#finish(isClean && isWhole, { status: this.#response.status, code: null });
  }

  responseBad(reason: string): void {
    this.#context.log.debug(
      { reason, tunnel: this.#request.tunnelId },
      'the service sent an invalid response to a request from the control plane',
    );
    this.#fault('local_bad_response');
  }

  /** Upgrades are never asked for: the reader has refused a 101 by now. */
  switched(): void {
    this.#fault('local_bad_response');
  }

  // ------------------------------------------------------------------ time

  /** Once a second or so: deadlines of the present state, and whether the tunnel may still be served. */
  sweep(nowMs: number): void {
    const served = this.#upstream?.served;
    const { entry } = this.#exchange;
    if (served !== undefined && entry !== null && (served.cut || isOver(entry))) return this.#fault('tunnel_offline');
    if (served?.payer.exhausted === true) return this.#fault('budget_exhausted');
    if (nowMs >= this.#endMs) return this.#fault(this.#state === 'head' ? 'policy_failed' : 'local_timeout');
    if (this.#state === 'head') return;
    const lateness = this.#deadlines.check(nowMs, {
      state: this.#state,
      isHeadCut: false,
      isPaused: true,
      hasBacklog: false,
      isAnswering: this.#response.started,
      isHalfClosed: false,
    });
    if (lateness === 'local_timeout') this.#fault(lateness);
  }

  /** It ends by itself, in time. */
  readonly stage = 'busy';
  drain(): void {}

  /** The node closes. */
  destroy(): void {
    this.#fault('agent_lost');
  }

  // ------------------------------------------------------------------ ends

  /** The answer of the edge itself; or the end of one that has begun, whose status stays. */
  #fault(code: FaultCode): void {
    if (this.#state === 'gone') return;
    this.#context.faults.add(code);
    const hasBegun = this.#upstream !== null && this.#response.started;
    const status = hasBegun ? this.#response.status : EDGE_FAULTS[code].status;
    this.#exchange.status = status;
    this.#exchange.code = code;
    this.#finish(false, { status, code });
  }

  #finish(isClean: boolean, { status, code }: Omit<Outcome, 'wasForwarded'>): void {
    if (this.#state === 'gone') return;
    this.#state = 'gone';
    this.#context.sweeper.delete(this);
    const upstream = this.#upstream;
    this.#upstream = null;
    this.#exchange.finish();
    upstream?.release(isClean);
    this.#onDone({ status, code, wasForwarded: this.#wasForwarded });
  }

  /** A fault in one request ends that one and no other. */
  #guarded(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#context.log.error({ err: error }, 'a request from the control plane failed');
      this.#finish(false, { status: 500, code: 'internal' });
    }
  }
}
