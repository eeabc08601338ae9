/**
 * What each plan includes, for comparing them; the API has the organization's current plan. A test holds this table against the server's.
 * Pure: tested without a browser.
 */
import type { Schemas } from '../../api/types.ts';
import { dayText, spanText, timeOf } from '../../parts/format.ts';

export type Plan = Schemas['Entitlements']['plan'];
export type Included = Omit<Schemas['Entitlements'], 'plan'>;
export type SoldPlan = 'pro' | 'team';
export type Cycle = 'monthly' | 'yearly';

/** Smallest first. */
export const PLANS: readonly Plan[] = ['free', 'pro', 'team', 'enterprise'];

export const PLAN_NAMES: Readonly<Record<Plan, string>> = {
  free: 'Free',
  pro: 'Pro',
  team: 'Team',
  enterprise: 'Enterprise',
};

export const PLAN_WORDS: Readonly<Record<Plan, string>> = {
  free: 'To try Culvert',
  pro: 'For daily use',
  team: 'For teams',
  enterprise: 'Set by the operator',
};

const HOUR = 3600;

export const INCLUDED: Readonly<Record<Plan, Included>> = {
  free: {
    max_tunnel_ttl_seconds: HOUR,
    reserved_subdomains: 0,
    edge_auth: false,
    master_keys: false,
    inspector_retention_days: 7,
  },
  pro: {
    max_tunnel_ttl_seconds: 24 * HOUR,
    reserved_subdomains: 5,
    edge_auth: true,
    master_keys: true,
    inspector_retention_days: 30,
  },
  team: {
    max_tunnel_ttl_seconds: 7 * 24 * HOUR,
    reserved_subdomains: null,
    edge_auth: true,
    master_keys: true,
    inspector_retention_days: 90,
  },
  enterprise: {
    max_tunnel_ttl_seconds: null,
    reserved_subdomains: null,
    edge_auth: true,
    master_keys: true,
    inspector_retention_days: 365,
  },
};

interface Feature {
  readonly title: string;
  readonly say: (included: Included) => string;
}

/** What plans differ in; everything else is in all of them. */
export const FEATURES: readonly Feature[] = [
  {
    title: 'Tunnel lifetime',
    say: ({ max_tunnel_ttl_seconds: seconds }) => (seconds === null ? 'unlimited' : spanText(seconds * 1000)),
  },
  {
    title: 'Request history',
    say: ({ inspector_retention_days: days }) => `${days} days`,
  },
  {
    title: 'Reserved names',
    say: ({ reserved_subdomains: names }) => (names === null ? 'unlimited' : names === 0 ? 'none' : String(names)),
  },
  { title: 'Visitor login', say: ({ edge_auth: has }) => (has ? 'yes' : 'no') },
  { title: 'Master keys', say: ({ master_keys: has }) => (has ? 'yes' : 'no') },
];

export function isSold(plan: Plan): plan is SoldPlan {
  return plan === 'pro' || plan === 'team';
}

/** Where a purchase goes on; undefined for what no browser should be sent to. */
export function webAddress(text: string): string | undefined {
  if (!URL.canParse(text)) return undefined;
  const url = new URL(text);
  return url.protocol === 'https:' || url.protocol === 'http:' ? url.href : undefined;
}

/** States in which a subscription goes on, as the payment provider names them: another plan is then chosen where it is managed. */
const LIVE: ReadonlySet<string> = new Set(['active', 'trialing', 'past_due']);

export function hasSubscription({ status }: Pick<Schemas['Billing'], 'status'>): boolean {
  return status !== null && LIVE.has(status);
}

type Billing = Schemas['Billing'];

/** How plans change hands on this server. */
export function paidText({ mode }: Pick<Billing, 'mode'>): string {
  switch (mode) {
    case 'none':
      return 'This server sells no plans. Ask its operator for another plan.';
    case 'mock':
      return 'This server has no payment provider. Plans are free.';
    case 'stripe':
      return "Payments go through this server's payment provider.";
    default:
      return mode satisfies never;
  }
}

/** "Paid monthly; renews on 2026-12-21." Empty without a subscription. */
export function subscriptionText(
  billing: Pick<Billing, 'billing_cycle' | 'current_period_end' | 'cancel_at_period_end'>,
): string {
  const { billing_cycle: cycle, current_period_end: end, cancel_at_period_end: cancels } = billing;
  const paid = cycle === null ? [] : [`Billed ${cycle}`];
  if (end === null) return paid.length === 0 ? '' : `${paid[0]}.`;
  const day = dayText(timeOf(end));
  const next = cancels ? `ends on ${day} and does not renew` : `renews on ${day}`;
  return `${[...paid, next].join('; ')}.`.replace(/^./, (first) => first.toUpperCase());
}
