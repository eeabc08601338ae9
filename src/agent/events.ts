/**
 * What an agent tells whoever started it: events as they happen, and a view of the present for a screen.
 */
import type { Protocol, RefusalCode } from '../wire/messages.ts';
import type { AgentExitCode } from './codes.ts';

export type TunnelState =
  | 'waiting' // not bound: no session, or the claim will be repeated
  | 'online'
  | 'ended'; // refused or taken away for good

export interface TunnelView {
  /** The user's name for it; unique within the agent. */
  readonly name: string;
  readonly protocol: Protocol;
  readonly target: string;
  readonly state: TunnelState;
  /** Public URL, once it was bound; kept while the tunnel is away. */
  readonly url: string | undefined;
  readonly tunnelId: string | undefined;
  /** Milliseconds since the epoch, or null when it does not expire. */
  readonly expiresAt: number | null;
  /** Why it is not online. */
  readonly reason: string | undefined;
  /** Why the local service can't be reached; undefined when it can, or was not asked for yet. */
  readonly fault: string | undefined;
}

export type AgentState =
  | 'connecting' // to the server, for the first time or again
  | 'online'
  | 'waiting' // to try again
  | 'draining'
  | 'stopped';

export interface AgentView {
  readonly state: AgentState;
  readonly server: string;
  readonly account: string | undefined;
  readonly rttMs: number | undefined;
  readonly inFlight: number;
  /** Why there is no session. */
  readonly cause: string | undefined;
  /** Milliseconds since the epoch of the next try. */
  readonly retryAt: number | undefined;
  readonly tunnels: readonly TunnelView[];
}

export interface RequestView {
  readonly tunnel: string;
  readonly at: number;
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly ms: number;
  /** How an action of the tunnel's policy that is only tried would have answered. */
  readonly dryRun?: { readonly status: number; readonly code: string } | undefined;
}

export interface ExitReason {
  readonly code: AgentExitCode;
  readonly message: string;
}

export type AgentEvent =
  /** The agent's own page listens, before anything else happens. */
  | { readonly kind: 'inspector_online'; readonly url: string }
  | { readonly kind: 'online'; readonly agentId: string; readonly account: string; readonly serverVersion: string }
  /** The session is gone. */
  | { readonly kind: 'offline'; readonly cause: string }
  /** Sent when the cause changes, not for each try. */
  | { readonly kind: 'retrying'; readonly cause: string; readonly inMs: number }
  | { readonly kind: 'tunnel_online'; readonly tunnel: TunnelView }
  | { readonly kind: 'tunnel_offline'; readonly tunnel: TunnelView; readonly reason: string }
  /** Refused or taken away by the server; `final` when it will not be claimed again. */
  | {
      readonly kind: 'tunnel_refused';
      readonly tunnel: TunnelView;
      readonly code: RefusalCode;
      readonly message: string;
      readonly final: boolean;
    }
  /** `tunnel.fault` changed. */
  | { readonly kind: 'target'; readonly tunnel: TunnelView }
  | { readonly kind: 'request'; readonly request: RequestView }
  | { readonly kind: 'draining'; readonly inFlight: number }
  | { readonly kind: 'stopped'; readonly reason: ExitReason };
