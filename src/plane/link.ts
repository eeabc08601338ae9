/**
 * The contract between the planes: what each may ask and tell the other. Over the port of a thread (port/), or in one thread. Everything is plain
 * cloneable data, and every answer may be late or missing.
 */
import type { AccessBatch } from './access-log.ts';
import type { EdgeCertificate, EdgeChallenge } from './certificates.ts';
import type { AdviceCode } from '../wire/advice-codes.ts';
import type { Claim, RefusalCode } from '../wire/messages.ts';
import type { EdgeStats } from './edge-stats.ts';
import type { EventBatch } from './events.ts';
import type { InspectionBatch, TunnelAnswer, TunnelRequest } from './inspection.ts';
import type { Narrowing, ShownNarrowing } from './narrowing.ts';
import type { PolicyTest, PolicyTestAnswer } from './policy-test.ts';
import type { AttachQuestion, RelayInfo } from './relays.ts';
import type { Delta, Route, Snapshot, TokenGrant } from './routes.ts';

export interface Refusal {
  readonly ok: false;
  readonly code: RefusalCode;
  readonly message: string;
  /** Of a key that is refused because its time is over: when that was, by the server's clock, in milliseconds since the epoch. */
  readonly expiredAt?: number;
}

export type AdmitAnswer = { readonly ok: true; readonly grant: TokenGrant } | Refusal;
/**
 * `version` is the version of the routing table that holds `route`: the data plane binds once its own table has reached it, and
 * takes the route from there. So a stop or a delete that overtakes the answer wins, and an answer never brings back what is gone.
 */
export type ClaimAnswer =
  | {
      readonly ok: true;
      readonly route: Route;
      readonly version: number;
      /** What the claim asked for in `narrow`: the session that serves the tunnel applies it. null: nothing. */
      readonly narrowing: Narrowing | null;
    }
  | Refusal;

/** As ClaimAnswer: the relay is taken from the table, once it has reached `version`. */
export type AttachAnswer = { readonly ok: true; readonly networkId: string; readonly version: number } | Refusal;

/** Tokens that one `recheck` asks about: some milliseconds of the control plane. */
export const RECHECKED_AT_ONCE = 100;

export interface ClaimQuestion extends Omit<Claim, 'type' | 'ref'> {
  readonly tokenId: string;
  readonly agentId: string;
  /** Tunnels that sessions of this token serve now, on this node, or have asked for before this question: for the quota. */
  readonly liveTunnelIds: readonly string[];
  /** Private networks that they carry now: for the quota too. Absent: none. */
  readonly relays?: number;
}

/** One agent session, for `GET /connections`. */
export interface ConnectionInfo {
  readonly agentId: string;
  readonly orgId: string;
  readonly tokenId: string;
  readonly remoteIp: string;
  /** As the agent calls its machine. */
  readonly hostname: string;
  /** Of the agent's program, as it says. */
  readonly version: string;
  /** Milliseconds since the epoch. */
  readonly connectedAt: number;
  readonly tunnelIds: readonly string[];
  /** Of the tunnels, those whose requests its agent wants recorded nowhere. */
  readonly uninspectedIds: readonly string[];
  /** Private networks whose datagrams it carries. */
  readonly networkIds: readonly string[];
}

/** What the data plane may ask and tell. */
export interface Link {
  snapshot(): Promise<Snapshot>;
  /** Calls back for each delta, in order. Returns the unsubscriber. */
  onDelta(listener: (delta: Delta) => void): () => void;
  /** May an agent with this token open a session? `remoteIp`: from where, as its last use. Asked once per session. Never rejects: a fault of the control plane is a refusal. */
  admit(token: string, remoteIp?: string): Promise<AdmitAnswer>;
  /**
   * As `admit`, of tokens by their ids, in their order: what those of live sessions are good for now, after changes may have been missed.
   * RECHECKED_AT_ONCE at most. Rejects when the control plane can't say.
   */
  recheck(tokenIds: readonly string[]): Promise<readonly AdmitAnswer[]>;
  /** May this session serve this tunnel? Asked per claim, so that a scope is checked at each use and not at the handshake alone. */
  claim(question: ClaimQuestion): Promise<ClaimAnswer>;
  /** May this session carry the datagrams of this private network? As `claim`. */
  attach(question: AttachQuestion): Promise<AttachAnswer>;
  /**
   * A visitor's handshake names this host, lower case, of a tunnel that is served here, and there is no certificate for it. Resolves true once
   * the node was given one, false when none will come of waiting. May take minutes. Never rejects.
   */
  wantCertificate(host: string): Promise<boolean>;
  /** Resolves once the batch is stored. */
  report(batch: EventBatch): Promise<void>;
  /** Resolves once the records are stored or given up: the next batch comes then. Never rejects: nothing is sent twice. */
  inspect(batch: InspectionBatch): Promise<void>;
  /** Finished requests and connections. Resolves once they are taken over: the next batch comes then. Never rejects. */
  logAccess(batch: AccessBatch): Promise<void>;
}

/** What the control plane may ask the data plane. Who is online it answers from memory, some moments behind the node. */
export interface NodeControl {
  connections(): readonly ConnectionInfo[];
  /** Ends a session with code `disconnected`; its agent gets `reason` when there is one. False when there is no such session. */
  disconnect(agentId: string, reason?: string): boolean;
  /** True while an agent serves the tunnel on this node. */
  isOnline(tunnelId: string): boolean;
  /** What the tunnel's agent says of its service, which refuses requests; null: nothing, or there is no agent. */
  adviceOf(tunnelId: string): AdviceCode | null;
  /** Online, or an agent has just been allowed to serve it: it must not be deleted as idle, nor given to another agent. */
  isTaken(tunnelId: string): boolean;
  /** What the flags of the agent that serves the tunnel on this node add in front of it. */
  narrowingOf(tunnelId: string): ShownNarrowing | undefined;
  /** True while an agent carries the private network on this node. */
  isCarried(networkId: string): boolean;
  /** The relay of a private network, while an agent is attached to it on this node. */
  relay(networkId: string): Promise<RelayInfo | undefined>;
  /** What its public edge has counted, as of the last answer where none comes in time; undefined when there is no node. */
  stats(): Promise<EdgeStats | undefined>;
  /** Whether it responds, and when its certificates end; undefined when there is no node, or one does not respond in time. For health checks. */
  pulse(): Promise<NodePulse | undefined>;
  /** Sends a request down the tunnel, through its policy as it is now; its gates, which ask visitors who they are, are not asked. Never rejects. */
  send(request: TunnelRequest): Promise<TunnelAnswer>;
  /** How a policy would have treated requests of the past. Sends, counts and fetches nothing; may take seconds. */
  testPolicy(question: PolicyTest): Promise<PolicyTestAnswer>;
  /** Resolves once what was recorded until now has been given to `Link.inspect` and stored, and after half a second at the latest. */
  flushInspections(): Promise<void>;
}

/** When the certificates end that are shown to clients that name no other, milliseconds since the epoch; null: the listener has none. */
export interface NodePulse {
  readonly edgeEndsAt: number | null;
  readonly agentsEndsAt: number | null;
}

/** Where a node listens. */
export interface NodeAddresses {
  readonly http: BoundAddress | null;
  readonly https: BoundAddress | null;
  readonly agents: BoundAddress;
}

/** As `AddressInfo` of node:net. */
export interface BoundAddress {
  readonly address: string;
  readonly family: string;
  readonly port: number;
}

/** A data node, as the server that started it holds it. */
export interface NodeAccess extends NodeControl {
  readonly addresses: NodeAddresses;
  /**
   * The certificates of the edge for handshakes from now on, all replaced at once; connections go on. The first is for visitors that name
   * no server or an unknown one. Rejects, with nothing changed, when the list is empty or a pair does not fit. Without HTTPS it does nothing.
   */
  setCertificates(list: readonly EdgeCertificate[]): Promise<void>;
  /** What certificate authorities that ask about names are answered from now on: all of it. Rejects, with nothing changed, when a pair does not fit. */
  setChallenges(list: readonly EdgeChallenge[]): Promise<void>;
  /** The certificate of the agent listener, likewise. */
  setAgentCertificate(pair: EdgeCertificate): Promise<void>;
  /** Takes no new visitors and agents; resolves when what is in flight is done, or is cut after `graceMs`. */
  drain(graceMs: number): Promise<void>;
  /** Cuts what is left, tells the agents and stores the last reports. May be called twice, and without `drain`. */
  close(): Promise<void>;
}

/** A data node of this thread: as NodeAccess, but it answers at once and throws. */
export interface LocalNode
  extends Pick<
      NodeControl,
      | 'connections'
      | 'disconnect'
      | 'isOnline'
      | 'adviceOf'
      | 'isTaken'
      | 'narrowingOf'
      | 'isCarried'
      | 'send'
      | 'testPolicy'
      | 'flushInspections'
    >,
    Pick<NodeAccess, 'drain' | 'close'> {
  addresses(): NodeAddresses;
  relay(networkId: string): RelayInfo | undefined;
  stats(): EdgeStats | undefined;
  pulse(): NodePulse;
  setCertificates(list: readonly EdgeCertificate[]): void;
  setChallenges(list: readonly EdgeChallenge[]): void;
  setAgentCertificate(pair: EdgeCertificate): void;
}

/** A node of this thread behind the same face as one of another thread. */
export function accessTo(node: LocalNode): NodeAccess {
  return {
    addresses: node.addresses(),
    connections: () => node.connections(),
    disconnect: (agentId, reason) => node.disconnect(agentId, reason),
    isOnline: (tunnelId) => node.isOnline(tunnelId),
    adviceOf: (tunnelId) => node.adviceOf(tunnelId),
    isTaken: (tunnelId) => node.isTaken(tunnelId),
    narrowingOf: (tunnelId) => node.narrowingOf(tunnelId),
    isCarried: (networkId) => node.isCarried(networkId),
    relay: async (networkId) => node.relay(networkId),
    stats: async () => node.stats(),
    pulse: async () => node.pulse(),
    send: (request) => node.send(request),
    testPolicy: (question) => node.testPolicy(question),
    flushInspections: () => node.flushInspections(),
    setCertificates: async (list) => node.setCertificates(list),
    setChallenges: async (list) => node.setChallenges(list),
    setAgentCertificate: async (pair) => node.setAgentCertificate(pair),
    drain: (graceMs) => node.drain(graceMs),
    close: () => node.close(),
  };
}
