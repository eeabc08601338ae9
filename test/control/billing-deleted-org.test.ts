/** The end of an organization that pays, or is about to: no user pays for a deleted one, and if one does, the operator is notified. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { inReverse } from '../harness/ends.ts';
import { openShop, type Shop } from './shop.ts';
import { said } from './team.ts';

/** A shop whose owner has a second organization, so that the first may go. */
async function shopFor(t: TestContext): Promise<Shop> {
  const shop = await openShop(inReverse(t));
  assert.equal((await shop.ann.call('POST', '/orgs', { name: 'Spare' })).status, 201);
  return shop;
}
const drop = (shop: Shop) => shop.ann.call('DELETE', `/orgs/${shop.ann.home}`);
const page = async (shop: Shop): Promise<string> =>
  String((await shop.checkout({ plan: 'team' })).body['checkout_url']);
const warnings = (shop: Shop) =>
  shop.lines.all.filter(({ message }) => /deleted organization goes on paying/.test(message));

test('one that has paid is not deleted, also when the event about it has not come yet', async (t) => {
  const shop = await shopFor(t);
  shop.stripe.pay(await page(shop));
  const refused = await drop(shop);
  assert.deepEqual(said(refused), [409, 'conflict']);
  assert.equal(shop.plan(), 'team', 'what was asked is stored');
});

test('a page that was left open is closed before it goes', async (t) => {
  const shop = await shopFor(t);
  const url = await page(shop);
  assert.equal((await drop(shop)).status, 200);
  assert.throws(() => shop.stripe.pay(url), /the page is expired/);
});

test('deleted organization: a later checkout or portal is refused, and creates nothing at the provider', async (t) => {
  const shop = await shopFor(t);
  await page(shop);
  const { billing, sessions } = shop.plane.control;
  const actor = await sessions.authenticate(shop.ann.token, '192.0.2.1');
  assert.ok(actor !== undefined);
  let open = (): void => {};
  shop.stripe.gate = new Promise((resolve) => {
    open = resolve;
  });
  const gone = drop(shop);
  while (shop.stripe.gate !== undefined) await new Promise((resolve) => setImmediate(resolve));
  const made = shop.stripe.sessions.size;
  const late = [billing.checkout(actor, { plan: 'pro', cycle: 'monthly' }), billing.portal(actor)];
  const refused = Promise.all(late.map((one) => assert.rejects(one, { code: 'not_found' })));
  open();
  assert.equal((await gone).status, 200);
  await refused;
  assert.equal(shop.stripe.sessions.size, made);
});

test('while the provider is away one that has been there is not deleted; one that never was is', async (t) => {
  const shop = await shopFor(t);
  await page(shop);
  shop.stripe.instead = (response) => response.writeHead(500).end();
  assert.deepEqual(said(await drop(shop)), [503, 'unavailable']);
  const { body } = await shop.ann.call('POST', '/orgs', { name: 'Third' });
  assert.equal((await shop.ann.call('DELETE', `/orgs/${String(body['id'])}`)).status, 200);
});

test('deleted organization: a member without the permission causes no request to the provider', async (t) => {
  const shop = await shopFor(t);
  await page(shop);
  const bob = await shop.team.member('bob@example.test', shop.ann, 'admin');
  const asked = shop.stripe.asked.length;
  const as = await shop.team.acting(bob, shop.ann.home);
  const refused = await shop.api.call('DELETE', `/orgs/${shop.ann.home}`, { as });
  assert.deepEqual(said(refused), [403, 'forbidden']);
  assert.equal(shop.stripe.asked.length, asked);
});

test('deleted organization: a customer that the provider has lost does not block the deletion', async (t) => {
  const shop = await shopFor(t);
  await shop.buy('pro');
  shop.stripe.customers.clear();
  assert.equal((await drop(shop)).status, 200);
});

test('a deleted organization that is paid for all the same is in the log at each look; one that ends by itself is not', async (t) => {
  const shop = await shopFor(t);
  await page(shop);
  assert.equal((await drop(shop)).status, 200);
  const bought = shop.stripe.subscribe(shop.row()?.customerId ?? '', 'price_team_m');
  const event = shop.stripe.event('customer.subscription.created', bought);
  assert.equal((await shop.deliver(event)).status, 200);
  assert.deepEqual(
    warnings(shop).map(({ level, fields }) => [level, fields['subscription'], fields['orgId']]),
    [['warn', bought.id, shop.ann.home]],
  );
  shop.plane.now += 25 * 3_600_000;
  assert.equal(await shop.plane.control.billing.rereadDue(new AbortController().signal), 1);
  assert.equal(warnings(shop).length, 2);
  bought.cancel_at_period_end = true;
  await shop.deliver(shop.stripe.event('customer.subscription.updated', bought));
  assert.equal(warnings(shop).length, 2);
  bought.status = 'canceled';
  await shop.deliver(shop.stripe.event('customer.subscription.deleted', bought));
  shop.plane.now += 25 * 3_600_000;
  assert.equal(await shop.plane.control.billing.rereadDue(new AbortController().signal), 0, 'of no more concern');
});
