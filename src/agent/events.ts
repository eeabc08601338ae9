/**
 * What an agent reports to its caller: events as they happen, and a view of the present for a screen.
 */
import type { Protocol, RefusalCode } from '../wire/messages.ts';
import type { AgentExitCode } from './codes.ts';
import type { AdviceCode } from '../wire/advice-codes.ts';
import type { LostCode } from './lost.ts';

export type TunnelState =
  | 'waiting' // not bound: no session, or the claim will be repeated
  | 'online'
  | 'ended'; // refused or taken away for good

export interface TunnelView {
  /** The user's name for it; unique within the agent. */
  readonly name: string;
  readonly protocol: Protocol;
  readonly target: string;
  /** Its services by path; undefined: there is one. */
  readonly routes?: readonly { readonly path: string; readonly target: string }[] | undefined;
  readonly state: TunnelState;
  /** Public URL, once it was bound; kept while the tunnel is away. */
  readonly url: string | undefined;
  readonly tunnelId: string | undefined;
  /** Milliseconds since the epoch, or null when it does not expire. */
  readonly expiresAt: number | null;
  /** Why it is not online. */
  readonly reason: string | undefined;
  /** Why the service can't be reached; undefined when it can, or was not asked for yet. */
  readonly fault: string | undefined;
  /** What to change about the tunnel, where its service has refused requests and said why. */
  readonly advice?: string | undefined;
}

/** The way that datagrams take between this agent and the server. */
export type RelayPath = 'udp' | 'stream';

/** What is known of UDP to the server. */
export type UdpState =
  | 'trying' // nothing is known yet: the stream carries datagrams meanwhile
  | 'up' // it carries datagrams
  | 'silent' // it does not get through, or does no longer; it is tried again all the time
  | 'off'; // the user does not want it

export interface ManagedView {
  /** `wg0`. */
  readonly interface: string;
  /** Why the peers can't be kept in step. */
  readonly fault: string | undefined;
}

/** A private network whose datagrams this agent carries. */
export interface RelayView {
  /** The user's name for it; unique within the agent. */
  readonly name: string;
  /** The network's name, once the server has told it; until then its id or name as the user wrote it. */
  readonly network: string;
  readonly networkId: string | undefined;
  readonly target: string;
  readonly state: TunnelState;
  /** `host:port` that clients are configured with, once it was attached; kept while the relay is away. */
  readonly endpoint: string | undefined;
  /** Undefined while it is not online. */
  readonly path: RelayPath | undefined;
  readonly udp: UdpState;
  /** The WireGuard interface whose peers it keeps in step; undefined: none. */
  readonly manages?: ManagedView | undefined;
  /** In words, why datagrams go this way; undefined when there is nothing to explain. */
  readonly pathWhy: string | undefined;
  /** Why it is not online. */
  readonly reason: string | undefined;
  /** Why the service can't be reached; undefined when it can, or before the first request. */
  readonly fault: string | undefined;
  /** Clients that were heard in the last three minutes. */
  readonly clients: number;
  /** From clients to the service. */
  readonly packetsIn: number;
  readonly bytesIn: number;
  /** From the service to clients. */
  readonly packetsOut: number;
  readonly bytesOut: number;
  /** Datagrams that this agent dropped, both directions. */
  readonly dropped: number;
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
  readonly relays: readonly RelayView[];
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
  /** Sent with `retrying` by an agent that was online here before: its server is away, and why. */
  | { readonly kind: 'server_lost'; readonly code: LostCode; readonly reason: string; readonly retryInMs: number }
  /** Another server answers at this address and refuses the agent, which keeps trying. Undefined ids: that server does not say. */
  | {
      readonly kind: 'server_changed';
      readonly serverId: string | undefined;
      readonly ownServerId: string | undefined;
      readonly reason: string;
      readonly retryInMs: number;
    }
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
  /** `tunnel.advice` is there: its service refuses requests, and says why. Once per tunnel. */
  | { readonly kind: 'tunnel_advice'; readonly tunnel: TunnelView; readonly code: AdviceCode; readonly message: string }
  /** It carries datagrams; `relay_path` reports which way once that is known. */
  | { readonly kind: 'relay_online'; readonly relay: RelayView }
  /** The way of datagrams is known or has changed: `relay.path`, and `why` in words. */
  | { readonly kind: 'relay_path'; readonly relay: RelayView; readonly path: RelayPath; readonly why: string }
  /** Peers of the interface that it manages were changed: addresses. `foreign`: of devices whose peers culvert did not add. */
  | {
      readonly kind: 'relay_peers';
      readonly relay: RelayView;
      readonly added: readonly string[];
      readonly changed: readonly string[];
      readonly removed: readonly string[];
      readonly foreign: readonly string[];
    }
  /** `relay.manages.fault` changed. */
  | { readonly kind: 'relay_peers_fault'; readonly relay: RelayView }
  | { readonly kind: 'relay_offline'; readonly relay: RelayView; readonly reason: string }
  /** As `tunnel_refused`. */
  | {
      readonly kind: 'relay_refused';
      readonly relay: RelayView;
      readonly code: RefusalCode;
      readonly message: string;
      readonly final: boolean;
    }
  /** `relay.fault` changed. */
  | { readonly kind: 'relay_target'; readonly relay: RelayView }
  | { readonly kind: 'request'; readonly request: RequestView }
  /** The settings file was read again: names of tunnels and relays. */
  | {
      readonly kind: 'settings_reloaded';
      readonly added: readonly string[];
      readonly changed: readonly string[];
      readonly removed: readonly string[];
    }
  /** The settings file has a mistake: nothing was changed. */
  | { readonly kind: 'settings_rejected'; readonly reason: string }
  | { readonly kind: 'draining'; readonly inFlight: number }
  | { readonly kind: 'stopped'; readonly reason: ExitReason };
