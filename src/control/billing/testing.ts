/** A plane that sells plans by a fake Stripe, both on one clock, with one owner on Free. */
import assert from 'node:assert/strict';
import { eq } from 'drizzle-orm';
import { Secret } from '../../base/secret.ts';
import { auditEvents, organizations, subscriptions } from '../db/schema.ts';
import type { BillingOptions } from './open-billing.ts';
import type { Plan } from '../core/rules/plans.ts';
import type { Ends } from '../../../test/harness/ends.ts';
import {
  type FakeStripe,
  PRICES,
  SECRET_KEY,
  type SignedEvent,
  startStripe,
  WEBHOOK_SECRET,
} from '../../../test/harness/stripe.ts';
import type { Answer } from '../core/testing/harness.ts';
import { Lines } from '../core/testing/log-lines.ts';
import { Plane } from '../core/testing/plane.ts';
import { type PlaneApi, servePlane } from '../core/testing/plane-api.ts';
import { type Person, Team } from '../core/testing/team.ts';

export interface BillingFixture {
  readonly stripe: FakeStripe;
  readonly plane: Plane;
  readonly api: PlaneApi;
  readonly team: Team;
  readonly lines: Lines;
  /** Owner of an organization on Free. */
  readonly ann: Person;
  checkout(body?: object): Promise<Answer>;
  /** A checkout that is paid, and the event about it delivered. */
  buy(plan?: 'pro' | 'team'): Promise<ReturnType<FakeStripe['pay']>>;
  deliver(event: SignedEvent, signature?: string): Promise<Answer>;
  /** Of Ann's organization. */
  plan(): Plan | undefined;
  row(): typeof subscriptions.$inferSelect | undefined;
  /** From what to what, as the audit log has it. */
  changes(): unknown[];
  setPlan(plan: Plan): void;
}

export async function openBillingFixture(
  t: Ends,
  changes: Partial<BillingOptions & { mode: 'stripe' }> = {},
): Promise<BillingFixture> {
  const lines = new Lines();
  const stripe = await startStripe(t, () => Math.floor(plane.now / 1000));
  const plane = new Plane(undefined, {
    billing: {
      mode: 'stripe',
      secretKey: new Secret(SECRET_KEY),
      webhookSecret: new Secret(WEBHOOK_SECRET),
      apiBase: stripe.url,
      prices: PRICES,
      ...changes,
    },
    log: lines.log,
  });
  const api = await servePlane(plane, { log: lines.log });
  t.after(async () => {
    await api.close();
    plane.close();
  });
  const team = new Team(plane, api);
  const ann = await team.person('ann@example.test');
  const { db } = plane.control.store;
  db.update(organizations).set({ plan: 'free' }).run();
  const setPlan = (plan: Plan): void => {
    const operator = { kind: 'operator', orgId: null, userId: null, label: 'root', ipAddress: '' } as const;
    plane.control.operatorOrgs.setPlan(operator, ann.home, plan);
  };
  const checkout = (body: object = { plan: 'pro' }) => ann.call('POST', '/billing/checkout-session', body);
  const deliver = (event: SignedEvent, signature = event.signature) =>
    api.call('POST', '/billing/webhook', { raw: event.body, headers: { 'stripe-signature': signature } });
  return {
    stripe,
    plane,
    api,
    team,
    lines,
    ann,
    checkout,
    deliver,
    buy: async (plan = 'pro') => {
      const { status, body, text } = await checkout({ plan });
      assert.equal(status, 200, text);
      const bought = stripe.pay(String(body['checkout_url']));
      const told = await deliver(stripe.event('customer.subscription.created', bought));
      assert.equal(told.status, 200, told.text);
      return bought;
    },
    plan: () => db.select().from(organizations).where(eq(organizations.id, ann.home)).get()?.plan,
    row: () => db.select().from(subscriptions).where(eq(subscriptions.orgId, ann.home)).get(),
    changes: () =>
      db
        .select()
        .from(auditEvents)
        .where(eq(auditEvents.action, 'billing.plan'))
        .all()
        .map(({ changes: changed }) => [changed?.[0]?.from, changed?.[0]?.to]),
    setPlan,
  };
}
