/** Billing where no money changes hands: `mock`, whose checkout completes at once, and `none`; and who may use it. */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { eq } from 'drizzle-orm';
import { auditEvents } from '../db/schema.ts';
import type { ControlOptions } from '../open.ts';
import { inReverse } from '../../../test/harness/ends.ts';
import { SECRET_KEY, startStripe } from '../../../test/harness/stripe.ts';
import { LOOSE, startHarness } from '../core/testing/harness.ts';
import { Plane } from '../core/testing/plane.ts';
import { type PlaneApi, servePlane } from '../core/testing/plane-api.ts';
import { type Person, said, Team } from '../core/testing/team.ts';

const HOUR = 3_600_000;

let plane: Plane;
let api: PlaneApi;
let team: Team;
const open = async (changes: Partial<ControlOptions> = {}): Promise<void> => {
  plane = new Plane(undefined, changes);
  api = await servePlane(plane);
  team = new Team(plane, api);
};
const shut = async (): Promise<void> => {
  await api.close();
  plane.close();
};
beforeEach(() => open());
afterEach(shut);

const planOf = async (person: Person): Promise<unknown> => {
  const { body } = await person.call('GET', '/auth/me');
  return (body['entitlements'] as { plan: string }).plan;
};
/** The path of a page of this server. */
const pathOf = (url: unknown): string => {
  assert.ok(typeof url === 'string' && url.startsWith('http://api.test/'), String(url));
  return url.slice('http://api.test'.length);
};
const checkout = async (person: Person, body: object): Promise<string> => {
  const answer = await person.call('POST', '/billing/checkout-session', body);
  assert.equal(answer.status, 200, answer.text);
  return pathOf(answer.body['checkout_url']);
};
const visit = (path: string, accept = 'text/html') => api.call('GET', path, { headers: { accept } });

test('a checkout without a provider gives the plan at one visit, and says that nothing was charged', async () => {
  const ann = await team.person('ann@example.test');
  assert.equal(await planOf(ann), 'enterprise');
  const path = await checkout(ann, { plan: 'pro' });
  assert.equal(await planOf(ann), 'enterprise', 'asking alone changes nothing');
  const page = await visit(path);
  assert.equal(page.status, 200);
  assert.match(page.text, /You are on Pro/);
  assert.match(page.text, /nothing was or will be charged/);
  assert.match(page.text, /href="\.\.\/app\/"/);
  assert.match(page.headers.get('content-security-policy') ?? '', /default-src 'none'/);
  assert.doesNotMatch(page.text, /<script|style=/);
  assert.equal(await planOf(ann), 'pro');
});

test('a second visit says that it was completed, and takes back nothing that came since', async () => {
  const ann = await team.person('ann@example.test');
  const path = await checkout(ann, { plan: 'team', billing_cycle: 'yearly' });
  await visit(path);
  assert.deepEqual((await ann.call('POST', '/billing/cancel')).body, { plan: 'free' });
  const again = await visit(path);
  assert.deepEqual([again.status, await planOf(ann)], [200, 'free']);
  assert.match(again.text, /was completed before/);
});

test('of many visits at once one completes', async () => {
  const ann = await team.person('ann@example.test');
  const path = await checkout(ann, { plan: 'pro' });
  const pages = await Promise.all(Array.from({ length: 8 }, () => visit(path)));
  assert.equal(pages.filter(({ text }) => text.includes('You are on Pro')).length, 1);
  assert.equal(entries('billing.plan').length, 1);
});

test('a look at the address that is no visit completes nothing', async () => {
  const ann = await team.person('ann@example.test');
  const path = await checkout(ann, { plan: 'pro' });
  const look = await api.call('HEAD', path);
  assert.deepEqual([look.status, look.headers.get('allow')], [405, 'GET']);
  assert.equal(await planOf(ann), 'enterprise');
});

test('an hour later, with another signature, or once the asker is no owner any more, the page gives nothing', async () => {
  const ann = await team.person('ann@example.test');
  const bob = await team.member('bob@example.test', ann, 'owner');
  const token = await team.acting(bob, ann.home);
  const asked = await api.call('POST', '/billing/checkout-session', { as: token, body: { plan: 'pro' } });
  const path = pathOf(asked.body['checkout_url']);
  assert.equal((await visit(`${path}x`)).status, 400);
  assert.equal((await visit('/billing/mock-checkout')).status, 400);
  // A token of the same server for something else.
  assert.equal((await visit(`/billing/mock-checkout?token=${ann.token}`)).status, 400);
  const demoted = await ann.call('PATCH', `/orgs/${ann.home}/members/${bob.id}`, { role: 'admin' });
  assert.equal(demoted.status, 200, demoted.text);
  const page = await visit(path);
  assert.equal(page.status, 400);
  assert.match(page.text, /This checkout is not valid/);
  assert.deepEqual(said(await visit(path, 'application/json')), [400, 'invalid_request']);
  const late = await checkout(ann, { plan: 'pro' });
  plane.now += HOUR;
  assert.equal((await visit(late)).status, 400);
  assert.deepEqual(entries('billing.plan'), []);
});

test('an organization that was suspended buys nothing, also by a page that it had before', async () => {
  const ann = await team.person('ann@example.test');
  const path = await checkout(ann, { plan: 'pro' });
  const operator = { kind: 'operator', orgId: null, userId: null, label: 'root', ipAddress: '' } as const;
  plane.control.operatorOrgs.suspend(operator, ann.home);
  assert.equal((await visit(path)).status, 400);
  assert.deepEqual(said(await ann.call('POST', '/billing/checkout-session', { plan: 'pro' })), [403, 'forbidden']);
  assert.equal((await ann.call('POST', '/billing/cancel')).status, 200);
});

test('a name that is markup is text on the page', async () => {
  const ann = await team.person('ann@example.test');
  const renamed = await ann.call('PATCH', `/orgs/${ann.home}`, { name: '<img src=x onerror=alert(1)>' });
  assert.equal(renamed.status, 200, renamed.text);
  const page = await visit(await checkout(ann, { plan: 'pro' }));
  assert.doesNotMatch(page.text, /<img/);
  assert.match(page.text, /&lt;img/);
});

test('a cancelled plan shortens the tunnels that run', async () => {
  const ann = await team.person('ann@example.test');
  const made = await ann.call('POST', '/tunnels', { localPort: 3000 });
  assert.equal(made.body['expiresAt'], null);
  plane.deltas.length = 0;
  await ann.call('POST', '/billing/cancel');
  const ends = plane.deltas.map((delta) => (delta.kind === 'put' ? delta.route.expiresAt : delta.kind));
  assert.deepEqual(ends, [plane.now + HOUR]);
});

test('the portal without a provider is a page that says so and asks for nothing', async () => {
  const ann = await team.person('ann@example.test');
  const { status, body } = await ann.call('POST', '/billing/portal');
  assert.equal(status, 200);
  const page = await visit(pathOf(body['portal_url']));
  assert.equal(page.status, 200);
  assert.match(page.text, /nothing was or will be charged/);
  assert.match(page.headers.get('content-security-policy') ?? '', /default-src 'none'/);
});

test('billing: every member reads the plan, only owners change it, and an error names its field', async () => {
  const ann = await team.person('ann@example.test');
  for (const role of ['viewer', 'member', 'admin'] as const) {
    const person = await team.member(`${role}@example.test`, ann, role);
    const as = await team.acting(person, ann.home);
    for (const path of ['/billing/checkout-session', '/billing/portal', '/billing/cancel']) {
      assert.deepEqual(said(await api.call('POST', path, { as, body: { plan: 'pro' } })), [403, 'forbidden'], path);
    }
    assert.equal((await api.call('GET', '/billing', { as })).status, 200);
  }
  assert.deepEqual((await ann.call('GET', '/billing')).body, {
    mode: 'mock',
    plan: 'enterprise',
    billing_cycle: null,
    status: null,
    current_period_end: null,
    cancel_at_period_end: false,
    entitlements: {
      plan: 'enterprise',
      max_tunnel_ttl_seconds: null,
      reserved_subdomains: null,
      edge_auth: true,
      master_keys: true,
      inspector_retention_days: 365,
    },
  });
  for (const body of [{}, { plan: 'enterprise' }, { plan: 'free' }, { plan: 'pro', billing_cycle: 'weekly' }]) {
    assert.deepEqual(said(await ann.call('POST', '/billing/checkout-session', body)), [400, 'invalid_request']);
  }
});

test('billing: the audit log has the buyer, the change, and the user who cancelled', async () => {
  const ann = await team.person('ann@example.test');
  await visit(await checkout(ann, { plan: 'team', billing_cycle: 'yearly' }));
  await ann.call('POST', '/billing/cancel');
  await ann.call('POST', '/billing/cancel');
  const brief = (action: string) => entries(action).map(({ actorLabel, details }) => [actorLabel, details]);
  assert.deepEqual(brief('billing.checkout'), [['ann@example.test', { plan: 'team', cycle: 'yearly' }]]);
  assert.deepEqual(
    entries('billing.plan').map(({ actorLabel, resourceName, changes }) => [actorLabel, resourceName, changes]),
    [
      ['system', 'ann', [{ field: 'plan', from: 'enterprise', to: 'team' }]],
      ['ann@example.test', 'ann', [{ field: 'plan', from: 'team', to: 'free' }]],
    ],
  );
  assert.deepEqual(brief('billing.cancel'), [['ann@example.test', null]]);
});

test('where nothing is sold, every way to a plan names the operator, and there are no pages and no deliveries', async () => {
  await shut();
  await open({ billing: { mode: 'none' } });
  const ann = await team.person('ann@example.test');
  for (const path of ['/billing/checkout-session', '/billing/portal', '/billing/cancel']) {
    const answer = await ann.call('POST', path, { plan: 'pro' });
    assert.deepEqual(said(answer), [402, 'upgrade_required'], path);
    assert.match(String(answer.body['message']), /Ask its operator/);
  }
  assert.equal(await planOf(ann), 'enterprise');
  assert.equal((await ann.call('GET', '/billing')).body['mode'], 'none');
  assert.deepEqual(said(await visit('/billing/mock-checkout?token=x')), [404, 'not_found']);
  assert.deepEqual(said(await visit('/billing/mock-portal')), [404, 'not_found']);
  assert.deepEqual(said(await api.call('POST', '/billing/webhook', { body: {} })), [402, 'upgrade_required']);
});

test('settings say how plans change hands: Stripe without its keys sells nothing, with them it is asked where they say', async (t) => {
  const ends = inReverse(t);
  const stripe = await startStripe(ends, () => Math.floor(Date.now() / 1000));
  for (const [settings, status] of [
    ['[billing]\nmode = "none"', 402],
    ['[billing]\nmode = "stripe"', 402],
    [`[billing]\nmode = "stripe"\n[billing.stripe]\nsecret_key = "${SECRET_KEY}"`, 402],
    [stripe.settings, 200],
    ['', 200],
  ] as const) {
    const h = await startHarness(`${LOOSE}\n${settings}`);
    ends.after(() => h.close());
    const body = { plan: 'pro', billing_cycle: 'yearly' };
    const answer = await h.call('POST', '/billing/checkout-session', { as: h.owner, body });
    assert.equal(answer.status, status, `${settings}: ${answer.text}`);
    const webhook = await h.call('POST', '/billing/webhook', { body: {} });
    assert.equal(webhook.status, settings === stripe.settings ? 401 : 402);
  }
  assert.equal(stripe.sessions.size, 1);
});

function entries(action: string) {
  return plane.control.store.db.select().from(auditEvents).where(eq(auditEvents.action, action)).all();
}
