/** Events of Stripe that never came: what they would have told is asked for, in bounded runs, and the operator hears that none come. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eq, ne } from 'drizzle-orm';
import { auditEvents, organizations, subscriptions } from '../../src/control/db/schema.ts';
import { inReverse } from '../harness/ends.ts';
import { openShop, type Shop } from './shop.ts';
import { said } from './team.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const reread = (shop: Shop, signal = new AbortController().signal) => shop.plane.control.billing.rereadDue(signal);
const logged = (shop: Shop, wanted: RegExp) => shop.lines.all.filter(({ message }) => wanted.test(message));

test('what was changed at the provider a day ago without an event holds here, is in the audit log and in the log', async (t) => {
  const shop = await openShop(inReverse(t));
  const bought = await shop.buy('team');
  bought.status = 'canceled';
  shop.plane.now += DAY;
  assert.equal(await reread(shop), 0, 'not yet');
  shop.plane.now += 1;
  assert.equal(await reread(shop), 1);
  assert.deepEqual([shop.plan(), shop.row()?.status], ['free', 'canceled']);
  const { db } = shop.plane.control.store;
  const [, entry] = db.select().from(auditEvents).where(eq(auditEvents.action, 'billing.plan')).all();
  assert.deepEqual([entry?.actorKind, entry?.details], ['system', { from: 'team', to: 'free' }]);
  const [line] = logged(shop, /no event had said so/);
  assert.deepEqual(line?.fields, { orgId: shop.ann.home, from: 'active', to: 'canceled' });
  assert.equal(await reread(shop), 0, 'once a day');
});

test('a page that was paid without an event gives the plan', async (t) => {
  const shop = await openShop(inReverse(t));
  shop.stripe.pay(String((await shop.checkout()).body['checkout_url']));
  shop.plane.now += DAY + 1;
  assert.equal(await reread(shop), 1);
  assert.equal(shop.plan(), 'pro');
});

test('once the paid period has been over for an hour it is asked for every hour', async (t) => {
  const shop = await openShop(inReverse(t));
  const bought = await shop.buy('pro');
  shop.plane.now = bought.current_period_end * 1000 - HOUR / 2;
  assert.equal(await reread(shop), 1, 'as every day');
  shop.plane.now += 1.5 * HOUR;
  assert.equal(await reread(shop), 0);
  shop.plane.now += 1;
  assert.equal(await reread(shop), 1);
  shop.plane.now += HOUR;
  assert.equal(await reread(shop), 0);
  bought.current_period_end += 30 * 86_400;
  shop.plane.now += 1;
  assert.equal(await reread(shop), 1);
  assert.equal(shop.row()?.currentPeriodEndsAt, bought.current_period_end * 1000);
  shop.plane.now += HOUR + 1;
  assert.equal(await reread(shop), 0, 'paid again');
});

test('missed events: an unchanged subscription writes no log line and no audit entry', async (t) => {
  const shop = await openShop(inReverse(t));
  await shop.buy('pro');
  shop.plane.now += DAY + 1;
  const lines = shop.lines.all.length;
  assert.equal(await reread(shop), 1);
  assert.deepEqual([shop.lines.all.length - lines, shop.changes().length], [0, 1]);
});

/** So many organizations on Pro, besides Ann's, which were asked for two days ago, the first before the second. */
function customers(shop: Shop, many: number, more: Partial<typeof subscriptions.$inferInsert> = {}): void {
  shop.plane.control.store.inTx(({ db, now }) => {
    for (let i = 0; i < many; i++) {
      const id = `org-${i}`;
      const org = { id, name: id, slug: id, plan: 'pro' as const, approvalStatus: 'approved' as const, createdAt: now };
      db.insert(organizations).values(org).run();
      const customerId = `cus_extra_${i}`;
      shop.stripe.customers.set(customerId, {});
      db.insert(subscriptions)
        .values({ orgId: id, customerId, updatedAt: now - 2 * DAY + i, ...more })
        .run();
    }
  });
}

test('a question that fails ends the run and goes to the end of the line', async (t) => {
  const shop = await openShop(inReverse(t));
  customers(shop, 2);
  shop.stripe.instead = (response) => response.writeHead(400, { 'content-type': 'application/json' }).end('{}');
  const asked = shop.stripe.asked.length;
  assert.equal(await reread(shop), 1);
  assert.ok(shop.stripe.asked.slice(asked).every(({ fields }) => fields['customer'] === 'cus_extra_0'));
  const [line] = logged(shop, /could not be read again/);
  assert.deepEqual([line?.level, line?.fields['orgId']], ['warn', 'org-0']);
  shop.stripe.instead = undefined;
  assert.equal(await reread(shop), 1);
  assert.equal(shop.stripe.asked.at(-1)?.fields['customer'], 'cus_extra_1');
});

test('customers that the provider does not know, as with the keys of another account, keep their plan', async (t) => {
  const shop = await openShop(inReverse(t));
  await shop.buy('team');
  shop.stripe.customers.clear();
  shop.plane.now += DAY + 1;
  assert.equal(await reread(shop), 1);
  assert.equal(shop.plan(), 'team');
  assert.equal(logged(shop, /keys those of another account/).length, 1);
  assert.equal(await reread(shop), 0, 'once a day');
});

test('a run stops when the server does', async (t) => {
  const shop = await openShop(inReverse(t));
  customers(shop, 3);
  const stopping = new AbortController();
  shop.stripe.gate = new Promise((resolve) => setImmediate(resolve)).then(() => stopping.abort());
  assert.equal(await reread(shop, stopping.signal), 1);
  assert.equal(await reread(shop, stopping.signal), 0);
});

test('a run asks a hundred times at most, for those whose paid period is over first', async (t) => {
  const shop = await openShop(inReverse(t));
  const bought = await shop.buy('pro');
  shop.plane.now = bought.current_period_end * 1000 + HOUR + 1;
  customers(shop, 150, { status: 'active', currentPeriodEndsAt: shop.plane.now + DAY });
  shop.plane.control.store.inTx(({ db, now }) => {
    const others = ne(subscriptions.orgId, shop.ann.home);
    db.update(subscriptions)
      .set({ updatedAt: now - 60 * DAY })
      .where(others)
      .run();
  });
  const asked = shop.stripe.asked.length;
  assert.equal(await reread(shop), 100);
  const rechecked = shop.stripe.asked.slice(asked).map(({ fields }) => fields['customer']);
  assert.deepEqual([rechecked.length, rechecked[0]], [100, bought.customer]);
  assert.equal(await reread(shop), 51);
});

test('an end of the customer itself ends what it paid for', async (t) => {
  const shop = await openShop(inReverse(t));
  const bought = await shop.buy('pro');
  const event = shop.stripe.event('customer.deleted', { id: bought.customer, object: 'customer' });
  shop.stripe.customers.clear();
  shop.stripe.subscriptions.clear();
  assert.equal((await shop.deliver(event)).status, 200);
  assert.equal(shop.plan(), 'free');
});

test('deliveries whose signature does not fit are in the log once an hour; those without one are not', async (t) => {
  const shop = await openShop(inReverse(t));
  const event = shop.stripe.event('invoice.paid', { customer: 'cus_1' });
  const forged = shop.stripe.sign(event.body, { secret: 'whsec_other' });
  const deliver = async (signature: string) =>
    assert.deepEqual(said(await shop.deliver(event, signature)), [401, 'invalid_signature']);
  const lines = () => logged(shop, /signature that does not fit/).length;
  await deliver('');
  assert.equal(lines(), 0);
  await deliver(forged);
  await deliver(forged);
  assert.equal(lines(), 1);
  shop.plane.now += HOUR - 1;
  await deliver(forged);
  assert.equal(lines(), 1);
  shop.plane.now += 1;
  await deliver(forged);
  assert.equal(lines(), 2);
});

test('an organization that waits for an operator, or was suspended, buys nothing, and can cancel what it has', async (t) => {
  const shop = await openShop(inReverse(t));
  await shop.buy('pro');
  const operator = { kind: 'operator', orgId: null, userId: null, label: 'root', ipAddress: '' } as const;
  shop.plane.control.operatorOrgs.suspend(operator, shop.ann.home);
  const asked = shop.stripe.asked.length;
  assert.deepEqual(said(await shop.checkout({ plan: 'team' })), [403, 'forbidden']);
  assert.equal(shop.stripe.asked.length, asked);
  assert.equal((await shop.ann.call('POST', '/billing/portal')).status, 200);
});
