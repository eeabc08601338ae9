/**
 * The record of one request while the request is under way. Made by recorder.ts, noted in the exchange, filled by dispatch.ts, forward.ts,
 * response.ts and the readers of bodies; `finish` gives it to the queue. It holds copies and numbers, never a buffer, a stream or a serving of
 * the edge. A fault in here ends the record and nothing else.
 */
import type { RECORD_DROPS } from '../../base/codes/drops.ts';
import type { Head } from '../../http1/head.ts';
import type { InspectedRequest, Trace, TraceStep } from '../../plane/inspection.ts';
import type { ServedTunnel } from '../routing/entry.ts';
import type { TunnelRecords } from './tunnel-records.ts';
import { BodyCapture, type CaptureOwner } from './body-capture.ts';
import { WebSocketRecord, type WebSocketOwner } from './websocket/websocket-record.ts';
import { type AskedHead, copyOf, targetOf, unforwardedHead } from './kept-head.ts';

/** What a record takes beside its heads and bodies, about. */
export const OWN_BYTES = 1_024;
const STEP_BYTES = 64;

/** Why a request is not recorded, each with 0. */
export const NO_DROPS = {
  tunnel_rate: 0,
  org_rate: 0,
  node_rate: 0,
  memory: 0,
  queue: 0,
  lost: 0,
  failed: 0,
} satisfies Record<DropReason, number>;
export type DropReason = keyof typeof RECORD_DROPS;

/** Who made it: recorder.ts. */
export interface DraftOwner extends WebSocketOwner {
  readonly maxBodyBytes: number;
  /** Frames of WebSockets are recorded where their tunnel says nothing. */
  readonly websocketFrames: boolean;
  /** Room in memory; false: none. */
  take(of: TunnelRecords, bytes: number): boolean;
  give(of: TunnelRecords, bytes: number): void;
  finished(draft: Draft): void;
  dropped(of: TunnelRecords, reason: DropReason): void;
}

export class Draft implements CaptureOwner {
  readonly id: string;
  readonly of: TunnelRecords;
  readonly replayOf: string | null;
  readonly requestBody: BodyCapture = new BodyCapture(this);
  readonly responseBody: BodyCapture = new BodyCapture(this);
  readonly steps: TraceStep[] = [];
  readonly #owner: DraftOwner;
  readonly #at = Date.now();
  readonly #startedMs = performance.now();
  #isOpen = true;
  #heldBytes = 0;
  #method = '';
  #target = '';
  #host = '';
  #remoteIp = '';
  #scheme: Trace['scheme'] = 'http';
  #httpVersion: Trace['httpVersion'] = '1.1';
  #requestHead: Buffer | null = null;
  #responseHead: Buffer | null = null;
  #agentId: string | null = null;
  #tokenId: string | null = null;
  #connection: Trace['connection'] = null;
  #isRetried = false;
  #policyMs = 0;
  #firstByteMs: number | null = null;
  #trailers = '';
  #traceId = '';
  /** Of the service's answer. */
  #answered = 0;
  #status = 0;
  #code: string | null = null;
  #latencyMs = 0;
  #outcome: Trace['outcome'] = 'failed';
  #isWhole = false;
  #isDropped = false;

  constructor(owner: DraftOwner, of: { id: string; tunnel: TunnelRecords; replayOf: string | null }) {
    this.#owner = owner;
    this.id = of.id;
    this.of = of.tunnel;
    this.replayOf = of.replayOf;
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  get maxBodyBytes(): number {
    return this.#owner.maxBodyBytes;
  }

  /** It was given up: nothing of it is left. */
  get isDropped(): boolean {
    return this.#isDropped;
  }

  /** It is the record of a WebSocket: updates of it follow. */
  get isSwitched(): boolean {
    return this.#status === 101;
  }

  /** What it takes of the memory. */
  get heldBytes(): number {
    return this.#heldBytes;
  }

  /** Bytes of its heads and bodies. */
  get keptBytes(): number {
    const heads = (this.#requestHead?.length ?? 0) + (this.#responseHead?.length ?? 0);
    return heads + this.requestBody.length + this.responseBody.length;
  }

  /** The request's head, before anything is decided. `traceId`: '' where it has none. */
  read({ bytes, start, head, remoteIp, isHttps, isHttp2 }: AskedHead, traceId: string): void {
    this.#guarded(() => {
      this.#traceId = traceId;
      if (!this.grow(OWN_BYTES + head.targetEnd - head.targetStart)) return;
      this.#method = bytes.toString('latin1', start, head.methodEnd);
      this.#target = targetOf(bytes, head);
      this.#host = bytes.toString('latin1', head.hostStart, head.hostEnd);
      this.#remoteIp = remoteIp;
      this.#scheme = isHttps ? 'https' : 'http';
      this.#httpVersion = isHttp2 ? '2' : head.minor === 0 ? '1.0' : '1.1';
    });
  }

  /** A step of the tunnel's policy has answered. */
  note(step: TraceStep): void {
    if (this.#isOpen && this.grow(STEP_BYTES)) this.steps.push(step);
  }

  /** The policy has changed while it was asked: all of it is asked anew. */
  forgetSteps(): void {
    this.steps.length = 0;
  }

  /** Not passed on, or not yet: the head as the visitor sent it. Plain arguments, as of all that copies: this is per request. */
  refused(bytes: Buffer, start: number, end: number, head: Head): void {
    this.#guarded(() => {
      this.#policyMs = this.#elapsed();
      this.#keepRequestHead(unforwardedHead(bytes, start, end, head));
    });
  }

  /** The serving that carries it. */
  carriedBy({ agentId, tokenId }: ServedTunnel, isKept: boolean): void {
    this.#policyMs = this.#elapsed();
    this.#agentId = agentId;
    this.#tokenId = tokenId;
    this.#connection = isKept ? 'kept' : 'fresh';
  }

  /** The head that was passed on: `bytes[start, end)`. */
  forwarded(bytes: Buffer, start: number, end: number): void {
    this.#guarded(() => this.#keepRequestHead(copyOf(bytes, start, end)));
  }

  /** Sent once more, on a fresh connection. */
  retried({ agentId, tokenId }: ServedTunnel): void {
    this.#isRetried = true;
    this.#connection = 'fresh';
    this.#agentId = agentId;
    this.#tokenId = tokenId;
  }

  /** The service's final head, or that of an upgrade: before the edge changes anything of it. */
  answered(bytes: Buffer, start: number, end: number, { status }: Head): void {
    this.#guarded(() => {
      this.#firstByteMs = this.#elapsed();
      this.#answered = status;
      if (this.grow(end - start)) this.#responseHead = copyOf(bytes, start, end);
    });
  }

  /** Trailers have come behind the answer's body, with their closing line. */
  trailed(lines: Buffer): void {
    this.#guarded(() => {
      if (this.grow(lines.length)) this.#trailers = lines.toString('latin1', 0, lines.length - 2);
    });
  }

  /**
   * All is over. `status`: the visitor got a whole answer with it; 0: none, or a part of the service's. `code`: the edge's own reason. `isWhole`:
   * all of the request's body has come.
   */
  finish({ status, code, isWhole }: { status: number; code: string | null; isWhole: boolean }): void {
    this.#guarded(() => {
      this.#latencyMs = this.#elapsed();
      this.#status = status === 0 ? this.#answered : status;
      this.#code = code;
      this.#isWhole = isWhole;
      // What is heard of it from here on belongs to no record: the answer may be over before the request is.
      this.#isOpen = false;
      if (status !== 0 && code === null) this.#outcome = 'forwarded';
      else if (this.#agentId === null) this.#outcome = 'refused';
      this.#owner.finished(this);
    });
  }

  /** It has become a WebSocket: the record is complete, and what passes from here on is reported separately. `wantsFrames`: of its tunnel, if that says. */
  switched(wantsFrames: boolean | undefined): WebSocketRecord | null {
    const owner = this.#owner;
    this.finish({ status: 101, code: null, isWhole: true });
    if (this.#isDropped) return null;
    const recordsFrames = wantsFrames ?? owner.websocketFrames;
    return new WebSocketRecord(owner, { id: this.id, tunnel: this.of, recordsFrames });
  }

  /** Gives it up, and counts why. */
  drop(reason: DropReason): void {
    this.#isOpen = false;
    this.#isDropped = true;
    this.#owner.dropped(this.of, reason);
    this.release();
  }

  /** Lets go of its memory. May be called twice. */
  release(): void {
    this.letGo();
    this.#owner.give(this.of, this.#heldBytes);
    this.#heldBytes = 0;
  }

  /** Its bytes are copied: the memory is now that of the copy. */
  letGo(): void {
    this.#requestHead = this.#responseHead = null;
    this.requestBody.drop();
    this.responseBody.drop();
  }

  grow(bytes: number): boolean {
    if (this.#owner.take(this.of, bytes)) {
      this.#heldBytes += bytes;
      return true;
    }
    this.drop('memory');
    return false;
  }

  failed(error: unknown): void {
    if (!this.#isDropped) this.drop('failed');
    this.#owner.failed(error);
  }

  /** The record for the link. Its bytes go to `out` from `at` on, `keptBytes` of them. */
  record(out: Buffer, at: number): InspectedRequest {
    const requestHead = at + (this.#requestHead?.copy(out, at) ?? 0);
    const responseHead = requestHead + (this.#responseHead?.copy(out, requestHead) ?? 0);
    const requestBody = this.requestBody.copyTo(out, responseHead);
    const responseBody = this.responseBody.copyTo(out, requestBody);
    return {
      id: this.id,
      tunnelId: this.of.tunnelId,
      orgId: this.of.orgId,
      at: this.#at,
      method: this.#method,
      target: this.#target,
      status: this.#status,
      latencyMs: this.#latencyMs,
      requestSize: this.requestBody.size,
      responseSize: this.responseBody.size,
      remoteIp: this.#remoteIp,
      requestHead: viewOf(out, at, requestHead),
      responseHead: this.#responseHead === null ? null : viewOf(out, requestHead, responseHead),
      requestBody: viewOf(out, responseHead, requestBody),
      requestBodyTruncated: !this.#isWhole || this.requestBody.isTruncated,
      responseBody: viewOf(out, requestBody, responseBody),
      responseBodyTruncated: this.responseBody.isTruncated,
      replayOf: this.replayOf,
      trace: this.#trace(),
    };
  }

  #trace(): Trace {
    return {
      outcome: this.#outcome,
      code: this.#code,
      host: this.#host,
      scheme: this.#scheme,
      httpVersion: this.#httpVersion,
      steps: this.steps,
      agentId: this.#agentId,
      tokenId: this.#tokenId,
      connection: this.#connection,
      retried: this.#isRetried,
      policyMs: this.#policyMs,
      firstByteMs: this.#firstByteMs,
      ...(this.#trailers === '' ? {} : { trailers: this.#trailers }),
      ...(this.#traceId === '' ? {} : { traceId: this.#traceId }),
    };
  }

  #keepRequestHead(copy: Buffer): void {
    if (this.grow(copy.length - (this.#requestHead?.length ?? 0))) this.#requestHead = copy;
  }

  #elapsed(): number {
    return Math.round((performance.now() - this.#startedMs) * 1_000) / 1_000;
  }

  /** Nothing is done for one that is closed. */
  #guarded(work: () => void): void {
    if (!this.#isOpen) return;
    try {
      work();
    } catch (error) {
      this.failed(error);
    }
  }
}

function viewOf({ buffer, byteOffset }: Buffer, start: number, end: number): Uint8Array {
  return new Uint8Array(buffer, byteOffset + start, end - start);
}
