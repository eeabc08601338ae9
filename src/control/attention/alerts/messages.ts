/** Texts of alerts: what is wrong, since when, what to do. Pure. */
import { plain } from '../../core/mail/email-parts.ts';
import type { SeenAgent } from './address-rows.ts';
import type { RequestFigures } from './recent-requests.ts';
import type { AlertKind, RuleRow } from './rows.ts';
import type { Finding } from './steps.ts';

export interface OfflineTunnel {
  readonly id: string;
  readonly label: string;
  readonly since: number;
  readonly reason: string | null;
  readonly trafficAt: number | null;
}

/** Why a tunnel has no agent, and what helps. */
const OFFLINE: Readonly<Record<string, string>> = {
  agent_left: 'Its agent was stopped. Start it again.',
  connection_lost: "The connection to its agent broke. Check the agent's machine and network.",
  heartbeat_lost: "Its agent stopped responding. Check the agent's machine and network.",
  disconnected: 'A member disconnected its agent. Start it again.',
  token_revoked: 'The access key of its agent was revoked. Start it with another key.',
  token_expired: 'The access key of its agent expired. Start it with another key.',
  superseded: 'Another agent took over the tunnel, then disconnected. Start an agent again.',
  drained: 'The server was restarted, and its agent has not come back. Start it again.',
};
const OFFLINE_ELSE = 'Its agent disconnected. Start it again.';

export function offlineFinding({ id, label, since, reason }: OfflineTunnel): Finding {
  return {
    object: { type: 'tunnel', id },
    name: label,
    title: `Tunnel ${label} is offline`,
    detail: (reason === null ? undefined : OFFLINE[reason]) ?? OFFLINE_ELSE,
    href: `/app/tunnels/${id}`,
    since,
  };
}

interface Requests {
  readonly id: string;
  readonly label: string;
  readonly minutes: number;
  readonly figures: RequestFigures;
}

export function requestFinding(
  { kind, threshold }: Pick<RuleRow, 'kind' | 'threshold'>,
  { id, label, minutes, figures }: Requests,
): Finding {
  const { count, errors, p95Ms } = figures;
  const span = minutes === 1 ? 'minute' : `${minutes} minutes`;
  const isErrors = kind === 'error_rate';
  const limit = isErrors ? share(threshold ?? 0) : `${threshold ?? 0} ms`;
  return {
    object: { type: 'tunnel', id },
    name: label,
    title: isErrors
      ? `${share(errors / count)} of requests to tunnel ${label} fail`
      : `Tunnel ${label} is slow: p95 is ${Math.round(p95Ms ?? 0)} ms`,
    detail: isErrors
      ? `${errors} of ${count} responses in the last ${span} had a 5xx status. The limit is ${limit}. Check your service.`
      : `Time to first byte of ${count} requests in the last ${span}. The limit is ${limit}. Check your service.`,
    href: `/app/tunnels/${id}`,
    since: null,
  };
}

export function newAddressFinding({ address, remoteIp, hostname, startedAt }: SeenAgent, key?: string): Finding {
  const by = key === undefined ? '' : ` with access key ${plain(key)}`;
  return {
    object: { type: 'address', id: address },
    name: remoteIp,
    title: `An agent connected from a new address: ${remoteIp}`,
    detail: `The agent on ${plain(hostname) || 'an unnamed machine'} connected${by}. If it is not yours, disconnect it and revoke its key.`,
    href: '/app/connections',
    since: startedAt,
  };
}

/** 5 % as it is said. */
function share(of: number): string {
  const percent = of * 100;
  return `${percent >= 10 ? Math.round(percent) : Math.round(percent * 10) / 10} %`;
}

/** Of several at once. */
export const PLURALS: Readonly<Record<AlertKind, string>> = {
  tunnel_offline: 'tunnels are offline',
  error_rate: 'tunnels have a high error rate',
  latency_p95: 'tunnels are slow',
  webhook_failing: 'webhook receivers are failing',
  certificate: 'certificates need attention',
  budget: 'access keys are near or over their budget',
  new_address: 'agents connected from new addresses',
};

/** Of one that has recovered. */
export const ENDS: Readonly<Record<AlertKind, (name: string) => string>> = {
  tunnel_offline: (name) => `Tunnel ${name} is no longer offline`,
  error_rate: (name) => `The error rate of tunnel ${name} is below its limit again`,
  latency_p95: (name) => `The latency of tunnel ${name} is below its limit again`,
  webhook_failing: (name) => `Webhook receiver ${name} is no longer failing`,
  certificate: (name) => `The certificate of ${name} no longer needs attention`,
  budget: (name) => `Access key ${name} is below its budget threshold again`,
  new_address: (name) => `${name} is known`,
};
