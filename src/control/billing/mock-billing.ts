/**
 * Plans without money: the checkout is a page of this server that completes at once. For trials, and for servers whose operator lets owners
 * choose. Called by service.ts.
 */
import { z } from 'zod';
import type { Store } from '../db/tx.ts';
import { allow, type UserActor } from '../core/rules/actor.ts';
import { recordAudit } from '../core/rules/audit.ts';
import { type JwtDeps, readJwt, signJwt } from '../core/secrets/jwts.ts';
import { findMember } from '../organizations/membership-rows.ts';
import { CYCLES, type Offer, type Plan, SOLD_PLANS } from '../core/rules/plans.ts';
import { callerNow } from '../core/rules/caller.ts';
import { spend } from '../db/spent-once.ts';
import { findOrg } from '../organizations/rows.ts';
import { changePlanIn, type PlanChangeDeps } from './plan-change.ts';

export interface MockBillingDeps extends JwtDeps, PlanChangeDeps {
  readonly store: Store;
}

/** Audience and type of its own: the address of the page opens nothing else. */
const KIND = { typ: 'checkout+jwt', audience: 'culvert-checkout', lifeSeconds: 3600 };

const CLAIMS = z.object({
  jti: z.string(),
  exp: z.number(),
  /** Organization. */
  sub: z.string(),
  /** Who asked for it. */
  by: z.string(),
  plan: z.enum(SOLD_PLANS),
  cycle: z.enum(CYCLES),
});

/** What became of a visit to the page. */
export type Completion =
  | { readonly state: 'completed' | 'completed_before'; readonly plan: Plan; readonly organization: string }
  | { readonly state: 'invalid' };

export class MockBilling {
  readonly #deps: MockBillingDeps;

  constructor(deps: MockBillingDeps) {
    this.#deps = deps;
  }

  /** Token for the page that gives the plan: good once, for an hour. Throws `unauthorized`, `forbidden`. */
  async checkout(actor: UserActor, { plan, cycle }: Offer): Promise<string> {
    const token = await signJwt(this.#deps, KIND, { sub: actor.orgId, by: actor.userId, plan, cycle });
    this.#deps.store.inTx((tx) => {
      const owner = callerNow(tx, actor);
      allow(owner, 'create', 'billing');
      recordAudit(tx, owner, { ...auditOf('billing.checkout', owner), details: { plan, cycle } });
    });
    return token;
  }

  /** The first visit with a token gives the plan, if its user is still an owner, of an approved organization. */
  async complete(token: string): Promise<Completion> {
    const claims = CLAIMS.safeParse(await readJwt(this.#deps, KIND, token));
    if (!claims.success) return { state: 'invalid' };
    const { jti, exp, sub: orgId, by, plan } = claims.data;
    return this.#deps.store.inTx((tx): Completion => {
      const org = findOrg(tx.db, orgId);
      if (org?.approvalStatus !== 'approved') return { state: 'invalid' };
      if (findMember(tx.db, orgId, by)?.role !== 'owner') return { state: 'invalid' };
      if (!spend(tx, `checkout/${jti}`, exp * 1000)) return { state: 'completed_before', plan, organization: org.name };
      // By the server: the page's visitor has shown no session.
      changePlanIn(tx, { orgId, from: org.plan, to: plan, by: { kind: 'system', orgId } }, this.#deps);
      return { state: 'completed', plan, organization: org.name };
    });
  }

  /** Back to Free, at once. */
  cancel(actor: UserActor): void {
    this.#deps.store.inTx((tx) => {
      const from = findOrg(tx.db, actor.orgId)?.plan ?? 'free';
      if (from === 'free') return;
      recordAudit(tx, actor, auditOf('billing.cancel', actor));
      changePlanIn(tx, { orgId: actor.orgId, from, to: 'free', by: actor }, this.#deps);
    });
  }
}

function auditOf(action: 'billing.checkout' | 'billing.cancel', actor: UserActor) {
  return { action, resourceType: 'billing', resourceId: actor.orgId } as const;
}
