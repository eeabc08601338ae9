/**
 * One name at the edge as a request meets it: the route that the control plane pushed, and the serving by an agent session, with its
 * counters and who pays for what they count. The entry object lives as long as its tunnel does; `route` and `served` are swapped, never
 * changed inside. What is in flight holds on to the serving that carries it, which may not be the tunnel's present one any more.
 */
import type { Head } from '../../http1/head.ts';
import type { EdgeRefusal } from '../faults/fault.ts';
import type { TunnelRecords } from '../inspect/tunnel-records.ts';
import type { TunnelLatency } from '../latency/tunnel-latency.ts';
import type { CompiledPolicy } from '../policy/compile.ts';
import type { MuxSession } from '../../mux/session.ts';
import type { MuxStream } from '../../mux/stream.ts';
import type { Narrowing } from '../../plane/narrowing.ts';
import type { Route } from '../../plane/routes.ts';
import type { RequestLine } from '../../wire/messages.ts';
import type { Rewrite } from '../edge/rewrite/rewrite.ts';

/** A tunnel that a live agent session serves. Made by data/gateway, used by data/edge. */
export interface ServedTunnel {
  readonly session: MuxSession;
  readonly agentId: string;
  readonly tokenId: string;
  /** The token that serves: it pays for what the meter shows. */
  readonly payer: Payer;
  readonly meter: TunnelMeter;
  /** Exchanges and connections that it carries now, also after another has taken the tunnel over; counted by data/edge. */
  inFlight: number;
  /** The agent's number for this tunnel, as in the preamble. */
  readonly slot: number;
  /** Preamble of a stream without visitor address, made once. */
  readonly preamble: Buffer;
  /** Idle streams with a kept local connection, for the next request of any visitor; owned by data/edge/exchange/upstream.ts. */
  readonly idle: MuxStream[];
  /** Those that have just answered, and may have more behind it; owned by data/edge/exchange/upstream.ts. */
  readonly resting: Set<MuxStream>;
  /** The agent leaves: no new streams. */
  draining: boolean;
  /** Stopped, expired, deleted or revoked: streams in flight end too. Stays false when a newer session superseded this one. */
  cut: boolean;
  /** What its agent's flags add in front of the tunnel; null: nothing. */
  readonly narrowing: Narrowing | null;
  /** Host and path that its service gets in place of the visitor's; null: those as they are. */
  readonly rewrite: Rewrite | null;
  /** Services by path: each has streams of its own, and this one's are not used; null: there is one service. */
  readonly routes: ServiceChoice | null;
  /** The whole tunnel; the same object, but for the service of a route. */
  readonly tunnel: ServedTunnel;
  /** All of the tunnel that have streams: itself, or the services of its routes. */
  readonly services: readonly ServedTunnel[];
  /** How long a connection to its service is kept for the next request. */
  readonly idleMs: number;
  /** Its agent lets requests be recorded. */
  readonly inspected: boolean;
  /** Its session serves no other tunnel. */
  readonly isAlone: boolean;
  /** `bytes` that are about to go to its agent came over no visitor's wire: its bandwidth limit does not pay for them. */
  forgive(bytes: number): void;
  /** The agent's screen is on: `note` is worth calling. */
  watched: boolean;
  /** Queues a line for the agent's screen; drops when the agent can't keep up. */
  note(line: RequestLine): void;
}

/** The services of a tunnel by path. Made by data/gateway, asked by data/edge. */
export interface ServiceChoice {
  /** The service for a parsed head; null: see `refusal`. */
  pick(bytes: Buffer, head: Head): ServedTunnel | null;
  /** Why the last `pick` found none. */
  readonly refusal: EdgeRefusal;
}

/** A token on this node, as far as traffic is concerned. Made by data/gateway/budgets.ts. */
export interface Payer {
  readonly tokenId: string;
  /** It has reached a cap: no request passes, what is in flight is cut. */
  readonly exhausted: boolean;
  /** Adds what was metered to what it has spent. */
  charge(bytes: number, requests: number): void;
}

/**
 * What a serving carried since it was last asked: numbers in place, read and zeroed by data/report/meter.ts every few seconds. This
 * is what keys pay for and what the API shows.
 *
 * A request counts once it is passed on to an agent; so does a connection of a `tcp` tunnel. Bytes are those of HTTP (or of the raw
 * connection) on the visitor's side: heads and bodies, with what frames chunks; requests as they came, responses as they left. Over HTTP/2 the
 * head of a request counts by its compressed bytes, that of a response by what the service sent. Frames of TLS and TCP do not count, nor does what the edge answers by itself: its error pages and the requests that they refuse.
 */
export class TunnelMeter {
  requests = 0;
  /** From the visitor. */
  bytesIn = 0;
  /** To the visitor. */
  bytesOut = 0;
}

/** The end of a session whose agent is expected to come back. */
export interface LostSession {
  /** Monotonic milliseconds. */
  readonly atMs: number;
  /** The key that it showed; null: not known, for it was lost before this server started. */
  readonly tokenId: string | null;
}

export class RouteEntry {
  route: Route;
  served: ServedTunnel | null = null;
  /** Its last session was lost and none has come since; kept by data/edge/exchange/holds.ts. */
  lost: LostSession | null = null;
  /** Removed from the table: a holder of the entry must look it up again. */
  removed = false;
  /** The route's policy as it is carried out; kept in step by data/policy/policy-registry.ts. */
  policy: CompiledPolicy | null = null;
  /** Whether its requests may be recorded: what its last serving has said. */
  inspected = true;
  /** What was recorded of it, in numbers; null: nothing yet. Kept by data/inspect. */
  records: TunnelRecords | null = null;
  /** How its requests ended; null: there was none yet. Kept by data/latency. */
  latency: TunnelLatency | null = null;

  constructor(route: Route) {
    this.route = route;
  }
}
