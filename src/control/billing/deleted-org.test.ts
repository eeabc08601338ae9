/** The end of an organization that pays, or is about to: no user pays for a deleted one, and if one does, the operator is notified. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { inReverse } from '../../../test/harness/ends.ts';
import { openBillingFixture, type BillingFixture } from './testing.ts';
import { said } from '../core/testing/team.ts';

/** A fixture whose owner has a second organization, so that the first may go. */
async function shopFor(t: TestContext): Promise<BillingFixture> {
  const fixture = await openBillingFixture(inReverse(t));
  assert.equal((await fixture.ann.call('POST', '/orgs', { name: 'Spare' })).status, 201);
  return fixture;
}
const drop = (fixture: BillingFixture) => fixture.ann.call('DELETE', `/orgs/${fixture.ann.home}`);
const page = async (fixture: BillingFixture): Promise<string> =>
  String((await fixture.checkout({ plan: 'team' })).body['checkout_url']);
const warnings = (fixture: BillingFixture) =>
  fixture.lines.all.filter(({ message }) => /deleted organization is still paying/.test(message));

test('one that has paid is not deleted, also when the event about it has not come yet', async (t) => {
  const fixture = await shopFor(t);
  fixture.stripe.pay(await page(fixture));
  const refused = await drop(fixture);
  assert.deepEqual(said(refused), [409, 'conflict']);
  assert.equal(fixture.plan(), 'team', 'what was asked is stored');
});

test('a page that was left open is closed before it goes', async (t) => {
  const fixture = await shopFor(t);
  const url = await page(fixture);
  assert.equal((await drop(fixture)).status, 200);
  assert.throws(() => fixture.stripe.pay(url), /the page is expired/);
});

test('deleted organization: a later checkout or portal is refused, and creates nothing at the provider', async (t) => {
  const fixture = await shopFor(t);
  await page(fixture);
  const { billing, sessions } = fixture.plane.control;
  const actor = await sessions.authenticate(fixture.ann.token, '192.0.2.1');
  assert.ok(actor !== undefined);
  let open = (): void => {};
  fixture.stripe.gate = new Promise((resolve) => {
    open = resolve;
  });
  const gone = drop(fixture);
  while (fixture.stripe.gate !== undefined) await new Promise((resolve) => setImmediate(resolve));
  const made = fixture.stripe.sessions.size;
  const late = [billing.checkout(actor, { plan: 'pro', cycle: 'monthly' }), billing.portal(actor)];
  const refused = Promise.all(late.map((one) => assert.rejects(one, { code: 'not_found' })));
  open();
  assert.equal((await gone).status, 200);
  await refused;
  assert.equal(fixture.stripe.sessions.size, made);
});

test('while the provider is away one that has been there is not deleted; one that never was is', async (t) => {
  const fixture = await shopFor(t);
  await page(fixture);
  fixture.stripe.instead = (response) => response.writeHead(500).end();
  assert.deepEqual(said(await drop(fixture)), [503, 'unavailable']);
  const { body } = await fixture.ann.call('POST', '/orgs', { name: 'Third' });
  assert.equal((await fixture.ann.call('DELETE', `/orgs/${String(body['id'])}`)).status, 200);
});

test('deleted organization: a member without the permission causes no request to the provider', async (t) => {
  const fixture = await shopFor(t);
  await page(fixture);
  const bob = await fixture.team.member('bob@example.test', fixture.ann, 'admin');
  const asked = fixture.stripe.asked.length;
  const as = await fixture.team.acting(bob, fixture.ann.home);
  const refused = await fixture.api.call('DELETE', `/orgs/${fixture.ann.home}`, { as });
  assert.deepEqual(said(refused), [403, 'forbidden']);
  assert.equal(fixture.stripe.asked.length, asked);
});

test('deleted organization: a customer that the provider has lost does not block the deletion', async (t) => {
  const fixture = await shopFor(t);
  await fixture.buy('pro');
  fixture.stripe.customers.clear();
  assert.equal((await drop(fixture)).status, 200);
});

test('a deleted organization that is paid for all the same is in the log at each look; one that ends by itself is not', async (t) => {
  const fixture = await shopFor(t);
  await page(fixture);
  assert.equal((await drop(fixture)).status, 200);
  const bought = fixture.stripe.subscribe(fixture.row()?.customerId ?? '', 'price_team_m');
  const event = fixture.stripe.event('customer.subscription.created', bought);
  assert.equal((await fixture.deliver(event)).status, 200);
  assert.deepEqual(
    warnings(fixture).map(({ level, fields }) => [level, fields['subscription'], fields['orgId']]),
    [['warn', bought.id, fixture.ann.home]],
  );
  fixture.plane.now += 25 * 3_600_000;
  assert.equal(await fixture.plane.control.billing.rereadDue(new AbortController().signal), 1);
  assert.equal(warnings(fixture).length, 2);
  bought.cancel_at_period_end = true;
  await fixture.deliver(fixture.stripe.event('customer.subscription.updated', bought));
  assert.equal(warnings(fixture).length, 2);
  bought.status = 'canceled';
  await fixture.deliver(fixture.stripe.event('customer.subscription.deleted', bought));
  fixture.plane.now += 25 * 3_600_000;
  assert.equal(await fixture.plane.control.billing.rereadDue(new AbortController().signal), 0, 'of no more concern');
});
