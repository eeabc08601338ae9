/** What Stripe tells by itself: signed, once, in any order, while it is down, two at once; and whose word about a plan counts. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { billingEvents } from '../../src/control/db/schema.ts';
import { inReverse } from '../harness/ends.ts';
import { PRICES } from '../harness/stripe.ts';
import { openShop, type Shop } from './shop.ts';
import { said } from './team.ts';

const HOUR = 3_600_000;
const lists = (shop: Shop) => shop.stripe.asked.filter(({ path }) => path === '/v1/subscriptions').length;
const stored = (shop: Shop) => shop.plane.control.store.db.select().from(billingEvents).all().length;

test('an event without a signature, with a forged one, or one that is older than five minutes is 401 and changes nothing', async (t) => {
  const shop = await openShop(inReverse(t));
  const { body } = await shop.checkout();
  const event = shop.stripe.event('customer.subscription.created', shop.stripe.pay(String(body['checkout_url'])));
  const now = shop.stripe.now();
  const { sign } = shop.stripe;
  const wrong = {
    none: '',
    nonsense: 'x',
    'another secret': sign.call(shop.stripe, event.body, { secret: 'whsec_other' }),
    'another body': sign.call(shop.stripe, event.body.replace('evt_', 'evt-')),
    'another time': event.signature.replace(/^t=\d+/, `t=${now + 1}`),
    'no scheme that counts': event.signature.replace('v1=', 'v0='),
    'five minutes and a second': sign.call(shop.stripe, event.body, { at: now - 301 }),
  };
  for (const [name, signature] of Object.entries(wrong)) {
    assert.deepEqual(said(await shop.deliver(event, signature)), [401, 'invalid_signature'], name);
  }
  assert.deepEqual([shop.plan(), lists(shop), stored(shop)], ['free', 0, 0]);
  const onTime = sign.call(shop.stripe, event.body, { at: now - 300 });
  assert.equal((await shop.deliver(event, onTime)).status, 200);
  assert.equal(shop.plan(), 'pro');
});

test('what is signed and no event is 400; an event of another kind, or of another customer, is 200 and sends no request', async (t) => {
  const shop = await openShop(inReverse(t));
  await shop.checkout();
  for (const body of ['{', '[]', '"x"', '{"id":1,"type":"x"}', '{"id":"","type":"x"}']) {
    const sent = await shop.deliver({ id: '', body, signature: shop.stripe.sign(body) });
    assert.deepEqual(said(sent), [400, 'invalid_request'], body);
  }
  const customer = shop.row()?.customerId;
  for (const event of [
    shop.stripe.event('payout.paid', { customer }),
    shop.stripe.event('customer.subscription.updated', {}),
    shop.stripe.event('customer.subscription.updated', { customer: 'cus_of_somebody_else' }),
    shop.stripe.event('customer.subscription.updated', { customer: 7 }),
  ]) {
    const sent = await shop.deliver(event);
    assert.deepEqual([sent.status, sent.body], [200, { received: true }]);
  }
  assert.deepEqual([lists(shop), stored(shop)], [0, 0]);
});

test('a delivery over 1 MiB is 413', async (t) => {
  const shop = await openShop(inReverse(t));
  const body = ' '.repeat(1024 * 1024 + 1);
  assert.deepEqual(said(await shop.deliver({ id: '', body, signature: 'x' })), [413, 'payload_too_large']);
});

test('billing webhook: a repeated event is accepted and sends no request', async (t) => {
  const shop = await openShop(inReverse(t));
  const bought = await shop.buy('pro');
  const event = shop.stripe.event('invoice.paid', { customer: bought.customer });
  assert.equal((await shop.deliver(event)).status, 200);
  const asked = lists(shop);
  shop.setPlan('enterprise');
  for (let i = 0; i < 3; i++) {
    assert.equal((await shop.deliver(event, shop.stripe.sign(event.body))).status, 200);
  }
  assert.equal(lists(shop), asked);
  assert.equal(shop.plan(), 'enterprise');
});

test('the order of events makes no difference: what the provider says now counts', async (t) => {
  const shop = await openShop(inReverse(t));
  const bought = await shop.buy('pro');
  const older = shop.stripe.event('customer.subscription.updated', bought);
  bought.price = PRICES.team_monthly;
  const newer = shop.stripe.event('customer.subscription.updated', bought);
  assert.equal((await shop.deliver(newer)).status, 200);
  assert.equal(shop.plan(), 'team');
  assert.equal((await shop.deliver(older)).status, 200);
  assert.equal(shop.plan(), 'team');
  bought.status = 'canceled';
  // The end comes before the change that came before it.
  assert.equal((await shop.deliver(shop.stripe.event('customer.subscription.deleted', bought))).status, 200);
  assert.equal(
    (await shop.deliver(shop.stripe.event('customer.subscription.updated', { ...bought, status: 'active' }))).status,
    200,
  );
  assert.equal(shop.plan(), 'free');
  assert.deepEqual(shop.changes(), [
    ['free', 'pro'],
    ['pro', 'team'],
    ['team', 'free'],
  ]);
});

test('of two deliveries at once the one that looked earlier does not overwrite the one that looked later', async (t) => {
  const shop = await openShop(inReverse(t));
  const bought = await shop.buy('pro');
  let release = (): void => {};
  const asked = lists(shop);
  // The provider has made its answer to the first, and is slow to send it.
  shop.stripe.gate = new Promise((resolve) => {
    release = resolve;
  });
  const first = shop.deliver(shop.stripe.event('invoice.paid', { customer: bought.customer }));
  while (lists(shop) === asked) await new Promise((resolve) => setImmediate(resolve));
  bought.status = 'canceled';
  const others = [1, 2, 3].map(() => shop.deliver(shop.stripe.event('customer.subscription.deleted', bought)));
  // Long enough for the others to be through, if nothing made them wait.
  for (let i = 0; i < 10; i++) await shop.ann.call('GET', '/billing');
  release();
  for (const answer of await Promise.all([first, ...others])) assert.equal(answer.status, 200);
  assert.deepEqual([shop.plan(), shop.row()?.status], ['free', 'canceled']);
  assert.ok(lists(shop) <= asked + 4);
});

test('while the provider can not be asked the event is refused, and counts when it comes again', async (t) => {
  const shop = await openShop(inReverse(t));
  const { body } = await shop.checkout();
  const bought = shop.stripe.pay(String(body['checkout_url']));
  const event = shop.stripe.event('checkout.session.completed', { customer: bought.customer });
  let down = 0;
  shop.stripe.instead = (response, { path }) => {
    assert.equal(path, '/v1/subscriptions');
    down += 1;
    response.destroy();
  };
  const [refused] = await shop.stripe.deliver(`http://127.0.0.1:${shop.api.port}/billing/webhook`, event, 1);
  assert.equal(refused, 503);
  assert.ok(down >= 1);
  assert.deepEqual([shop.plan(), stored(shop)], ['free', 0]);
  shop.stripe.instead = undefined;
  assert.deepEqual(await shop.stripe.deliver(`http://127.0.0.1:${shop.api.port}/api/billing/webhook`, event), [200]);
  assert.deepEqual([shop.plan(), stored(shop)], ['pro', 1]);
});

test('a plan is kept while the provider still tries to get its money, and goes when it gives up', async (t) => {
  const shop = await openShop(inReverse(t));
  const bought = await shop.buy('team');
  const seen: unknown[] = [];
  for (const status of ['trialing', 'past_due', 'unpaid', 'active', 'paused', 'active', 'canceled']) {
    bought.status = status;
    assert.equal((await shop.deliver(shop.stripe.event('customer.subscription.updated', bought))).status, 200);
    seen.push([status, shop.plan()]);
  }
  assert.deepEqual(seen, [
    ['trialing', 'team'],
    ['past_due', 'team'],
    ['unpaid', 'free'],
    ['active', 'team'],
    ['paused', 'free'],
    ['active', 'team'],
    ['canceled', 'free'],
  ]);
});

test('a first payment that never comes through gives nothing', async (t) => {
  const shop = await openShop(inReverse(t));
  await shop.checkout();
  const tried = shop.stripe.subscribe(shop.row()?.customerId ?? '', PRICES.pro_monthly);
  for (const status of ['incomplete', 'incomplete_expired']) {
    tried.status = status;
    await shop.deliver(shop.stripe.event('customer.subscription.updated', tried));
    assert.deepEqual([shop.plan(), shop.row()?.subscriptionId], ['free', null]);
  }
  assert.equal((await shop.checkout()).status, 200);
});

test("what an operator gave is not taken by an end of payments, and is billing's again once it is what is paid for", async (t) => {
  const shop = await openShop(inReverse(t));
  const bought = await shop.buy('pro');
  const tell = async (): Promise<unknown> => {
    assert.equal((await shop.deliver(shop.stripe.event('customer.subscription.updated', bought))).status, 200);
    return shop.plan();
  };
  shop.setPlan('enterprise');
  assert.equal(await tell(), 'enterprise', 'a renewal');
  bought.status = 'unpaid';
  assert.equal(await tell(), 'enterprise', 'an end of payments');
  bought.status = 'active';
  assert.equal(await tell(), 'enterprise', 'paid again');
  shop.setPlan('free');
  assert.equal(await tell(), 'free', 'what an operator took');
  shop.setPlan('pro');
  bought.status = 'canceled';
  assert.equal(await tell(), 'free', 'as paid for, and over');
  shop.setPlan('pro');
  assert.equal(await tell(), 'pro', 'a gift after the end');
});

test("a purchase is the owner's own word, also on a plan that an operator gave", async (t) => {
  const shop = await openShop(inReverse(t));
  shop.setPlan('enterprise');
  await shop.buy('pro');
  assert.equal(shop.plan(), 'pro');
});

test('of two subscriptions the larger counts, and the log says that there are two', async (t) => {
  const shop = await openShop(inReverse(t));
  const bought = await shop.buy('team');
  const second = shop.stripe.subscribe(bought.customer, PRICES.pro_monthly);
  await shop.deliver(shop.stripe.event('customer.subscription.created', second));
  assert.equal(shop.plan(), 'team');
  assert.ok(shop.lines.all.some(({ message }) => /pays for several subscriptions/.test(message)));
  bought.status = 'canceled';
  await shop.deliver(shop.stripe.event('customer.subscription.deleted', bought));
  assert.equal(shop.plan(), 'pro');
});

test('a price that was taken off the list is known by the notes of its purchase, and one never heard of changes nothing', async (t) => {
  const shop = await openShop(inReverse(t));
  const bought = await shop.buy('pro');
  bought.price = 'price_of_last_year';
  await shop.deliver(shop.stripe.event('customer.subscription.updated', bought));
  assert.equal(shop.plan(), 'pro');
  const strange = shop.stripe.subscribe(bought.customer, 'price_strange');
  bought.status = 'canceled';
  await shop.deliver(shop.stripe.event('customer.subscription.updated', strange));
  assert.equal(shop.plan(), 'pro');
  assert.ok(shop.lines.all.some(({ message }) => /a price that the settings do not name/.test(message)));
});

test('an end of payments reaches the tunnels that run', async (t) => {
  const shop = await openShop(inReverse(t));
  const bought = await shop.buy('team');
  await shop.ann.call('POST', '/tunnels', { localPort: 3000 });
  shop.plane.deltas.length = 0;
  bought.status = 'canceled';
  await shop.deliver(shop.stripe.event('customer.subscription.deleted', bought));
  const told = shop.plane.deltas.map((delta) => (delta.kind === 'put' ? delta.route.expiresAt : delta.kind));
  assert.deepEqual(told, [shop.plane.now + HOUR]);
});

test('events that were dealt with are forgotten after a month', async (t) => {
  const shop = await openShop(inReverse(t));
  await shop.buy('pro');
  assert.equal(stored(shop), 1);
  shop.plane.now += 30 * 24 * HOUR;
  shop.plane.control.retention.sweep();
  assert.equal(stored(shop), 1);
  shop.plane.now += 1;
  shop.plane.control.retention.sweep();
  assert.equal(stored(shop), 0);
});
