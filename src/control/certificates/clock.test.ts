/** Certificates beside a clock that was wrong for a while: nothing is lost, and nothing waits for an instant that was none. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DAY_MS, HOUR_MS } from '../../base/clock.ts';
import { AcmeError } from '../providers/acme/contract.ts';
import { CertificateFixture } from './testing/certificate-fixture.ts';

const JUMP = 400 * DAY_MS;

test('a clock that was far ahead for a moment costs no certificate', async (t) => {
  const fixture = await CertificateFixture.open(t);
  const ann = await fixture.plane.person('ann@example.test');
  const hosts = ['a', 'b', 'c'].map((name) => fixture.tunnel(ann, name));
  for (const host of hosts) await fixture.certificates.want(host);
  const before = new Map(fixture.shown);
  fixture.authority.fault = new AcmeError('network', "the authority can't be asked");
  fixture.plane.ahead = JUMP;
  await fixture.tend();
  assert.equal(fixture.shown.size, 0, 'what has run out is not shown');
  assert.deepEqual([fixture.row('a.edge.test')?.state, fixture.row('a.edge.test')?.expiresAt], ['failed', null]);
  fixture.authority.fault = undefined;
  fixture.plane.ahead = 0;
  await fixture.tend();
  assert.deepEqual([...fixture.shown.keys()], hosts);
  for (const host of hosts) assert.equal(await fixture.certificates.want(host), true);
  const asked = fixture.authority.orders.length;
  await fixture.pass(30 * DAY_MS);
  assert.deepEqual(new Set(fixture.shown.keys()), new Set(before.keys()));
  assert.ok(fixture.authority.orders.length <= asked + hosts.length);
});

test('what failed while the clock was ahead is asked for once it is right', async (t) => {
  const fixture = await CertificateFixture.open(t);
  const ann = await fixture.plane.person('ann@example.test');
  const host = fixture.tunnel(ann, 'shop');
  fixture.authority.fault = new AcmeError('network', 'no server there');
  fixture.plane.ahead = JUMP;
  await fixture.tend();
  assert.equal(await fixture.certificates.want(host), false);
  fixture.authority.fault = undefined;
  fixture.plane.ahead = 0;
  await fixture.tend();
  assert.equal(fixture.row(host)?.state, 'valid');
});

test('a restart after the clock was set right finds what is good', async (t) => {
  const fixture = await CertificateFixture.open(t);
  const ann = await fixture.plane.person('ann@example.test');
  const [shop, routeEvents] = [fixture.tunnel(ann, 'shop'), fixture.tunnel(ann, 'news')];
  await fixture.certificates.want(shop);
  fixture.plane.ahead = JUMP;
  fixture.authority.fault = new AcmeError('network', 'no server there');
  await fixture.certificates.want(routeEvents);
  await fixture.tend();
  fixture.authority.fault = undefined;
  await fixture.leave();
  const again = new CertificateFixture(t, fixture.authority, { dataDir: fixture.plane.dataDir });
  assert.deepEqual([...again.shown.keys()], [shop]);
  await again.tend();
  assert.deepEqual([again.row(shop)?.state, again.row(routeEvents)?.state], ['valid', 'valid']);
});

test('a clock that is set back by seconds brings no attempt forward', async (t) => {
  const fixture = await CertificateFixture.open(t);
  const ann = await fixture.plane.person('ann@example.test');
  const host = fixture.tunnel(ann, 'shop');
  fixture.authority.fault = new AcmeError('network', 'no server there');
  await fixture.certificates.want(host);
  await fixture.pass(10_000);
  await fixture.pass(-20_000);
  assert.equal(fixture.authority.orders.length, 1);
  await fixture.pass(-HOUR_MS);
  assert.equal(fixture.authority.orders.length, 2);
});
