/**
 * What is said to an organization whose plan does not include something: which plans have it, and who can change the plan, by the billing
 * of this server. The one place where a plan refuses.
 */
import { AppError } from '../../../base/errors.ts';
import { ENTITLEMENTS, type Plan, PLAN_NAMES, PLANS } from './plans.ts';

/** How plans change hands here. `stripe` without its keys is `none`; a plan without a price can't be bought. */
export type BillingMode = 'mock' | 'stripe' | 'none';

/** Columns of the table of plans that are a plain yes or no, as people call them. */
const FEATURES = { edgeAuth: 'visitor login', masterKeys: 'master keys' } as const;
export type Feature = keyof typeof FEATURES;

/** Columns that are a number of things, or null for no limit. */
const QUOTAS = { reservedSubdomains: 'reserved subdomains' } as const;
export type Quota = keyof typeof QUOTAS;

/** Throws `upgrade_required` unless the plan includes the feature. */
export function requireEntitlement(plan: Plan, feature: Feature, mode: BillingMode): void {
  if (ENTITLEMENTS[plan][feature]) return;
  const having = PLANS.filter((other) => ENTITLEMENTS[other][feature]);
  throw refusal(
    `The ${PLAN_NAMES[plan]} plan does not include ${FEATURES[feature]}. Use ${listed(having)}.`,
    having,
    mode,
  );
}

/** Throws `upgrade_required` unless the plan has room for one more beside the `used` that there are. */
export function requireRoom(plan: Plan, { quota, used }: { quota: Quota; used: number }, mode: BillingMode): void {
  const most = ENTITLEMENTS[plan][quota];
  if (most === null || used < most) return;
  const having = PLANS.filter((other) => {
    const limit = ENTITLEMENTS[other][quota];
    return limit === null || limit > used;
  });
  const has = most === 0 ? `no ${QUOTAS[quota]}` : `${most} ${QUOTAS[quota]}`;
  throw refusal(`The ${PLAN_NAMES[plan]} plan includes ${has}. For more, use ${listed(having)}.`, having, mode);
}

function refusal(fact: string, having: readonly Plan[], mode: BillingMode): AppError {
  return new AppError('upgrade_required', `${fact} ${wayTo(having, mode)}`);
}

/** Billing sells Pro and Team; the rest is the operator's to give. */
function wayTo(having: readonly Plan[], mode: BillingMode): string {
  const isSold = having.includes('pro') || having.includes('team');
  if (mode === 'none' || !isSold) return 'Ask the operator of this server for another plan.';
  const cost = mode === 'mock' ? ', at no charge on this server' : '';
  return `An owner of the organization can change the plan${cost}: POST /billing/checkout-session.`;
}

/** "Pro, Team or Enterprise". */
function listed(plans: readonly Plan[]): string {
  const names = plans.map((plan) => PLAN_NAMES[plan]);
  const last = names.pop() ?? 'no plan';
  return names.length === 0 ? last : `${names.join(', ')} or ${last}`;
}
