/** The values of the form for a new key, and its request body. Pure: tested without a browser. */
import type { Schemas } from '../../api/types.ts';
import { centsOf } from '../../parts/forms/dollars.ts';

export type KeyUse = 'agent' | 'project' | 'master';

export interface NewKeyValues {
  readonly use: KeyUse;
  readonly name: string;
  readonly project: string;
  /** Hours of a preset, or `other`. */
  readonly lifetime: string;
  /** Days, for `other`; inputs of numbers hold text while they are typed in. */
  readonly days: number | string;
  readonly names: string[];
  readonly quota: number | string;
  readonly mbps: number | string;
  readonly budget: string;
}

export const OTHER = 'other';

interface Preset {
  readonly value: string;
  readonly label: string;
}

const HOUR: Preset = { value: '1', label: '1 hour' };
const DAY: Preset = { value: '24', label: '24 hours' };
const WEEK: Preset = { value: '168', label: '7 days' };
const MONTH: Preset = { value: '720', label: '30 days' };
const QUARTER: Preset = { value: '2160', label: '90 days' };
const YEAR: Preset = { value: '8760', label: '365 days' };
const ANOTHER: Preset = { value: OTHER, label: 'Custom' };

/** How long keys may live: the server cuts an agent's to 90 days, and a master key's counts in days. */
export const LIFETIMES: Readonly<Record<KeyUse, readonly Preset[]>> = {
  agent: [HOUR, DAY, WEEK, MONTH, QUARTER, ANOTHER],
  project: [HOUR, DAY, WEEK, MONTH, QUARTER, ANOTHER],
  master: [WEEK, MONTH, QUARTER, YEAR, ANOTHER],
};
export const MOST_DAYS: Readonly<Record<KeyUse, number>> = { agent: 90, project: 90, master: 365 };

export function emptyKey(use: KeyUse, project: string): NewKeyValues {
  return { use, name: '', project, lifetime: MONTH.value, days: 14, names: [], quota: 5, mbps: 100, budget: '' };
}

/** The form's field for each field of the API. */
export const FIELDS: Readonly<Record<string, string>> = {
  ttlHours: 'lifetime',
  ttl_hours: 'lifetime',
  ttl_days: 'lifetime',
  allowedSubdomains: 'names',
  allowed_subdomains: 'names',
  tunnelQuota: 'quota',
  bandwidthLimitMbps: 'mbps',
  monthlyBudgetUsdCents: 'budget',
};

export function hoursOf({ lifetime, days }: NewKeyValues): number {
  return lifetime === OTHER ? Math.round(Number(days) * 24) : Number(lifetime);
}

export function agentBody(values: NewKeyValues): Schemas['NewToken'] {
  return { ...limitsOf(values), ttlHours: hoursOf(values), allowedSubdomains: patternsOf(values) };
}

export function projectBody(values: NewKeyValues): Schemas['NewProjectToken'] {
  return { ...limitsOf(values), ttl_hours: hoursOf(values), allowed_subdomains: patternsOf(values) };
}

export function masterBody(values: NewKeyValues): Schemas['NewMasterKey'] {
  const { name, monthlyBudgetUsdCents } = limitsOf(values);
  return { name, monthlyBudgetUsdCents, ttl_days: Math.max(1, Math.round(hoursOf(values) / 24)) };
}

function limitsOf({ name, quota, mbps, budget }: NewKeyValues) {
  return {
    name: name.trim(),
    tunnelQuota: Number(quota),
    bandwidthLimitMbps: Number(mbps),
    monthlyBudgetUsdCents: centsOf(budget) ?? null,
  };
}

/** Each name once: several may have been pasted at a time. */
export function namesIn(texts: readonly string[]): string[] {
  return [...new Set(texts.flatMap((text) => text.split(/[\s,]+/)).filter((name) => name !== ''))];
}

/** No name given: any. */
function patternsOf({ names }: NewKeyValues): string[] {
  return names.length === 0 ? ['*'] : names;
}
