/**
 * Payment providers: who pays, for what, and until when, as a third party says. One interface; stripe.ts is behind it. Nothing here knows
 * plans or rules: a purchase is of a price, by a customer, for an organization that is a text.
 */

/** The provider knows no such customer (any more): the keys are those of another account, or it was deleted there. */
export class CustomerGone extends Error {
  constructor() {
    super('the payment provider does not know this customer');
    this.name = 'CustomerGone';
  }
}

export interface NewCustomer {
  readonly orgId: string;
  readonly email: string;
  readonly name: string;
  /** The customer that this one stands in for, where the provider has lost it; `""` for the first. */
  readonly instead: string;
}

export interface Purchase {
  readonly customerId: string;
  readonly orgId: string;
  readonly priceId: string;
  /** Words that come back with the subscription. */
  readonly notes: Readonly<Record<string, string>>;
  /** Where the browser goes afterwards. */
  readonly successUrl: string;
  readonly cancelUrl: string;
}

/** As the provider tells it when asked. Instants in milliseconds. */
export interface ProviderSubscription {
  readonly id: string;
  /** The provider's word: `active`, `past_due`, … */
  readonly status: string;
  /** Null when it has no item. */
  readonly priceId: string | null;
  readonly notes: Readonly<Record<string, string>>;
  readonly currentPeriodEndsAt: number | null;
  /** It ends with the period that is paid for. */
  readonly cancels: boolean;
  readonly createdAt: number;
}

/** What the provider tells by itself. Only that something has happened to a customer: what, is asked for. */
export interface ProviderEvent {
  readonly id: string;
  readonly type: string;
  /** Null when it is not about a customer. */
  readonly customerId: string | null;
}

/**
 * Every call throws AppError `unavailable` when the provider can't be reached or refuses, with a cause for the log that names no secret. Each
 * request that it takes ends within 20 s, retries included; the first that fails ends the call.
 */
export interface PaymentProvider {
  createCustomer(customer: NewCustomer): Promise<string>;
  /** URL of a page where the purchase is made; those that were open for this customer are closed. Throws CustomerGone. */
  checkout(purchase: Purchase): Promise<string>;
  /** Closes the pages of `checkout` that are open for this customer. One that can't be closed was paid this moment. Throws CustomerGone. */
  closeCheckouts(customerId: string): Promise<void>;
  /** URL of a page where the customer changes or cancels. Throws CustomerGone. */
  portal(customerId: string, returnUrl: string): Promise<string>;
  /** All of a customer, newest first, at most 20. Throws CustomerGone. */
  subscriptionsOf(customerId: string): Promise<readonly ProviderSubscription[]>;
  /** A delivery that the provider has signed within the last 300 s. Throws `invalid_signature`, or `invalid_request` when it is no event. */
  readEvent(body: Uint8Array, signature: string, nowMs: number): Promise<ProviderEvent>;
}
