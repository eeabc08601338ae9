/**
 * Stripe, by its own library: customers, checkout, portal, subscriptions, signed events. The library is loaded at the first call, and talks
 * to the configured address alone: it is given a `fetch` that knows no other.
 */
import { createHash, randomUUID } from 'node:crypto';
import type Stripe from 'stripe';
import { AppError, codeOf, messageOf } from '../../base/errors.ts';
import type { Secret } from '../../base/secret.ts';
import { boundedFetch } from './bounded-fetch.ts';
import {
  CustomerGone,
  type NewCustomer,
  type PaymentProvider,
  type ProviderEvent,
  type ProviderSubscription,
  type Purchase,
} from './payments.ts';

export interface StripeOptions {
  readonly secretKey: Secret;
  readonly webhookSecret: Secret;
  /** Without a trailing slash. Plain http is for this machine: the settings refuse any other. */
  readonly apiBase: string;
}

/** With two retries and the pauses between them: below the 20 s that Stripe waits for the answer to an event. */
const CALL_MS = 5_000;
const RETRIES = 2;
/** Stripe's own figure: an older delivery may be a replay. */
const TOLERANCE_SECONDS = 300;
/** Far more subscriptions than one customer has; five of them make 20 KB. */
const MAX_LISTED = 20;
/** Pages of checkout that one customer may have left open. */
const MAX_OPEN = 10;

const loadLibrary = async () => (await import('stripe')).default;

export class StripePayments implements PaymentProvider {
  readonly #options: StripeOptions;
  #made: Promise<Stripe> | undefined;

  constructor(options: StripeOptions) {
    this.#options = options;
  }

  createCustomer({ orgId, email, name, instead }: NewCustomer): Promise<string> {
    // The same purchase asked for twice, by a server that was cut off before it could store the answer, makes one customer.
    const key = createHash('sha256').update([orgId, email, name, instead].join('\0')).digest('hex');
    return this.#ask(async (stripe) => {
      const made = await stripe.customers.create(
        { email, name, metadata: { org_id: orgId } },
        { idempotencyKey: `culvert-customer-${key}` },
      );
      return made.id;
    });
  }

  checkout({ customerId, orgId, priceId, notes, successUrl, cancelUrl }: Purchase): Promise<string> {
    return this.#ask(async (stripe) => {
      await closeOpenPages(stripe, customerId);
      const metadata = { ...notes, org_id: orgId };
      const { url } = await stripe.checkout.sessions.create(
        {
          mode: 'subscription',
          customer: customerId,
          client_reference_id: orgId,
          line_items: [{ price: priceId, quantity: 1 }],
          metadata,
          subscription_data: { metadata },
          success_url: successUrl,
          cancel_url: cancelUrl,
        },
        { idempotencyKey: `culvert-checkout-${randomUUID()}` },
      );
      if (url === null) throw new Error('the checkout session has no URL');
      return url;
    });
  }

  closeCheckouts(customerId: string): Promise<void> {
    return this.#ask((stripe) => closeOpenPages(stripe, customerId));
  }

  portal(customerId: string, returnUrl: string): Promise<string> {
    return this.#ask(async (stripe) => {
      const made = await stripe.billingPortal.sessions.create(
        { customer: customerId, return_url: returnUrl },
        { idempotencyKey: `culvert-portal-${randomUUID()}` },
      );
      return made.url;
    });
  }

  subscriptionsOf(customerId: string): Promise<readonly ProviderSubscription[]> {
    return this.#ask(async (stripe) => {
      const { data } = await stripe.subscriptions.list({ customer: customerId, status: 'all', limit: MAX_LISTED });
      return data.map(subscriptionOf).sort((a, b) => b.createdAt - a.createdAt);
    });
  }

  async readEvent(body: Uint8Array, signature: string, nowMs: number): Promise<ProviderEvent> {
    const { webhooks } = await loadLibrary();
    const secret = this.#options.webhookSecret.reveal();
    let said: unknown;
    try {
      said = await webhooks.constructEventAsync(
        Buffer.from(body),
        signature,
        secret,
        TOLERANCE_SECONDS,
        undefined,
        nowMs,
      );
    } catch (error) {
      if (error instanceof SyntaxError) throw notAnEvent();
      // The library's message tells an operator what to do, and this goes to a stranger.
      throw new AppError(
        'invalid_signature',
        'The signature is missing, wrong or older than five minutes. Check the signing secret and the clock.',
      );
    }
    const event = eventOf(said);
    if (event === undefined) throw notAnEvent();
    return event;
  }

  async #ask<T>(call: (stripe: Stripe) => Promise<T>): Promise<T> {
    try {
      this.#made ??= this.#make();
      return await call(await this.#made);
    } catch (error) {
      throw refusalOf(error, this.#options.secretKey);
    }
  }

  async #make(): Promise<Stripe> {
    const Library = await loadLibrary();
    return new Library(this.#options.secretKey.reveal(), {
      telemetry: false,
      timeout: CALL_MS,
      maxNetworkRetries: RETRIES,
      httpClient: Library.createFetchHttpClient(fetchFrom(this.#options.apiBase)),
    });
  }
}

/** A `fetch` for one address: the library's own idea of hosts counts for nothing, and no redirect takes the key elsewhere. */
function fetchFrom(apiBase: string): typeof fetch {
  return async (input, init) => {
    const { pathname, search } = new URL(input instanceof Request ? input.url : input);
    const answer = await boundedFetch(apiBase + pathname + search, { ...init, redirect: 'error' });
    const headers = new Headers(answer.headers);
    // The library would print it, past the log.
    headers.delete('stripe-notice');
    return new Response(answer.body, { status: answer.status, headers });
  };
}

/**
 * Two pages that are both open could both be paid. A page that can't be closed was paid this moment: that ends the call. An account whose
 * key may not list pages still sells.
 */
async function closeOpenPages(stripe: Stripe, customer: string): Promise<void> {
  const listed = stripe.checkout.sessions.list({ customer, status: 'open', limit: MAX_OPEN });
  const { data } = await listed.catch((error: unknown) => {
    if (isRefusal(error)) return { data: [] };
    throw error;
  });
  for (const { id } of data) await stripe.checkout.sessions.expire(id);
}

function subscriptionOf(found: Stripe.Subscription): ProviderSubscription {
  const item = found.items.data[0];
  const endsAt = item?.current_period_end;
  return {
    id: found.id,
    status: found.status,
    priceId: item?.price.id ?? null,
    notes: found.metadata,
    currentPeriodEndsAt: endsAt === undefined ? null : endsAt * 1000,
    cancels: found.cancel_at_period_end || found.cancel_at !== null,
    createdAt: found.created * 1000,
  };
}

/** The three things that count of a signed event. It was written for some version of the API, and its object may be anything. */
function eventOf(said: unknown): ProviderEvent | undefined {
  const { id, type, data } = asRecord(said);
  if (typeof id !== 'string' || id === '' || typeof type !== 'string') return undefined;
  const about = asRecord(asRecord(data)['object']);
  // An event about a customer is about itself; all others name theirs, by its id or as a whole.
  const customer = about['object'] === 'customer' ? about : about['customer'];
  const customerId = typeof customer === 'string' ? customer : asRecord(customer)['id'];
  return { id, type, customerId: typeof customerId === 'string' ? customerId : null };
}

function notAnEvent(): AppError {
  return new AppError('invalid_request', 'The signed body is not an event. Send events only.');
}

function asRecord(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

function refusalOf(error: unknown, key: Secret): AppError | CustomerGone {
  const { param, statusCode, requestId, detail } = asRecord(error);
  if (codeOf(error) === 'resource_missing' && param === 'customer') return new CustomerGone();
  const words = [statusCode, codeOf(error), requestId, messageOf(error), ...causesOf(detail)];
  const text = words.filter((word) => typeof word === 'string' || typeof word === 'number').join(' ');
  const cause = new Error(text.replaceAll(key.reveal(), '[secret]').slice(0, 500));
  const message = isRefusal(error)
    ? 'The payment provider refused the request. The reason is in the server log.'
    : 'The payment provider is unreachable. Try again in a minute.';
  return new AppError('unavailable', message, { cause });
}

/** Was it heard and refused, as against not heard, or too busy to be? */
function isRefusal(error: unknown): boolean {
  const { statusCode } = asRecord(error);
  return typeof statusCode === 'number' && statusCode < 500 && statusCode !== 409 && statusCode !== 429;
}

/** Why a connection failed: the library keeps the error of `fetch`, whose cause has the system's word for it. */
function causesOf(error: unknown): readonly string[] {
  const said: string[] = [];
  for (let at = error; at instanceof Error && said.length < 4; at = at.cause) said.push(messageOf(at));
  return said;
}
