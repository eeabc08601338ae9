/**
 * Plans for money: the checkout and the portal of the payment provider, and what the provider tells by itself. Called by service.ts, which
 * has asked whether the caller may.
 */
import { eq } from 'drizzle-orm';
import { HOUR_MS } from '../../base/clock.ts';
import { AppError, codeOf } from '../../base/errors.ts';
import { billingEvents, organizations } from '../db/schema.ts';
import { CustomerGone, type ProviderEvent } from '../providers/payments.ts';
import type { Tx } from '../db/tx.ts';
import { allow, type UserActor } from '../core/rules/actor.ts';
import { recordAudit } from '../core/rules/audit.ts';
import { type Offer, PLAN_NAMES } from '../core/rules/plans.ts';
import { callerNow } from '../core/rules/caller.ts';
import { findOrg } from '../organizations/rows.ts';
import { rereadDue } from './rereads.ts';
import {
  findByCustomer,
  findSubscription,
  isLive,
  putCustomer,
  requireNoSubscription,
  type SubscriptionRow,
} from './subscription-rows.ts';
import { SubscriptionSync, type SubscriptionSyncDeps } from './subscription-sync.ts';

export interface PaidBillingDeps extends SubscriptionSyncDeps {
  /** Public URL of the API. */
  readonly apiUrl: () => string;
}

/** What may have changed a subscription. Everything else is answered and forgotten. */
const TELLING =
  /^(?:customer\.deleted|customer\.subscription\..+|checkout\.session\.(?:completed|async_payment_succeeded)|invoice\.(?:paid|payment_failed))$/;

export class PaidBilling {
  readonly #deps: PaidBillingDeps;
  readonly #sync: SubscriptionSync;
  /** Monotonic; until then no further line about forged deliveries. */
  #quietUntil = -Infinity;

  constructor(deps: PaidBillingDeps) {
    this.#deps = deps;
    this.#sync = new SubscriptionSync(deps);
  }

  /** Throws `upgrade_required` (not sold here), `conflict` (there is a subscription already), `unavailable`, `unauthorized`, `forbidden`. */
  async checkout(actor: UserActor, offer: Offer): Promise<string> {
    const { store, queue, provider, prices, apiUrl } = this.#deps;
    const priceId = prices[`${offer.plan}_${offer.cycle}`];
    if (priceId === null) {
      const what = `${PLAN_NAMES[offer.plan]} ${offer.cycle}`;
      throw new AppError('upgrade_required', `${what} is not for sale. Choose another plan or cycle.`);
    }
    return queue.run(actor.orgId, async () => {
      this.#requireOrg(actor.orgId);
      ownerNow(this.#now(), actor, 'create');
      const known = await this.#sync.refreshInTurn(actor.orgId);
      if (known !== undefined && isLive(known.status)) {
        throw new AppError(
          'conflict',
          'The organization already has a subscription. Change or cancel it in the portal: POST /billing/portal.',
        );
      }
      const { plan, cycle } = offer;
      const url = await this.#asCustomer(actor, (customerId) =>
        provider.checkout({
          customerId,
          orgId: actor.orgId,
          priceId,
          notes: { plan, billing_cycle: cycle },
          successUrl: `${apiUrl()}/app/billing?billing=done`,
          cancelUrl: `${apiUrl()}/app/billing?billing=cancelled`,
        }),
      );
      store.inTx((tx) =>
        recordAudit(tx, ownerNow(tx, actor, 'create'), { ...auditAbout(actor.orgId), details: { plan, cycle } }),
      );
      return url;
    });
  }

  /** Throws `unavailable`, `unauthorized`, `forbidden`. */
  async portal(actor: UserActor): Promise<string> {
    const { queue, provider, apiUrl } = this.#deps;
    return queue.run(actor.orgId, async () => {
      this.#requireOrg(actor.orgId);
      ownerNow(this.#now(), actor, 'change');
      const url = await this.#asCustomer(actor, (customerId) => provider.portal(customerId, `${apiUrl()}/app/billing`));
      ownerNow(this.#now(), actor, 'change');
      return url;
    });
  }

  /**
   * Does `work`, which deletes the organization, in its turn, once no page is open any more on which it could be bought for, and what it pays
   * is known. Throws `conflict` while it goes on paying, `unavailable`, and what `work` throws.
   */
  async deleting<T>(orgId: string, work: () => T): Promise<T> {
    const { store, queue, provider } = this.#deps;
    return queue.run(orgId, async () => {
      const known = findSubscription(store.db, orgId);
      if (known !== undefined) {
        await provider.closeCheckouts(known.customerId).catch((error: unknown) => {
          if (!(error instanceof CustomerGone)) throw error;
        });
        await this.#sync.refreshInTurn(orgId);
      }
      requireNoSubscription(store.db, orgId);
      return work();
    });
  }

  /** Reads subscriptions again about which events may have been lost. Stops at `signal`. Returns how many it asked for. */
  rereadDue(signal: AbortSignal): Promise<number> {
    return rereadDue({ ...this.#deps, sync: this.#sync }, signal);
  }

  /**
   * A delivery of the provider. Each event counts once; one that can't be dealt with now is refused, so that it comes again. Throws
   * `invalid_signature`, `invalid_request`, `unavailable`.
   */
  async receive(body: Uint8Array, signature: string): Promise<void> {
    const { store } = this.#deps;
    const { id, type, customerId } = await this.#read(body, signature);
    if (!TELLING.test(type) || customerId === null) return;
    const row = findByCustomer(store.db, customerId);
    // Of something else that the operator sells.
    if (row === undefined) return;
    if (store.db.select().from(billingEvents).where(eq(billingEvents.id, id)).get() !== undefined) return;
    await this.#sync.refresh(row.orgId);
    store.inTx((tx) => tx.db.insert(billingEvents).values({ id, receivedAt: tx.now }).onConflictDoNothing().run());
  }

  async #read(body: Uint8Array, signature: string): Promise<ProviderEvent> {
    const { store, provider, log } = this.#deps;
    try {
      return await provider.readEvent(body, signature, store.clock.now());
    } catch (error) {
      const now = store.clock.monotonic();
      // A stranger can send as many as they like, so one line stands for all of an hour; without a signature it belongs to no organization.
      if (codeOf(error) === 'invalid_signature' && signature !== '' && now >= this.#quietUntil) {
        this.#quietUntil = now + HOUR_MS;
        log.warn(
          {},
          'a delivery to /billing/webhook has an invalid signature. If the payment provider reports failed deliveries, set billing.stripe.webhook_secret to the secret of its endpoint',
        );
      }
      throw error;
    }
  }

  /** Does `ask` as the customer that the organization is; makes one where there is none, or none any more. In the organization's turn. */
  async #asCustomer<T>(actor: UserActor, ask: (customerId: string) => Promise<T>): Promise<T> {
    const known = findSubscription(this.#deps.store.db, actor.orgId) ?? (await this.#newCustomer(actor, ''));
    try {
      return await ask(known.customerId);
    } catch (error) {
      if (!(error instanceof CustomerGone)) throw error;
      const other = await this.#newCustomer(actor, known.customerId);
      return ask(other.customerId);
    }
  }

  /** It may have been deleted in a turn before this one. */
  #requireOrg(orgId: string): void {
    if (findOrg(this.#deps.store.db, orgId) === undefined)
      throw new AppError('not_found', 'The organization was deleted. Switch to another one.');
  }

  #now(): Pick<Tx, 'db' | 'now'> {
    const { db, clock } = this.#deps.store;
    return { db, now: clock.now() };
  }

  async #newCustomer(actor: UserActor, instead: string): Promise<SubscriptionRow> {
    const { store, provider } = this.#deps;
    const { orgId, email } = actor;
    const org = store.db.select().from(organizations).where(eq(organizations.id, orgId)).get();
    const id = await provider.createCustomer({ orgId, email, name: org?.name ?? '', instead });
    return store.inTx((tx) => putCustomer(tx, orgId, id));
  }
}

/** The same owner, after the wait for a turn and for the provider. Throws `unauthorized`, `forbidden` when they are none any more. */
function ownerNow(at: Pick<Tx, 'db' | 'now'>, actor: UserActor, verb: 'create' | 'change'): UserActor {
  const now = callerNow(at, actor);
  allow(now, verb, 'billing');
  return now;
}

function auditAbout(orgId: string) {
  return { action: 'billing.checkout', resourceType: 'billing', resourceId: orgId } as const;
}
