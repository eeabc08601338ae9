/** Which certificates are asked for, when, and what becomes of them, on a clock that tests move and with an authority of theirs. */
import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { eq } from 'drizzle-orm';
import { DAY_MS, HOUR_MS } from '../../base/clock.ts';
import { domains } from '../db/schema.ts';
import { AcmeError } from '../providers/acme/contract.ts';
import { FakeAuthority } from './testing/fake-authority.ts';
import { CertificateWorld } from './testing/certificate-world.ts';
import { Plane } from '../core/testing/plane.ts';

const MINUTE_MS = 60_000;

test('a handshake for a live tunnel gets it a certificate, and nothing is asked again', async (t) => {
  const world = await CertificateWorld.open(t);
  const ann = await world.plane.person('ann@example.test');
  const host = world.tunnel(ann, 'shop');
  assert.equal(await world.certificates.want(host), true);
  assert.deepEqual([...world.shown.keys()], [host]);
  assert.equal(await world.certificates.want(host), true);
  await world.pass(DAY_MS);
  assert.deepEqual(world.authority.asked, [host]);
  assert.equal(world.row(host)?.state, 'valid');
});

test('certificates: names that lead nowhere are not ordered and leave no trace', async (t) => {
  const world = await CertificateWorld.open(t);
  const ann = await world.plane.person('ann@example.test');
  const stopped = world.plane.create(ann, { subdomain: 'stopped' }).row;
  world.plane.control.tunnels.stop(ann, stopped.id);
  const gone = world.plane.create(ann, { subdomain: 'gone' }).row;
  world.plane.control.tunnels.delete(ann, gone.id);
  world.plane.create(ann, { subdomain: 'over', ttlSeconds: 60 });
  world.plane.create(ann, { subdomain: 'port', protocol: 'tcp' });
  const live = world.plane.create(ann, { subdomain: 'live' }).row;
  world.plane.control.domains.create(ann, 'unproven.example.net');
  world.plane.now += MINUTE_MS + 1;
  for (const host of [
    ...['stopped.edge.test', 'gone.edge.test', 'over.edge.test', 'port.edge.test', 'none.edge.test', 'edge.test'],
    ...['unproven.example.net', 'a.live.edge.test', '*.edge.test', 'live.edge.test.', 'LIVE.edge.test', '', 'live'],
  ]) {
    assert.equal(await world.certificates.want(host), false, host);
  }
  await world.tend();
  assert.deepEqual(world.authority.asked, []);
  assert.equal(world.row('none.edge.test'), undefined);
  assert.equal(await world.certificates.want(`${live.label}.edge.test`), true);
});

test('many handshakes for one name are one order, and three orders for new names run at once', async (t) => {
  const world = await CertificateWorld.open(t);
  const ann = await world.plane.person('ann@example.test');
  const bob = await world.plane.person('bob@example.test');
  const cid = await world.plane.person('cid@example.test');
  const hosts = ['a', 'b', 'c', 'd', 'e', 'f'].map((name, i) => world.tunnel([ann, bob, cid][i % 3] ?? ann, name));
  const gate = Promise.withResolvers<void>();
  world.authority.hold = gate.promise;
  const all = hosts.flatMap((host) => Array.from({ length: 50 }, () => world.certificates.want(host)));
  for (let i = 0; i < 5; i++) await new Promise(setImmediate);
  assert.equal(world.authority.orders.length, 3);
  assert.equal(world.row('f.edge.test')?.state, 'pending');
  gate.resolve();
  assert.deepEqual(new Set(await Promise.all(all)), new Set([true]));
  assert.deepEqual(world.authority.asked.toSorted(), hosts);
  assert.equal(world.authority.registered, 1, 'one account for all');
});

test('a full disk behind an order ends neither the server nor the orders after it', async (t) => {
  const world = await CertificateWorld.open(t);
  const ann = await world.plane.person('ann@example.test');
  const { store } = world.plane.control;
  const gate = Promise.withResolvers<void>();
  world.authority.hold = gate.promise;
  const wanted = world.certificates.want(world.tunnel(ann, 'shop'));
  while (world.challenges.length === 0) await new Promise(setImmediate);
  t.mock.method(store, 'inTx', () => {
    throw new Error('the disk is full');
  });
  gate.resolve();
  assert.equal(await wanted, false);
  t.mock.restoreAll();
  assert.equal(await world.certificates.want(world.tunnel(ann, 'news')), true);
});

test('what another authority issued is asked for anew, once', async (t) => {
  const world = await CertificateWorld.open(t);
  const ann = await world.plane.person('ann@example.test');
  const host = world.tunnel(ann, 'shop');
  await world.certificates.want(host);
  const { dataDir } = world.plane;
  const start = async (last: CertificateWorld, directoryUrl: string): Promise<CertificateWorld> => {
    await last.leave();
    return new CertificateWorld(t, world.authority, { dataDir, changes: { directoryUrl } });
  };
  let next = world;
  // The clock of each start is that of the first, as if it had been set back.
  for (const directory of ['https://real.test/dir', 'https://ca.test/directory']) {
    next = await start(next, directory);
    assert.equal(next.shown.size, 0, directory);
    assert.equal(await next.certificates.want(host), true);
    next = await start(next, directory);
    assert.equal(next.shown.size, 1, directory);
  }
  assert.equal(world.authority.registered, 2);
});

test('what the authority asks is answered while an order runs, and not after', async (t) => {
  for (const challenge of ['http-01', 'tls-alpn-01'] as const) {
    const world = await CertificateWorld.open(t, { challenge });
    const ann = await world.plane.person('ann@example.test');
    const host = world.tunnel(ann, 'shop');
    const gate = Promise.withResolvers<void>();
    world.authority.hold = gate.promise;
    const wanted = world.certificates.want(host);
    while (world.challenges.length === 0) await new Promise(setImmediate);
    assert.deepEqual(
      world.challenges.map(({ type, name }) => [type, name]),
      [[challenge, host]],
    );
    gate.resolve();
    await wanted;
    assert.deepEqual(world.challenges, []);
  }
});

test('certificates: a failure is reported with its reason, and ordered again after five minutes, ten, twenty, up to a day', async (t) => {
  const world = await CertificateWorld.open(t);
  const ann = await world.plane.person('ann@example.test', 'enterprise');
  const host = world.tunnel(ann, 'shop');
  world.authority.fault = new AcmeError('connection', 'the authority could not reach port 80');
  assert.equal(await world.certificates.want(host), false);
  const { state, lastError, failures } = world.row(host) ?? {};
  assert.deepEqual([state, lastError, failures], ['failed', 'the authority could not reach port 80', 1]);
  for (const minutes of [5, 10, 20, 40, 80, 160, 320, 640, 1280, 1440, 1440]) {
    const before = world.authority.orders.length;
    for (let i = 0; i < 20; i++) assert.equal(await world.certificates.want(host), false);
    await world.pass(minutes * MINUTE_MS - 1);
    assert.equal(world.authority.orders.length, before, `not before ${minutes} min`);
    await world.pass(1);
    assert.equal(world.authority.orders.length, before + 1, `after ${minutes} min`);
  }
  world.authority.fault = undefined;
  await world.pass(DAY_MS);
  const good = world.row(host);
  assert.deepEqual([good?.state, good?.lastError, good?.failures], ['valid', null, 0]);
});

test('an authority that asks for patience gets it, and one that asks for too much a week', async (t) => {
  const world = await CertificateWorld.open(t);
  const ann = await world.plane.person('ann@example.test');
  const host = world.tunnel(ann, 'shop');
  world.authority.fault = new AcmeError('rateLimited', 'too many', { retryAfterMs: 3 * HOUR_MS });
  await world.certificates.want(host);
  assert.equal(world.row(host)?.nextAttemptAt, world.plane.now + 3 * HOUR_MS);
  world.authority.fault = new AcmeError('rateLimited', 'too many', { retryAfterMs: 999 * DAY_MS });
  await world.pass(3 * HOUR_MS);
  assert.equal(world.row(host)?.nextAttemptAt, world.plane.now + 7 * DAY_MS);
});

test('a restart shows what there was without asking, and the keys are sealed', async (t) => {
  const world = await CertificateWorld.open(t);
  const ann = await world.plane.person('ann@example.test');
  const host = world.tunnel(ann, 'shop');
  await world.certificates.want(host);
  const pair = world.shown.get(host);
  assert.match(pair?.key ?? '', /PRIVATE KEY/);
  await world.leave();
  for (const file of readdirSync(world.plane.dataDir).filter((name) => name.includes('.db'))) {
    const bytes = readFileSync(join(world.plane.dataDir, file), 'latin1');
    assert.ok(!bytes.includes('PRIVATE KEY') && !bytes.includes('account key'), file);
  }
  const again = new CertificateWorld(t, world.authority, { dataDir: world.plane.dataDir });
  assert.deepEqual(again.shown.get(host), pair);
  await again.tend();
  assert.equal(world.authority.orders.length, 1);
  // The account is known too.
  const other = again.tunnel(ann, 'news');
  await again.certificates.want(other);
  assert.equal(world.authority.registered, 1);
});

test('a certificate is renewed a third of its life before the end, and the old one is named', async (t) => {
  const world = await CertificateWorld.open(t);
  const ann = await world.plane.person('ann@example.test');
  const host = world.tunnel(ann, 'shop');
  await world.certificates.want(host);
  const first = world.shown.get(host);
  await world.pass(58 * DAY_MS);
  assert.equal(world.authority.orders.length, 1);
  await world.pass(2 * DAY_MS);
  assert.equal(world.authority.orders.length, 2);
  assert.equal(world.authority.orders[1]?.replaces, first?.cert);
  assert.notEqual(world.shown.get(host)?.cert, first?.cert);
});

test('an authority that wants a renewal earlier is heard, with the certificate and later', async (t) => {
  const world = await CertificateWorld.open(t);
  const ann = await world.plane.person('ann@example.test');
  const [shop, routeEvents] = [world.tunnel(ann, 'shop'), world.tunnel(ann, 'news')];
  world.authority.renewAt = world.plane.now + 30 * DAY_MS;
  await world.certificates.want(shop);
  const next = world.row(shop)?.nextAttemptAt ?? 0;
  assert.ok(next <= world.authority.renewAt && next > world.authority.renewAt - 2 * DAY_MS);
  world.authority.renewAt = null;
  await world.certificates.want(routeEvents);
  world.authority.laterRenewAt = world.plane.now - HOUR_MS;
  await world.certificates.askTimes(new AbortController().signal);
  await world.tend();
  assert.deepEqual(world.authority.asked.slice(2).toSorted(), [routeEvents, shop]);
  assert.equal(world.authority.orders.length, 4);
});

test('a renewal that fails leaves the old one shown until it ends, and then the name counts as failed', async (t) => {
  const world = await CertificateWorld.open(t);
  const ann = await world.plane.person('ann@example.test');
  const host = world.tunnel(ann, 'shop');
  await world.certificates.want(host);
  world.authority.fault = new AcmeError('connection', 'no server there');
  await world.pass(60 * DAY_MS);
  const failing = world.row(host);
  assert.deepEqual([failing?.state, failing?.lastError], ['valid', 'no server there']);
  assert.ok(world.shown.has(host));
  await world.pass(30 * DAY_MS + 1);
  assert.equal(world.row(host)?.state, 'failed');
  assert.equal(world.shown.has(host), false);
  world.authority.fault = undefined;
  await world.pass(DAY_MS);
  assert.ok(world.shown.has(host));
});

test('certificates: an unused one is not renewed, and is deleted when it expires', async (t) => {
  const world = await CertificateWorld.open(t);
  const ann = await world.plane.person('ann@example.test');
  const tunnel = world.plane.create(ann, { subdomain: 'shop' }).row;
  await world.certificates.want('shop.edge.test');
  world.plane.control.tunnels.delete(ann, tunnel.id);
  await world.pass(89 * DAY_MS);
  assert.equal(world.authority.orders.length, 1);
  assert.ok(world.shown.has('shop.edge.test'));
  await world.pass(DAY_MS + 1);
  assert.equal(world.row('shop.edge.test'), undefined);
  assert.equal(world.shown.size, 0);
});

test('what is used again is renewed soon, and not when it has run out', async (t) => {
  const world = await CertificateWorld.open(t);
  const ann = await world.plane.person('ann@example.test');
  const tunnel = world.plane.create(ann, { subdomain: 'shop' }).row;
  await world.certificates.want('shop.edge.test');
  world.plane.control.tunnels.stop(ann, tunnel.id);
  await world.pass(70 * DAY_MS);
  world.plane.control.tunnels.start(ann, tunnel.id);
  await world.pass(11 * HOUR_MS);
  assert.equal(world.authority.orders.length, 1);
  await world.pass(HOUR_MS);
  assert.equal(world.authority.orders.length, 2);
});

test('a verified and bound domain is asked for unasked, until its organization is suspended', async (t) => {
  const world = await CertificateWorld.open(t);
  const ann = await world.plane.person('ann@example.test');
  const tunnel = world.plane.create(ann, { subdomain: 'shop' });
  const name = 'shop.example.net';
  world.domain(ann, name, tunnel.row.id);
  await world.tend();
  assert.deepEqual(world.authority.asked, [name]);
  const [row] = world.plane.control.domains.list(ann);
  assert.equal(world.certificates.ofDomain(row ?? assert.fail())?.state, 'valid');
  const eve = await world.plane.person('eve@example.test');
  assert.equal(world.certificates.ofDomain({ domain: name, verifiedAt: null })?.state, 'none', 'as others see it');
  const routeEvents = world.plane.create(eve, { subdomain: 'news' });
  world.domain(eve, 'news.example.net', routeEvents.row.id);
  const { store } = world.plane.control;
  store.db.update(domains).set({ verifiedAt: null }).where(eq(domains.domain, 'news.example.net')).run();
  await world.tend();
  assert.equal(await world.certificates.want('news.example.net'), false, 'bound, and not verified any more');
  const operator = { kind: 'operator', orgId: null, userId: null, label: 'test', ipAddress: '' } as const;
  world.plane.control.operatorOrgs.suspend(operator, ann.orgId);
  await world.pass(80 * DAY_MS);
  assert.deepEqual(world.authority.asked, [name]);
});

test("a reserved subdomain's tunnel is asked for once an agent serves it, others wait for a visitor", async (t) => {
  const world = await CertificateWorld.open(t);
  const ann = await world.plane.person('ann@example.test', 'enterprise');
  world.plane.control.reservedSubdomains.create(ann, 'kept');
  const token = world.plane.mint(ann);
  world.plane.create(ann, { subdomain: 'kept' });
  await world.tend();
  assert.deepEqual(world.authority.asked, []);
  for (const subdomain of ['kept', 'other']) {
    const { tunnelId } = await world.plane.bound(token, { subdomain });
    await world.plane.control.link.report({
      node: 'n',
      sequence: subdomain === 'kept' ? 1 : 2,
      events: [{ kind: 'agent', agentId: 'a', tunnelId, online: true, at: world.plane.now }],
    });
  }
  await world.tend();
  assert.deepEqual(world.authority.asked, ['kept.edge.test']);
});

test("a week's new names are bounded and said to be used up; renewals and custom domains go on", async (t) => {
  const world = await CertificateWorld.open(t, { maxNewPerWeek: 3 });
  const ann = await world.plane.person('ann@example.test');
  const hosts = ['a', 'b', 'c'].map((name) => world.tunnel(ann, name));
  for (const host of hosts) assert.equal(await world.certificates.want(host), true);
  const late = world.tunnel(ann, 'late');
  assert.equal(await world.certificates.want(late), false);
  const held = world.row(late);
  assert.equal(held?.state, 'failed');
  assert.match(held?.lastError ?? '', /limit .*acme\.max_new_per_week.*dns-01/);
  const tunnel = world.plane.create(ann, { subdomain: 'd' });
  world.domain(ann, 'shop.example.net', tunnel.row.id);
  await world.tend();
  assert.deepEqual(world.authority.asked, [...hosts, 'shop.example.net']);
  await world.pass(7 * DAY_MS);
  assert.deepEqual(world.authority.asked, [...hosts, 'shop.example.net', late]);
  await world.pass(60 * DAY_MS);
  assert.equal(world.authority.orders.length, 5 + 5, 'all are renewed');
});

test('with dns-01 one certificate is for all names of the edge, and custom domains have their own', async (t) => {
  const world = await CertificateWorld.open(t, { challenge: 'dns-01', domainChallenge: 'http-01' });
  await world.tend();
  assert.deepEqual(world.authority.asked, ['*.edge.test,edge.test']);
  assert.deepEqual([...world.records], ['edge.test digest of *.edge.test', 'edge.test digest of edge.test']);
  const ann = await world.plane.person('ann@example.test');
  const tunnel = world.plane.create(ann, { subdomain: 'shop' });
  assert.equal(await world.certificates.want('shop.edge.test'), true, 'the wildcard is it');
  world.domain(ann, 'shop.example.net', tunnel.row.id);
  await world.tend();
  assert.deepEqual(
    world.authority.orders.map(({ challenge }) => challenge),
    ['dns-01', 'http-01'],
  );
  assert.equal(world.certificates.ofTunnel(tunnel.row)?.state, 'valid');
});

test("members see that the server's own certificate fails, and operators why", async (t) => {
  const world = await CertificateWorld.open(t, { challenge: 'dns-01' });
  const ann = await world.plane.person('ann@example.test');
  const tunnel = world.plane.create(ann, { subdomain: 'shop' });
  world.authority.fault = new AcmeError('challenge_failed', '/etc/culvert/hook ended with 1');
  await world.tend();
  const seen = world.certificates.ofTunnel(tunnel.row);
  assert.equal(seen?.state, 'failed');
  assert.doesNotMatch(seen?.lastError ?? '', /hook/);
  assert.match(world.row('*.edge.test')?.lastError ?? '', /hook/);
});

test('a stop ends orders, takes answers back, and the next start asks at once', async (t) => {
  const world = await CertificateWorld.open(t);
  const ann = await world.plane.person('ann@example.test');
  const host = world.tunnel(ann, 'shop');
  world.authority.hold = new Promise(() => {});
  const wanted = world.certificates.want(host);
  while (world.challenges.length === 0) await new Promise(setImmediate);
  const began = performance.now();
  await world.leave();
  assert.ok(performance.now() - began < 1_000);
  assert.equal(await wanted, false);
  assert.deepEqual(world.challenges, []);
  world.authority.hold = undefined;
  const again = new CertificateWorld(t, world.authority, { dataDir: world.plane.dataDir });
  await again.tend();
  assert.equal(again.row(host)?.state, 'valid');
});

test('issued certificate: the disk is asked to keep it at once, though no request waits for it', async (t) => {
  const world = await CertificateWorld.open(t);
  const { store } = world.plane.control;
  const durable = t.mock.method(store, 'durable');
  const ann = await world.plane.person('ann@example.test');
  assert.equal(await world.certificates.want(world.tunnel(ann, 'shop')), true);
  assert.equal(durable.mock.callCount(), 1);
  await Promise.all(durable.mock.calls.map(({ result }) => result as Promise<void>));
});

test('interrupted order: it begins again at the next start, three times in a row, then waits as after a failure', async (t) => {
  let world = await CertificateWorld.open(t);
  const ann = await world.plane.person('ann@example.test');
  const host = world.tunnel(ann, 'shop');
  world.authority.hold = new Promise(() => {});
  void world.certificates.want(host);
  while (world.challenges.length === 0) await new Promise(setImmediate);
  for (let kills = 1; kills <= 4; kills++) {
    const again = new CertificateWorld(t, await FakeAuthority.open(), { dataDir: leftBehind(t, world) });
    again.authority.hold = new Promise(() => {});
    again.certificates.tend();
    // An order that begins does so within a few turns of the loop.
    for (let turns = 0; turns < 50 && again.authority.active === 0; turns++) await new Promise(setImmediate);
    assert.equal(again.authority.active, kills <= 3 ? 1 : 0, `after ${kills} kills`);
    world = again;
  }
  const last = new CertificateWorld(t, await FakeAuthority.open(), { dataDir: leftBehind(t, world) });
  await last.pass(5 * MINUTE_MS);
  assert.equal(last.row(host)?.state, 'valid');
});

/** The folder as a kill leaves it. */
function leftBehind(t: TestContext, world: CertificateWorld): string {
  const dataDir = mkdtempSync(join(tmpdir(), 'culvert-'));
  t.after(() => rmSync(dataDir, { recursive: true }));
  cpSync(world.plane.dataDir, dataDir, { recursive: true, filter: (name) => !name.endsWith('.lock') });
  return dataDir;
}

test('certificate order: an order that a stop of the server interrupted is reported', async (t) => {
  const world = await CertificateWorld.open(t);
  const ann = await world.plane.person('ann@example.test');
  const host = world.tunnel(ann, 'shop');
  world.authority.hold = new Promise(() => {});
  void world.certificates.want(host);
  while (world.challenges.length === 0) await new Promise(setImmediate);
  assert.equal(world.row(host)?.nextAttemptAt, world.plane.now + 5 * MINUTE_MS);
  assert.deepEqual([world.row(host)?.state, world.row(host)?.lastError], ['pending', null], 'it is under way');
  const again = new CertificateWorld(t, await FakeAuthority.open(), { dataDir: leftBehind(t, world) });
  assert.equal(again.row(host)?.state, 'failed');
  assert.match(again.row(host)?.lastError ?? '', /stopped during the last order/);
});

test('certificates: an authority that refuses the account is reported at the start', async (t) => {
  const authority = await FakeAuthority.open();
  authority.register = () => Promise.reject(new AcmeError('externalAccountRequired', 'who are you?'));
  const world = new CertificateWorld(t, authority);
  await world.settle();
  assert.match(JSON.stringify(world.said), /who are you\?.*could not create an account at the certificate authority/);
});

test('an authority that knows no account gets another one, and not one for each order', async (t) => {
  const world = await CertificateWorld.open(t);
  const ann = await world.plane.person('ann@example.test');
  world.authority.fault = new AcmeError('accountDoesNotExist', 'no such account');
  for (let i = 0; i < 8; i++) await world.certificates.want(world.tunnel(ann, `n-${i}`));
  assert.equal(world.authority.registered, 2);
});

test('an account that the authority has forgotten is made anew', async (t) => {
  const world = await CertificateWorld.open(t);
  const ann = await world.plane.person('ann@example.test');
  const host = world.tunnel(ann, 'shop');
  world.authority.fault = new AcmeError('accountDoesNotExist', 'no such account');
  await world.certificates.want(host);
  world.authority.fault = undefined;
  await world.pass(5 * MINUTE_MS);
  assert.deepEqual([world.authority.registered, world.row(host)?.state], [2, 'valid']);
});

test('an operator asks for one now, once at a time, and it is in the audit log', async (t) => {
  const world = await CertificateWorld.open(t);
  const ann = await world.plane.person('ann@example.test');
  const host = world.tunnel(ann, 'shop');
  const operator = { kind: 'operator', orgId: null, userId: null, label: 'root', ipAddress: '' } as const;
  const { certificates } = world;
  assert.throws(() => certificates.renew(ann, host), { code: 'forbidden' });
  assert.throws(() => certificates.list(ann, { after: undefined, limit: 1 }), { code: 'forbidden' });
  assert.throws(() => certificates.renew(operator, 'none.edge.test'), { code: 'not_found' });
  world.authority.fault = new AcmeError('connection', 'no server there');
  await certificates.want(host);
  world.authority.fault = undefined;
  const gate = Promise.withResolvers<void>();
  world.authority.hold = gate.promise;
  assert.equal(certificates.renew(operator, host).state, 'pending');
  assert.throws(() => certificates.renew(operator, host), { code: 'conflict' });
  gate.resolve();
  await world.settle();
  assert.equal(world.row(host)?.state, 'valid');
  certificates.renew(operator, host);
  await world.settle();
  assert.equal(world.authority.orders.length, 3, 'a good one is renewed too');
  const entries = world.plane.control.store.db.query.auditEvents.findMany().sync();
  const renewals = entries.filter(({ action }) => action === 'certificate.renew');
  assert.deepEqual(
    renewals.map(({ resourceId, actorLabel }) => [resourceId, actorLabel]),
    [
      [host, 'root'],
      [host, 'root'],
    ],
  );
});

test('without ACME nothing is asked for, nothing is shown, and there is nothing to see', async (t) => {
  const plane = new Plane();
  t.after(() => plane.close());
  const ann = await plane.person('ann@example.test');
  const { row } = plane.create(ann, { subdomain: 'shop' });
  const { certificates } = plane.control;
  const stop = certificates.attach({ setCertificates: () => assert.fail(), setChallenges: () => assert.fail() });
  certificates.tend();
  assert.equal(await certificates.want('shop.localhost'), false);
  assert.equal(certificates.ofTunnel(row), null);
  assert.equal(certificates.ofDomain({ domain: 'shop.example.net', verifiedAt: null }), null);
  await stop();
});

test("the server's own name is ordered without a visitor, and has no owner", async (t) => {
  const own = 'culvert.edge.test';
  const world = await CertificateWorld.open(t, { serverNames: [own, 'api.example.org'] });
  await world.tend();
  assert.deepEqual([...world.authority.asked].sort(), ['api.example.org', own]);
  assert.deepEqual([...world.shown.keys()].sort(), ['api.example.org', own]);
  assert.equal(await world.certificates.want('other.edge.test'), false);
});

test('the wildcard holds the own name of the server where it can', async (t) => {
  const serverNames = ['culvert.edge.test', 'a.b.edge.test', 'api.example.org'];
  const world = await CertificateWorld.open(t, { challenge: 'dns-01', serverNames });
  await world.tend();
  assert.deepEqual([...world.shown.keys()].sort(), ['*.edge.test', 'a.b.edge.test', 'api.example.org']);
});
