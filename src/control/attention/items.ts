/** Rows as items of the list: how grave each is, what it says, and which page helps. Pure. */
import type { CertificateTrouble } from '../certificates/troubles.ts';
import type { NearBudget } from '../access-keys/spend.ts';
import type { Check } from '../operator/health-checks.ts';
import type { StartCommand } from '../tunnels/claims/recall/service.ts';
import {
  type DownTunnel,
  type ExpiringKey,
  type FailingChannel,
  type FailingReceiver,
  type UnprovenDomain,
  warnedFrom,
} from './rows.ts';

/** Worst first. */
export const SEVERITIES = ['critical', 'warning', 'info'] as const;

/** In the order in which items of one severity are listed. */
export const KINDS = [
  ...(['tunnel_offline', 'webhook_failing', 'certificate', 'budget', 'key_expiring', 'domain', 'alert'] as const),
  ...(['disk', 'mail', 'backup', 'version', 'server', 'more'] as const),
] as const;

export const OBJECTS = [
  ...(['tunnel', 'webhook_receiver', 'certificate', 'token', 'domain', 'alert', 'server', 'organization'] as const),
] as const;

/** One problem. */
export interface AttentionItem {
  readonly severity: (typeof SEVERITIES)[number];
  readonly kind: (typeof KINDS)[number];
  readonly title: string;
  readonly detail: string;
  /** Milliseconds since the epoch; null: unknown. */
  readonly since: number | null;
  readonly object: { readonly type: (typeof OBJECTS)[number]; readonly id: string };
  readonly action: { readonly label: string; readonly href: string };
  /** Of an offline tunnel: how its agent is started again. */
  readonly startCommand?: StartCommand | null;
}

/** Why an agent is lost; any other reason: the server has ended its session. */
const LOST_WORDS: Readonly<Record<string, string>> = {
  connection_lost: 'The connection to its agent broke.',
  heartbeat_lost: 'Its agent stopped responding.',
  token_expired: 'The access key of its agent expired.',
  drained: 'The server was restarted, and its agent has not come back.',
};

/** Health checks with a kind of their own. */
const CHECK_KINDS: Readonly<Record<string, AttentionItem['kind']>> = {
  disk_space: 'disk',
  mail: 'mail',
  backups: 'backup',
  agents: 'version',
  certificates: 'certificate',
};

export function tunnelItem(
  { id, label, since, reason }: Pick<DownTunnel, 'id' | 'label' | 'since' | 'reason'>,
  startCommand: StartCommand | null = null,
): AttentionItem {
  const why = LOST_WORDS[reason ?? 'connection_lost'] ?? 'The server ended the session of its agent.';
  return {
    severity: 'critical',
    kind: 'tunnel_offline',
    title: `Tunnel ${label} is offline`,
    detail: `${why} The tunnel had traffic in the last 24 hours. Start its agent again.`,
    since,
    object: { type: 'tunnel', id },
    action: { label: 'Open tunnel', href: `/app/tunnels/${id}` },
    startCommand,
  };
}

export function receiverItem({
  id,
  name,
  failed,
  attempts,
  since,
  lastStatus,
  lastError,
}: FailingReceiver): AttentionItem {
  const answer = lastError ?? (lastStatus === null ? 'no response' : `status ${lastStatus}`);
  const what =
    failed > 0
      ? `${failed === 1 ? '1 delivery' : `${failed} deliveries`} failed for good.`
      : `A delivery failed ${attempts} times in a row. The server tries again.`;
  return {
    severity: failed > 0 ? 'critical' : 'warning',
    kind: 'webhook_failing',
    title: `Webhook receiver ${name} is failing`,
    detail: `${what} Last attempt: ${answer}. Check the service, then redeliver.`,
    since,
    object: { type: 'webhook_receiver', id },
    action: { label: 'Open deliveries', href: `/app/webhooks/${id}` },
  };
}

/** Its results can't be stored, or its queue can't be read. */
export function restingItem(of: {
  readonly id: string;
  readonly name: string;
  readonly since: number | null;
}): AttentionItem {
  const { id, name, since } = of;
  return {
    severity: 'critical',
    kind: 'webhook_failing',
    title: `Webhook receiver ${name} is waiting`,
    detail:
      'This server has a fault, such as a full disk, and tries again every 30 seconds. Ask an operator of this server.',
    since,
    object: { type: 'webhook_receiver', id },
    action: { label: 'Open deliveries', href: `/app/webhooks/${id}` },
  };
}

export function certificateItem({
  name,
  expiresAt,
  lastError,
  lastAttemptAt,
  isValid,
  isDomain,
}: CertificateTrouble): AttentionItem {
  const ends = expiresAt === null ? '' : `${isValid ? 'It expires' : 'It expired'} on ${timeText(expiresAt)}.`;
  const why = lastError === null ? '' : `The last attempt failed: ${lastError}`;
  return {
    severity: isValid ? 'warning' : 'critical',
    kind: 'certificate',
    title: isValid ? `Certificate of ${name} can't be renewed` : `${name} has no valid certificate`,
    detail: [ends, why].filter((part) => part !== '').join(' '),
    since: isValid || expiresAt === null ? lastAttemptAt : expiresAt,
    object: { type: 'certificate', id: name },
    action: isDomain
      ? { label: 'Open domains', href: '/app/domains' }
      : { label: 'Open tunnels', href: '/app/tunnels' },
  };
}

export function budgetItem({ nonce, name, capCents, spentCents }: NearBudget): AttentionItem {
  const isSpent = spentCents >= capCents;
  // 100 % is for budgets that are used up.
  const percent = Math.min(99, Math.floor((spentCents / capCents) * 100));
  const of = `${moneyText(spentCents)} of ${moneyText(capCents)} USD are spent this month.`;
  return {
    severity: isSpent ? 'critical' : 'warning',
    kind: 'budget',
    title: isSpent
      ? `Budget of access key ${name} is used up`
      : `Access key ${name} has spent ${percent} % of its budget`,
    detail: `${of} ${isSpent ? 'Visitors are blocked until the month ends or the budget is raised.' : 'At 100 %, visitors are blocked.'}`,
    since: null,
    object: { type: 'token', id: nonce },
    action: { label: 'Open key', href: `/app/keys?key=${nonce}` },
  };
}

export function keyItem({ nonce, name, kind, expiresAt }: ExpiringKey): AttentionItem {
  const isLogin = kind === 'cli';
  const next = isLogin ? 'Run `culvert login` again on that machine.' : 'Rotate it, or create another one.';
  return {
    severity: 'warning',
    kind: 'key_expiring',
    title: `${isLogin ? 'Login' : 'Access key'} ${name} expires soon`,
    detail: `It is in use and expires on ${timeText(expiresAt)}. ${next}`,
    since: warnedFrom(expiresAt),
    object: { type: 'token', id: nonce },
    action: { label: 'Open key', href: `/app/keys?key=${nonce}` },
  };
}

export function domainItem({ id, domain, verifiedAt, failingSince, createdAt }: UnprovenDomain): AttentionItem {
  const rest = {
    kind: 'domain',
    object: { type: 'domain', id },
    action: { label: 'Open domains', href: '/app/domains' },
  } as const;
  if (verifiedAt === null) {
    const detail = 'Add its TXT record to your DNS, then verify the domain.';
    return { ...rest, severity: 'info', title: `Domain ${domain} is not verified`, detail, since: createdAt };
  }
  const detail = 'After three days without the record, the domain is unverified and unbound. Add the record again.';
  return { ...rest, severity: 'warning', title: `The TXT record of ${domain} is missing`, detail, since: failingSince };
}

export function channelItem({ ruleId, type, target, lastError, since }: FailingChannel): AttentionItem {
  return {
    severity: 'warning',
    kind: 'alert',
    title: `An alert channel is failing: ${type}`,
    detail: `Alerts don't reach ${target}. ${lastError ?? ''} Check the channel, then send a test.`,
    since,
    object: { type: 'alert', id: ruleId },
    action: { label: 'Open alerts', href: '/app/alerts' },
  };
}

/** Of a check that is not `ok`. */
export function checkItem({ name, status, detail, full, next }: Check): AttentionItem {
  return {
    severity: status === 'fail' ? 'critical' : 'warning',
    kind: CHECK_KINDS[name] ?? 'server',
    title: detail.replace(/\.$/, ''),
    detail: [full, next].filter((part) => part !== '').join(' '),
    since: null,
    object: { type: 'server', id: name },
    action: { label: 'Open operator page', href: '/app/operator' },
  };
}

/** Stands for all that does not fit. */
export function moreItem(orgId: string, shown: number): AttentionItem {
  return {
    severity: 'info',
    kind: 'more',
    title: 'More needs attention',
    detail: `The list ends after ${shown} problems. Solve some of them to see others.`,
    since: null,
    object: { type: 'organization', id: orgId },
    action: { label: 'Open overview', href: '/app/' },
  };
}

/** By severity, then kind, then the oldest first. What has no start stays in its order. */
export function worstFirst(a: AttentionItem, b: AttentionItem): number {
  return (
    SEVERITIES.indexOf(a.severity) - SEVERITIES.indexOf(b.severity) ||
    KINDS.indexOf(a.kind) - KINDS.indexOf(b.kind) ||
    (a.since ?? 0) - (b.since ?? 0)
  );
}

function timeText(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}

function moneyText(cents: number): string {
  return (cents / 100).toFixed(2);
}
