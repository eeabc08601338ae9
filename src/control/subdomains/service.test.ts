/**
 * Names that an organization keeps: how many by plan, the users that they block, and the end of a released one.
 */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { eq } from 'drizzle-orm';
import { uuidv7 } from 'uuidv7';
import { auditEvents, organizations, reservedSubdomains } from '../db/schema.ts';
import type { UserActor } from '../core/rules/actor.ts';
import type { Plan } from '../core/rules/plans.ts';
import { MAX_RESERVED } from './service.ts';
import { Plane, START } from '../core/testing/plane.ts';
import { type PlaneApi, servePlane } from '../core/testing/plane-api.ts';
import { type Person, said, Team } from '../core/testing/team.ts';

const DAY = 24 * 3600_000;
let plane: Plane;
let api: PlaneApi;
let team: Team;
let ann: Person;
let bob: Person;
beforeEach(async () => {
  plane = new Plane();
  api = await servePlane(plane);
  team = new Team(plane, api);
  ann = await team.person('ann@example.test');
  bob = await team.person('bob@example.test');
});
afterEach(async () => {
  await api.close();
  plane.close();
});

const reserve = (subdomain: unknown, by = ann) => by.call('POST', '/reserved-subdomains', { subdomain });
const open = (subdomain: string, by = ann) => by.call('POST', '/tunnels', { localPort: 3000, subdomain });
const onPlan = (plan: Plan, person = ann) =>
  plane.control.store.inTx(
    ({ db }) => void db.update(organizations).set({ plan }).where(eq(organizations.id, person.home)).run(),
  );
const actorOf = async ({ token }: Person): Promise<UserActor> => {
  const actor = await plane.control.sessions.authenticate(token, '192.0.2.1');
  assert.ok(actor !== undefined);
  return actor;
};
/** The same person after their access token has run out. */
async function later(person: Person): Promise<Person> {
  const body = { email: person.email, password: person.password };
  const token = String((await api.call('POST', '/auth/login', { body })).body['access_token']);
  const call: Person['call'] = (method, path, sent) =>
    api.call(method, path, { as: token, ...(sent === undefined ? {} : { body: sent }) });
  return { ...person, token, call };
}

test('a reserved name is shown, newest first, to its organization alone', async () => {
  const made = await reserve('shop');
  assert.equal(made.status, 201, made.text);
  const { id } = made.body;
  assert.deepEqual(made.body, {
    id,
    subdomain: 'shop',
    organization_id: ann.home,
    created_at: new Date(START).toISOString(),
  });
  plane.now += 1000;
  const second = await reserve('blog-1');
  assert.deepEqual((await ann.call('GET', '/reserved-subdomains')).body, [second.body, made.body]);
  assert.deepEqual((await bob.call('GET', '/reserved-subdomains')).body, []);
});

test('a name is a label and none of the system', async () => {
  for (const name of ['', '-a', 'a-', 'A', 'a.b', 'a_b', 'ä', 'a\n', 'a'.repeat(64), 7, null, undefined]) {
    assert.deepEqual(said(await reserve(name)), [400, 'invalid_request'], String(name));
  }
  for (const name of ['www', 'api', 'admin', 'xn--80ak6aa92e']) {
    assert.deepEqual(said(await reserve(name)), [409, 'duplicate_name'], name);
  }
  for (const name of ['a', '0', 'a--b', 'a'.repeat(63)]) assert.equal((await reserve(name)).status, 201, name);
});

for (const [plan, most] of [
  ['free', 0],
  ['pro', 5],
] as const) {
  test(`${plan}: ${most} names and no more; one that is given up makes room`, async () => {
    onPlan(plan);
    let last: unknown;
    for (let i = 0; i < most; i++) {
      const made = await reserve(`name-${i}`);
      assert.equal(made.status, 201);
      last = made.body['id'];
    }
    const refused = await reserve('more');
    assert.deepEqual(said(refused), [402, 'upgrade_required']);
    assert.match(String(refused.body['message']), /Team/, 'says which plans have room');
    if (most === 0) return;
    assert.equal((await ann.call('DELETE', `/reserved-subdomains/${last}`)).status, 200);
    assert.equal((await reserve('more')).status, 201);
    assert.deepEqual(said(await reserve('one-more')), [402, 'upgrade_required']);
  });
}

for (const plan of ['team', 'enterprise'] as const) {
  test(`${plan}: no number of the plan, and the bound that keeps lists short`, async () => {
    onPlan(plan);
    for (let i = 0; i < 6; i++) assert.equal((await reserve(`name-${i}`)).status, 201);
    const rows = Array.from({ length: MAX_RESERVED - 7 }, (_, i) => ({
      id: uuidv7(),
      orgId: ann.home,
      subdomain: `filler-${i}`,
      createdAt: START,
    }));
    plane.control.store.inTx(({ db }) => void db.insert(reservedSubdomains).values(rows).run());
    assert.equal((await reserve('last')).status, 201);
    assert.deepEqual(said(await reserve('more')), [409, 'conflict']);
  });
}

test('a plan that shrinks takes no name away, and lets none be added', async () => {
  onPlan('team');
  for (let i = 0; i < 6; i++) await reserve(`name-${i}`);
  onPlan('free');
  assert.equal((await ann.call('GET', '/reserved-subdomains')).body.length, 6);
  assert.deepEqual(said(await open('name-0', bob)), [409, 'duplicate_name']);
  assert.deepEqual(said(await reserve('name-6')), [402, 'upgrade_required']);
});

test('of six requests at once on Pro five succeed', async () => {
  onPlan('pro');
  const answers = await Promise.all(Array.from({ length: 6 }, (_, i) => reserve(`name-${i}`)));
  assert.deepEqual(answers.map(({ status }) => status).sort(), [201, 201, 201, 201, 201, 402]);
});

test('of ten organizations that want one name at once, one gets it', async () => {
  const people = await Promise.all(Array.from({ length: 10 }, (_, i) => team.person(`p${i}@example.test`)));
  const answers = await Promise.all(people.map((person) => reserve('wanted', person)));
  assert.deepEqual(answers.map(({ status }) => status).sort(), [201, ...Array.from({ length: 9 }, () => 409)]);
  assert.ok(answers.every(({ status, body }) => status === 201 || body['error'] === 'duplicate_name'));
});

test('reserved name: blocked for others by API, claim and random names; its own organization opens it', async () => {
  await reserve('shop');
  assert.deepEqual(said(await reserve('shop')), [409, 'duplicate_name']);
  assert.deepEqual(said(await reserve('shop', bob)), [409, 'duplicate_name']);
  assert.deepEqual(said(await open('shop', bob)), [409, 'duplicate_name']);
  const theirs = await actorOf(bob);
  const token = plane.mint(theirs);
  assert.equal(await plane.refusal(token, { subdomain: 'shop' }), 'duplicate_name');
  const either = plane.mint(theirs, { allowedSubdomains: ['shop', 'store'] });
  assert.equal((await plane.bound(either)).subdomain, 'store', 'a name that it can not have is not chosen for it');
  const own = plane.mint(await actorOf(ann));
  assert.equal((await plane.bound(own, { subdomain: 'shop' })).subdomain, 'shop');
});

test('the name of a live tunnel may be reserved by its organization alone', async () => {
  assert.equal((await open('shop')).status, 201);
  assert.deepEqual(said(await reserve('shop', bob)), [409, 'duplicate_name']);
  assert.equal((await reserve('shop')).status, 201);
});

test('a name that rests after another organization can be reserved once 24 hours are over', async () => {
  const { body } = await open('shop');
  await ann.call('DELETE', `/tunnels/${body['id']}`);
  plane.now += DAY - 1;
  bob = await later(bob);
  assert.deepEqual(said(await reserve('shop', bob)), [409, 'duplicate_name']);
  plane.now += 1;
  assert.equal((await reserve('shop', bob)).status, 201);
});

test('a name that was given up rests for others, and its own organization may have it back at once', async () => {
  const { body } = await reserve('shop');
  assert.equal((await ann.call('DELETE', `/reserved-subdomains/${body['id']}`)).status, 200);
  assert.deepEqual(said(await ann.call('DELETE', `/reserved-subdomains/${body['id']}`)), [404, 'not_found']);
  assert.deepEqual(said(await reserve('shop', bob)), [409, 'duplicate_name']);
  assert.deepEqual(said(await open('shop', bob)), [409, 'duplicate_name']);
  const again = await reserve('shop');
  assert.equal(again.status, 201);
  await ann.call('DELETE', `/reserved-subdomains/${again.body['id']}`);
  plane.now += DAY - 1;
  bob = await later(bob);
  assert.deepEqual(said(await open('shop', bob)), [409, 'duplicate_name']);
  plane.now += 1;
  assert.equal((await open('shop', bob)).status, 201);
});

test('to give a name up ends no tunnel; the name then rests from the end of the tunnel', async () => {
  const { body: kept } = await reserve('shop');
  const { body: tunnel } = await open('shop');
  await ann.call('DELETE', `/reserved-subdomains/${kept['id']}`);
  plane.now += 2 * DAY;
  [ann, bob] = [await later(ann), await later(bob)];
  assert.equal((await ann.call('GET', `/tunnels/${tunnel['id']}`)).status, 200);
  assert.deepEqual(said(await reserve('shop', bob)), [409, 'duplicate_name']);
  await ann.call('DELETE', `/tunnels/${tunnel['id']}`);
  assert.deepEqual(said(await reserve('shop', bob)), [409, 'duplicate_name'], 'it rests');
});

test('with an organization go its names, which rest', async () => {
  const made = await ann.call('POST', '/orgs', { name: 'Other' });
  const other = String(made.body['id']);
  const as = await team.acting(ann, other);
  assert.equal((await api.call('POST', '/reserved-subdomains', { as, body: { subdomain: 'shop' } })).status, 402);
  plane.control.store.inTx(
    ({ db }) => void db.update(organizations).set({ plan: 'pro' }).where(eq(organizations.id, other)).run(),
  );
  assert.equal((await api.call('POST', '/reserved-subdomains', { as, body: { subdomain: 'shop' } })).status, 201);
  assert.equal((await api.call('DELETE', `/orgs/${other}`, { as })).status, 200);
  assert.deepEqual(plane.control.store.db.select().from(reservedSubdomains).all(), []);
  ann = await later(ann);
  assert.deepEqual(said(await reserve('shop')), [409, 'duplicate_name'], 'also for those who were in it');
  plane.now += DAY;
  assert.equal((await reserve('shop', await later(bob))).status, 201);
  const auditLog = plane.control.store.db.select().from(auditEvents).where(eq(auditEvents.orgId, other)).all();
  const freed = auditLog.find(({ action }) => action === 'reserved_subdomain.delete');
  assert.deepEqual(freed?.details, { subdomain: 'shop' });
});
