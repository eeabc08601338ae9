/** What Stripe tells by itself: signed, once, in any order, while it is down, two at once; and whose word about a plan counts. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { billingEvents } from '../db/schema.ts';
import { inReverse } from '../../../test/harness/ends.ts';
import { PRICES } from '../../../test/harness/stripe.ts';
import { openBillingFixture, type BillingFixture } from './testing.ts';
import { said } from '../core/testing/team.ts';

const HOUR = 3_600_000;
const lists = (fixture: BillingFixture) =>
  fixture.stripe.asked.filter(({ path }) => path === '/v1/subscriptions').length;
const stored = (fixture: BillingFixture) => fixture.plane.control.store.db.select().from(billingEvents).all().length;

test('an event without a signature, with a forged one, or one that is older than five minutes is 401 and changes nothing', async (t) => {
  const fixture = await openBillingFixture(inReverse(t));
  const { body } = await fixture.checkout();
  const event = fixture.stripe.event('customer.subscription.created', fixture.stripe.pay(String(body['checkout_url'])));
  const now = fixture.stripe.now();
  const { sign } = fixture.stripe;
  const wrong = {
    none: '',
    nonsense: 'x',
    'another secret': sign.call(fixture.stripe, event.body, { secret: 'whsec_other' }),
    'another body': sign.call(fixture.stripe, event.body.replace('evt_', 'evt-')),
    'another time': event.signature.replace(/^t=\d+/, `t=${now + 1}`),
    'no scheme that counts': event.signature.replace('v1=', 'v0='),
    'five minutes and a second': sign.call(fixture.stripe, event.body, { at: now - 301 }),
  };
  for (const [name, signature] of Object.entries(wrong)) {
    assert.deepEqual(said(await fixture.deliver(event, signature)), [401, 'invalid_signature'], name);
  }
  assert.deepEqual([fixture.plan(), lists(fixture), stored(fixture)], ['free', 0, 0]);
  const onTime = sign.call(fixture.stripe, event.body, { at: now - 300 });
  assert.equal((await fixture.deliver(event, onTime)).status, 200);
  assert.equal(fixture.plan(), 'pro');
});

test('what is signed and no event is 400; an event of another kind, or of another customer, is 200 and sends no request', async (t) => {
  const fixture = await openBillingFixture(inReverse(t));
  await fixture.checkout();
  for (const body of ['{', '[]', '"x"', '{"id":1,"type":"x"}', '{"id":"","type":"x"}']) {
    const sent = await fixture.deliver({ id: '', body, signature: fixture.stripe.sign(body) });
    assert.deepEqual(said(sent), [400, 'invalid_request'], body);
  }
  const customer = fixture.row()?.customerId;
  for (const event of [
    fixture.stripe.event('payout.paid', { customer }),
    fixture.stripe.event('customer.subscription.updated', {}),
    fixture.stripe.event('customer.subscription.updated', { customer: 'cus_of_another' }),
    fixture.stripe.event('customer.subscription.updated', { customer: 7 }),
  ]) {
    const sent = await fixture.deliver(event);
    assert.deepEqual([sent.status, sent.body], [200, { received: true }]);
  }
  assert.deepEqual([lists(fixture), stored(fixture)], [0, 0]);
});

test('a delivery over 1 MiB is 413', async (t) => {
  const fixture = await openBillingFixture(inReverse(t));
  const body = ' '.repeat(1024 * 1024 + 1);
  assert.deepEqual(said(await fixture.deliver({ id: '', body, signature: 'x' })), [413, 'payload_too_large']);
});

test('billing webhook: a repeated event is accepted and sends no request', async (t) => {
  const fixture = await openBillingFixture(inReverse(t));
  const bought = await fixture.buy('pro');
  const event = fixture.stripe.event('invoice.paid', { customer: bought.customer });
  assert.equal((await fixture.deliver(event)).status, 200);
  const asked = lists(fixture);
  fixture.setPlan('enterprise');
  for (let i = 0; i < 3; i++) {
    assert.equal((await fixture.deliver(event, fixture.stripe.sign(event.body))).status, 200);
  }
  assert.equal(lists(fixture), asked);
  assert.equal(fixture.plan(), 'enterprise');
});

test('the order of events makes no difference: what the provider says now counts', async (t) => {
  const fixture = await openBillingFixture(inReverse(t));
  const bought = await fixture.buy('pro');
  const older = fixture.stripe.event('customer.subscription.updated', bought);
  bought.price = PRICES.team_monthly;
  const newer = fixture.stripe.event('customer.subscription.updated', bought);
  assert.equal((await fixture.deliver(newer)).status, 200);
  assert.equal(fixture.plan(), 'team');
  assert.equal((await fixture.deliver(older)).status, 200);
  assert.equal(fixture.plan(), 'team');
  bought.status = 'canceled';
  // The end comes before the change that came before it.
  assert.equal((await fixture.deliver(fixture.stripe.event('customer.subscription.deleted', bought))).status, 200);
  assert.equal(
    (await fixture.deliver(fixture.stripe.event('customer.subscription.updated', { ...bought, status: 'active' })))
      .status,
    200,
  );
  assert.equal(fixture.plan(), 'free');
  assert.deepEqual(fixture.changes(), [
    ['free', 'pro'],
    ['pro', 'team'],
    ['team', 'free'],
  ]);
});

test('of two deliveries at once the one that looked earlier does not overwrite the one that looked later', async (t) => {
  const fixture = await openBillingFixture(inReverse(t));
  const bought = await fixture.buy('pro');
  let release = (): void => {};
  const asked = lists(fixture);
  // The provider has made its answer to the first, and is slow to send it.
  fixture.stripe.gate = new Promise((resolve) => {
    release = resolve;
  });
  const first = fixture.deliver(fixture.stripe.event('invoice.paid', { customer: bought.customer }));
  while (lists(fixture) === asked) await new Promise((resolve) => setImmediate(resolve));
  bought.status = 'canceled';
  const others = [1, 2, 3].map(() => fixture.deliver(fixture.stripe.event('customer.subscription.deleted', bought)));
  // Long enough for the others to be through, if nothing made them wait.
  for (let i = 0; i < 10; i++) await fixture.ann.call('GET', '/billing');
  release();
  for (const answer of await Promise.all([first, ...others])) assert.equal(answer.status, 200);
  assert.deepEqual([fixture.plan(), fixture.row()?.status], ['free', 'canceled']);
  assert.ok(lists(fixture) <= asked + 4);
});

test('while the provider can not be asked the event is refused, and counts when it comes again', async (t) => {
  const fixture = await openBillingFixture(inReverse(t));
  const { body } = await fixture.checkout();
  const bought = fixture.stripe.pay(String(body['checkout_url']));
  const event = fixture.stripe.event('checkout.session.completed', { customer: bought.customer });
  let down = 0;
  fixture.stripe.instead = (response, { path }) => {
    assert.equal(path, '/v1/subscriptions');
    down += 1;
    response.destroy();
  };
  const [refused] = await fixture.stripe.deliver(`http://127.0.0.1:${fixture.api.port}/billing/webhook`, event, 1);
  assert.equal(refused, 503);
  assert.ok(down >= 1);
  assert.deepEqual([fixture.plan(), stored(fixture)], ['free', 0]);
  fixture.stripe.instead = undefined;
  assert.deepEqual(
    await fixture.stripe.deliver(`http://127.0.0.1:${fixture.api.port}/api/billing/webhook`, event),
    [200],
  );
  assert.deepEqual([fixture.plan(), stored(fixture)], ['pro', 1]);
});

test('a plan is kept while the provider still tries to get its money, and goes when it gives up', async (t) => {
  const fixture = await openBillingFixture(inReverse(t));
  const bought = await fixture.buy('team');
  const seen: unknown[] = [];
  for (const status of ['trialing', 'past_due', 'unpaid', 'active', 'paused', 'active', 'canceled']) {
    bought.status = status;
    assert.equal((await fixture.deliver(fixture.stripe.event('customer.subscription.updated', bought))).status, 200);
    seen.push([status, fixture.plan()]);
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
  const fixture = await openBillingFixture(inReverse(t));
  await fixture.checkout();
  const tried = fixture.stripe.subscribe(fixture.row()?.customerId ?? '', PRICES.pro_monthly);
  for (const status of ['incomplete', 'incomplete_expired']) {
    tried.status = status;
    await fixture.deliver(fixture.stripe.event('customer.subscription.updated', tried));
    assert.deepEqual([fixture.plan(), fixture.row()?.subscriptionId], ['free', null]);
  }
  assert.equal((await fixture.checkout()).status, 200);
});

test("what an operator gave is not taken by an end of payments, and is billing's again once it is what is paid for", async (t) => {
  const fixture = await openBillingFixture(inReverse(t));
  const bought = await fixture.buy('pro');
  const tell = async (): Promise<unknown> => {
    assert.equal((await fixture.deliver(fixture.stripe.event('customer.subscription.updated', bought))).status, 200);
    return fixture.plan();
  };
  fixture.setPlan('enterprise');
  assert.equal(await tell(), 'enterprise', 'a renewal');
  bought.status = 'unpaid';
  assert.equal(await tell(), 'enterprise', 'an end of payments');
  bought.status = 'active';
  assert.equal(await tell(), 'enterprise', 'paid again');
  fixture.setPlan('free');
  assert.equal(await tell(), 'free', 'what an operator took');
  fixture.setPlan('pro');
  bought.status = 'canceled';
  assert.equal(await tell(), 'free', 'as paid for, and over');
  fixture.setPlan('pro');
  assert.equal(await tell(), 'pro', 'a gift after the end');
});

test("a purchase is the owner's own word, also on a plan that an operator gave", async (t) => {
  const fixture = await openBillingFixture(inReverse(t));
  fixture.setPlan('enterprise');
  await fixture.buy('pro');
  assert.equal(fixture.plan(), 'pro');
});

test('of two subscriptions the larger counts, and the log says that there are two', async (t) => {
  const fixture = await openBillingFixture(inReverse(t));
  const bought = await fixture.buy('team');
  const second = fixture.stripe.subscribe(bought.customer, PRICES.pro_monthly);
  await fixture.deliver(fixture.stripe.event('customer.subscription.created', second));
  assert.equal(fixture.plan(), 'team');
  assert.ok(fixture.lines.all.some(({ message }) => /pays for several subscriptions/.test(message)));
  bought.status = 'canceled';
  await fixture.deliver(fixture.stripe.event('customer.subscription.deleted', bought));
  assert.equal(fixture.plan(), 'pro');
});

test('a price that was taken off the list is known by the notes of its purchase, and one never heard of changes nothing', async (t) => {
  const fixture = await openBillingFixture(inReverse(t));
  const bought = await fixture.buy('pro');
  bought.price = 'price_of_last_year';
  await fixture.deliver(fixture.stripe.event('customer.subscription.updated', bought));
  assert.equal(fixture.plan(), 'pro');
  const strange = fixture.stripe.subscribe(bought.customer, 'price_strange');
  bought.status = 'canceled';
  await fixture.deliver(fixture.stripe.event('customer.subscription.updated', strange));
  assert.equal(fixture.plan(), 'pro');
  assert.ok(fixture.lines.all.some(({ message }) => /a price that is not in the settings/.test(message)));
});

test('an end of payments reaches the tunnels that run', async (t) => {
  const fixture = await openBillingFixture(inReverse(t));
  const bought = await fixture.buy('team');
  await fixture.ann.call('POST', '/tunnels', { localPort: 3000 });
  fixture.plane.deltas.length = 0;
  bought.status = 'canceled';
  await fixture.deliver(fixture.stripe.event('customer.subscription.deleted', bought));
  const told = fixture.plane.deltas.map((delta) => (delta.kind === 'put' ? delta.route.expiresAt : delta.kind));
  assert.deepEqual(told, [fixture.plane.now + HOUR]);
});

test('events that were dealt with are forgotten after a month', async (t) => {
  const fixture = await openBillingFixture(inReverse(t));
  await fixture.buy('pro');
  assert.equal(stored(fixture), 1);
  fixture.plane.now += 30 * 24 * HOUR;
  fixture.plane.control.retention.sweep();
  assert.equal(stored(fixture), 1);
  fixture.plane.now += 1;
  fixture.plane.control.retention.sweep();
  assert.equal(stored(fixture), 0);
});
