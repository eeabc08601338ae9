/**
 * One name at the edge as a request meets it: the route that the control plane pushed, the agent session that serves it now,
 * and its counters. The entry object lives as long as its tunnel does; `route` and `served` are swapped, never changed inside.
 */
import type { MuxSession } from '../../mux/session.ts';
import type { MuxStream } from '../../mux/stream.ts';
import type { Route } from '../../plane/routes.ts';
import type { RequestLine } from '../../wire/messages.ts';

/** A tunnel that a live agent session serves. Made by data/gateway, used by data/edge. */
export interface ServedTunnel {
  readonly session: MuxSession;
  readonly agentId: string;
  readonly tokenId: string;
  /** The agent's number for this tunnel, as in the preamble. */
  readonly slot: number;
  /** Preamble of a stream without visitor address, made once. */
  readonly preamble: Buffer;
  /** Idle streams with a kept local connection; owned by data/edge/upstream.ts. */
  readonly idle: MuxStream[];
  /** The agent leaves: no new streams. */
  draining: boolean;
  /** Stopped, expired, deleted or revoked: streams in flight end too. Stays false when a newer session superseded this one. */
  cut: boolean;
  /** Somebody looks at the agent's screen: `note` is worth calling. */
  watched: boolean;
  /** Queues a line for the agent's screen; drops when the agent can't keep up. */
  note(line: RequestLine): void;
}

/** Numbers in place, read and zeroed by data/report/meter.ts every few seconds. */
export class TunnelMeter {
  requests = 0;
  bytesIn = 0;
  bytesOut = 0;
}

export class RouteEntry {
  route: Route;
  served: ServedTunnel | null = null;
  /** Taken out of the table: whoever still holds the entry must look it up again. */
  removed = false;
  readonly meter = new TunnelMeter();

  constructor(route: Route) {
    this.route = route;
  }
}
