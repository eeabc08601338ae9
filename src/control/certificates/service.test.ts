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
import { CertificateFixture } from './testing/certificate-fixture.ts';
import { Plane } from '../core/testing/plane.ts';
import { OwnClock } from '../../../test/harness/own-clock.ts';

const MINUTE_MS = 60_000;

test('a handshake for a live tunnel gets it a certificate, and nothing is asked again', async (t) => {
  const fixture = await CertificateFixture.open(t);
  const ann = await fixture.plane.person('ann@example.test');
  const host = fixture.tunnel(ann, 'shop');
  assert.equal(await fixture.certificates.want(host), true);
  assert.deepEqual([...fixture.shown.keys()], [host]);
  assert.equal(await fixture.certificates.want(host), true);
  await fixture.pass(DAY_MS);
  assert.deepEqual(fixture.authority.asked, [host]);
  assert.equal(fixture.row(host)?.state, 'valid');
});

test('certificates: names that lead nowhere are not ordered and leave no trace', async (t) => {
  const fixture = await CertificateFixture.open(t);
  const ann = await fixture.plane.person('ann@example.test');
  const stopped = fixture.plane.create(ann, { subdomain: 'stopped' }).row;
  fixture.plane.control.tunnels.stop(ann, stopped.id);
  const gone = fixture.plane.create(ann, { subdomain: 'gone' }).row;
  fixture.plane.control.tunnels.delete(ann, gone.id);
  fixture.plane.create(ann, { subdomain: 'over', ttlSeconds: 60 });
  fixture.plane.create(ann, { subdomain: 'port', protocol: 'tcp' });
  const live = fixture.plane.create(ann, { subdomain: 'live' }).row;
  fixture.plane.control.domains.create(ann, 'unproven.example.net');
  fixture.plane.now += MINUTE_MS + 1;
  for (const host of [
    ...['stopped.edge.test', 'gone.edge.test', 'over.edge.test', 'port.edge.test', 'none.edge.test', 'edge.test'],
    ...['unproven.example.net', 'a.live.edge.test', '*.edge.test', 'live.edge.test.', 'LIVE.edge.test', '', 'live'],
  ]) {
    assert.equal(await fixture.certificates.want(host), false, host);
  }
  await fixture.tend();
  assert.deepEqual(fixture.authority.asked, []);
  assert.equal(fixture.row('none.edge.test'), undefined);
  assert.equal(await fixture.certificates.want(`${live.label}.edge.test`), true);
});

test('many handshakes for one name are one order, and three orders for new names run at once', async (t) => {
  const fixture = await CertificateFixture.open(t);
  const ann = await fixture.plane.person('ann@example.test');
  const bob = await fixture.plane.person('bob@example.test');
  const cid = await fixture.plane.person('cid@example.test');
  const hosts = ['a', 'b', 'c', 'd', 'e', 'f'].map((name, i) => fixture.tunnel([ann, bob, cid][i % 3] ?? ann, name));
  const gate = Promise.withResolvers<void>();
  fixture.authority.hold = gate.promise;
  const all = hosts.flatMap((host) => Array.from({ length: 50 }, () => fixture.certificates.want(host)));
  for (let i = 0; i < 5; i++) await new Promise(setImmediate);
  assert.equal(fixture.authority.orders.length, 3);
  assert.equal(fixture.row('f.edge.test')?.state, 'pending');
  gate.resolve();
  assert.deepEqual(new Set(await Promise.all(all)), new Set([true]));
  assert.deepEqual(fixture.authority.asked.toSorted(), hosts);
  assert.equal(fixture.authority.registered, 1, 'one account for all');
});

test('a full disk behind an order ends neither the server nor the orders after it', async (t) => {
  const fixture = await CertificateFixture.open(t);
  const ann = await fixture.plane.person('ann@example.test');
  const { store } = fixture.plane.control;
  const gate = Promise.withResolvers<void>();
  fixture.authority.hold = gate.promise;
  const wanted = fixture.certificates.want(fixture.tunnel(ann, 'shop'));
  while (fixture.challenges.length === 0) await new Promise(setImmediate);
  t.mock.method(store, 'inTx', () => {
    throw new Error('the disk is full');
  });
  gate.resolve();
  assert.equal(await wanted, false);
  t.mock.restoreAll();
  assert.equal(await fixture.certificates.want(fixture.tunnel(ann, 'news')), true);
});

test('what another authority issued is asked for anew, once', async (t) => {
  const fixture = await CertificateFixture.open(t);
  const ann = await fixture.plane.person('ann@example.test');
  const host = fixture.tunnel(ann, 'shop');
  await fixture.certificates.want(host);
  const { dataDir } = fixture.plane;
  const start = async (last: CertificateFixture, directoryUrl: string): Promise<CertificateFixture> => {
    await last.leave();
    return new CertificateFixture(t, fixture.authority, { dataDir, changes: { directoryUrl } });
  };
  let next = fixture;
  // The clock of each start is that of the first, as if it had been set back.
  for (const directory of ['https://real.test/dir', 'https://ca.test/directory']) {
    next = await start(next, directory);
    assert.equal(next.shown.size, 0, directory);
    assert.equal(await next.certificates.want(host), true);
    next = await start(next, directory);
    assert.equal(next.shown.size, 1, directory);
  }
  assert.equal(fixture.authority.registered, 2);
});

test('what the authority asks is answered while an order runs, and not after', async (t) => {
  for (const challenge of ['http-01', 'tls-alpn-01'] as const) {
    const fixture = await CertificateFixture.open(t, { challenge });
    const ann = await fixture.plane.person('ann@example.test');
    const host = fixture.tunnel(ann, 'shop');
    const gate = Promise.withResolvers<void>();
    fixture.authority.hold = gate.promise;
    const wanted = fixture.certificates.want(host);
    while (fixture.challenges.length === 0) await new Promise(setImmediate);
    assert.deepEqual(
      fixture.challenges.map(({ type, name }) => [type, name]),
      [[challenge, host]],
    );
    gate.resolve();
    await wanted;
    assert.deepEqual(fixture.challenges, []);
  }
});

test('certificates: a failure is reported with its reason, and ordered again after five minutes, ten, twenty, up to a day', async (t) => {
  const fixture = await CertificateFixture.open(t);
  const ann = await fixture.plane.person('ann@example.test', 'enterprise');
  const host = fixture.tunnel(ann, 'shop');
  fixture.authority.fault = new AcmeError('connection', 'the authority could not reach port 80');
  assert.equal(await fixture.certificates.want(host), false);
  const { state, lastError, failures } = fixture.row(host) ?? {};
  assert.deepEqual([state, lastError, failures], ['failed', 'the authority could not reach port 80', 1]);
  for (const minutes of [5, 10, 20, 40, 80, 160, 320, 640, 1280, 1440, 1440]) {
    const before = fixture.authority.orders.length;
    for (let i = 0; i < 20; i++) assert.equal(await fixture.certificates.want(host), false);
    await fixture.pass(minutes * MINUTE_MS - 1);
    assert.equal(fixture.authority.orders.length, before, `not before ${minutes} min`);
    await fixture.pass(1);
    assert.equal(fixture.authority.orders.length, before + 1, `after ${minutes} min`);
  }
  fixture.authority.fault = undefined;
  await fixture.pass(DAY_MS);
  const good = fixture.row(host);
  assert.deepEqual([good?.state, good?.lastError, good?.failures], ['valid', null, 0]);
});

test('an authority that asks for patience gets it, and one that asks for too much a week', async (t) => {
  const fixture = await CertificateFixture.open(t);
  const ann = await fixture.plane.person('ann@example.test');
  const host = fixture.tunnel(ann, 'shop');
  fixture.authority.fault = new AcmeError('rateLimited', 'too many', { retryAfterMs: 3 * HOUR_MS });
  await fixture.certificates.want(host);
  assert.equal(fixture.row(host)?.nextAttemptAt, fixture.plane.now + 3 * HOUR_MS);
  fixture.authority.fault = new AcmeError('rateLimited', 'too many', { retryAfterMs: 999 * DAY_MS });
  await fixture.pass(3 * HOUR_MS);
  assert.equal(fixture.row(host)?.nextAttemptAt, fixture.plane.now + 7 * DAY_MS);
});

test('a restart shows what there was without asking, and the keys are sealed', async (t) => {
  const fixture = await CertificateFixture.open(t);
  const ann = await fixture.plane.person('ann@example.test');
  const host = fixture.tunnel(ann, 'shop');
  await fixture.certificates.want(host);
  const pair = fixture.shown.get(host);
  assert.match(pair?.key ?? '', /PRIVATE KEY/);
  await fixture.leave();
  for (const file of readdirSync(fixture.plane.dataDir).filter((name) => name.includes('.db'))) {
    const bytes = readFileSync(join(fixture.plane.dataDir, file), 'latin1');
    assert.ok(!bytes.includes('PRIVATE KEY') && !bytes.includes('account key'), file);
  }
  const again = new CertificateFixture(t, fixture.authority, { dataDir: fixture.plane.dataDir });
  assert.deepEqual(again.shown.get(host), pair);
  await again.tend();
  assert.equal(fixture.authority.orders.length, 1);
  // The account is known too.
  const other = again.tunnel(ann, 'news');
  await again.certificates.want(other);
  assert.equal(fixture.authority.registered, 1);
});

test('a certificate is renewed a third of its life before the end, and the old one is named', async (t) => {
  const fixture = await CertificateFixture.open(t);
  const ann = await fixture.plane.person('ann@example.test');
  const host = fixture.tunnel(ann, 'shop');
  await fixture.certificates.want(host);
  const first = fixture.shown.get(host);
  await fixture.pass(58 * DAY_MS);
  assert.equal(fixture.authority.orders.length, 1);
  await fixture.pass(2 * DAY_MS);
  assert.equal(fixture.authority.orders.length, 2);
  assert.equal(fixture.authority.orders[1]?.replaces, first?.cert);
  assert.notEqual(fixture.shown.get(host)?.cert, first?.cert);
});

test('an authority that wants a renewal earlier is heard, with the certificate and later', async (t) => {
  const fixture = await CertificateFixture.open(t);
  const ann = await fixture.plane.person('ann@example.test');
  const [shop, routeEvents] = [fixture.tunnel(ann, 'shop'), fixture.tunnel(ann, 'news')];
  fixture.authority.renewAt = fixture.plane.now + 30 * DAY_MS;
  await fixture.certificates.want(shop);
  const next = fixture.row(shop)?.nextAttemptAt ?? 0;
  assert.ok(next <= fixture.authority.renewAt && next > fixture.authority.renewAt - 2 * DAY_MS);
  fixture.authority.renewAt = null;
  await fixture.certificates.want(routeEvents);
  fixture.authority.laterRenewAt = fixture.plane.now - HOUR_MS;
  await fixture.certificates.askTimes(new AbortController().signal);
  await fixture.tend();
  assert.deepEqual(fixture.authority.asked.slice(2).toSorted(), [routeEvents, shop]);
  assert.equal(fixture.authority.orders.length, 4);
});

test('a renewal that fails leaves the old one shown until it ends, and then the name counts as failed', async (t) => {
  const fixture = await CertificateFixture.open(t);
  const ann = await fixture.plane.person('ann@example.test');
  const host = fixture.tunnel(ann, 'shop');
  await fixture.certificates.want(host);
  fixture.authority.fault = new AcmeError('connection', 'no server there');
  await fixture.pass(60 * DAY_MS);
  const failing = fixture.row(host);
  assert.deepEqual([failing?.state, failing?.lastError], ['valid', 'no server there']);
  assert.ok(fixture.shown.has(host));
  await fixture.pass(30 * DAY_MS + 1);
  assert.equal(fixture.row(host)?.state, 'failed');
  assert.equal(fixture.shown.has(host), false);
  fixture.authority.fault = undefined;
  await fixture.pass(DAY_MS);
  assert.ok(fixture.shown.has(host));
});

test('certificates: an unused one is not renewed, and is deleted when it expires', async (t) => {
  const fixture = await CertificateFixture.open(t);
  const ann = await fixture.plane.person('ann@example.test');
  const tunnel = fixture.plane.create(ann, { subdomain: 'shop' }).row;
  await fixture.certificates.want('shop.edge.test');
  fixture.plane.control.tunnels.delete(ann, tunnel.id);
  await fixture.pass(89 * DAY_MS);
  assert.equal(fixture.authority.orders.length, 1);
  assert.ok(fixture.shown.has('shop.edge.test'));
  await fixture.pass(DAY_MS + 1);
  assert.equal(fixture.row('shop.edge.test'), undefined);
  assert.equal(fixture.shown.size, 0);
});

test('what is used again is renewed soon, and not when it has run out', async (t) => {
  const fixture = await CertificateFixture.open(t);
  const ann = await fixture.plane.person('ann@example.test');
  const tunnel = fixture.plane.create(ann, { subdomain: 'shop' }).row;
  await fixture.certificates.want('shop.edge.test');
  fixture.plane.control.tunnels.stop(ann, tunnel.id);
  await fixture.pass(70 * DAY_MS);
  fixture.plane.control.tunnels.start(ann, tunnel.id);
  await fixture.pass(11 * HOUR_MS);
  assert.equal(fixture.authority.orders.length, 1);
  await fixture.pass(HOUR_MS);
  assert.equal(fixture.authority.orders.length, 2);
});

test('a verified and bound domain is asked for unasked, until its organization is suspended', async (t) => {
  const fixture = await CertificateFixture.open(t);
  const ann = await fixture.plane.person('ann@example.test');
  const tunnel = fixture.plane.create(ann, { subdomain: 'shop' });
  const name = 'shop.example.net';
  fixture.domain(ann, name, tunnel.row.id);
  await fixture.tend();
  assert.deepEqual(fixture.authority.asked, [name]);
  const [row] = fixture.plane.control.domains.list(ann);
  assert.equal(fixture.certificates.ofDomain(row ?? assert.fail())?.state, 'valid');
  const eve = await fixture.plane.person('eve@example.test');
  assert.equal(fixture.certificates.ofDomain({ domain: name, verifiedAt: null })?.state, 'none', 'as others see it');
  const routeEvents = fixture.plane.create(eve, { subdomain: 'news' });
  fixture.domain(eve, 'news.example.net', routeEvents.row.id);
  const { store } = fixture.plane.control;
  store.db.update(domains).set({ verifiedAt: null }).where(eq(domains.domain, 'news.example.net')).run();
  await fixture.tend();
  assert.equal(await fixture.certificates.want('news.example.net'), false, 'bound, and not verified any more');
  const operator = { kind: 'operator', orgId: null, userId: null, label: 'test', ipAddress: '' } as const;
  fixture.plane.control.operatorOrgs.suspend(operator, ann.orgId);
  await fixture.pass(80 * DAY_MS);
  assert.deepEqual(fixture.authority.asked, [name]);
});

test("a reserved subdomain's tunnel is asked for once an agent serves it, others wait for a visitor", async (t) => {
  const fixture = await CertificateFixture.open(t);
  const ann = await fixture.plane.person('ann@example.test', 'enterprise');
  fixture.plane.control.reservedSubdomains.create(ann, 'kept');
  const token = fixture.plane.mint(ann);
  fixture.plane.create(ann, { subdomain: 'kept' });
  await fixture.tend();
  assert.deepEqual(fixture.authority.asked, []);
  for (const subdomain of ['kept', 'other']) {
    const { tunnelId } = await fixture.plane.bound(token, { subdomain });
    await fixture.plane.control.link.report({
      node: 'n',
      sequence: subdomain === 'kept' ? 1 : 2,
      events: [{ kind: 'agent', agentId: 'a', tunnelId, online: true, at: fixture.plane.now }],
    });
  }
  await fixture.tend();
  assert.deepEqual(fixture.authority.asked, ['kept.edge.test']);
});

test("a week's new names are bounded and said to be used up; renewals and custom domains go on", async (t) => {
  const fixture = await CertificateFixture.open(t, { maxNewPerWeek: 3 });
  const ann = await fixture.plane.person('ann@example.test');
  const hosts = ['a', 'b', 'c'].map((name) => fixture.tunnel(ann, name));
  for (const host of hosts) assert.equal(await fixture.certificates.want(host), true);
  const late = fixture.tunnel(ann, 'late');
  assert.equal(await fixture.certificates.want(late), false);
  const held = fixture.row(late);
  assert.equal(held?.state, 'failed');
  assert.match(held?.lastError ?? '', /limit .*acme\.max_new_per_week.*dns-01/);
  const tunnel = fixture.plane.create(ann, { subdomain: 'd' });
  fixture.domain(ann, 'shop.example.net', tunnel.row.id);
  await fixture.tend();
  assert.deepEqual(fixture.authority.asked, [...hosts, 'shop.example.net']);
  await fixture.pass(7 * DAY_MS);
  assert.deepEqual(fixture.authority.asked, [...hosts, 'shop.example.net', late]);
  await fixture.pass(60 * DAY_MS);
  assert.equal(fixture.authority.orders.length, 5 + 5, 'all are renewed');
});

test('with dns-01 one certificate is for all names of the edge, and custom domains have their own', async (t) => {
  const fixture = await CertificateFixture.open(t, { challenge: 'dns-01', domainChallenge: 'http-01' });
  await fixture.tend();
  assert.deepEqual(fixture.authority.asked, ['*.edge.test,edge.test']);
  assert.deepEqual([...fixture.records], ['edge.test digest of *.edge.test', 'edge.test digest of edge.test']);
  const ann = await fixture.plane.person('ann@example.test');
  const tunnel = fixture.plane.create(ann, { subdomain: 'shop' });
  assert.equal(await fixture.certificates.want('shop.edge.test'), true, 'the wildcard is it');
  fixture.domain(ann, 'shop.example.net', tunnel.row.id);
  await fixture.tend();
  assert.deepEqual(
    fixture.authority.orders.map(({ challenge }) => challenge),
    ['dns-01', 'http-01'],
  );
  assert.equal(fixture.certificates.ofTunnel(tunnel.row)?.state, 'valid');
});

test("members see that the server's own certificate fails, and operators why", async (t) => {
  const fixture = await CertificateFixture.open(t, { challenge: 'dns-01' });
  const ann = await fixture.plane.person('ann@example.test');
  const tunnel = fixture.plane.create(ann, { subdomain: 'shop' });
  fixture.authority.fault = new AcmeError('challenge_failed', '/etc/culvert/hook ended with 1');
  await fixture.tend();
  const seen = fixture.certificates.ofTunnel(tunnel.row);
  assert.equal(seen?.state, 'failed');
  assert.doesNotMatch(seen?.lastError ?? '', /hook/);
  assert.match(fixture.row('*.edge.test')?.lastError ?? '', /hook/);
});

test('a stop ends orders, takes answers back, and the next start asks at once', async (t) => {
  const fixture = await CertificateFixture.open(t);
  const ann = await fixture.plane.person('ann@example.test');
  const host = fixture.tunnel(ann, 'shop');
  fixture.authority.hold = new Promise(() => {});
  const wanted = fixture.certificates.want(host);
  while (fixture.challenges.length === 0) await new Promise(setImmediate);
  const own = new OwnClock();
  await fixture.leave();
  assert.ok(own.ms < 1_000, `${own.ms} ms`);
  assert.equal(await wanted, false);
  assert.deepEqual(fixture.challenges, []);
  fixture.authority.hold = undefined;
  const again = new CertificateFixture(t, fixture.authority, { dataDir: fixture.plane.dataDir });
  await again.tend();
  assert.equal(again.row(host)?.state, 'valid');
});

test('issued certificate: the disk is asked to keep it at once, though no request waits for it', async (t) => {
  const fixture = await CertificateFixture.open(t);
  const { store } = fixture.plane.control;
  const durable = t.mock.method(store, 'durable');
  const ann = await fixture.plane.person('ann@example.test');
  assert.equal(await fixture.certificates.want(fixture.tunnel(ann, 'shop')), true);
  assert.equal(durable.mock.callCount(), 1);
  await Promise.all(durable.mock.calls.map(({ result }) => result as Promise<void>));
});

test('interrupted order: it begins again at the next start, three times in a row, then waits as after a failure', async (t) => {
  let fixture = await CertificateFixture.open(t);
  const ann = await fixture.plane.person('ann@example.test');
  const host = fixture.tunnel(ann, 'shop');
  fixture.authority.hold = new Promise(() => {});
  void fixture.certificates.want(host);
  while (fixture.challenges.length === 0) await new Promise(setImmediate);
  for (let kills = 1; kills <= 4; kills++) {
    const again = new CertificateFixture(t, await FakeAuthority.open(), { dataDir: leftBehind(t, fixture) });
    again.authority.hold = new Promise(() => {});
    again.certificates.tend();
    // An order that begins does so within a few turns of the loop.
    for (let turns = 0; turns < 50 && again.authority.active === 0; turns++) await new Promise(setImmediate);
    assert.equal(again.authority.active, kills <= 3 ? 1 : 0, `after ${kills} kills`);
    fixture = again;
  }
  const last = new CertificateFixture(t, await FakeAuthority.open(), { dataDir: leftBehind(t, fixture) });
  await last.pass(5 * MINUTE_MS);
  assert.equal(last.row(host)?.state, 'valid');
});

/** The folder as a kill leaves it. */
function leftBehind(t: TestContext, fixture: CertificateFixture): string {
  const dataDir = mkdtempSync(join(tmpdir(), 'culvert-'));
  t.after(() => rmSync(dataDir, { recursive: true }));
  cpSync(fixture.plane.dataDir, dataDir, { recursive: true, filter: (name) => !name.endsWith('.lock') });
  return dataDir;
}

test('certificate order: an order that a stop of the server interrupted is reported', async (t) => {
  const fixture = await CertificateFixture.open(t);
  const ann = await fixture.plane.person('ann@example.test');
  const host = fixture.tunnel(ann, 'shop');
  fixture.authority.hold = new Promise(() => {});
  void fixture.certificates.want(host);
  while (fixture.challenges.length === 0) await new Promise(setImmediate);
  assert.equal(fixture.row(host)?.nextAttemptAt, fixture.plane.now + 5 * MINUTE_MS);
  assert.deepEqual([fixture.row(host)?.state, fixture.row(host)?.lastError], ['pending', null], 'it is under way');
  const again = new CertificateFixture(t, await FakeAuthority.open(), { dataDir: leftBehind(t, fixture) });
  assert.equal(again.row(host)?.state, 'failed');
  assert.match(again.row(host)?.lastError ?? '', /stopped during the last order/);
});

test('certificates: an authority that refuses the account is reported at the start', async (t) => {
  const authority = await FakeAuthority.open();
  authority.register = () => Promise.reject(new AcmeError('externalAccountRequired', 'who are you?'));
  const fixture = new CertificateFixture(t, authority);
  await fixture.settle();
  assert.match(JSON.stringify(fixture.said), /who are you\?.*could not create an account at the certificate authority/);
});

test('an authority that knows no account gets another one, and not one for each order', async (t) => {
  const fixture = await CertificateFixture.open(t);
  const ann = await fixture.plane.person('ann@example.test');
  fixture.authority.fault = new AcmeError('accountDoesNotExist', 'no such account');
  for (let i = 0; i < 8; i++) await fixture.certificates.want(fixture.tunnel(ann, `n-${i}`));
  assert.equal(fixture.authority.registered, 2);
});

test('an account that the authority has forgotten is made anew', async (t) => {
  const fixture = await CertificateFixture.open(t);
  const ann = await fixture.plane.person('ann@example.test');
  const host = fixture.tunnel(ann, 'shop');
  fixture.authority.fault = new AcmeError('accountDoesNotExist', 'no such account');
  await fixture.certificates.want(host);
  fixture.authority.fault = undefined;
  await fixture.pass(5 * MINUTE_MS);
  assert.deepEqual([fixture.authority.registered, fixture.row(host)?.state], [2, 'valid']);
});

test('an operator asks for one now, once at a time, and it is in the audit log', async (t) => {
  const fixture = await CertificateFixture.open(t);
  const ann = await fixture.plane.person('ann@example.test');
  const host = fixture.tunnel(ann, 'shop');
  const operator = { kind: 'operator', orgId: null, userId: null, label: 'root', ipAddress: '' } as const;
  const { certificates } = fixture;
  assert.throws(() => certificates.renew(ann, host), { code: 'forbidden' });
  assert.throws(() => certificates.list(ann, { after: undefined, limit: 1 }), { code: 'forbidden' });
  assert.throws(() => certificates.renew(operator, 'none.edge.test'), { code: 'not_found' });
  fixture.authority.fault = new AcmeError('connection', 'no server there');
  await certificates.want(host);
  fixture.authority.fault = undefined;
  const gate = Promise.withResolvers<void>();
  fixture.authority.hold = gate.promise;
  assert.equal(certificates.renew(operator, host).state, 'pending');
  assert.throws(() => certificates.renew(operator, host), { code: 'conflict' });
  gate.resolve();
  await fixture.settle();
  assert.equal(fixture.row(host)?.state, 'valid');
  certificates.renew(operator, host);
  await fixture.settle();
  assert.equal(fixture.authority.orders.length, 3, 'a good one is renewed too');
  const entries = fixture.plane.control.store.db.query.auditEvents.findMany().sync();
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
  const fixture = await CertificateFixture.open(t, { serverNames: [own, 'api.example.org'] });
  await fixture.tend();
  assert.deepEqual([...fixture.authority.asked].sort(), ['api.example.org', own]);
  assert.deepEqual([...fixture.shown.keys()].sort(), ['api.example.org', own]);
  assert.equal(await fixture.certificates.want('other.edge.test'), false);
});

test('the wildcard holds the own name of the server where it can', async (t) => {
  const serverNames = ['culvert.edge.test', 'a.b.edge.test', 'api.example.org'];
  const fixture = await CertificateFixture.open(t, { challenge: 'dns-01', serverNames });
  await fixture.tend();
  assert.deepEqual([...fixture.shown.keys()].sort(), ['*.edge.test', 'a.b.edge.test', 'api.example.org']);
});
