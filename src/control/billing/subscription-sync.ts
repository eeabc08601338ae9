/**
 * Brings what is known of a subscription, and the plan with it, to what the provider says now. It is asked each time, whatever has happened:
 * an event that comes late, twice or before another one then makes no difference.
 */
import { and, eq, isNull } from 'drizzle-orm';
import type { Logger } from '../../base/log.ts';
import { organizations } from '../db/schema.ts';
import type { Store, Tx } from '../db/tx.ts';
import { CustomerGone, type PaymentProvider, type ProviderSubscription } from '../providers/payments.ts';
import { CYCLES, type Offer, SOLD_PLANS } from '../core/rules/plans.ts';
import { changePlanIn, type PlanChangeDeps } from './plan-change.ts';
import { planAfter } from './plan-after.ts';
import { findSubscription, isBorn, isLive, type SubscriptionRow, updateSubscription } from './subscription-rows.ts';
import type { ProviderQueue } from './provider-queue.ts';

/** Price ids of the provider, by what they are the price of; null where the operator has set none. */
export type Prices = Readonly<Record<`${Offer['plan']}_${Offer['cycle']}`, string | null>>;

export interface SubscriptionSyncDeps extends PlanChangeDeps {
  readonly store: Store;
  readonly provider: PaymentProvider;
  readonly prices: Prices;
  readonly queue: ProviderQueue;
  readonly log: Logger;
}

interface Found extends ProviderSubscription {
  /** What it is for; undefined when neither its price nor its notes say so. */
  readonly offer: Offer | undefined;
}

export class SubscriptionSync {
  readonly #deps: SubscriptionSyncDeps;
  /** Per organization, the look that waits for its turn: it serves all who ask until it begins. */
  readonly #waiting = new Map<string, Promise<void>>();

  constructor(deps: SubscriptionSyncDeps) {
    this.#deps = deps;
  }

  /** Asks the provider and stores the answer, one at a time per organization. Throws `unavailable`. */
  refresh(orgId: string): Promise<void> {
    const waiting = this.#waiting.get(orgId);
    if (waiting !== undefined) return waiting;
    const turn = this.#deps.queue.run(orgId, async () => {
      this.#waiting.delete(orgId);
      await this.refreshInTurn(orgId);
    });
    this.#waiting.set(orgId, turn);
    return turn;
  }

  /**
   * The same for a caller that has the organization's turn already. The row as it is then; undefined when it never came to the checkout. A customer
   * that the provider has lost pays for nothing.
   */
  async refreshInTurn(orgId: string): Promise<SubscriptionRow | undefined> {
    try {
      return await this.#read(orgId);
    } catch (error) {
      if (!(error instanceof CustomerGone)) throw error;
      return this.#store(orgId, []);
    }
  }

  /** The same, in a turn of its own, without a user's request: throws CustomerGone too, and nothing changes then. */
  reread(orgId: string): Promise<SubscriptionRow | undefined> {
    return this.#deps.queue.run(orgId, () => this.#read(orgId));
  }

  async #read(orgId: string): Promise<SubscriptionRow | undefined> {
    const row = findSubscription(this.#deps.store.db, orgId);
    if (row === undefined) return undefined;
    return this.#store(orgId, await this.#deps.provider.subscriptionsOf(row.customerId));
  }

  /** In the organization's turn no other caller writes the row between the question and its answer. */
  #store(orgId: string, all: readonly ProviderSubscription[]): SubscriptionRow | undefined {
    const { store } = this.#deps;
    const row = findSubscription(store.db, orgId);
    if (row === undefined) return undefined;
    const best = this.#best(row, all);
    store.inTx((tx) => this.#write(tx, row, best));
    return findSubscription(store.db, orgId);
  }

  /** The one that counts: what is paid before what is over, the larger plan before the smaller, the newest of equals. */
  #best(row: SubscriptionRow, all: readonly ProviderSubscription[]): Found | undefined {
    const found = all
      .filter(({ status }) => isBorn(status))
      .map((one): Found => ({ ...one, offer: this.#offerOf(one) }))
      .sort((a, b) => weightOf(b) - weightOf(a));
    const paid = found.filter(({ status }) => isLive(status));
    if (paid.length > 1) {
      const ids = paid.map(({ id }) => id).join(', ');
      this.#deps.log.warn(
        { orgId: row.orgId, ids },
        'an organization pays for several subscriptions: cancel all but one',
      );
    }
    return found[0];
  }

  #offerOf({ priceId, notes }: ProviderSubscription): Offer | undefined {
    const { prices } = this.#deps;
    const all = SOLD_PLANS.flatMap((plan) => CYCLES.map((cycle): Offer => ({ plan, cycle })));
    return (
      all.find(({ plan, cycle }) => priceId !== null && prices[`${plan}_${cycle}`] === priceId) ??
      // A price that has been taken off the list since.
      all.find(({ plan, cycle }) => notes['plan'] === plan && notes['billing_cycle'] === cycle)
    );
  }

  #write(tx: Tx, row: SubscriptionRow, found: Found | undefined): void {
    const paid = found !== undefined && isLive(found.status) ? (found.offer?.plan ?? row.plan) : null;
    if (found !== undefined && found.offer === undefined) {
      const what = { orgId: row.orgId, subscription: found.id, price: found.priceId };
      this.#deps.log.warn(what, 'a subscription has a price that is not in the settings: the plan did not change');
    }
    updateSubscription(tx, row, {
      subscriptionId: found?.id ?? null,
      status: found?.status ?? null,
      plan: paid,
      cycle: found?.offer?.cycle ?? null,
      currentPeriodEndsAt: found?.currentPeriodEndsAt ?? null,
      cancels: found?.cancels ?? false,
    });
    const org = tx.db
      .select()
      .from(organizations)
      .where(and(eq(organizations.id, row.orgId), isNull(organizations.deletedAt)))
      .get();
    if (org === undefined) {
      if (found !== undefined && isLive(found.status) && !found.cancels) {
        const what = { orgId: row.orgId, customer: row.customerId, subscription: found.id };
        this.#deps.log.warn(
          what,
          'a deleted organization is still paying: cancel its subscription at the payment provider',
        );
      }
      return;
    }
    const isNew = found !== undefined && found.id !== row.subscriptionId;
    const to = planAfter({ plan: org.plan, given: row.plan, paid, isNew });
    changePlanIn(tx, { orgId: org.id, from: org.plan, to, by: { kind: 'system', orgId: org.id } }, this.#deps);
  }
}

/** Stable sort keeps the newest first among equals. */
function weightOf({ status, offer }: Found): number {
  return isLive(status) ? 1 + (offer === undefined ? 0 : 1 + SOLD_PLANS.indexOf(offer.plan)) : 0;
}
