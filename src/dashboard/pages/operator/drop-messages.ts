/**
 * What the edge refuses, cuts and leaves out, by the reason's name in the API: in words, and with the setting that changes it. Held against the
 * server's own lists by a test. Pure.
 */

export interface DropWords {
  readonly words: string;
  /** Undefined: nothing to turn. */
  readonly setting?: string;
}

/** Connections and requests of visitors. */
export const VISITOR_DROPS: Readonly<Record<string, DropWords>> = {
  over_total: { words: 'connections were closed: too many are open', setting: 'edge.limits.max_connections' },
  over_address: {
    words: 'connections were closed: too many are open from their address or /64 network',
    setting: 'edge.limits.max_connections_per_ip',
  },
  requests_per_ip: {
    words: 'requests were refused: too many of their address or /64 network are under way',
    setting: 'edge.limits.max_requests_per_ip',
  },
  proxy_header: {
    words: 'connections were closed: no valid PROXY protocol header (version 2) from a trusted address',
    setting: 'edge.proxy_protocol and edge.proxy_protocol_from',
  },
  tls_rate: {
    words: 'TLS connections were closed before their handshake: too many of their address or /64 network',
    setting: 'edge.limits.tls_handshakes_per_second_per_ip and tls_handshakes_burst_per_ip',
  },
  tls_handshake: {
    words: 'TLS handshakes failed or were not over in time',
    setting: 'edge.limits.tls_handshake_timeout_seconds',
  },
  head_timeout: { words: 'request heads were not whole in time', setting: 'edge.limits.head_timeout_seconds' },
  body_timeout: { words: 'request bodies stood still for too long', setting: 'edge.limits.body_idle_timeout_seconds' },
  slow_reader: {
    words: 'visitors took nothing of their answer for too long',
    setting: 'edge.limits.body_idle_timeout_seconds',
  },
  idle: { words: 'idle connections were closed', setting: 'edge.limits.idle_timeout_seconds' },
  websocket_idle: { words: 'quiet WebSockets were closed', setting: 'edge.limits.websocket_idle_seconds' },
  linger: {
    words: 'visitors went on sending after their last answer, or kept their side of the connection open, and were cut',
    setting: 'edge.limits.linger_timeout_seconds',
  },
  malformed: { words: 'requests were not well-formed' },
  head_too_large: {
    words: 'request heads or targets were too long',
    setting: 'edge.limits.max_head_bytes, max_head_fields and max_uri_bytes',
  },
  h2_reset_flood: {
    words: 'HTTP/2 connections were closed: streams opened and reset in a flood',
    setting: 'edge.limits.http2_resets_per_second',
  },
  h2_continuation: { words: 'HTTP/2 connections were closed: endless CONTINUATION frames' },
  h2_settings: { words: 'HTTP/2 connections were closed: a flood of SETTINGS' },
  h2_pings: { words: 'HTTP/2 connections were closed: a flood of PINGs' },
  h2_overhead: { words: 'HTTP/2 connections were closed: a flood of frames that bring nothing' },
  h2_expansion: {
    words: 'HTTP/2 connections were closed: compressed headers expanded to far more than they were on the wire',
  },
  h2_protocol: { words: 'HTTP/2 connections or streams were ended: broken frames, or more streams than are allowed' },
  h2_memory: {
    words: 'HTTP/2 connections were closed: too much waited for slow visitors or services',
    setting: 'edge.limits.http2_memory_mb',
  },
  h2_headers: { words: 'HTTP/2 requests were refused for their fields: malformed, too many or too long' },
  password_checks: {
    words: 'visitors of password gates got a 503: too many passwords were being checked',
  },
  tcp_refused: {
    words:
      'connections to public TCP ports were closed: their tunnel takes none (no agent, stopped, address not allowed, or budget spent)',
  },
  hold_full: {
    words: 'visitors were refused at once instead of waiting for an agent to come back: too many were waiting',
  },
  certificate_wait_full: { words: 'visitors were shown the stand-in certificate: too many others waited for theirs' },
  agent_messages: {
    words: 'times an agent was read more slowly: it sent more messages about its tunnels than they explain',
  },
  misdirected: { words: 'requests came on a connection whose certificate is for another name' },
};

/** Requests that the inspector has no record of. */
export const RECORD_DROPS: Readonly<Record<string, DropWords>> = {
  tunnel_rate: {
    words: 'requests were not recorded: too many on their tunnel at once',
    setting: 'inspector.max_per_second_per_tunnel',
  },
  org_rate: {
    words: 'requests were not recorded: too many in their organization at once',
    setting: 'inspector.max_per_second',
  },
  node_rate: {
    words: 'requests were not recorded: too many on this server at once',
    setting: 'inspector.max_per_second',
  },
  memory: {
    words: 'requests were not recorded: records take all the memory that they may',
    setting: 'inspector.max_memory_mb',
  },
  queue: { words: 'requests were not recorded: too many records wait for the disk' },
  lost: { words: 'records were lost: they could not be stored' },
  failed: { words: 'records failed: the log of the server says why' },
};

/** Datagrams of private networks. */
export const RELAY_DROPS: Readonly<Record<string, DropWords>> = {
  no_agent: { words: 'datagrams were dropped: no agent carries their network' },
  queue_full: { words: 'datagrams were dropped: the way to the agent is full' },
  send_failed: { words: 'datagrams were dropped: the system took no more' },
  flows: { words: 'datagrams were dropped: no room for another client' },
  unproven: { words: 'datagrams were dropped: for a client that has not proven its address' },
  not_enrolled: { words: 'handshakes were dropped: their key is not enrolled, was revoked or has run out' },
  no_flow: { words: 'answers were dropped: their client has gone' },
  too_long: { words: 'datagrams were dropped: too long' },
  wrong_source: { words: 'datagrams were dropped: not from the address of the agent' },
  malformed: { words: 'datagrams were dropped: what the agent sent made no sense' },
  budget: { words: 'datagrams were dropped: the budget of the key is spent' },
  bandwidth: { words: 'datagrams were dropped: over the bandwidth limit of the key' },
};
