/**
 * Which plan an organization has once billing has looked: the one rule by which a purchase, an end of payments and an operator's word meet.
 */
import { type Plan, PLANS, type SoldPlan } from '../core/rules/plans.ts';

export interface PlanState {
  /** The plan that the organization has. */
  readonly plan: Plan;
  /** What billing gave it last; null when it pays for nothing. Where the two differ, an operator has spoken since. */
  readonly given: SoldPlan | null;
  /** What it pays for now. */
  readonly paid: SoldPlan | null;
  /** It pays by a subscription that has not counted before: an owner has just bought it. */
  readonly isNew: boolean;
}

export function planAfter({ plan, given, paid, isNew }: PlanState): Plan {
  // Billing gave it, billing takes it.
  if (given !== null && plan === given) return paid ?? 'free';
  if (paid === null) return plan;
  // The owner's own word, whatever the plan was.
  if (isNew) return paid;
  // A subscription is paid again: it takes nothing away that an operator gave meanwhile.
  if (given === null) return PLANS.indexOf(paid) > PLANS.indexOf(plan) ? paid : plan;
  return plan;
}
