/**
 * What all connections of one HTTP edge share: tables, limits, and the buffers of which one per thread is enough, because each
 * is used up before its user returns to the event loop.
 */
import type { BlockList } from 'node:net';
import type { Sweeper } from '../../../base/clock.ts';
import type { Logger } from '../../../base/log.ts';
import { Scratch, SlabPool } from '../../../base/bytes/slab.ts';
import { TurnEnd } from '../../../base/process/turn.ts';
import type { RouteTable } from '../../routing/table.ts';
import type { AccessLog } from '../../access-log/access-log.ts';
import type { Recorder } from '../../inspect/recorder.ts';
import type { LatencyRecorder } from '../../latency/latency-recorder.ts';
import type { Drops } from '../../faults/drops.ts';
import { FaultCounters } from '../../faults/fault.ts';
import type { HandshakeLimits } from '../../../base/net/handshake-rate.ts';
import type { Holds } from './holds.ts';
import { Head } from '../../../http1/head.ts';
import type { HeadLimits } from '../../../http1/head-limits.ts';
import { StreamMemory } from '../h2/stream-memory.ts';
import type { HttpsRedirect } from './https-redirect.ts';
import type { ServerHosts } from './server-hosts.ts';
import type { HttpAnswers } from '../tls/acme-answers.ts';
import { ServiceFaults } from '../../faults/service-faults.ts';
import { BodyRoom } from './body-room.ts';
import { CookieGuard } from './set-cookie.ts';

export interface EdgeLimits {
  /** First byte of a head to its last. */
  readonly headTimeoutMs: number;
  /** Between requests of one connection. */
  readonly idleTimeoutMs: number;
  /** Without progress of a body that the visitor sends or should read. */
  readonly bodyIdleTimeoutMs: number;
  /** What a visitor that is waited for must send or take, over each `bodyIdleTimeoutMs`; 0: no limit. */
  readonly minBytesPerSecond: number;
  /** From the request's end to the end of the response's head; each interim response begins it anew. */
  readonly localTimeoutMs: number;
  /** Upgraded connections without traffic; 0: no limit. */
  readonly websocketIdleMs: number;
  /** After the last answer a visitor may go on sending for so long. */
  readonly lingerTimeoutMs: number;
  /** From the first packet of a TLS connection to the end of its handshake. */
  readonly tlsHandshakeTimeoutMs: number;
  /** Per address. */
  readonly tlsHandshakes: HandshakeLimits;
  /** Of requests. */
  readonly head: HeadLimits;
  /** Of responses. */
  readonly responseHead: HeadLimits;
  /** Requests of one address that hold a stream of an agent; 0: no limit. */
  readonly requestsPerAddress: number;
  /** HTTP/2: streams that a connection may have open, and how many of those that were given work it may reset per second. */
  readonly http2MaxStreams: number;
  readonly http2ResetsPerSecond: number;
  /** Bytes that may wait in streams of HTTP/2, of all connections. */
  readonly http2MemoryBytes: number;
}

/** A visitor's connection, in any version of HTTP, as far as the edge as a whole must know it. */
export interface EdgeConnection {
  /** Once a second or so, with monotonic time: deadlines. */
  sweep(nowMs: number): void;
  /**
   * The server leaves: ends now when idle, else after what is under way. Until it `isLast`, one that has just been in use may bring one more
   * request: most clients have that under way, and would take a cut for a failure.
   */
  drain(isLast: boolean): void;
  /** A request may come on it; nothing is under way; or all is done, and the visitor has yet to close its side. */
  readonly stage: 'open' | 'busy' | 'done';
  /** Cuts it. May be called twice. */
  destroy(): void;
}

export interface EdgeContext {
  readonly table: RouteTable;
  readonly limits: EdgeLimits;
  readonly sweeper: Sweeper<EdgeConnection>;
  readonly log: Logger;
  readonly trusted: BlockList | null;
  /** What plain HTTP is answered with; null: it is served. */
  readonly redirect: HttpsRedirect | null;
  /** Hosts of the server itself; null: the API is not served here. */
  readonly ownHosts: ServerHosts | null;
  /** Answers to certificate authorities; null while no order runs. */
  challenges: HttpAnswers | null;
  readonly slabs: SlabPool;
  readonly scratch: Scratch;
  readonly turn: TurnEnd;
  readonly faults: FaultCounters;
  readonly drops: Drops;
  readonly holds: Holds;
  /** null: no request is recorded. */
  readonly recorder: Recorder | null;
  readonly latency: Pick<LatencyRecorder, 'of'>;
  readonly accessLog: AccessLog;
  readonly http2Memory: StreamMemory;
  /** For bodies that a policy wants to see before they are forwarded. */
  readonly bodies: BodyRoom;
  /** Visitors' sockets are read into this. */
  readonly readBuffer: Buffer;
  readonly requestHead: Head;
  readonly responseHead: Head;
  readonly cookies: CookieGuard;
  /** What services have sent that is no response, for the log. */
  readonly services: ServiceFaults;
  /** Monotonic milliseconds, up to a quarter of a second old: a clock call per request would cost more than what it decides. */
  nowMs: number;
  draining: boolean;
}

/** 128 KB: a whole upload burst of a visitor in one read. */
const READ_BYTES = 131_072;

export function edgeContext(
  of: Pick<
    EdgeContext,
    | 'table'
    | 'limits'
    | 'sweeper'
    | 'log'
    | 'trusted'
    | 'redirect'
    | 'ownHosts'
    | 'drops'
    | 'holds'
    | 'recorder'
    | 'latency'
    | 'accessLog'
  >,
): EdgeContext {
  const slabs = new SlabPool();
  return {
    ...of,
    challenges: null,
    slabs,
    scratch: new Scratch(slabs),
    turn: new TurnEnd(),
    faults: new FaultCounters(),
    bodies: new BodyRoom(),
    http2Memory: new StreamMemory(of.limits.http2MemoryBytes),
    readBuffer: Buffer.allocUnsafeSlow(READ_BYTES),
    requestHead: new Head(of.limits.head),
    responseHead: new Head(of.limits.responseHead),
    services: new ServiceFaults(of.log),
    cookies: new CookieGuard(of.table.domain),
    nowMs: performance.now(),
    draining: false,
  };
}
