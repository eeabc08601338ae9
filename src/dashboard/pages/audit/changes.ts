/** A changed field of an audit event in words. Pure: tested without a browser. */
import type { Schemas } from '../../api/types.ts';
import { clockText, timeOf } from '../../parts/format.ts';

type Change = Schemas['AuditEvent']['changes'][number];
type Value = Change['from'];

/** Fields whose name in the API is not the one on the screen. */
const LABELS: Readonly<Record<string, string>> = {
  allowedSubdomains: 'Allowed names',
  bandwidthLimitMbps: 'Bandwidth (Mbit/s)',
  expiresAt: 'Expires',
  expires_at: 'Expires',
  for_minutes: 'Minutes',
  mask: 'Mask rules',
  monthlyBudgetUsdCents: 'Monthly budget (US cents)',
  stopped: 'Paused',
  superadmin: 'Operator',
  tunnelQuota: 'Tunnels',
};
/** The server's words in place of a secret. */
const OF_SECRETS: ReadonlySet<Value> = new Set(['set', 'changed', 'removed']);
const INSTANT = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/;

/** "Role: viewer → member", "Password: changed". */
export function changeWords({ field, from, to }: Change): string {
  const label = labelOf(field);
  if (from === null && OF_SECRETS.has(to)) return `${label}: ${String(to)}`;
  return `${label}: ${plain(from)} → ${plain(to)}`;
}

/** A value for people: "none", "yes", a time of the reader's clock. */
export function plain(value: Value): string {
  if (value === null) return 'none';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (value === '') return 'nothing';
  // A name may look like a time and be none.
  const at = typeof value === 'string' && INSTANT.test(value) ? timeOf(value) : Number.NaN;
  return Number.isNaN(at) ? String(value) : clockText(at);
}

/** "allowed_domains" → "Allowed domains"; "actions.0" → "Action 1". Keys of settings stay as they are. */
function labelOf(field: string): string {
  const place = /^actions\.(\d+)$/.exec(field)?.[1];
  if (place !== undefined) return `Action ${Number(place) + 1}`;
  const known = LABELS[field];
  if (known !== undefined || field.includes('.')) return known ?? field;
  const words = field.replaceAll('_', ' ').replace(/[A-Z]/g, (capital) => ` ${capital.toLowerCase()}`);
  return words.charAt(0).toUpperCase() + words.slice(1);
}
