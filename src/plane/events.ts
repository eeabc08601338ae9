/**
 * What the data plane tells the control plane, in batches that are numbered per node so that a repeat is dropped.
 */

import type { LatencyEvent } from './latency.ts';
import type { PolicyAction } from './policy.ts';
import type { DeviceEvent, RelayUsageEvent } from './relays.ts';

/** Traffic that one token carried for one tunnel since the last batch. */
export interface UsageEvent {
  readonly kind: 'usage';
  readonly tunnelId: string;
  readonly tokenId: string;
  readonly requests: number;
  /** Bytes from visitors towards the service. */
  readonly bytesIn: number;
  /** Bytes from the service towards visitors. */
  readonly bytesOut: number;
}

/** An agent came to serve a tunnel, or left it. */
export interface AgentEvent {
  readonly kind: 'agent';
  readonly agentId: string;
  readonly tunnelId: string;
  readonly online: boolean;
  /** It left because this server restarts, and is expected back: after the start it counts as lost a moment ago. */
  readonly restarting?: boolean;
  /** It left without a word, and may come back. */
  readonly lost?: boolean;
  readonly at: number;
}

/** Why a session of an agent ended. */
export const END_REASONS = [
  'agent_left', // it was stopped, in order
  'connection_lost', // closed or broken without a word
  'heartbeat_lost', // silent for too long
  'disconnected', // ended by a call of the API
  'token_revoked',
  'token_expired',
  'superseded', // another agent of the same organization took its last tunnel over
  'tunnel_deleted', // its last tunnel
  'tunnel_expired', // its last tunnel
  'network_deleted', // the last private network that it carried
  'drained', // the server was stopped, in order
  'forbidden', // its organization was suspended or deleted
  'overloaded', // a bound of the server was reached
  'protocol_error',
  'internal', // a fault of the server
] as const;
export type EndReason = (typeof END_REASONS)[number];

/** A session of an agent that had shown a good token is over. */
export interface SessionEndEvent {
  readonly kind: 'session_end';
  readonly agentId: string;
  readonly orgId: string;
  readonly tokenId: string;
  readonly remoteIp: string;
  /** As the agent calls its machine. */
  readonly hostname: string;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  readonly endedAt: number;
  readonly reason: EndReason;
  /** For people; at most 300 characters. */
  readonly message: string;
}

/** What an action with `enforce: false` would have refused since the last event about it. */
export interface DryRunEvent {
  readonly kind: 'dry_run';
  readonly tunnelId: string;
  /** Of the policy that the action is of: reports about an older one are of no use any more. */
  readonly setAt: number;
  /** Place of the action in the policy. */
  readonly index: number;
  readonly action: PolicyAction['kind'];
  /** Requests, or connections of a `tcp` tunnel. */
  readonly refused: number;
  /** Milliseconds since the epoch. */
  readonly lastAt: number;
  /** The last of them. */
  readonly sample: DryRunSample;
}

export interface DryRunSample {
  /** null: a connection of a `tcp` tunnel. */
  readonly method: string | null;
  /** Without query, cut to 200 characters. null: a connection of a `tcp` tunnel. */
  readonly path: string | null;
  readonly clientIp: string;
  /** Error code that the visitor would have got. */
  readonly code: string;
}

export type PlaneEvent =
  | UsageEvent
  | LatencyEvent
  | AgentEvent
  | SessionEndEvent
  | DryRunEvent
  | RelayUsageEvent
  | DeviceEvent;

export interface EventBatch {
  /** Names the node and its start (`edge-1/8f3c…`), so that counting from 1 after a restart repeats nothing. */
  readonly node: string;
  /** Counts up from 1 per node and start; with `node` it identifies the batch. */
  readonly sequence: number;
  readonly events: readonly PlaneEvent[];
}
