/** `/billing/*`: plans, what is paid for them, the pages of a server that takes no money, and the deliveries of the payment provider. */
import { z } from '@hono/zod-openapi';
import type { Context } from 'hono';
import { AppError } from '../../base/errors.ts';
import type { Billing, BillingView } from './service.ts';
import { CYCLES, PLANS, SOLD_PLANS } from '../core/rules/plans.ts';
import { type Api, type ApiEnv, actorOf } from '../core/http/context.ts';
import { defineRoute } from '../core/http/define-route.ts';
import { ENTITLEMENTS_EXAMPLE, entitlementsView, presentEntitlements } from './entitlements-schemas.ts';
import { json } from '../core/http/errors.ts';
import { iso } from '../core/http/fields/shared.ts';
import { completionPage, mockPortalPage } from './pages.ts';
import { PAGE_POLICY } from '../core/http/page-policy.ts';

interface Deps {
  readonly billing: Billing;
}

const wanted = z
  .object({ plan: z.enum(SOLD_PLANS), billing_cycle: z.enum(CYCLES).default('monthly') })
  .openapi('Checkout', { example: { plan: 'pro', billing_cycle: 'monthly' } });

const billingView = z
  .object({
    mode: z.enum(['mock', 'stripe', 'none']).openapi({
      description: '`mock`: plans are free; `stripe`: owners pay through Stripe; `none`: only operators change plans',
    }),
    plan: z.enum(PLANS),
    billing_cycle: z.enum(CYCLES).nullable().openapi({ description: 'null without a subscription' }),
    status: z
      .string()
      .nullable()
      .openapi({ description: 'Status of the subscription, as the payment provider names it' }),
    current_period_end: z.iso.datetime().nullable(),
    cancel_at_period_end: z.boolean(),
    entitlements: entitlementsView,
  })
  .openapi('Billing', {
    example: {
      mode: 'stripe',
      plan: 'pro',
      billing_cycle: 'monthly',
      status: 'active',
      current_period_end: '2026-12-21T09:00:00.000Z',
      cancel_at_period_end: false,
      entitlements: ENTITLEMENTS_EXAMPLE,
    },
  });

const checkoutUrl = z
  .object({ checkout_url: z.url() })
  .openapi({ example: { checkout_url: 'https://checkout.stripe.com/c/pay/cs_live_a1B2c3' } });
const portalUrl = z
  .object({ portal_url: z.url() })
  .openapi({ example: { portal_url: 'https://billing.stripe.com/p/session/live_YWNjdF8x' } });
const cancelled = z.object({ plan: z.literal('free') });
const received = z.object({ received: z.literal(true) });

const tags = ['billing'];

export function mountBilling(app: Api, deps: Deps): void {
  mountPurchases(app, deps);
  mountMockPages(app, deps);
  mountDeliveries(app, deps);
}

function mountPurchases(app: Api, { billing }: Deps): void {
  app.openapi(
    defineRoute({
      method: 'get',
      path: '/billing',
      tags,
      summary: 'Get the plan and its price',
      responses: { 200: json(billingView, 'Plan and subscription') },
    }),
    (c) => c.json(present(billing.view(actorOf(c))), 200),
  );
  app.openapi(
    defineRoute(
      {
        method: 'post',
        path: '/billing/checkout-session',
        tags,
        summary: 'Start the purchase of a plan',
        'x-needs': 'billing.create',
        request: { body: { required: true, ...json(wanted, 'The plan to buy') } },
        responses: { 200: json(checkoutUrl, 'URL at which an owner completes the purchase') },
      },
      ['forbidden', 'upgrade_required', 'conflict', 'unavailable'],
    ),
    async (c) => {
      const { plan, billing_cycle: cycle } = c.req.valid('json');
      return c.json({ checkout_url: await billing.checkout(actorOf(c), { plan, cycle }) }, 200);
    },
  );
  app.openapi(
    defineRoute(
      {
        method: 'post',
        path: '/billing/portal',
        tags,
        summary: 'Open the portal to change or cancel a plan',
        responses: { 200: json(portalUrl, 'URL of the customer portal') },
      },
      ['forbidden', 'upgrade_required', 'unavailable'],
    ),
    async (c) => c.json({ portal_url: await billing.portal(actorOf(c)) }, 200),
  );
  app.openapi(
    defineRoute(
      {
        method: 'post',
        path: '/billing/cancel',
        tags,
        summary: 'Return to the Free plan',
        description: 'Only without a payment provider.',
        responses: { 200: json(cancelled, 'Done') },
      },
      ['forbidden', 'upgrade_required', 'method_not_allowed'],
    ),
    (c) => {
      const actor = actorOf(c);
      // None: RFC 9110 §15.5.6 wants the list with every 405.
      if (!billing.cancelsHere) c.header('Allow', '');
      billing.cancel(actor);
      return c.json({ plan: 'free' as const }, 200);
    },
  );
}

/** Pages of `billing.mode = "mock"`: a browser comes to them without a bearer. */
function mountMockPages(app: Api, { billing }: Deps): void {
  const open = { method: 'get' as const, security: [], tags };
  const page = { 200: { description: 'A page', content: { 'text/html': { schema: { type: 'string' as const } } } } };
  const token = z.string().openapi({ example: 'eyJhbGciOiJFZERTQSJ9.e30.c2ln' });
  app.openAPIRegistry.registerPath(
    defineRoute(
      {
        ...open,
        path: '/billing/mock-checkout',
        summary: 'Complete a checkout where plans are free',
        description: 'The token works once, for one hour.',
        request: { query: z.object({ token }) },
        responses: page,
      },
      ['not_found'],
    ),
  );
  app.get('/billing/mock-checkout', async (c) => {
    // What looks at an address before a person does must not complete it.
    if (c.req.method === 'HEAD') {
      c.header('Allow', 'GET');
      throw new AppError('method_not_allowed', 'A checkout is completed by GET. Open the URL in a browser.');
    }
    const completion = await billing.completeMock(c.req.query('token') ?? '');
    harden(c);
    if (completion.state !== 'invalid') return c.html(completionPage(completion));
    if ((c.req.header('accept') ?? '').includes('text/html')) return c.html(completionPage(completion), 400);
    throw new AppError('invalid_request', 'The checkout has expired or was completed. Start another one.');
  });
  app.openAPIRegistry.registerPath({
    ...open,
    path: '/billing/mock-portal',
    summary: 'Show that there is nothing to pay',
    responses: page,
  });
  app.get('/billing/mock-portal', (c) => {
    billing.requireMock();
    harden(c);
    return c.html(mockPortalPage());
  });
}

function harden(c: Context<ApiEnv>): void {
  c.header('Content-Security-Policy', PAGE_POLICY);
  c.header('X-Frame-Options', 'DENY');
}

function mountDeliveries(app: Api, { billing }: Deps): void {
  app.openAPIRegistry.registerPath(
    defineRoute(
      {
        method: 'post',
        path: '/billing/webhook',
        security: [],
        tags,
        summary: 'Receive signed events of the payment provider',
        description: '402 on a server without a payment provider.',
        request: {
          headers: z.object({
            'stripe-signature': z
              .string()
              .openapi({ example: 't=1795262400,v1=5257a869e7ecebeda32affa62cdca3fa51cad7e77a0e' }),
          }),
          body: {
            required: true,
            ...json(
              z.looseObject({ id: z.string(), type: z.string() }).openapi({
                example: {
                  id: 'evt_1QvK',
                  type: 'customer.subscription.updated',
                  data: { object: { customer: 'cus_9s6' } },
                },
              }),
              'An event',
            ),
          },
        },
        responses: { 200: json(received, 'Processed, now or earlier, or ignored') },
      },
      ['invalid_signature', 'upgrade_required', 'unavailable'],
    ),
  );
  // Not by `openapi`: the signature is over the bytes as they came.
  app.post('/billing/webhook', async (c) => {
    const body = new Uint8Array(await c.req.arrayBuffer());
    await billing.receive(body, c.req.header('stripe-signature') ?? '');
    return c.json({ received: true as const }, 200);
  });
}

function present({ mode, plan, cycle, status, currentPeriodEndsAt, cancels, entitlements }: BillingView) {
  return {
    mode,
    plan,
    billing_cycle: cycle,
    status,
    current_period_end: iso(currentPeriodEndsAt),
    cancel_at_period_end: cancels,
    entitlements: presentEntitlements(plan, entitlements),
  };
}
