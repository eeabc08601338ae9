/** How the access log, OTLP and webhooks call what an entry says. */
import type { AccessEntry } from './access-log.ts';

/** docs/logs.md lists them. */
export function accessFields(entry: AccessEntry) {
  return {
    time: new Date(entry.at).toISOString(),
    kind: entry.kind,
    request_id: entry.id,
    trace_id: entry.traceId === '' ? null : entry.traceId,
    org_id: entry.orgId,
    tunnel_id: entry.tunnelId,
    tunnel: entry.label === '' ? null : entry.label,
    key_id: entry.tokenId,
    agent_id: entry.agentId,
    remote_ip: entry.remoteIp,
    scheme: entry.scheme,
    host: entry.host,
    method: entry.method,
    path: entry.target,
    http_version: entry.httpVersion,
    status: entry.status === 0 ? null : entry.status,
    decision: entry.outcome === 'refused' ? 'blocked' : 'allowed',
    reason: entry.code,
    bytes_in: entry.bytesIn,
    bytes_out: entry.bytesOut,
    duration_ms: entry.durationMs,
    upstream_ms: entry.upstreamMs,
    user_agent: entry.userAgent,
    referer: entry.referer,
  };
}
