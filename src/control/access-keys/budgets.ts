/** The monthly cap of a token and of all that rotation made of it. Only people set it: an agent that holds a key can't raise its own. */
import { and, eq } from 'drizzle-orm';
import { capabilityTokens } from '../db/schema.ts';
import type { Store } from '../db/tx.ts';
import { type Actor, allow } from '../core/rules/actor.ts';
import { changesBetween } from '../core/rules/audit-changes.ts';
import { recordAudit } from '../core/rules/audit.ts';
import type { RouteEvents } from '../core/link/route-events.ts';
import { lineageOf, type Spend } from './spend.ts';
import { liveToken, sameLineage, thingOf } from './rows.ts';

/** Cents. */
export const MAX_BUDGET = 1_000_000_000;

export class TokenBudgets {
  readonly #store: Store;
  readonly #spend: Spend;
  readonly #routeEvents: RouteEvents;

  constructor(deps: { store: Store; spend: Spend; routeEvents: RouteEvents }) {
    this.#store = deps.store;
    this.#spend = deps.spend;
    this.#routeEvents = deps.routeEvents;
  }

  /**
   * Sets the cap of a live token of the actor's organization: cents in a UTC month, 0 (nothing may be spent, at once), or null (no cap). Data
   * nodes get it after the commit. The cap that holds already is no change: nothing is written. Throws `not_found`, `forbidden`.
   */
  set(actor: Actor, nonce: string, cents: number | null): void {
    allow(actor, 'change', 'token');
    this.#store.inTx((tx) => {
      const token = liveToken(tx.db, { orgId: actor.orgId, nonce, now: tx.now });
      allow(actor, 'change', thingOf(token));
      if (token.monthlyBudgetUsdCents === cents) return;
      tx.db
        .update(capabilityTokens)
        .set({ monthlyBudgetUsdCents: cents })
        .where(and(eq(capabilityTokens.orgId, actor.orgId), sameLineage(lineageOf(token))))
        .run();
      recordAudit(tx, actor, {
        action: 'token.budget',
        resourceType: 'token',
        resourceId: token.nonce,
        changes: changesBetween(
          { monthlyBudgetUsdCents: token.monthlyBudgetUsdCents },
          { monthlyBudgetUsdCents: cents },
        ),
      });
      const [own] = this.#spend.budgetsOf(tx.db, { ...token, monthlyBudgetUsdCents: cents }, tx.now);
      if (own !== undefined) tx.onCommit(() => this.#routeEvents.setBudget(own));
    });
  }
}
