/**
 * From settings to a data node: the slice that it needs, in its own words. Called by start.ts.
 */
import type { HostPort } from '../base/net/addr.ts';
import { apiAtEdge, edgeHttpsPort } from '../config/one-port.ts';
import type { Settings } from '../config/schema.ts';
import { startDataThread, type StartedNode } from '../data/data-thread.ts';
import { type NodeDeps, startNode } from '../data/node.ts';
import type { NodeSettings } from '../data/node-settings.ts';
import { accessTo } from '../plane/link.ts';
import type { Certificates } from './certificates/certificates.ts';
import type { HeldSockets } from './held-sockets.ts';
import { pricesOf } from './prices.ts';

/** Starts a node. `makeHasher` is for one of this thread. */
export type StartNode = (
  settings: NodeSettings,
  deps: Pick<NodeDeps, 'link' | 'log' | 'makeHasher'>,
) => Promise<StartedNode>;

export interface DataNodeDeps extends Pick<NodeDeps, 'link' | 'log' | 'makeHasher'> {
  readonly certificates: Certificates;
  readonly version: string;
  readonly serverId: string;
  /** Tunnels that agents served when the last process ended. */
  readonly awaited: readonly string[];
  /** The control plane's socket for the API at the edge; undefined: it has none. */
  readonly apiSocket: string | undefined;
  /** Sockets that systemd holds. */
  readonly held: HeldSockets;
  /** In place of what the settings say. */
  readonly startNode: StartNode | undefined;
}

/** Starts the data node on its slice of the settings, in a thread of its own unless they say otherwise. */
export function startDataNode(settings: Settings, deps: DataNodeDeps): Promise<StartedNode> {
  const { link, log, makeHasher } = deps;
  const start = deps.startNode ?? (settings.server.data_threads === 0 ? startInThisThread : startDataThread);
  return start(nodeSettings(settings, deps), { link, log, makeHasher });
}

/** In this thread, whose faults end the process by themselves. */
export const startInThisThread: StartNode = async (settings, deps) => ({
  node: accessTo(await startNode(settings, deps)),
  failed: new Promise(() => undefined),
});

function nodeSettings(
  settings: Settings,
  { certificates, version, serverId, awaited, apiSocket, held }: DataNodeDeps,
): NodeSettings {
  const { api, edge, agents, inspector } = settings;
  return {
    nodeId: 'local',
    serverVersion: version,
    serverId,
    prices: pricesOf(settings),
    edge: {
      domain: edge.domain,
      http: listenOn(edge.http_listen, held.http),
      https: listenOn(certificates.edge === null ? null : edge.https_listen, held.https),
      tls: certificates.edge,
      http2: edge.http2 === 'node' ? 'node' : edge.http2 ? 'own' : 'off',
      certificatesOnDemand: edge.tls.mode === 'acme',
      tcpHost: edge.tcp_host,
      udpHost: edge.udp_host,
      udpBatches: edge.udp_batches,
      httpsRedirectPort: edge.https_redirect ? edgeHttpsPort(edge) : null,
      api: apiSettings(settings, apiSocket),
      trustedProxies: api.trusted_proxies,
      proxyProtocolFrom: edge.proxy_protocol ? edge.proxy_protocol_from : null,
      holdSeconds: edge.hold_seconds,
      issuerKeys: { allowPrivate: edge.allow_private_jwks },
      maxResponseHeadBytes: edge.max_response_head_bytes,
      maxResponseFields: edge.max_response_fields,
      limits: {
        maxConnections: edge.limits.max_connections,
        maxConnectionsPerIp: edge.limits.max_connections_per_ip,
        maxRequestsPerIp: edge.limits.max_requests_per_ip,
        headTimeoutSeconds: edge.limits.head_timeout_seconds,
        idleTimeoutSeconds: edge.limits.idle_timeout_seconds,
        bodyIdleTimeoutSeconds: edge.limits.body_idle_timeout_seconds,
        minBytesPerSecond: edge.limits.min_bytes_per_second,
        localTimeoutSeconds: edge.limits.local_timeout_seconds,
        websocketIdleSeconds: edge.limits.websocket_idle_seconds,
        lingerTimeoutSeconds: edge.limits.linger_timeout_seconds,
        tlsHandshakeTimeoutSeconds: edge.limits.tls_handshake_timeout_seconds,
        tlsHandshakesPerSecondPerIp: edge.limits.tls_handshakes_per_second_per_ip,
        tlsHandshakesBurstPerIp: edge.limits.tls_handshakes_burst_per_ip,
        maxHeadBytes: edge.limits.max_head_bytes,
        maxHeadFields: edge.limits.max_head_fields,
        maxUriBytes: edge.limits.max_uri_bytes,
        http2MaxStreams: edge.limits.http2_max_streams,
        http2ResetsPerSecond: edge.limits.http2_resets_per_second,
        http2MemoryMb: edge.limits.http2_memory_mb,
      },
    },
    awaited,
    inspector: inspector.enabled
      ? {
          maxBodyBytes: inspector.max_body_bytes,
          maxPerSecondPerTunnel: inspector.max_per_second_per_tunnel,
          maxPerSecond: inspector.max_per_second,
          maxMemoryMb: inspector.max_memory_mb,
          websocketFrames: inspector.websocket_frames,
        }
      : null,
    accessLog: accessLogOf(settings),
    agents: {
      listen: listenOn(agents.listen, held.agents),
      tls: certificates.agents,
      limits: {
        maxSessions: agents.limits.max_sessions,
        maxStreamsPerSession: agents.limits.max_streams_per_session,
        handshakeTimeoutSeconds: agents.limits.handshake_timeout_seconds,
        maxBufferedMb: agents.limits.max_buffered_mb,
      },
    },
  };
}

/** Null: neither the access log nor the export of the server wants requests. */
function accessLogOf({ log: { access }, export: { otlp } }: Settings): NodeSettings['accessLog'] {
  const isExported = otlp.endpoint !== null && otlp.signals.includes('logs');
  if (access.path === null && !isExported) return null;
  return { sample: access.path === null ? 0 : access.sample, isWhole: isExported };
}

function apiSettings(settings: Settings, socket: string | undefined): NodeSettings['edge']['api'] {
  const at = apiAtEdge(settings);
  if (at === undefined || socket === undefined) return null;
  return { hosts: at.bareHost === undefined ? [at.host] : [at.host, at.bareHost], httpsPort: at.port, socket };
}

/** The address, or the socket that is held in its place. null: the listener is off. */
export function listenOn<At extends HostPort | null>(at: At, fd: number | undefined): At | (At & { fd: number }) {
  return at === null || fd === undefined ? at : { ...at, fd };
}
