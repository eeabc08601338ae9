/**
 * The way to the service: a mux stream with a local connection at its other end, and the idle ones that a tunnel keeps.
 * A stream carries one request at a time. A request that meets a closed connection is sent once more if that is safe.
 * Bytes behind a response must never answer another visitor: docs/decisions/0003-idle-streams.md.
 */
import type { MuxStream, StreamSink } from '../../../mux/stream.ts';
import { REPLY, type ReplyCode } from '../../../wire/preamble.ts';
import type { ServedTunnel } from '../../routing/entry.ts';
import type { AddressLoad } from '../../entrance/admission.ts';
import type { FaultCode } from '../../../base/codes/edge-faults.ts';

/** Idle streams kept per tunnel. With REST_MS enough for 3,400 new connections a second; beyond, some requests take a fresh stream. */
const MAX_IDLE = 512;
/** Kept at most this long unless the agent says otherwise, and for a request that can't be repeated this long. */
export const IDLE_MS = 55_000;
const UNREPEATABLE_IDLE_MS = 1_000;
/** The service's own limit is taken as this much shorter, for the time that bytes are under way. */
const HINT_MARGIN_MS = 1_000;
/** How long a stream rests before another visitor's connection gets it. */
export const REST_MS = 150;
/** A stream of which the agent has not said for this long that nothing is behind its response is given up. */
const CLEAR_MS = 5_000;
/** Error code of HTTP/2 (RFC 9113 §7): the request was not processed. */
const REFUSED_STREAM = 7;
/** Heads longer than this are not kept for repeating. */
const MAX_REPLAY_BYTES = 8_192;

/** The streams that a visitor's connection has used, the latest last. Some have gone on to others since; see `ofOwn`. */
export type OwnStreams = Upstream[];

/** Who waits for the response; a visitor's connection. */
export interface UpstreamUser {
  onResponse(bytes: Buffer, start: number, end: number): void;
  /** The service has ended its direction. */
  onResponseEnd(): void;
  /** No (more) response will come. */
  onUpstreamLost(code: FaultCode): void;
  onUpstreamDrain(): void;
}

const FAULT_OF_REPLY: Record<ReplyCode, FaultCode> = {
  [REPLY.connected]: 'local_closed',
  [REPLY.refused]: 'local_unreachable',
  [REPLY.timeout]: 'local_timeout',
  [REPLY.unknownSlot]: 'tunnel_offline',
  [REPLY.failed]: 'local_unreachable',
  [REPLY.draining]: 'tunnel_offline',
  [REPLY.speaksTls]: 'local_speaks_tls',
  [REPLY.speaksHttp2]: 'local_speaks_http2',
};

export class Upstream implements StreamSink {
  readonly stream: MuxStream;
  readonly served: ServedTunnel;
  /** Of the address whose request it carries next; null: uncounted. */
  load: AddressLoad | null = null;
  #user: UpstreamUser | null = null;
  /** Of the connection whose request it carries, or has carried last. */
  #own: OwnStreams;
  /** Has served a request before: its local connection may have been closed meanwhile. */
  reused = false;
  /** The forwarded head, when it may be sent once more. */
  #replay: Buffer | null = null;
  #replayBytes = 0;
  #idleLimitMs: number;
  /** The agent's reply: how many of its bytes are still to come, and what it says. */
  #replied = false;
  #status = -1;
  #textLeft = -1;

  constructor(stream: MuxStream, served: ServedTunnel, own: OwnStreams) {
    this.stream = stream;
    this.served = served;
    this.#idleLimitMs = served.idleMs;
    this.#own = own;
  }

  /** The service has reset its HTTP/2 stream, and may have carried out some of the request; not when it has refused it. */
  get isReset(): boolean {
    const { resetCode } = this.stream;
    return resetCode !== 0 && resetCode !== REFUSED_STREAM;
  }

  isOf(own: OwnStreams): boolean {
    return this.#own === own;
  }

  /** Goes on to a request of the connection with these streams. */
  goOn(own: OwnStreams): this {
    this.#own = own;
    this.stream.step();
    return this;
  }

  /** Whether it may take a request at `nowMs`. */
  isFresh(nowMs: number, repeatable: boolean): boolean {
    const idle = nowMs - this.stream.lastUsedMs;
    return idle < (repeatable ? this.#idleLimitMs : Math.min(this.#idleLimitMs, UNREPEATABLE_IDLE_MS));
  }

  /** `Keep-Alive: timeout=seconds` of the service. */
  limitIdle(seconds: number): void {
    this.#idleLimitMs = Math.max(0, Math.min(this.served.idleMs, seconds * 1000 - HINT_MARGIN_MS));
  }

  /** Keeps a copy of the head that was just written at `bytes[start, end)`. */
  keepForReplay(bytes: Buffer, start: number, end: number): void {
    const length = end - start;
    this.#replayBytes = 0;
    if (length > MAX_REPLAY_BYTES) return;
    if (this.#replay === null || this.#replay.length < length)
      this.#replay = Buffer.allocUnsafeSlow(Math.max(1024, length));
    bytes.copy(this.#replay, 0, start, end);
    this.#replayBytes = length;
  }

  /** The head to send once more, or null. Only before the first byte of a response. */
  takeReplay(): Buffer | null {
    if (!this.reused || this.#replayBytes === 0 || this.#replay === null) return null;
    const copy = Buffer.from(this.#replay.subarray(0, this.#replayBytes));
    this.#replayBytes = 0;
    return copy;
  }

  /** A response has begun, or the request may not be repeated. */
  dropReplay(): void {
    this.#replayBytes = 0;
  }

  onData(stream: MuxStream, bytes: Buffer, start: number, end: number): void {
    let from = start;
    if (!this.#replied) {
      from = this.#readReply(bytes, start, end);
      stream.consumed(from - start);
      if (from === end) return;
    }
    const user = this.#user;
    if (user !== null) user.onResponse(bytes, from, end);
    else {
      // Unrequested bytes: this connection is out of step for good.
      this.#forget();
      stream.reset();
    }
  }

  onEnd(stream: MuxStream): void {
    const user = this.#user;
    if (user !== null) user.onResponseEnd();
    else {
      this.#forget();
      stream.end();
    }
  }

  onReset(stream: MuxStream): void {
    const user = this.#user;
    if (user !== null) user.onUpstreamLost(stream.session.closed ? 'agent_lost' : 'local_closed');
    else this.#forget();
  }

  onDrain(): void {
    this.#user?.onUpstreamDrain();
  }

  /** Carries a request of `user` from now on, until `release`. */
  carry(user: UpstreamUser): void {
    this.#user = user;
    this.served.inFlight++;
    if (this.load !== null) this.load.requests++;
  }

  /**
   * The user is done: the stream is kept for the next request if it `isClean`, else given up. `nowMs` is exact, as the rest is short. `code`: with which
   * the visitor has reset its HTTP/2 stream; 0: it has not.
   */
  release(isClean: boolean, nowMs = performance.now(), code = 0): void {
    this.#user = null;
    this.#replayBytes = 0;
    const { stream, served } = this;
    served.inFlight--;
    if (this.load !== null) this.load.requests--;
    this.load = null;
    if (isClean && !stream.gone && !stream.ended && stream.session.hearsClear) this.#rest(nowMs);
    else if (stream.ended) stream.end();
    else stream.reset(code);
  }

  #rest(nowMs: number): void {
    const { stream, served } = this;
    if (!this.#isWorthKeeping()) return stream.reset();
    stream.lastUsedMs = nowMs;
    this.reused = true;
    served.resting.add(stream);
    // Never more than the connection has had requests under way at a time for each tunnel: each of them takes one out first.
    this.#own.push(this);
  }

  #forget(): void {
    const { idle, resting } = this.served;
    if (resting.delete(this.stream)) return;
    const at = idle.lastIndexOf(this.stream);
    if (at >= 0) idle.splice(at, 1);
  }

  /** The streams that wait must not be what fills a session that many tunnels share. */
  #isWorthKeeping(): boolean {
    const { draining, cut, idle, resting, session } = this.served;
    const isCrowded = session.streamCount * 4 > session.maxStreams * 3;
    if (this.#idleLimitMs === 0) return false;
    return !draining && !cut && idle.length + resting.size < MAX_IDLE && !isCrowded;
  }

  /** Reads the agent's reply (wire/preamble.ts); returns where the service's own bytes begin. */
  #readReply(bytes: Buffer, start: number, end: number): number {
    let at = start;
    if (this.#status < 0 && at < end) this.#status = bytes[at++] as number;
    if (this.#textLeft < 0 && at < end) this.#textLeft = bytes[at++] as number;
    if (this.#textLeft < 0) return at;
    const take = Math.min(this.#textLeft, end - at);
    this.#textLeft -= take;
    at += take;
    if (this.#textLeft > 0) return at;
    this.#replied = true;
    if (this.#status === REPLY.connected) return at;
    const code = FAULT_OF_REPLY[this.#status as ReplyCode] ?? 'local_bad_response';
    // What the agent says besides names the target: an address inside the owner's network, which the agent's own screen shows.
    this.#user?.onUpstreamLost(code);
    return end;
  }
}

/** A way to the service for one request of the connection with `own` streams, or null when the agent takes no more of them now. */
export function acquire(served: ServedTunnel, nowMs: number, repeatable: boolean, own: OwnStreams): Upstream | null {
  const kept = ofOwn(served, nowMs, repeatable, own) ?? ofAll(served, nowMs, repeatable);
  if (kept !== null) return kept.goOn(own);
  const fresh = openUpstream(served, own);
  if (fresh !== null) return fresh;
  // The session is full, or the tunnel's share of it: a stream that merely waits makes room for one that works.
  return giveUpOldest(served) || served.services.some(giveUpOldest) ? openUpstream(served, own) : null;
}

function giveUpOldest({ idle, resting }: ServedTunnel): boolean {
  const oldest = idle.shift() ?? resting.values().next().value;
  if (oldest === undefined) return false;
  resting.delete(oldest);
  oldest.reset();
  return true;
}

/**
 * A stream that still rests from this very connection's last request. Those of other tunnels, and those that are not clear yet, stay in `own`; those
 * that rest no more leave it.
 */
function ofOwn(served: ServedTunnel, nowMs: number, repeatable: boolean, own: OwnStreams): Upstream | null {
  for (let at = own.length - 1; at >= 0; at--) {
    const upstream = own[at] as Upstream;
    const rests = upstream.isOf(own) && upstream.served.resting.has(upstream.stream);
    if (rests && (upstream.served !== served || !upstream.stream.isClear)) continue;
    const last = own.pop() as Upstream;
    if (at < own.length) own[at] = last;
    if (!rests || !upstream.isFresh(nowMs, repeatable)) continue;
    served.resting.delete(upstream.stream);
    return upstream;
  }
  return null;
}

/** A stream that has rested, the latest first. */
function ofAll(served: ServedTunnel, nowMs: number, repeatable: boolean): Upstream | null {
  const { idle } = served;
  endRests(served, nowMs);
  for (let stream = idle.at(-1); stream !== undefined; stream = idle.at(-1)) {
    const upstream = stream.sink as Upstream;
    // Not clear any more: the head of a frame that nothing asked for has come, its bytes have not yet.
    const isGood = stream.isClear && upstream.isFresh(nowMs, repeatable);
    // The others are older still, but good for requests that may be repeated.
    if (!isGood && stream.isClear && !repeatable) return null;
    idle.pop();
    if (isGood) return upstream;
    stream.reset();
  }
  return null;
}

/** In the order in which they came: those that have rested are for all, those that the agent does not say to be clear are given up. */
function endRests({ resting, idle }: ServedTunnel, nowMs: number): void {
  for (const stream of resting) {
    const restedMs = nowMs - stream.lastUsedMs;
    if (restedMs < REST_MS) return;
    if (!stream.isClear && restedMs < CLEAR_MS) continue;
    resting.delete(stream);
    if (stream.isClear) idle.push(stream);
    else stream.reset();
  }
}

/** Whether the tunnel has all that it may have of a session that serves others too: its visitors must not be what stops theirs. */
export function hasItsShare({ session, inFlight, services, isAlone }: ServedTunnel): boolean {
  let streams = inFlight;
  for (const { idle, resting } of services) streams += idle.length + resting.size;
  return streams * 4 >= session.maxStreams * 3 && !isAlone;
}

/** A fresh stream with a fresh local connection, or null when there is none for this tunnel. */
export function openUpstream(served: ServedTunnel, own: OwnStreams): Upstream | null {
  if (hasItsShare(served)) return null;
  const stream = served.session.open();
  if (stream === null) return null;
  const upstream = new Upstream(stream, served, own);
  stream.sink = upstream;
  stream.write(served.preamble);
  return upstream;
}

/** Gives up streams that have been idle for too long; oldest first. Call every few seconds. */
export function dropStale({ services }: ServedTunnel, nowMs: number): void {
  for (const served of services) dropStaleOf(served, nowMs);
}

function dropStaleOf(served: ServedTunnel, nowMs: number): void {
  const { idle } = served;
  endRests(served, nowMs);
  while (idle.length > 0 && !((idle[0] as MuxStream).sink as Upstream).isFresh(nowMs, true))
    (idle.shift() as MuxStream).reset();
}

/** Gives up all that wait: the tunnel is served no more. */
export function dropKept({ services }: ServedTunnel): void {
  for (const { idle, resting } of services) {
    for (const stream of idle.splice(0)) stream.reset();
    for (const stream of resting) stream.reset();
    resting.clear();
  }
}
