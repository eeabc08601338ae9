/** Test events of Stripe: https://docs.stripe.com/api/events */
import { hmac } from '../scheme.ts';
import { jsonBody, seconds, shortId, type TestContext, type TestSender } from './sender.ts';

function objectOf(type: string, { id, now }: TestContext): Readonly<Record<string, unknown>> {
  const made = { created: seconds(now), currency: 'usd', livemode: false, metadata: {} };
  const key = shortId(id, 16);
  const customer = `cus_test_${key}`;
  switch (type) {
    case 'payment_intent.succeeded':
      return { ...made, id: `pi_test_${key}`, object: 'payment_intent', amount: 2000, customer, status: 'succeeded' };
    case 'invoice.paid': {
      const paid = { status: 'paid', amount_due: 2000, amount_paid: 2000, billing_reason: 'subscription_cycle' };
      return { ...made, id: `in_test_${key}`, object: 'invoice', customer, ...paid };
    }
    case 'customer.subscription.deleted': {
      const ended = { status: 'canceled', canceled_at: seconds(now), cancel_at_period_end: false };
      return { ...made, id: `sub_test_${key}`, object: 'subscription', customer, ...ended };
    }
    case 'charge.refunded': {
      const refunded = { amount: 2000, amount_refunded: 2000, refunded: true, status: 'succeeded' };
      return { ...made, id: `ch_test_${key}`, object: 'charge', customer, ...refunded };
    }
    default: {
      const paid = { amount_total: 2000, mode: 'payment', payment_status: 'paid', status: 'complete' };
      const details = { customer_details: { email: 'jenny.rosen@example.com', name: 'Jenny Rosen' } };
      return { ...made, id: `cs_test_${key}`, object: 'checkout.session', customer, ...paid, ...details };
    }
  }
}

export const stripe: TestSender = {
  types: [
    ...['checkout.session.completed', 'payment_intent.succeeded', 'invoice.paid'],
    ...['customer.subscription.deleted', 'charge.refunded'],
  ],
  make: (type, context) => {
    const at = seconds(context.now);
    const event = { id: `evt_test_${shortId(context.id, 24)}`, object: 'event', api_version: '2025-09-30.clover' };
    const data = { object: objectOf(type, context) };
    const rest = { created: at, data, livemode: false, pending_webhooks: 1, request: { id: null }, type };
    const body = jsonBody({ ...event, ...rest });
    return {
      headers: {
        accept: '*/*; q=0.5, application/xml',
        'content-type': 'application/json; charset=utf-8',
        'user-agent': 'Stripe/1.0 (+https://stripe.com/docs/webhooks)',
        'stripe-signature': `t=${at},v1=${hmac(context.secret, [`${at}.`, body])}`,
      },
      body,
    };
  },
};
