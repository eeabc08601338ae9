/** Who gets certificates when there is not room for all: what one organization, or many of the Free plan, can't take from the others. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DAY_MS, HOUR_MS } from '../../base/clock.ts';
import type { UserActor } from '../core/rules/actor.ts';
import { AcmeError } from '../providers/acme/contract.ts';
import { waitingNames } from './order-queue.ts';
import { CertificateWorld } from './testing/certificate-world.ts';

const MINUTE_MS = 60_000;

/** Asks for that many names of a person, one after another; how many certificates came. */
async function got(world: CertificateWorld, actor: UserActor, names: readonly string[]): Promise<number> {
  let count = 0;
  for (const name of names) if (await world.certificates.want(world.tunnel(actor, name))) count++;
  return count;
}

const names = (prefix: string, count: number): string[] => Array.from({ length: count }, (_, i) => `${prefix}-${i}`);

/** People, each with verified domains whose orders have no chance. */
async function puppets(
  world: CertificateWorld,
  { count, domains, plan = 'free' }: { count: number; domains: number; plan?: 'free' | 'pro' },
): Promise<void> {
  for (let i = 0; i < count; i++) {
    const eve = await world.plane.person(`eve${i}@example.test`, plan);
    const { row } = world.plane.create(eve, { subdomain: `eve${i}` });
    for (let k = 0; k < domains; k++) world.domain(eve, `d${k}.eve${i}.test`, row.id);
  }
}

/** Lets what was begun come to the authority. */
async function turns(): Promise<void> {
  for (let i = 0; i < 8; i++) await new Promise(setImmediate);
}

test('one organization does not take all places with names that answer slowly', async (t) => {
  const world = await CertificateWorld.open(t);
  const eve = await world.plane.person('eve@example.test');
  const ann = await world.plane.person('ann@example.test');
  world.authority.hold = new Promise(() => {});
  for (const name of ['e1', 'e2', 'e3', 'e4', 'e5']) void world.certificates.want(world.tunnel(eve, name));
  const shop = world.tunnel(ann, 'shop');
  void world.certificates.want(shop);
  for (let i = 0; i < 5; i++) await new Promise(setImmediate);
  assert.deepEqual(world.authority.asked, ['e1.edge.test', 'e2.edge.test', shop]);
});

test('one organization does not use up the week of all the others', async (t) => {
  const world = await CertificateWorld.open(t, { maxNewPerWeek: 9 });
  const eve = await world.plane.person('eve@example.test');
  const ann = await world.plane.person('ann@example.test');
  const hosts = Array.from({ length: 9 }, (_, index) => world.tunnel(eve, `eve-${index}`));
  const got = [];
  for (const host of hosts) got.push(await world.certificates.want(host));
  assert.deepEqual(got, [true, true, true, true, true, true, false, false, false]);
  assert.match(world.row('eve-8.edge.test')?.lastError ?? '', /the share of your organization/);
  assert.equal(await world.certificates.want(world.tunnel(ann, 'shop')), true);
});

test('the only organization of a server has the whole week', async (t) => {
  const world = await CertificateWorld.open(t, { maxNewPerWeek: 9 });
  const ann = await world.plane.person('ann@example.test');
  const got = [];
  for (let i = 0; i < 10; i++) got.push(await world.certificates.want(world.tunnel(ann, `n-${i}`)));
  assert.deepEqual(got, [...Array.from({ length: 9 }, () => true), false]);
});

test('an organization whose names all fail asks ten times in an hour, and no more', async (t) => {
  const world = await CertificateWorld.open(t);
  const eve = await world.plane.person('eve@example.test');
  const ann = await world.plane.person('ann@example.test');
  const tunnel = world.plane.create(eve, { subdomain: 'eve' });
  const { store } = world.plane.control;
  for (let i = 0; i < 40; i++) world.domain(eve, `d${i}.example.net`, tunnel.row.id);
  world.authority.fault = new AcmeError('dns', 'no such name');
  for (let i = 0; i < 6; i++) await world.tend();
  assert.equal(world.authority.orders.length, 10);
  world.authority.fault = undefined;
  assert.equal(await world.certificates.want(world.tunnel(ann, 'shop')), true);
  assert.ok(store.db.query.certificates.findMany().sync().length > 10);
});

test('Free organizations share half of a week where one organization pays, and a restart forgets nothing', async (t) => {
  const world = await CertificateWorld.open(t, { maxNewPerWeek: 20 });
  const ann = await world.plane.person('ann@example.test', 'pro');
  const eves = [];
  for (const who of ['e', 'f', 'g']) eves.push(await world.plane.person(`${who}@example.test`, 'free'));
  const [eve, fay, gus] = eves as [UserActor, UserActor, UserActor];
  assert.equal(await got(world, eve, names('e', 9)), 7, 'two thirds of the half');
  await world.leave();
  const changes = { maxNewPerWeek: 20 };
  const again = new CertificateWorld(t, world.authority, { dataDir: world.plane.dataDir, changes });
  assert.equal(await got(again, eve, names('again', 2)), 0, 'it had its share before the restart');
  assert.equal((await got(again, fay, names('f', 2))) + (await got(again, gus, names('g', 2))), 3);
  assert.match(again.row('g-1.edge.test')?.lastError ?? '', /the half for the Free plan.*dns-01/);
  assert.equal(again.row('g-1.edge.test')?.nextAttemptAt, again.plane.now + 7 * DAY_MS);
  assert.equal(await got(again, ann, names('a', 11)), 10, 'the rest is for who pays');
});

test('a restart forgets neither the orders of an hour nor what failed', async (t) => {
  const world = await CertificateWorld.open(t);
  await puppets(world, { count: 1, domains: 8 });
  world.authority.fault = new AcmeError('dns', 'no such name');
  await world.tend();
  await world.tend();
  assert.equal(world.authority.orders.length, 8);
  await world.leave();
  const again = new CertificateWorld(t, world.authority, { dataDir: world.plane.dataDir });
  again.plane.now += 5 * MINUTE_MS;
  for (let i = 0; i < 4; i++) await again.tend();
  assert.equal(world.authority.orders.length, 10);
});

test('Free organizations whose names all fail use up half of an hour, and see why they wait', async (t) => {
  const world = await CertificateWorld.open(t);
  await puppets(world, { count: 9, domains: 15 });
  const ann = await world.plane.person('ann@example.test', 'pro');
  world.authority.fault = new AcmeError('dns', 'no such name');
  for (let i = 0; i < 30; i++) await world.tend();
  assert.equal(world.authority.orders.length, 40);
  world.authority.fault = undefined;
  assert.equal(await got(world, ann, ['shop']), 1);
  const held = names('', 15)
    .map((_, k) => world.row(`d${k}.eve0.test`))
    .find((row) => row?.failures === 0);
  assert.match(held?.lastError ?? '', /hour's limit .*ordered automatically/);
  assert.ok((held?.nextAttemptAt ?? 0) > world.plane.now);
  const said = world.said.filter(({ message }) => message.includes("hour's limit"));
  assert.equal(said.length, 1, 'in a minute');
});

test('on a server without payers, one organization leaves a third of the hour to those that had few', async (t) => {
  const world = await CertificateWorld.open(t);
  await puppets(world, { count: 9, domains: 15 });
  const ann = await world.plane.person('ann@example.test', 'free');
  world.authority.fault = new AcmeError('dns', 'no such name');
  for (let i = 0; i < 40; i++) await world.tend();
  assert.equal(world.authority.orders.length, Math.ceil((80 * 2) / 3));
  world.authority.fault = undefined;
  assert.equal(await got(world, ann, ['shop']), 1);
});

test('a name that is held says what its last order failed with', async (t) => {
  const world = await CertificateWorld.open(t);
  await puppets(world, { count: 1, domains: 12, plan: 'pro' });
  world.authority.fault = new AcmeError('dns', 'no such name');
  for (let i = 0; i < 8; i++) await world.tend();
  for (let i = 0; i < 3; i++) {
    await world.pass(6 * MINUTE_MS);
    const { lastError } = world.row('d0.eve0.test') ?? {};
    assert.match(lastError ?? '', /after 5 failed orders: point all.* The last order failed: no such name$/);
  }
  await world.pass(HOUR_MS);
  assert.equal(world.authority.orders.length, 20, 'ten more in the next hour');
});

test('a reserved name comes first also when its organization pays no more, and no domain that looks like it', async (t) => {
  const world = await CertificateWorld.open(t, { maxNewPerWeek: 4 });
  await world.plane.person('bob@example.test', 'pro');
  const ann = await world.plane.person('ann@example.test', 'pro');
  for (const name of ['kept', 'kept-too']) world.plane.control.reservedSubdomains.create(ann, name);
  const operator = { kind: 'operator', orgId: null, userId: null, label: 'root', ipAddress: '' } as const;
  world.plane.control.operatorOrgs.setPlan(operator, ann.orgId, 'free');
  assert.equal(await got(world, ann, ['a', 'b', 'c']), 2);
  assert.equal(await got(world, ann, ['kept', 'kept-too', 'd']), 2);
  const { store } = world.plane.control;
  const { row } = world.plane.create(ann, { subdomain: 'e' });
  // As long as below edge.test, and its first label is a reserved name.
  world.domain(ann, 'kept.evil.test', row.id);
  await world.tend();
  const ranks = { edgeDomain: 'edge.test', plansCount: true };
  const line = waitingNames(store.db, { now: world.plane.now + 90 * DAY_MS, ranks, except: [] });
  assert.deepEqual(line.flatMap(({ name, isFirst }) => (isFirst ? [name] : [])).toSorted(), [
    'kept-too.edge.test',
    'kept.edge.test',
  ]);
});
test('three hundred slow names do not delay the first name of another owner', async (t) => {
  for (const plan of ['free', 'pro'] as const) {
    const world = await CertificateWorld.open(t);
    await puppets(world, { count: 3, domains: 100 });
    const ann = await world.plane.person('ann@example.test', plan);
    world.authority.hold = new Promise(() => {});
    for (let i = 0; i < 10; i++) {
      world.certificates.tend();
      await turns();
    }
    const places = plan === 'free' ? 3 : 2;
    const owners = (): string[] => world.authority.asked.map((name) => name.split('.').slice(1).join('.'));
    assert.deepEqual(new Set(owners()).size, world.authority.orders.length, 'one place for each organization');
    assert.equal(world.authority.orders.length, places);
    const shop = world.tunnel(ann, 'shop');
    void world.certificates.want(shop);
    await turns();
    if (plan === 'free') {
      assert.ok(!world.authority.asked.includes(shop));
      world.plane.now += 10_000;
      world.certificates.tend();
      await turns();
    }
    assert.ok(world.authority.asked.slice(0, 6).includes(shop), plan);
    await world.leave();
  }
});

test('owners whose orders are slow leave a place to who has none, whatever else they wait for', async (t) => {
  const world = await CertificateWorld.open(t);
  await puppets(world, { count: 3, domains: 20, plan: 'pro' });
  const ann = await world.plane.person('ann@example.test', 'pro');
  world.authority.hold = new Promise(() => {});
  for (let i = 0; i < 6; i++) {
    world.plane.now += 2_000;
    world.certificates.tend();
    await turns();
  }
  assert.ok(world.authority.orders.length > 3, 'the first ones are slow');
  const shop = world.tunnel(ann, 'shop');
  void world.certificates.want(shop);
  await turns();
  assert.equal(world.authority.asked.at(-1), shop);
});

test('a person with many organizations has the share of one', async (t) => {
  const world = await CertificateWorld.open(t, { maxNewPerWeek: 20 });
  await world.plane.person('ann@example.test', 'pro');
  const eve = await world.plane.person('eve@example.test', 'free');
  const bob = await world.plane.person('bob@example.test', 'free');
  let all = await got(world, eve, names('e', 9));
  for (const name of ['f', 'g', 'h']) {
    const { id: orgId } = world.plane.control.organizations.create(eve, name);
    all += await got(world, { ...eve, orgId }, names(name, 5));
  }
  assert.equal(all, 7);
  assert.equal(await got(world, bob, ['bob']), 1);
});

test('the first who pays nothing leaves something for those who come tomorrow', async (t) => {
  const world = await CertificateWorld.open(t, { maxNewPerWeek: 20 });
  await world.plane.person('ann@example.test', 'pro');
  const eve = await world.plane.person('eve@example.test', 'free');
  assert.equal(await got(world, eve, names('e', 9)), 7);
});

test('certificates: where plans are free, they make no difference', async (t) => {
  const world = await CertificateWorld.open(t, { maxNewPerWeek: 9, plansCount: false });
  const eve = await world.plane.person('eve@example.test', 'pro');
  const ann = await world.plane.person('ann@example.test', 'free');
  assert.equal(await got(world, eve, names('e', 9)), 6);
  assert.equal(await got(world, ann, names('a', 4)), 3);
});

test('a handshake for one more name does not read the whole queue while no place is free', async (t) => {
  const world = await CertificateWorld.open(t);
  await puppets(world, { count: 3, domains: 60 });
  const ann = await world.plane.person('ann@example.test', 'pro');
  const { store } = world.plane.control;
  world.authority.hold = new Promise(() => {});
  world.certificates.tend();
  await turns();
  const read = t.mock.method(store.db, 'all');
  const rows = (): number => read.mock.calls.reduce((sum, { result }) => sum + (result as unknown[]).length, 0);
  const eve = await world.plane.person('eve@example.test', 'free');
  for (const name of names('e', 20)) void world.certificates.want(world.tunnel(eve, name));
  assert.ok(rows() <= 20 + 1, String(rows()));
  const shop = world.tunnel(ann, 'shop');
  void world.certificates.want(shop);
  await turns();
  assert.ok(world.authority.asked.includes(shop), 'who has a place begins at once');
});

test('a place is kept for certificates that end within a week, and never all of them', async (t) => {
  const world = await CertificateWorld.open(t);
  const people = [];
  for (const who of ['ann', 'bob', 'cid', 'dan']) people.push(await world.plane.person(`${who}@example.test`));
  for (const [i, person] of people.entries()) assert.equal(await got(world, person, [`old-${i}`]), 1);
  world.authority.fault = new AcmeError('connection', 'no server there');
  for (let day = 0; day < 84; day++) await world.pass(DAY_MS);
  world.authority.fault = undefined;
  world.authority.hold = new Promise(() => {});
  const before = world.authority.orders.length;
  for (const [i, person] of people.entries()) void world.certificates.want(world.tunnel(person, `new-${i}`));
  await turns();
  assert.equal(world.authority.orders.length, before + 3);
  // The wall clock alone: the three are not slow.
  world.plane.ahead += DAY_MS;
  world.certificates.tend();
  await turns();
  const begun = world.authority.asked.slice(before);
  assert.equal(begun.length, 4);
  assert.match(begun[3] ?? '', /^old-/);
});
