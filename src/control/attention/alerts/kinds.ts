/** What rules of each kind may say: their threshold and scope. Pure. */
import type { AlertKind } from './rows.ts';

interface Threshold {
  readonly standard: number;
  readonly least: number;
  readonly most: number;
  /** For users: what the number is. */
  readonly unit: string;
}

interface KindRules {
  /** null: it has none. */
  readonly threshold: Threshold | null;
  /** May it watch one tunnel? */
  readonly hasScope: boolean;
}

const KINDS: Readonly<Record<AlertKind, KindRules>> = {
  tunnel_offline: { threshold: null, hasScope: true },
  error_rate: { threshold: { standard: 0.05, least: 0, most: 1, unit: 'a share of requests' }, hasScope: true },
  latency_p95: { threshold: { standard: 1_000, least: 1, most: 3_600_000, unit: 'milliseconds' }, hasScope: true },
  webhook_failing: { threshold: null, hasScope: true },
  certificate: { threshold: null, hasScope: true },
  budget: { threshold: { standard: 80, least: 1, most: 100, unit: 'percent of the budget' }, hasScope: false },
  new_address: { threshold: null, hasScope: false },
};

export interface RuleProblem {
  readonly path: string;
  readonly message: string;
}

/** The threshold that a rule has: the one that was asked for, else the usual one of its kind; null: the kind has none. */
export function thresholdOf(kind: AlertKind, asked: number | null | undefined): number | null {
  return asked ?? KINDS[kind].threshold?.standard ?? null;
}

/** What is wrong with a rule; null: nothing. */
export function ruleProblem(
  kind: AlertKind,
  { threshold, tunnelId }: { readonly threshold: number | null; readonly tunnelId: string | null },
): RuleProblem | null {
  const { threshold: limits, hasScope } = KINDS[kind];
  if (tunnelId !== null && !hasScope)
    return {
      path: 'scope.tunnel_id',
      message: `${kind} rules cover the whole organization. Leave out scope.tunnel_id.`,
    };
  if (threshold === null) return null;
  if (limits === null) return { path: 'threshold', message: `${kind} rules have no threshold. Leave it out.` };
  const { least, most, unit } = limits;
  return threshold >= least && threshold <= most
    ? null
    : { path: 'threshold', message: `The threshold of ${kind} is ${unit}: ${least} to ${most}.` };
}
