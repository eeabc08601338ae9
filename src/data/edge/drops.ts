/**
 * Every reason for which the edge refuses or cuts a visitor's connection, counted: what was answered in words is counted by code in
 * fault.ts. One object per data node, shared by the HTTP edge and the public TCP ports. Once a minute what has come is said in the log, with the
 * setting to turn: one line per reason, however many connections it was.
 */
import type { Logger } from '../../base/log.ts';

interface DropKind {
  /** What was done, behind the count. */
  readonly words: string;
  /** The setting that an operator may turn; null: nothing to turn, the peer broke the protocol. */
  readonly setting: string | null;
  /**
   * warn: an honest visitor may be among them, an operator should look; info: what any public server sees every day; debug: harmless.
   */
  readonly level: 'warn' | 'info' | 'debug';
}

export const DROPS = {
  over_total: kind('connections were closed: too many are open', 'edge.limits.max_connections', 'warn'),
  over_address: kind(
    'connections were closed: too many are open from their address or /64 network',
    'edge.limits.max_connections_per_ip',
    'warn',
  ),
  requests_per_ip: kind(
    'requests were refused: too many of their address or /64 network are under way',
    'edge.limits.max_requests_per_ip',
    'warn',
  ),
  proxy_header: kind(
    'connections were closed: no valid PROXY protocol header (version 2) from a trusted address',
    'edge.proxy_protocol and edge.proxy_protocol_from',
    'warn',
  ),
  tls_rate: kind(
    'TLS connections were closed before their handshake: too many of their address or /64 network',
    'edge.limits.tls_handshakes_per_second_per_ip and tls_handshakes_burst_per_ip',
    'warn',
  ),
  tls_handshake: kind(
    'TLS handshakes failed or were not over in time',
    'edge.limits.tls_handshake_timeout_seconds',
    'info',
  ),
  head_timeout: kind('request heads were not whole in time', 'edge.limits.head_timeout_seconds', 'info'),
  body_timeout: kind('request bodies stood still for too long', 'edge.limits.body_idle_timeout_seconds', 'info'),
  slow_reader: kind(
    'visitors took nothing of their answer for too long',
    'edge.limits.body_idle_timeout_seconds',
    'info',
  ),
  idle: kind('idle connections were closed', 'edge.limits.idle_timeout_seconds', 'debug'),
  websocket_idle: kind('quiet WebSockets were closed', 'edge.limits.websocket_idle_seconds', 'debug'),
  linger: kind(
    'visitors went on sending after their last answer, or kept their side of the connection open, and were cut',
    'edge.limits.linger_timeout_seconds',
    'debug',
  ),
  malformed: kind('requests were not well-formed', null, 'info'),
  head_too_large: kind(
    'request heads or targets were too long',
    'edge.limits.max_head_bytes, max_head_fields and max_uri_bytes',
    'info',
  ),
  h2_reset_flood: kind(
    'HTTP/2 connections were closed: streams opened and reset in a flood',
    'edge.limits.http2_resets_per_second',
    'warn',
  ),
  h2_continuation: kind('HTTP/2 connections were closed: endless CONTINUATION frames', null, 'warn'),
  h2_settings: kind('HTTP/2 connections were closed: a flood of SETTINGS', null, 'warn'),
  h2_pings: kind('HTTP/2 connections were closed: a flood of PINGs', null, 'warn'),
  h2_overhead: kind('HTTP/2 connections were closed: a flood of frames that bring nothing', null, 'warn'),
  h2_expansion: kind(
    'HTTP/2 connections were closed: compressed headers expanded to far more than they were on the wire',
    null,
    'warn',
  ),
  h2_protocol: kind(
    'HTTP/2 connections or streams were ended: broken frames, or more streams than are allowed',
    null,
    'info',
  ),
  h2_memory: kind(
    'HTTP/2 connections were closed: too much waited for slow visitors or services',
    'edge.limits.http2_memory_mb',
    'warn',
  ),
  h2_headers: kind('HTTP/2 requests were refused for their fields: malformed, too many or too long', null, 'info'),
  password_checks: kind('visitors of password gates got a 503: too many passwords were being checked', null, 'warn'),
  tcp_refused: kind(
    'connections to public TCP ports were closed: their tunnel takes none (no agent, stopped, address not allowed, or budget spent)',
    null,
    'debug',
  ),
  hold_full: kind(
    'visitors were refused at once instead of waiting for an agent to come back: too many were waiting',
    null,
    'warn',
  ),
  certificate_wait_full: kind(
    'visitors were shown the stand-in certificate: too many others waited for theirs',
    null,
    'warn',
  ),
  agent_messages: kind(
    'times an agent was read more slowly: it sent more messages about its tunnels than they explain',
    null,
    'warn',
  ),
  misdirected: kind('requests came on a connection whose certificate is for another name', null, 'info'),
} as const satisfies Record<string, DropKind>;

export type DropReason = keyof typeof DROPS;

/** How often each has happened. */
export type DropCounts = Readonly<Record<DropReason, number>>;

const REASONS = Object.keys(DROPS) as DropReason[];

export class Drops {
  readonly #counts = zeroes();
  /** What `tell` had seen when it was called last. */
  #told = zeroes();

  add(reason: DropReason): void {
    this.#counts[reason]++;
  }

  get(reason: DropReason): number {
    return this.#counts[reason];
  }

  /** All of them since the start. A copy. */
  counts(): DropCounts {
    return { ...this.#counts };
  }

  /** Says what has come since the last time, a line per reason; nothing when nothing has. To be called once a minute. */
  tell(log: Logger): void {
    for (const reason of REASONS) {
      const count = this.#counts[reason] - this.#told[reason];
      if (count === 0) continue;
      const { words, setting, level }: DropKind = DROPS[reason];
      const fields = { reason, count, ...(setting === null ? {} : { setting }) };
      log[level](fields, `in the last minute ${count} ${words}${setting === null ? '' : ` (${setting})`}`);
    }
    this.#told = { ...this.#counts };
  }
}

function zeroes(): Record<DropReason, number> {
  return Object.fromEntries(REASONS.map((reason) => [reason, 0])) as Record<DropReason, number>;
}

function kind(words: string, setting: string | null, level: DropKind['level']): DropKind {
  return { words, setting, level };
}
