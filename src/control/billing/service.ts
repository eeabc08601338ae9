/**
 * Billing as people meet it: buy a plan, change or cancel it, see what is paid. How that is done is the server's choice (`billing.mode`);
 * who may do it is said here.
 */
import { AppError } from '../../base/errors.ts';
import type { Store } from '../db/tx.ts';
import { type Actor, allow } from '../core/rules/actor.ts';
import { ENTITLEMENTS, type Entitlements, type Offer, type Plan } from '../core/rules/plans.ts';
import { findOrg } from '../organizations/rows.ts';
import type { Completion, MockBilling } from './mock-billing.ts';
import type { PaidBilling } from './paid-billing.ts';
import type { BillingMode } from '../core/rules/plan-gate.ts';
import { findSubscription } from './subscription-rows.ts';

/** The way in which plans change hands on this server. */
export type Till =
  | { readonly mode: 'mock'; readonly mock: MockBilling }
  | { readonly mode: 'stripe'; readonly paid: PaidBilling }
  | { readonly mode: 'none' };

export interface BillingDeps {
  readonly store: Store;
  readonly till: Till;
  /** Public URL of the API. */
  readonly apiUrl: () => string;
}

export interface BillingView {
  readonly mode: BillingMode;
  readonly plan: Plan;
  readonly entitlements: Entitlements;
  /** All null without a subscription at the payment provider. */
  readonly cycle: Offer['cycle'] | null;
  readonly status: string | null;
  /** Milliseconds. */
  readonly currentPeriodEndsAt: number | null;
  readonly cancels: boolean;
}

export class Billing {
  readonly #deps: BillingDeps;

  constructor(deps: BillingDeps) {
    this.#deps = deps;
  }

  get mode(): BillingMode {
    return this.#deps.till.mode;
  }

  view(actor: Actor): BillingView {
    allow(actor, 'read', 'billing');
    const { store, till } = this.#deps;
    const org = findOrg(store.db, actor.orgId);
    if (org === undefined) throw new AppError('not_found', 'The organization was deleted. Switch to another one.');
    // What another way of billing has left behind says nothing about this one.
    const row = till.mode === 'stripe' ? findSubscription(store.db, org.id) : undefined;
    return {
      mode: till.mode,
      plan: org.plan,
      entitlements: ENTITLEMENTS[org.plan],
      cycle: row?.cycle ?? null,
      status: row?.status ?? null,
      currentPeriodEndsAt: row?.currentPeriodEndsAt ?? null,
      cancels: row?.cancels ?? false,
    };
  }

  /** URL of the page where the plan is bought. Throws `upgrade_required` (not sold here), `conflict`, `unavailable`, `forbidden`. */
  async checkout(actor: Actor, offer: Offer): Promise<string> {
    allow(actor, 'create', 'billing');
    const { till, apiUrl } = this.#deps;
    switch (till.mode) {
      case 'mock':
        return `${apiUrl()}/billing/mock-checkout?token=${await till.mock.checkout(actor, offer)}`;
      case 'stripe':
        return till.paid.checkout(actor, offer);
      case 'none':
        throw notSold();
      default:
        return till satisfies never;
    }
  }

  /** URL of the page where a subscription is changed or cancelled. Throws `upgrade_required` (none here), `unavailable`. */
  async portal(actor: Actor): Promise<string> {
    allow(actor, 'change', 'billing');
    const { till, apiUrl } = this.#deps;
    switch (till.mode) {
      case 'mock':
        return `${apiUrl()}/billing/mock-portal`;
      case 'stripe':
        return till.paid.portal(actor);
      case 'none':
        throw notSold();
      default:
        return till satisfies never;
    }
  }

  /** False where a subscription is cancelled at the payment provider alone. */
  get cancelsHere(): boolean {
    return this.#deps.till.mode !== 'stripe';
  }

  /** Takes the organization back to Free. Throws `method_not_allowed` where that is done at the provider, `upgrade_required` (none here). */
  cancel(actor: Actor): void {
    allow(actor, 'change', 'billing');
    const { till } = this.#deps;
    if (till.mode === 'none') throw notSold();
    if (till.mode === 'stripe') {
      throw new AppError(
        'method_not_allowed',
        'The subscription is not canceled here. Cancel it in the portal: POST /billing/portal.',
      );
    }
    till.mock.cancel(actor);
  }

  /**
   * Does `work`, which deletes the organization, when no payment is left that could not be cancelled afterwards, and nothing can be any
   * more. Throws `conflict` while it goes on paying, `unavailable`, and what `work` throws.
   */
  async deleting<T>(orgId: string, work: () => T): Promise<T> {
    const { till } = this.#deps;
    // Without the provider the server could neither cancel nor see a payment.
    return till.mode === 'stripe' ? till.paid.deleting(orgId, work) : work();
  }

  /** Asks the payment provider, where there is one, what its events may have failed to tell. Stops at `signal`. Returns how often it asked. */
  async rereadDue(signal: AbortSignal): Promise<number> {
    const { till } = this.#deps;
    return till.mode === 'stripe' ? till.paid.rereadDue(signal) : 0;
  }

  /** A visit to the page that `checkout` named. Throws `not_found` unless the mode is `mock`. */
  async completeMock(token: string): Promise<Completion> {
    return this.#mock().complete(token);
  }

  /** Throws `not_found` unless the mode is `mock`. */
  requireMock(): void {
    this.#mock();
  }

  /** A delivery of the payment provider. Throws `upgrade_required` where none is set up, and what PaidBilling.receive throws. */
  async receive(body: Uint8Array, signature: string): Promise<void> {
    const { till } = this.#deps;
    if (till.mode !== 'stripe') {
      throw new AppError(
        'upgrade_required',
        'This server has no payment provider. The operator must set billing.mode to "stripe", with its keys.',
      );
    }
    await till.paid.receive(body, signature);
  }

  #mock(): MockBilling {
    const { till } = this.#deps;
    if (till.mode !== 'mock')
      throw new AppError('not_found', 'This server has no checkout page: billing.mode is not "mock".');
    return till.mock;
  }
}

function notSold(): AppError {
  return new AppError(
    'upgrade_required',
    'This server does not sell plans. Ask its operator for another plan (culvert admin set-plan).',
  );
}
