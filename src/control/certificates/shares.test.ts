/** Who gets certificates when there is not room for all: what one organization, or many of the Free plan, can't take from the others. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DAY_MS, HOUR_MS } from '../../base/clock.ts';
import type { UserActor } from '../core/rules/actor.ts';
import { AcmeError } from '../providers/acme/contract.ts';
import { waitingNames } from './order-queue.ts';
import { CertificateFixture } from './testing/certificate-fixture.ts';

const MINUTE_MS = 60_000;

/** Asks for that many names of a person, one after another; how many certificates came. */
async function got(fixture: CertificateFixture, actor: UserActor, names: readonly string[]): Promise<number> {
  let count = 0;
  for (const name of names) if (await fixture.certificates.want(fixture.tunnel(actor, name))) count++;
  return count;
}

const names = (prefix: string, count: number): string[] => Array.from({ length: count }, (_, i) => `${prefix}-${i}`);

/** People, each with verified domains whose orders have no chance. */
async function puppets(
  fixture: CertificateFixture,
  { count, domains, plan = 'free' }: { count: number; domains: number; plan?: 'free' | 'pro' },
): Promise<void> {
  for (let i = 0; i < count; i++) {
    const eve = await fixture.plane.person(`eve${i}@example.test`, plan);
    const { row } = fixture.plane.create(eve, { subdomain: `eve${i}` });
    for (let k = 0; k < domains; k++) fixture.domain(eve, `d${k}.eve${i}.test`, row.id);
  }
}

/** Lets what was begun come to the authority. */
async function turns(): Promise<void> {
  for (let i = 0; i < 8; i++) await new Promise(setImmediate);
}

test('one organization does not take all places with names that answer slowly', async (t) => {
  const fixture = await CertificateFixture.open(t);
  const eve = await fixture.plane.person('eve@example.test');
  const ann = await fixture.plane.person('ann@example.test');
  fixture.authority.hold = new Promise(() => {});
  for (const name of ['e1', 'e2', 'e3', 'e4', 'e5']) void fixture.certificates.want(fixture.tunnel(eve, name));
  const shop = fixture.tunnel(ann, 'shop');
  void fixture.certificates.want(shop);
  for (let i = 0; i < 5; i++) await new Promise(setImmediate);
  assert.deepEqual(fixture.authority.asked, ['e1.edge.test', 'e2.edge.test', shop]);
});

test('one organization does not use up the week of all the others', async (t) => {
  const fixture = await CertificateFixture.open(t, { maxNewPerWeek: 9 });
  const eve = await fixture.plane.person('eve@example.test');
  const ann = await fixture.plane.person('ann@example.test');
  const hosts = Array.from({ length: 9 }, (_, index) => fixture.tunnel(eve, `eve-${index}`));
  const got = [];
  for (const host of hosts) got.push(await fixture.certificates.want(host));
  assert.deepEqual(got, [true, true, true, true, true, true, false, false, false]);
  assert.match(fixture.row('eve-8.edge.test')?.lastError ?? '', /your organizations have used up their share/);
  assert.equal(await fixture.certificates.want(fixture.tunnel(ann, 'shop')), true);
});

test('the only organization of a server has the whole week', async (t) => {
  const fixture = await CertificateFixture.open(t, { maxNewPerWeek: 9 });
  const ann = await fixture.plane.person('ann@example.test');
  const got = [];
  for (let i = 0; i < 10; i++) got.push(await fixture.certificates.want(fixture.tunnel(ann, `n-${i}`)));
  assert.deepEqual(got, [...Array.from({ length: 9 }, () => true), false]);
});

test('an organization whose names all fail asks ten times in an hour, and no more', async (t) => {
  const fixture = await CertificateFixture.open(t);
  const eve = await fixture.plane.person('eve@example.test');
  const ann = await fixture.plane.person('ann@example.test');
  const tunnel = fixture.plane.create(eve, { subdomain: 'eve' });
  const { store } = fixture.plane.control;
  for (let i = 0; i < 40; i++) fixture.domain(eve, `d${i}.example.net`, tunnel.row.id);
  fixture.authority.fault = new AcmeError('dns', 'no such name');
  for (let i = 0; i < 6; i++) await fixture.tend();
  assert.equal(fixture.authority.orders.length, 10);
  fixture.authority.fault = undefined;
  assert.equal(await fixture.certificates.want(fixture.tunnel(ann, 'shop')), true);
  assert.ok(store.db.query.certificates.findMany().sync().length > 10);
});

test('Free organizations share half of a week where one organization pays, and a restart forgets nothing', async (t) => {
  const fixture = await CertificateFixture.open(t, { maxNewPerWeek: 20 });
  const ann = await fixture.plane.person('ann@example.test', 'pro');
  const eves = [];
  for (const who of ['e', 'f', 'g']) eves.push(await fixture.plane.person(`${who}@example.test`, 'free'));
  const [eve, fay, gus] = eves as [UserActor, UserActor, UserActor];
  assert.equal(await got(fixture, eve, names('e', 9)), 7, 'two thirds of the half');
  await fixture.leave();
  const changes = { maxNewPerWeek: 20 };
  const again = new CertificateFixture(t, fixture.authority, { dataDir: fixture.plane.dataDir, changes });
  assert.equal(await got(again, eve, names('again', 2)), 0, 'it had its share before the restart');
  assert.equal((await got(again, fay, names('f', 2))) + (await got(again, gus, names('g', 2))), 3);
  assert.match(again.row('g-1.edge.test')?.lastError ?? '', /Free plans get half.*dns-01/);
  assert.equal(again.row('g-1.edge.test')?.nextAttemptAt, again.plane.now + 7 * DAY_MS);
  assert.equal(await got(again, ann, names('a', 11)), 10, 'the rest is for who pays');
});

test('a restart forgets neither the orders of an hour nor what failed', async (t) => {
  const fixture = await CertificateFixture.open(t);
  await puppets(fixture, { count: 1, domains: 8 });
  fixture.authority.fault = new AcmeError('dns', 'no such name');
  await fixture.tend();
  await fixture.tend();
  assert.equal(fixture.authority.orders.length, 8);
  await fixture.leave();
  const again = new CertificateFixture(t, fixture.authority, { dataDir: fixture.plane.dataDir });
  again.plane.now += 5 * MINUTE_MS;
  for (let i = 0; i < 4; i++) await again.tend();
  assert.equal(fixture.authority.orders.length, 10);
});

test('Free organizations whose names all fail use up half of an hour, and see why they wait', async (t) => {
  const fixture = await CertificateFixture.open(t);
  await puppets(fixture, { count: 9, domains: 15 });
  const ann = await fixture.plane.person('ann@example.test', 'pro');
  fixture.authority.fault = new AcmeError('dns', 'no such name');
  for (let i = 0; i < 30; i++) await fixture.tend();
  assert.equal(fixture.authority.orders.length, 40);
  fixture.authority.fault = undefined;
  assert.equal(await got(fixture, ann, ['shop']), 1);
  const held = names('', 15)
    .map((_, k) => fixture.row(`d${k}.eve0.test`))
    .find((row) => row?.failures === 0);
  assert.match(held?.lastError ?? '', /hour's limit .*ordered automatically/);
  assert.ok((held?.nextAttemptAt ?? 0) > fixture.plane.now);
  const said = fixture.said.filter(({ message }) => message.includes("hour's limit"));
  assert.equal(said.length, 1, 'in a minute');
});

test('on a server without payers, one organization leaves a third of the hour to those that had few', async (t) => {
  const fixture = await CertificateFixture.open(t);
  await puppets(fixture, { count: 9, domains: 15 });
  const ann = await fixture.plane.person('ann@example.test', 'free');
  fixture.authority.fault = new AcmeError('dns', 'no such name');
  for (let i = 0; i < 40; i++) await fixture.tend();
  assert.equal(fixture.authority.orders.length, Math.ceil((80 * 2) / 3));
  fixture.authority.fault = undefined;
  assert.equal(await got(fixture, ann, ['shop']), 1);
});

test('a name that is held says what its last order failed with', async (t) => {
  const fixture = await CertificateFixture.open(t);
  await puppets(fixture, { count: 1, domains: 12, plan: 'pro' });
  fixture.authority.fault = new AcmeError('dns', 'no such name');
  for (let i = 0; i < 8; i++) await fixture.tend();
  for (let i = 0; i < 3; i++) {
    await fixture.pass(6 * MINUTE_MS);
    const { lastError } = fixture.row('d0.eve0.test') ?? {};
    assert.match(lastError ?? '', /after 5 failed orders: point all.* The last order failed: no such name$/);
  }
  await fixture.pass(HOUR_MS);
  assert.equal(fixture.authority.orders.length, 20, 'ten more in the next hour');
});

test('a reserved name comes first also when its organization pays no more, and no domain that looks like it', async (t) => {
  const fixture = await CertificateFixture.open(t, { maxNewPerWeek: 4 });
  await fixture.plane.person('bob@example.test', 'pro');
  const ann = await fixture.plane.person('ann@example.test', 'pro');
  for (const name of ['kept', 'kept-too']) fixture.plane.control.reservedSubdomains.create(ann, name);
  const operator = { kind: 'operator', orgId: null, userId: null, label: 'root', ipAddress: '' } as const;
  fixture.plane.control.operatorOrgs.setPlan(operator, ann.orgId, 'free');
  assert.equal(await got(fixture, ann, ['a', 'b', 'c']), 2);
  assert.equal(await got(fixture, ann, ['kept', 'kept-too', 'd']), 2);
  const { store } = fixture.plane.control;
  const { row } = fixture.plane.create(ann, { subdomain: 'e' });
  // As long as below edge.test, and its first label is a reserved name.
  fixture.domain(ann, 'kept.evil.test', row.id);
  await fixture.tend();
  const ranks = { edgeDomain: 'edge.test', plansCount: true };
  const line = waitingNames(store.db, { now: fixture.plane.now + 90 * DAY_MS, ranks, except: [] });
  assert.deepEqual(line.flatMap(({ name, isFirst }) => (isFirst ? [name] : [])).toSorted(), [
    'kept-too.edge.test',
    'kept.edge.test',
  ]);
});
test('three hundred slow names do not delay the first name of another owner', async (t) => {
  for (const plan of ['free', 'pro'] as const) {
    const fixture = await CertificateFixture.open(t);
    await puppets(fixture, { count: 3, domains: 100 });
    const ann = await fixture.plane.person('ann@example.test', plan);
    fixture.authority.hold = new Promise(() => {});
    for (let i = 0; i < 10; i++) {
      fixture.certificates.tend();
      await turns();
    }
    const places = plan === 'free' ? 3 : 2;
    const owners = (): string[] => fixture.authority.asked.map((name) => name.split('.').slice(1).join('.'));
    assert.deepEqual(new Set(owners()).size, fixture.authority.orders.length, 'one place for each organization');
    assert.equal(fixture.authority.orders.length, places);
    const shop = fixture.tunnel(ann, 'shop');
    void fixture.certificates.want(shop);
    await turns();
    if (plan === 'free') {
      assert.ok(!fixture.authority.asked.includes(shop));
      fixture.plane.now += 10_000;
      fixture.certificates.tend();
      await turns();
    }
    assert.ok(fixture.authority.asked.slice(0, 6).includes(shop), plan);
    await fixture.leave();
  }
});

test('owners whose orders are slow leave a place to who has none, whatever else they wait for', async (t) => {
  const fixture = await CertificateFixture.open(t);
  await puppets(fixture, { count: 3, domains: 20, plan: 'pro' });
  const ann = await fixture.plane.person('ann@example.test', 'pro');
  fixture.authority.hold = new Promise(() => {});
  for (let i = 0; i < 6; i++) {
    fixture.plane.now += 2_000;
    fixture.certificates.tend();
    await turns();
  }
  assert.ok(fixture.authority.orders.length > 3, 'the first ones are slow');
  const shop = fixture.tunnel(ann, 'shop');
  void fixture.certificates.want(shop);
  await turns();
  assert.equal(fixture.authority.asked.at(-1), shop);
});

test('a person with many organizations has the share of one', async (t) => {
  const fixture = await CertificateFixture.open(t, { maxNewPerWeek: 20 });
  await fixture.plane.person('ann@example.test', 'pro');
  const eve = await fixture.plane.person('eve@example.test', 'free');
  const bob = await fixture.plane.person('bob@example.test', 'free');
  let all = await got(fixture, eve, names('e', 9));
  for (const name of ['f', 'g', 'h']) {
    const { id: orgId } = fixture.plane.control.organizations.create(eve, name);
    all += await got(fixture, { ...eve, orgId }, names(name, 5));
  }
  assert.equal(all, 7);
  assert.equal(await got(fixture, bob, ['bob']), 1);
});

test('the first who pays nothing leaves something for those who come tomorrow', async (t) => {
  const fixture = await CertificateFixture.open(t, { maxNewPerWeek: 20 });
  await fixture.plane.person('ann@example.test', 'pro');
  const eve = await fixture.plane.person('eve@example.test', 'free');
  assert.equal(await got(fixture, eve, names('e', 9)), 7);
});

test('certificates: where plans are free, they make no difference', async (t) => {
  const fixture = await CertificateFixture.open(t, { maxNewPerWeek: 9, plansCount: false });
  const eve = await fixture.plane.person('eve@example.test', 'pro');
  const ann = await fixture.plane.person('ann@example.test', 'free');
  assert.equal(await got(fixture, eve, names('e', 9)), 6);
  assert.equal(await got(fixture, ann, names('a', 4)), 3);
});

test('a handshake for one more name does not read the whole queue while no place is free', async (t) => {
  const fixture = await CertificateFixture.open(t);
  await puppets(fixture, { count: 3, domains: 60 });
  const ann = await fixture.plane.person('ann@example.test', 'pro');
  const { store } = fixture.plane.control;
  fixture.authority.hold = new Promise(() => {});
  fixture.certificates.tend();
  await turns();
  const read = t.mock.method(store.db, 'all');
  const rows = (): number => read.mock.calls.reduce((sum, { result }) => sum + (result as unknown[]).length, 0);
  const eve = await fixture.plane.person('eve@example.test', 'free');
  for (const name of names('e', 20)) void fixture.certificates.want(fixture.tunnel(eve, name));
  assert.ok(rows() <= 20 + 1, String(rows()));
  const shop = fixture.tunnel(ann, 'shop');
  void fixture.certificates.want(shop);
  await turns();
  assert.ok(fixture.authority.asked.includes(shop), 'who has a place begins at once');
});

test('a place is kept for certificates that end within a week, and never all of them', async (t) => {
  const fixture = await CertificateFixture.open(t);
  const people = [];
  for (const who of ['ann', 'bob', 'cid', 'dan']) people.push(await fixture.plane.person(`${who}@example.test`));
  for (const [i, person] of people.entries()) assert.equal(await got(fixture, person, [`old-${i}`]), 1);
  fixture.authority.fault = new AcmeError('connection', 'no server there');
  for (let day = 0; day < 84; day++) await fixture.pass(DAY_MS);
  fixture.authority.fault = undefined;
  fixture.authority.hold = new Promise(() => {});
  const before = fixture.authority.orders.length;
  for (const [i, person] of people.entries()) void fixture.certificates.want(fixture.tunnel(person, `new-${i}`));
  await turns();
  assert.equal(fixture.authority.orders.length, before + 3);
  // The wall clock alone: the three are not slow.
  fixture.plane.ahead += DAY_MS;
  fixture.certificates.tend();
  await turns();
  const begun = fixture.authority.asked.slice(before);
  assert.equal(begun.length, 4);
  assert.match(begun[3] ?? '', /^old-/);
});
