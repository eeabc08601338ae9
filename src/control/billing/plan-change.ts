/**
 * The one way in which an organization gets another plan: operators and billing both come here. What lives by the plan follows it at once.
 */
import type { Tx } from '../db/tx.ts';
import type { OperatorActor, SystemActor, UserActor } from '../core/rules/actor.ts';
import { changesBetween } from '../core/rules/audit-changes.ts';
import { recordAudit } from '../core/rules/audit.ts';
import type { Drains } from '../core/drains.ts';
import type { Plan } from '../core/rules/plans.ts';
import { updateOrganization } from '../organizations/rows.ts';

export interface PlanChangeDeps {
  readonly drains: Drains;
}

export interface PlanChange {
  readonly orgId: string;
  readonly from: Plan;
  readonly to: Plan;
  /** An operator by the operators' routes; otherwise billing, whether a person asked for it or the provider said so. */
  readonly by: OperatorActor | UserActor | SystemActor;
}

/**
 * Writes the plan and its audit entry, and gives the tunnels that have time left a new end by what each asked for and the new plan has, many of them in
 * slices. Names and master keys that the new plan would not give stay; the next one is refused. No audit entry when nothing changes.
 */
export function changePlanIn(tx: Tx, { orgId, from, to, by }: PlanChange, deps: PlanChangeDeps): void {
  if (from === to) return;
  updateOrganization(tx, orgId, { plan: to });
  const entry =
    by.kind === 'operator'
      ? ({ action: 'org.plan', resourceType: 'organization' } as const)
      : ({ action: 'billing.plan', resourceType: 'billing' } as const);
  recordAudit(tx, by, { ...entry, resourceId: orgId, orgId, changes: changesBetween({ plan: from }, { plan: to }) });
  // A name that is no id: nothing of the organization is gone.
  deps.drains.begin(tx, { kind: 'plan_changed', scope: `plan/${orgId}`, orgId, actor: by, details: { plan: to } });
}
