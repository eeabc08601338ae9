/** Plans for money: checkout and portal, against a server that behaves as Stripe does. What Stripe tells by itself is in webhook.test.ts. */
import assert from 'node:assert/strict';
import { homedir } from 'node:os';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { inspect } from 'node:util';
import { eq } from 'drizzle-orm';
import { memberships } from '../db/schema.ts';
import type { Role } from '../core/rules/actor.ts';
import { inReverse } from '../../../test/harness/ends.ts';
import { PRICES, SECRET_KEY, WEBHOOK_SECRET } from '../../../test/harness/stripe.ts';
import { openBillingFixture } from './testing.ts';
import { said } from '../core/testing/team.ts';

test('a checkout is a page of the provider for this organization, this price and this customer', async (t) => {
  const fixture = await openBillingFixture(inReverse(t));
  const { status, body } = await fixture.checkout({ plan: 'team', billing_cycle: 'yearly' });
  assert.equal(status, 200);
  assert.match(String(body['checkout_url']), new RegExp(`^${fixture.stripe.url}/pay/cs_`));
  const asked = fixture.stripe.asked.find(({ method, path }) => method === 'POST' && path === '/v1/checkout/sessions');
  assert.ok(asked !== undefined);
  const customer = fixture.row()?.customerId;
  assert.deepEqual(asked.fields, {
    mode: 'subscription',
    customer,
    client_reference_id: fixture.ann.home,
    'line_items[0][price]': PRICES.team_yearly,
    'line_items[0][quantity]': '1',
    'metadata[plan]': 'team',
    'metadata[billing_cycle]': 'yearly',
    'metadata[org_id]': fixture.ann.home,
    'subscription_data[metadata][plan]': 'team',
    'subscription_data[metadata][billing_cycle]': 'yearly',
    'subscription_data[metadata][org_id]': fixture.ann.home,
    success_url: 'http://api.test/app/billing?billing=done',
    cancel_url: 'http://api.test/app/billing?billing=cancelled',
  });
  assert.deepEqual(fixture.stripe.customers.get(customer ?? ''), {
    email: 'ann@example.test',
    name: 'ann',
    'metadata[org_id]': fixture.ann.home,
  });
  assert.equal(fixture.plan(), 'free', 'nothing is given before it is paid');
});

test('a purchase gives the plan, and the view says what is paid until when', async (t) => {
  const fixture = await openBillingFixture(inReverse(t));
  const bought = await fixture.buy('pro');
  assert.equal(fixture.plan(), 'pro');
  const { body } = await fixture.ann.call('GET', '/billing');
  const { mode, plan, billing_cycle, status, current_period_end, cancel_at_period_end } = body;
  assert.deepEqual(
    { mode, plan, billing_cycle, status, current_period_end, cancel_at_period_end },
    {
      mode: 'stripe',
      plan: 'pro',
      billing_cycle: 'monthly',
      status: 'active',
      current_period_end: new Date(bought.current_period_end * 1000).toISOString(),
      cancel_at_period_end: false,
    },
  );
});

test('billing: an organization is one customer, also for repeated and concurrent requests of several members', async (t) => {
  const fixture = await openBillingFixture(inReverse(t));
  const bob = await fixture.team.member('bob@example.test', fixture.ann, 'owner');
  const as = await fixture.team.acting(bob, fixture.ann.home);
  const answers = await Promise.all([
    fixture.checkout(),
    fixture.api.call('POST', '/billing/checkout-session', { as, body: { plan: 'team' } }),
    fixture.ann.call('POST', '/billing/portal'),
  ]);
  assert.deepEqual(
    answers.map(({ status }) => status),
    [200, 200, 200],
  );
  assert.equal(fixture.stripe.customers.size, 1);
  const open = [...fixture.stripe.sessions.values()].filter(({ status }) => status === 'open');
  assert.equal(open.length, 1, 'a page that was left open is closed: two could both be paid');
});

test('billing: a customer with a subscription is sent to the portal, also when the event about it has not come yet', async (t) => {
  const fixture = await openBillingFixture(inReverse(t));
  const { body } = await fixture.checkout();
  fixture.stripe.pay(String(body['checkout_url']));
  const answer = await fixture.checkout({ plan: 'team' });
  assert.deepEqual(said(answer), [409, 'conflict']);
  assert.match(String(answer.body['message']), /POST \/billing\/portal/);
  assert.equal(fixture.plan(), 'pro', 'what was asked is stored');
});

test('the portal is a page of the provider that leads back here; cancelling is done there', async (t) => {
  const fixture = await openBillingFixture(inReverse(t));
  const { status, body } = await fixture.ann.call('POST', '/billing/portal');
  assert.equal(status, 200);
  assert.match(String(body['portal_url']), /\/portal\/cus_\w+\?back=http:\/\/api\.test\/app\/billing$/);
  const cancel = await fixture.ann.call('POST', '/billing/cancel');
  assert.deepEqual([...said(cancel), cancel.headers.get('allow')], [405, 'method_not_allowed', '']);
  assert.equal((await fixture.api.call('GET', '/billing/mock-portal')).status, 404);
});

test('what has no price is not sold', async (t) => {
  const fixture = await openBillingFixture(inReverse(t), { prices: { ...PRICES, team_yearly: null } });
  assert.deepEqual(said(await fixture.checkout({ plan: 'team', billing_cycle: 'yearly' })), [402, 'upgrade_required']);
  assert.equal((await fixture.checkout({ plan: 'team' })).status, 200);
  assert.equal(
    fixture.stripe.asked.some(({ path }) => path === '/v1/customers'),
    true,
  );
});

test('a customer that the provider has lost is made anew: the keys of another account', async (t) => {
  const fixture = await openBillingFixture(inReverse(t));
  await fixture.buy('pro');
  const before = fixture.row()?.customerId;
  fixture.stripe.customers.clear();
  fixture.stripe.subscriptions.clear();
  const { status, text } = await fixture.checkout();
  assert.equal(status, 200, text);
  assert.notEqual(fixture.row()?.customerId, before);
  assert.equal(fixture.plan(), 'free', 'its payment has ended');
});

test('an organization that goes on paying is not deleted; one whose subscription ends by itself is', async (t) => {
  const fixture = await openBillingFixture(inReverse(t));
  const bought = await fixture.buy('pro');
  const spare = await fixture.ann.call('POST', '/orgs', { name: 'Spare' });
  assert.equal(spare.status, 201);
  const refused = await fixture.ann.call('DELETE', `/orgs/${fixture.ann.home}`);
  assert.deepEqual(said(refused), [409, 'conflict']);
  assert.match(String(refused.body['message']), /Cancel it in the portal first/);
  bought.cancel_at_period_end = true;
  await fixture.deliver(fixture.stripe.event('customer.subscription.updated', bought));
  assert.equal((await fixture.ann.call('DELETE', `/orgs/${fixture.ann.home}`)).status, 200);
  // The last event of a subscription comes long after.
  bought.status = 'canceled';
  const last = await fixture.deliver(fixture.stripe.event('customer.subscription.deleted', bought));
  assert.deepEqual([last.status, fixture.row()?.status], [200, 'canceled']);
});

test('a provider that fails, says nonsense or is busy is 503, and the second try of a call counts once', async (t) => {
  const fixture = await openBillingFixture(inReverse(t));
  fixture.stripe.instead = (response) => response.writeHead(500, { 'content-type': 'text/html' }).end('<h1>oops</h1>');
  const failed = await fixture.checkout();
  assert.deepEqual(said(failed), [503, 'unavailable']);
  assert.match(String(failed.body['message']), /payment provider is unreachable/);
  const tries = fixture.stripe.asked.length;
  assert.ok(tries >= 2 && tries <= 3, `${tries} tries`);
  assert.equal(new Set(fixture.stripe.asked.map(({ headers }) => headers['idempotency-key'])).size, 1);
  // The answer is lost after the work was done: the library asks again with the same key.
  let lost = false;
  fixture.stripe.instead = undefined;
  const answer = fixture.stripe.answer.bind(fixture.stripe);
  fixture.stripe.answer = async (request, response) => {
    if (lost || request.url !== '/v1/customers') return answer(request, response);
    lost = true;
    response.end = (() => response.destroy()) as typeof response.end;
    return answer(request, response);
  };
  assert.equal((await fixture.checkout()).status, 200);
  assert.ok(lost);
  assert.equal(fixture.stripe.customers.size, 1);
});

test('a provider that refuses is 503 with another message, for trying again does not help', async (t) => {
  const fixture = await openBillingFixture(inReverse(t));
  fixture.stripe.instead = (response) => {
    const error = { type: 'invalid_request_error', message: `Invalid API Key provided: ${SECRET_KEY}` };
    response.writeHead(401, { 'content-type': 'application/json' }).end(JSON.stringify({ error }));
  };
  const refused = await fixture.ann.call('POST', '/billing/portal');
  assert.deepEqual(said(refused), [503, 'unavailable']);
  assert.match(String(refused.body['message']), /reason is in the server log/);
  assert.ok(!refused.text.includes(SECRET_KEY));
  const logged = inspect(fixture.lines.all, { depth: 20 });
  assert.match(logged, /Invalid API Key provided/);
  assert.ok(!logged.includes(SECRET_KEY) && !logged.includes(WEBHOOK_SECRET), 'the log holds a key');
});

test('the key goes to the configured address alone, with nothing about this machine, and no redirect is followed', async (t) => {
  const fixture = await openBillingFixture(inReverse(t));
  assert.equal((await fixture.checkout()).status, 200);
  for (const { headers } of fixture.stripe.asked) {
    assert.equal(headers['authorization'], `Bearer ${SECRET_KEY}`);
    assert.equal(headers['x-stripe-client-telemetry'], undefined);
    assert.doesNotMatch(String(headers['x-stripe-client-user-agent']), /platform|telemetry_id/);
  }
  assert.ok(!existsSync(join(homedir(), '.config/stripe/telemetry_id')));
  const asked = fixture.stripe.asked.length;
  fixture.stripe.instead = (response) => response.writeHead(307, { location: `${fixture.stripe.url}/elsewhere` }).end();
  assert.deepEqual(said(await fixture.ann.call('POST', '/billing/portal')), [503, 'unavailable']);
  assert.ok(fixture.stripe.asked.slice(asked).every(({ path }) => path !== '/elsewhere'));
});

test('who is no owner any more once the provider has been asked gets no page, and deletes nothing', async (t) => {
  const fixture = await openBillingFixture(inReverse(t));
  await fixture.checkout();
  const bob = await fixture.team.member('bob@example.test', fixture.ann, 'owner');
  const as = await fixture.team.acting(bob, fixture.ann.home);
  const { db } = fixture.plane.control.store;
  const setRole = (role: Role) => void db.update(memberships).set({ role }).where(eq(memberships.userId, bob.id)).run();
  for (const [asked, method, path, body] of [
    ['/v1/billing_portal/sessions', 'POST', '/billing/portal', undefined],
    ['/v1/checkout/sessions', 'POST', '/billing/checkout-session', { plan: 'pro' }],
    ['/v1/subscriptions', 'DELETE', `/orgs/${fixture.ann.home}`, undefined],
  ] as const) {
    const seen = fixture.stripe.asked.length;
    const waiting = fixture.api.call(method, path, { as, ...(body === undefined ? {} : { body }) });
    while (!fixture.stripe.asked.slice(seen).some((one) => one.path === asked)) await nextTurn();
    setRole('viewer');
    assert.deepEqual(said(await waiting), [403, 'forbidden'], path);
    setRole('owner');
  }
});
