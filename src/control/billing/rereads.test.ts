/** Events of Stripe that never came: what they would have told is asked for, in bounded runs, and the operator hears that none come. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eq, ne } from 'drizzle-orm';
import { auditEvents, organizations, subscriptions } from '../db/schema.ts';
import { inReverse } from '../../../test/harness/ends.ts';
import { openBillingFixture, type BillingFixture } from './testing.ts';
import { said } from '../core/testing/team.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const reread = (fixture: BillingFixture, signal = new AbortController().signal) =>
  fixture.plane.control.billing.rereadDue(signal);
const logged = (fixture: BillingFixture, wanted: RegExp) =>
  fixture.lines.all.filter(({ message }) => wanted.test(message));

test('what was changed at the provider a day ago without an event holds here, is in the audit log and in the log', async (t) => {
  const fixture = await openBillingFixture(inReverse(t));
  const bought = await fixture.buy('team');
  bought.status = 'canceled';
  fixture.plane.now += DAY;
  assert.equal(await reread(fixture), 0, 'not yet');
  fixture.plane.now += 1;
  assert.equal(await reread(fixture), 1);
  assert.deepEqual([fixture.plan(), fixture.row()?.status], ['free', 'canceled']);
  const { db } = fixture.plane.control.store;
  const [, entry] = db.select().from(auditEvents).where(eq(auditEvents.action, 'billing.plan')).all();
  assert.deepEqual([entry?.actorKind, entry?.changes], ['system', [{ field: 'plan', from: 'team', to: 'free' }]]);
  const [line] = logged(fixture, /changed without an event/);
  assert.deepEqual(line?.fields, { orgId: fixture.ann.home, from: 'active', to: 'canceled' });
  assert.equal(await reread(fixture), 0, 'once a day');
});

test('a page that was paid without an event gives the plan', async (t) => {
  const fixture = await openBillingFixture(inReverse(t));
  fixture.stripe.pay(String((await fixture.checkout()).body['checkout_url']));
  fixture.plane.now += DAY + 1;
  assert.equal(await reread(fixture), 1);
  assert.equal(fixture.plan(), 'pro');
});

test('once the paid period has been over for an hour it is asked for every hour', async (t) => {
  const fixture = await openBillingFixture(inReverse(t));
  const bought = await fixture.buy('pro');
  fixture.plane.now = bought.current_period_end * 1000 - HOUR / 2;
  assert.equal(await reread(fixture), 1, 'as every day');
  fixture.plane.now += 1.5 * HOUR;
  assert.equal(await reread(fixture), 0);
  fixture.plane.now += 1;
  assert.equal(await reread(fixture), 1);
  fixture.plane.now += HOUR;
  assert.equal(await reread(fixture), 0);
  bought.current_period_end += 30 * 86_400;
  fixture.plane.now += 1;
  assert.equal(await reread(fixture), 1);
  assert.equal(fixture.row()?.currentPeriodEndsAt, bought.current_period_end * 1000);
  fixture.plane.now += HOUR + 1;
  assert.equal(await reread(fixture), 0, 'paid again');
});

test('missed events: an unchanged subscription writes no log line and no audit entry', async (t) => {
  const fixture = await openBillingFixture(inReverse(t));
  await fixture.buy('pro');
  fixture.plane.now += DAY + 1;
  const lines = fixture.lines.all.length;
  assert.equal(await reread(fixture), 1);
  assert.deepEqual([fixture.lines.all.length - lines, fixture.changes().length], [0, 1]);
});

/** So many organizations on Pro, besides Ann's, which were asked for two days ago, the first before the second. */
function customers(fixture: BillingFixture, many: number, more: Partial<typeof subscriptions.$inferInsert> = {}): void {
  fixture.plane.control.store.inTx(({ db, now }) => {
    for (let i = 0; i < many; i++) {
      const id = `org-${i}`;
      const org = { id, name: id, slug: id, plan: 'pro' as const, approvalStatus: 'approved' as const, createdAt: now };
      db.insert(organizations).values(org).run();
      const customerId = `cus_extra_${i}`;
      fixture.stripe.customers.set(customerId, {});
      db.insert(subscriptions)
        .values({ orgId: id, customerId, updatedAt: now - 2 * DAY + i, ...more })
        .run();
    }
  });
}

test('a question that fails ends the run and goes to the end of the line', async (t) => {
  const fixture = await openBillingFixture(inReverse(t));
  customers(fixture, 2);
  fixture.stripe.instead = (response) => response.writeHead(400, { 'content-type': 'application/json' }).end('{}');
  const asked = fixture.stripe.asked.length;
  assert.equal(await reread(fixture), 1);
  assert.ok(fixture.stripe.asked.slice(asked).every(({ fields }) => fields['customer'] === 'cus_extra_0'));
  const [line] = logged(fixture, /could not reload a subscription/);
  assert.deepEqual([line?.level, line?.fields['orgId']], ['warn', 'org-0']);
  fixture.stripe.instead = undefined;
  assert.equal(await reread(fixture), 1);
  assert.equal(fixture.stripe.asked.at(-1)?.fields['customer'], 'cus_extra_1');
});

test('customers that the provider does not know, as with the keys of another account, keep their plan', async (t) => {
  const fixture = await openBillingFixture(inReverse(t));
  await fixture.buy('team');
  fixture.stripe.customers.clear();
  fixture.plane.now += DAY + 1;
  assert.equal(await reread(fixture), 1);
  assert.equal(fixture.plan(), 'team');
  assert.equal(logged(fixture, /keys belong to another account/).length, 1);
  assert.equal(await reread(fixture), 0, 'once a day');
});

test('a run stops when the server does', async (t) => {
  const fixture = await openBillingFixture(inReverse(t));
  customers(fixture, 3);
  const stopping = new AbortController();
  fixture.stripe.gate = new Promise((resolve) => setImmediate(resolve)).then(() => stopping.abort());
  assert.equal(await reread(fixture, stopping.signal), 1);
  assert.equal(await reread(fixture, stopping.signal), 0);
});

test('a run asks a hundred times at most, for those whose paid period is over first', async (t) => {
  const fixture = await openBillingFixture(inReverse(t));
  const bought = await fixture.buy('pro');
  fixture.plane.now = bought.current_period_end * 1000 + HOUR + 1;
  customers(fixture, 150, { status: 'active', currentPeriodEndsAt: fixture.plane.now + DAY });
  fixture.plane.control.store.inTx(({ db, now }) => {
    const others = ne(subscriptions.orgId, fixture.ann.home);
    db.update(subscriptions)
      .set({ updatedAt: now - 60 * DAY })
      .where(others)
      .run();
  });
  const asked = fixture.stripe.asked.length;
  assert.equal(await reread(fixture), 100);
  const rechecked = fixture.stripe.asked.slice(asked).map(({ fields }) => fields['customer']);
  assert.deepEqual([rechecked.length, rechecked[0]], [100, bought.customer]);
  assert.equal(await reread(fixture), 51);
});

test('an end of the customer itself ends what it paid for', async (t) => {
  const fixture = await openBillingFixture(inReverse(t));
  const bought = await fixture.buy('pro');
  const event = fixture.stripe.event('customer.deleted', { id: bought.customer, object: 'customer' });
  fixture.stripe.customers.clear();
  fixture.stripe.subscriptions.clear();
  assert.equal((await fixture.deliver(event)).status, 200);
  assert.equal(fixture.plan(), 'free');
});

test('deliveries whose signature does not fit are in the log once an hour; those without one are not', async (t) => {
  const fixture = await openBillingFixture(inReverse(t));
  const event = fixture.stripe.event('invoice.paid', { customer: 'cus_1' });
  const forged = fixture.stripe.sign(event.body, { secret: 'whsec_other' });
  const deliver = async (signature: string) =>
    assert.deepEqual(said(await fixture.deliver(event, signature)), [401, 'invalid_signature']);
  const lines = () => logged(fixture, /has an invalid signature/).length;
  await deliver('');
  assert.equal(lines(), 0);
  await deliver(forged);
  await deliver(forged);
  assert.equal(lines(), 1);
  fixture.plane.now += HOUR - 1;
  await deliver(forged);
  assert.equal(lines(), 1);
  fixture.plane.now += 1;
  await deliver(forged);
  assert.equal(lines(), 2);
});

test('an organization that waits for an operator, or was suspended, buys nothing, and can cancel what it has', async (t) => {
  const fixture = await openBillingFixture(inReverse(t));
  await fixture.buy('pro');
  const operator = { kind: 'operator', orgId: null, userId: null, label: 'root', ipAddress: '' } as const;
  fixture.plane.control.operatorOrgs.suspend(operator, fixture.ann.home);
  const asked = fixture.stripe.asked.length;
  assert.deepEqual(said(await fixture.checkout({ plan: 'team' })), [403, 'forbidden']);
  assert.equal(fixture.stripe.asked.length, asked);
  assert.equal((await fixture.ann.call('POST', '/billing/portal')).status, 200);
});
