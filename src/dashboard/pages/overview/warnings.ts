/** Problems of the organization that need attention: what the API lists, and what its lists show besides. Pure. */
import type { Schemas, Tunnel } from '../../api/types.ts';
import { countText, spanText, timeOf } from '../../parts/format.ts';
import { hasWorked, isAlarming, reasonsText, refusedSince, wordsOf } from '../webhooks/refusals.ts';

export interface Warning {
  readonly key: string;
  readonly tone: 'bad' | 'warn' | 'info';
  readonly title: string;
  readonly detail: string;
  /** RFC 3339; null: unknown. */
  readonly since: string | null;
  /** Where it is mended, below `/app`. */
  readonly href: string;
  readonly label: string;
}

interface Seen {
  readonly items: ReadonlyArray<Schemas['AttentionItem']>;
  readonly tunnels: readonly Tunnel[];
  readonly receivers: ReadonlyArray<Schemas['WebhookReceiver']>;
  /** Unix milliseconds. */
  readonly now: number;
}

const DAY_MS = 86_400_000;
/** Of one of an hour or less, its last tenth: what is always said warns of nothing. */
const TUNNEL_ENDS_MS = 10 * 60_000;
/** A sender that was tried and abandoned is not reported for longer. */
const REFUSED_MS = DAY_MS;

const TONES: Readonly<Record<Schemas['AttentionItem']['severity'], Warning['tone']>> = {
  critical: 'bad',
  warning: 'warn',
  info: 'info',
};
const ORDER: ReadonlyArray<Warning['tone']> = ['bad', 'warn', 'info'];

/** The gravest first. */
export function warningsOf({ items, tunnels, receivers, now }: Seen): readonly Warning[] {
  return [
    ...items.map(ofItem),
    ...receivers.flatMap((receiver) => ofReceiver(receiver, now)),
    ...tunnels.flatMap((tunnel) => endOfTunnel(tunnel, now)),
  ].sort((a, b) => ORDER.indexOf(a.tone) - ORDER.indexOf(b.tone));
}

function ofItem({ severity, kind, title, detail, since, object, action }: Schemas['AttentionItem']): Warning {
  const href = action.href.replace(/^\/app(?=\/)/, '');
  const key = `${kind} ${object.type} ${object.id}`;
  return { key, tone: TONES[severity], title, detail, since, href, label: action.label };
}

function ofReceiver(receiver: Schemas['WebhookReceiver'], now: number): Warning[] {
  const { id, name, refused } = receiver;
  const { last_at: at, last_reason: reason } = refused;
  if (at === null || reason === null || !isAlarming(receiver) || now - timeOf(at) > REFUSED_MS) return [];
  const count = countText(refusedSince(receiver));
  const detail = hasWorked(receiver)
    ? `${count} since its last accepted delivery. Last reason: ${wordsOf(reason)}.`
    : `${count} (${reasonsText(refused)}).`;
  const rest = { since: null, href: `/webhooks/${id}`, label: 'Open receiver' };
  return [{ key: `receiver ${id}`, tone: 'warn', title: `Receiver ${name} rejects deliveries`, detail, ...rest }];
}

function endOfTunnel({ id, subdomain, online, createdAt, expiresAt }: Tunnel, now: number): Warning[] {
  if (!online || expiresAt === null) return [];
  // One that was started again has lived longer than its span: it is said ten minutes before.
  const [left, life] = [timeOf(expiresAt) - now, timeOf(expiresAt) - timeOf(createdAt)];
  if (left > Math.min(TUNNEL_ENDS_MS, life / 10) || left <= 0) return [];
  const title = `Tunnel ${subdomain} expires in ${spanText(left)}`;
  const rest = { since: null, href: `/tunnels/${id}`, label: 'Open tunnel' };
  return [{ key: `tunnel ${id}`, tone: 'warn', title, detail: 'Extend it.', ...rest }];
}
