/**
 * What each plan includes: one table, read by the rules and by `GET /auth/me`. Later features read their own column here.
 */
export const PLANS = ['free', 'pro', 'team', 'enterprise'] as const;
export type Plan = (typeof PLANS)[number];

/** As people call them. */
export const PLAN_NAMES: Readonly<Record<Plan, string>> = {
  free: 'Free',
  pro: 'Pro',
  team: 'Team',
  enterprise: 'Enterprise',
};

/** What can be bought, smallest first; Enterprise is an operator's to give. */
export const SOLD_PLANS = ['pro', 'team'] as const satisfies readonly Plan[];
export type SoldPlan = (typeof SOLD_PLANS)[number];
export const CYCLES = ['monthly', 'yearly'] as const;
export type Cycle = (typeof CYCLES)[number];

/** One of the things that can be bought. */
export interface Offer {
  readonly plan: SoldPlan;
  readonly cycle: Cycle;
}

export interface Entitlements {
  /** Default and maximum life of a tunnel; null = none. */
  readonly maxTunnelTtlSeconds: number | null;
  /** null = unlimited. */
  readonly reservedSubdomains: number | null;
  readonly edgeAuth: boolean;
  readonly masterKeys: boolean;
  readonly inspectorRetentionDays: number;
}

const HOUR = 3600;

export const ENTITLEMENTS: Readonly<Record<Plan, Entitlements>> = {
  free: {
    maxTunnelTtlSeconds: HOUR,
    reservedSubdomains: 0,
    edgeAuth: false,
    masterKeys: false,
    inspectorRetentionDays: 7,
  },
  pro: {
    maxTunnelTtlSeconds: 24 * HOUR,
    reservedSubdomains: 5,
    edgeAuth: true,
    masterKeys: true,
    inspectorRetentionDays: 30,
  },
  team: {
    maxTunnelTtlSeconds: 7 * 24 * HOUR,
    reservedSubdomains: null,
    edgeAuth: true,
    masterKeys: true,
    inspectorRetentionDays: 90,
  },
  enterprise: {
    maxTunnelTtlSeconds: null,
    reservedSubdomains: null,
    edgeAuth: true,
    masterKeys: true,
    inspectorRetentionDays: 365,
  },
};

/** Seconds that a tunnel lives from now: what was asked for, cut to the plan's maximum; null = no end. */
export function tunnelTtlSeconds(plan: Plan, asked: number | null): number | null {
  const max = ENTITLEMENTS[plan].maxTunnelTtlSeconds;
  if (max === null) return asked;
  return asked === null ? max : Math.min(asked, max);
}
