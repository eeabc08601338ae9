/**
 * Why the server refuses, cuts or leaves out what it counts, by the reason's name in the API and the metrics: the log and the dashboard read
 * the texts here. Plain data, which a browser can load.
 */

export interface Drop {
  /** What was done and why; a count stands before it. */
  readonly text: string;
  /** The setting that an operator may change. */
  readonly setting?: string;
}

export interface VisitorDrop extends Drop {
  /**
   * warn: an honest visitor may be among them, an operator should look; info: what any public server sees every day; debug: harmless.
   */
  readonly level: 'warn' | 'info' | 'debug';
}

/** Connections and requests of visitors that are counted by reason. What got an error is counted by its code (edge-faults.ts). */
export const VISITOR_DROPS = {
  over_total: warn('connections were closed: too many are open', 'edge.limits.max_connections'),
  over_address: warn(
    'connections were closed: too many are open from their address or /64 network',
    'edge.limits.max_connections_per_ip',
  ),
  requests_per_ip: warn(
    'requests were refused: too many are in flight from their address or /64 network',
    'edge.limits.max_requests_per_ip',
  ),
  proxy_header: warn(
    'connections were closed: no valid PROXY protocol header (version 2) from a trusted address',
    'edge.proxy_protocol and edge.proxy_protocol_from',
  ),
  tls_rate: warn(
    'TLS connections were closed before their handshake: too many from their address or /64 network',
    'edge.limits.tls_handshakes_per_second_per_ip and tls_handshakes_burst_per_ip',
  ),
  tls_handshake: info('TLS handshakes failed or timed out', 'edge.limits.tls_handshake_timeout_seconds'),
  head_timeout: info('request headers did not arrive in time', 'edge.limits.head_timeout_seconds'),
  body_timeout: info('request bodies stalled for too long', 'edge.limits.body_idle_timeout_seconds'),
  slow_reader: info('visitors did not read their response for too long', 'edge.limits.body_idle_timeout_seconds'),
  idle: debug('idle connections were closed', 'edge.limits.idle_timeout_seconds'),
  websocket_idle: debug('idle WebSockets were closed', 'edge.limits.websocket_idle_seconds'),
  linger: debug(
    'connections were closed: the visitor kept sending, or kept them open, after the last response',
    'edge.limits.linger_timeout_seconds',
  ),
  malformed: info('requests were malformed'),
  head_too_large: info(
    'request headers or URLs were too long',
    'edge.limits.max_head_bytes, max_head_fields and max_uri_bytes',
  ),
  h2_reset_flood: warn(
    'HTTP/2 connections were closed: a flood of streams that were opened and reset',
    'edge.limits.http2_resets_per_second',
  ),
  h2_continuation: warn('HTTP/2 connections were closed: endless CONTINUATION frames'),
  h2_made_resets: warn('HTTP/2 connections were closed: a flood of frames that must be answered with a reset'),
  h2_settings: warn('HTTP/2 connections were closed: a flood of SETTINGS frames'),
  h2_pings: warn('HTTP/2 connections were closed: a flood of PING frames'),
  h2_overhead: warn('HTTP/2 connections were closed: a flood of frames without data'),
  h2_expansion: warn('HTTP/2 connections were closed: compressed headers expanded to many times their size'),
  h2_protocol: info('HTTP/2 connections or streams were closed: invalid frames, or too many streams'),
  h2_memory: warn(
    'HTTP/2 connections were closed: too much data waited for slow visitors or services',
    'edge.limits.http2_memory_mb',
  ),
  h2_headers: info('HTTP/2 requests were refused: their header was malformed, too large or had too many fields'),
  request_trailers: debug('trailers of HTTP/2 requests were left out: HTTP/1.1 has none behind a body with a length'),
  password_checks: warn('visitors got a 503: too many passwords were being checked'),
  tcp_refused: debug(
    'connections to public TCP ports were closed: no agent, tunnel stopped, address blocked, or budget spent',
  ),
  hold_full: warn('visitors got an error immediately: too many others were waiting for an agent to reconnect'),
  certificate_wait_full: warn('visitors got the temporary certificate: too many others were waiting for a certificate'),
  agent_messages: warn('times an agent was throttled: it sent too many messages for its number of tunnels'),
  misdirected: info('requests came on a connection whose certificate is for another name'),
} as const satisfies Record<string, VisitorDrop>;

/** Requests that the inspector has no record of. */
export const RECORD_DROPS = {
  tunnel_rate: {
    text: 'requests were not recorded: too many per second on their tunnel',
    setting: 'inspector.max_per_second_per_tunnel',
  },
  org_rate: {
    text: 'requests were not recorded: too many per second in their organization',
    setting: 'inspector.max_per_second',
  },
  node_rate: {
    text: 'requests were not recorded: too many per second on this server',
    setting: 'inspector.max_per_second',
  },
  memory: {
    text: 'requests were not recorded: the memory for records was full',
    setting: 'inspector.max_memory_mb',
  },
  queue: { text: 'requests were not recorded: too many records were waiting for the disk' },
  lost: { text: 'records were lost: the server could not store them' },
  failed: { text: 'records failed: the reason is in the server log' },
} as const satisfies Record<string, Drop>;

/** Datagrams of private networks. */
export const RELAY_DROPS = {
  no_agent: { text: 'datagrams were dropped: no agent serves their network' },
  queue_full: { text: 'datagrams were dropped: the queue to the agent was full' },
  send_failed: { text: 'datagrams were dropped: the send buffer of the system was full' },
  flows: { text: 'datagrams were dropped: no room for another client' },
  unproven: { text: 'datagrams were dropped: the address of their client is not confirmed yet' },
  not_enrolled: { text: 'handshakes were dropped: their key is unknown, revoked or expired' },
  no_flow: { text: 'responses were dropped: their client has left' },
  too_long: { text: 'datagrams were dropped: too long' },
  wrong_source: { text: 'datagrams were dropped: not from the address of the agent' },
  malformed: { text: 'datagrams were dropped: malformed data from the agent' },
  budget: { text: 'datagrams were dropped: the budget of the access key is spent' },
  bandwidth: { text: 'datagrams were dropped: over the bandwidth limit of the access key' },
} as const satisfies Record<string, Drop>;

function warn(text: string, setting?: string): VisitorDrop {
  return drop(text, 'warn', setting);
}

function info(text: string, setting?: string): VisitorDrop {
  return drop(text, 'info', setting);
}

function debug(text: string, setting?: string): VisitorDrop {
  return drop(text, 'debug', setting);
}

function drop(text: string, level: VisitorDrop['level'], setting: string | undefined): VisitorDrop {
  return { text, level, ...(setting === undefined ? {} : { setting }) };
}
