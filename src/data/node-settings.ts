/**
 * Settings of one data node: plain data, so that they can go to a thread or to another host. Made by server/data-node.ts, read by node.ts and node-parts.ts.
 */
import type { ListenAt } from '../base/net/listen.ts';
import type { Prices } from '../plane/spend.ts';
import type { VisitorTls } from './edge/tls/tls.ts';
import type { AgentTls } from './gateway/handshakes/listener.ts';
import type { AccessLogSettings } from './access-log/access-log.ts';
import type { InspectorSettings } from './inspect/recorder.ts';
import type { FetchRules } from './policy/jwt/key-fetch.ts';

/** Bounds of the public edge. */
export interface EdgeLimits {
  readonly maxConnections: number;
  readonly maxConnectionsPerIp: number;
  readonly maxRequestsPerIp: number;
  readonly headTimeoutSeconds: number;
  readonly idleTimeoutSeconds: number;
  readonly bodyIdleTimeoutSeconds: number;
  readonly minBytesPerSecond: number;
  readonly localTimeoutSeconds: number;
  readonly websocketIdleSeconds: number;
  readonly lingerTimeoutSeconds: number;
  readonly tlsHandshakeTimeoutSeconds: number;
  readonly tlsHandshakesPerSecondPerIp: number;
  readonly tlsHandshakesBurstPerIp: number;
  readonly maxHeadBytes: number;
  readonly maxHeadFields: number;
  readonly maxUriBytes: number;
  /** HTTP/2: open streams of one connection, and resets of busy ones per second. */
  readonly http2MaxStreams: number;
  readonly http2ResetsPerSecond: number;
  readonly http2MemoryMb: number;
}

/** Bounds of the agent listener. */
interface AgentLimits {
  readonly maxSessions: number;
  readonly maxStreamsPerSession: number;
  readonly handshakeTimeoutSeconds: number;
  /** What all receive windows together may grow by. */
  readonly maxBufferedMb: number;
}

/** Our own code (http2/), or Node's. */
export type Http2Engine = 'own' | 'node';

export interface NodeSettings {
  readonly nodeId: string;
  readonly serverVersion: string;
  /** Told to agents: whose word they have. */
  readonly serverId: string;
  /** What budgets are counted in. */
  readonly prices: Prices;
  readonly edge: {
    readonly domain: string;
    readonly http: ListenAt | null;
    readonly https: ListenAt | null;
    /** PEM; required when `https` is set. */
    readonly tls: VisitorTls | null;
    /** Whether visitors of `https` may choose HTTP/2, and what speaks it. */
    readonly http2: Http2Engine | 'off';
    /** Certificates may come while a handshake waits: names without one are asked for at the control plane. */
    readonly certificatesOnDemand: boolean;
    readonly tcpHost: string;
    /** Address that the UDP ports of private networks are bound on. */
    readonly udpHost: string;
    /** Many datagrams per system call, where the machine can. */
    readonly udpBatches: boolean;
    /** Plain HTTP is sent to https on this port, 0: that of the https listener; null: it is served. */
    readonly httpsRedirectPort: number | null;
    /** The API on `https`; null: its own listener alone has it. */
    readonly api: {
      /** Lower case: that of its public URL, and the bare domain. */
      readonly hosts: readonly string[];
      /** Of its public URL. */
      readonly httpsPort: number;
      /** The control plane's socket for it. */
      readonly socket: string;
    } | null;
    readonly trustedProxies: readonly string[];
    /** Load balancers whose PROXY header every connection must begin with; null: visitors come by themselves. */
    readonly proxyProtocolFrom: readonly string[] | null;
    /** How the keys of JWT issuers are fetched. */
    readonly issuerKeys: FetchRules;
    /** Of responses of services. */
    readonly maxResponseHeadBytes: number;
    readonly maxResponseFields: number;
    /** Visitors wait so long for an agent whose session was lost within that time; 0: they don't. */
    readonly holdSeconds: number;
    readonly limits: EdgeLimits;
  };
  /** Tunnels that agents served when the last process ended: their agents are expected back. */
  readonly awaited: readonly string[];
  /** What is recorded of requests; null: nothing. */
  readonly inspector: InspectorSettings | null;
  /** What is reported of finished requests; null: of those alone whose organization exports them. */
  readonly accessLog: AccessLogSettings | null;
  readonly agents: {
    /** null: agents come by the https listener of the edge alone, as others may too. */
    readonly listen: ListenAt | null;
    readonly tls: AgentTls;
    readonly limits: AgentLimits;
  };
}
