/** Problems of the organization that need attention. Pure: the lists are those of other pages. */
import type { Schemas, Token, Tunnel } from '../../api/types.ts';
import { countText, moneyText, spanText, timeOf } from '../../parts/format.ts';
import { hasWorked, isAlarming, reasonsText, refusedSince, wordsOf } from '../webhooks/refusals.ts';

export interface Warning {
  readonly key: string;
  readonly tone: 'warn' | 'bad';
  readonly text: string;
  /** Where it is mended. */
  readonly href: string;
}

interface Seen {
  readonly tokens: readonly Token[];
  readonly domains: ReadonlyArray<Schemas['Domain']>;
  readonly tunnels: readonly Tunnel[];
  readonly receivers: ReadonlyArray<Schemas['WebhookReceiver']>;
  /** Unix milliseconds. */
  readonly now: number;
}

const DAY_MS = 86_400_000;
/** A key unused for so long ends without harm. */
const IN_USE_MS = 7 * DAY_MS;
/** A key of months is said three days before, one of hours when a tenth is left. */
const KEY_ENDS_MS = 3 * DAY_MS;
const BUDGET_NEAR = 0.8;
/** Of one of an hour or less, its last tenth: what is always said warns of nothing. */
const TUNNEL_ENDS_MS = 10 * 60_000;
/** A sender that was tried and abandoned is not reported for longer. */
const REFUSED_MS = DAY_MS;
const MOST = 8;

/** The gravest first; at most eight. */
export function warningsOf({ tokens, domains, tunnels, receivers, now }: Seen): Warning[] {
  const all = [
    ...tokens.flatMap((token) => [...budgetOf(token, now), ...endOfKey(token, now)]),
    ...domains.flatMap(ofDomain),
    ...receivers.flatMap((receiver) => ofReceiver(receiver, now)),
    ...tunnels.flatMap((tunnel) => endOfTunnel(tunnel, now)),
  ];
  const [bad, warn] = [all.filter(({ tone }) => tone === 'bad'), all.filter(({ tone }) => tone === 'warn')];
  return [...bad, ...warn].slice(0, MOST);
}

function budgetOf(token: Token, now: number): Warning[] {
  const { nonce, name, monthlyBudgetUsdCents: budget, spentUsdCents: spent } = token;
  // A budget of nothing is meant to let nothing through.
  if (!isLive(token, now) || budget === null || budget === 0 || spent < budget * BUDGET_NEAR) return [];
  const of = `${moneyText(spent)} of ${moneyText(budget)}`;
  const isSpent = spent >= budget;
  const text = isSpent
    ? `Key ${name}: budget exhausted (${of}). Its visitors are blocked until the month ends.`
    : `Key ${name} spent ${of} of its monthly budget.`;
  return [{ key: `budget ${nonce}`, tone: isSpent ? 'bad' : 'warn', text, href: '/keys' }];
}

function endOfKey(token: Token, now: number): Warning[] {
  const { nonce, name, kind, lastUsedAt, graceEndsAt } = token;
  // A rotated one has a successor.
  if (!isLive(token, now) || lastUsedAt === null || graceEndsAt !== null) return [];
  if (now - timeOf(lastUsedAt) > IN_USE_MS) return [];
  const [left, life] = [timeOf(token.expiresAt) - now, timeOf(token.expiresAt) - timeOf(token.issuedAt)];
  if (left > Math.min(KEY_ENDS_MS, life / 10)) return [];
  const text =
    kind === 'cli'
      ? `Login ${name} expires in ${spanText(left)}. Run culvert login again on that machine.`
      : `Key ${name} is in use and expires in ${spanText(left)}. Rotate it or create another.`;
  return [{ key: `end ${nonce}`, tone: 'warn', text, href: '/keys' }];
}

function ofDomain({ id, domain, verified, certificate }: Schemas['Domain']): Warning[] {
  const href = '/domains';
  if (!verified)
    return [{ key: `domain ${id}`, tone: 'warn', text: `Domain ${domain} is waiting for its DNS record.`, href }];
  const why = certificate?.lastError ?? null;
  if (why === null) return [];
  const hasOne = certificate?.state === 'valid';
  const text = hasOne
    ? `The certificate of ${domain} can't be renewed: ${why}`
    : `${domain} has no certificate: ${why}`;
  return [{ key: `certificate ${id}`, tone: hasOne ? 'warn' : 'bad', text, href }];
}

function ofReceiver(receiver: Schemas['WebhookReceiver'], now: number): Warning[] {
  const { id, name, refused } = receiver;
  const { last_at: at, last_reason: reason } = refused;
  if (at === null || reason === null || !isAlarming(receiver) || now - timeOf(at) > REFUSED_MS) return [];
  const count = countText(refusedSince(receiver));
  const text = hasWorked(receiver)
    ? `Receiver ${name} rejected ${count} since its last accepted delivery. Last reason: ${wordsOf(reason)}.`
    : `Receiver ${name} rejects deliveries: ${count} (${reasonsText(refused)}).`;
  return [{ key: `receiver ${id}`, tone: 'warn', text, href: `/webhooks/${id}` }];
}

function endOfTunnel({ id, subdomain, online, createdAt, expiresAt }: Tunnel, now: number): Warning[] {
  if (!online || expiresAt === null) return [];
  // One that was started again has lived longer than its span: it is said ten minutes before.
  const [left, life] = [timeOf(expiresAt) - now, timeOf(expiresAt) - timeOf(createdAt)];
  if (left > Math.min(TUNNEL_ENDS_MS, life / 10) || left <= 0) return [];
  const text = `Tunnel ${subdomain} expires in ${spanText(left)}. Extend it.`;
  return [{ key: `tunnel ${id}`, tone: 'warn', text, href: `/tunnels/${id}` }];
}

function isLive({ revoked, expiresAt }: Token, now: number): boolean {
  return !revoked && timeOf(expiresAt) > now;
}
