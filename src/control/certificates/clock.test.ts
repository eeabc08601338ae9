/** Certificates beside a clock that was wrong for a while: nothing is lost, and nothing waits for an instant that was none. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DAY_MS, HOUR_MS } from '../../base/clock.ts';
import { AcmeError } from '../providers/acme/contract.ts';
import { CertificateWorld } from './testing/certificate-world.ts';

const JUMP = 400 * DAY_MS;

test('a clock that was far ahead for a moment costs no certificate', async (t) => {
  const world = await CertificateWorld.open(t);
  const ann = await world.plane.person('ann@example.test');
  const hosts = ['a', 'b', 'c'].map((name) => world.tunnel(ann, name));
  for (const host of hosts) await world.certificates.want(host);
  const before = new Map(world.shown);
  world.authority.fault = new AcmeError('network', "the authority can't be asked");
  world.plane.ahead = JUMP;
  await world.tend();
  assert.equal(world.shown.size, 0, 'what has run out is not shown');
  assert.deepEqual([world.row('a.edge.test')?.state, world.row('a.edge.test')?.expiresAt], ['failed', null]);
  world.authority.fault = undefined;
  world.plane.ahead = 0;
  await world.tend();
  assert.deepEqual([...world.shown.keys()], hosts);
  for (const host of hosts) assert.equal(await world.certificates.want(host), true);
  const asked = world.authority.orders.length;
  await world.pass(30 * DAY_MS);
  assert.deepEqual(new Set(world.shown.keys()), new Set(before.keys()));
  assert.ok(world.authority.orders.length <= asked + hosts.length);
});

test('what failed while the clock was ahead is asked for once it is right', async (t) => {
  const world = await CertificateWorld.open(t);
  const ann = await world.plane.person('ann@example.test');
  const host = world.tunnel(ann, 'shop');
  world.authority.fault = new AcmeError('network', 'no server there');
  world.plane.ahead = JUMP;
  await world.tend();
  assert.equal(await world.certificates.want(host), false);
  world.authority.fault = undefined;
  world.plane.ahead = 0;
  await world.tend();
  assert.equal(world.row(host)?.state, 'valid');
});

test('a restart after the clock was set right finds what is good', async (t) => {
  const world = await CertificateWorld.open(t);
  const ann = await world.plane.person('ann@example.test');
  const [shop, routeEvents] = [world.tunnel(ann, 'shop'), world.tunnel(ann, 'news')];
  await world.certificates.want(shop);
  world.plane.ahead = JUMP;
  world.authority.fault = new AcmeError('network', 'no server there');
  await world.certificates.want(routeEvents);
  await world.tend();
  world.authority.fault = undefined;
  await world.leave();
  const again = new CertificateWorld(t, world.authority, { dataDir: world.plane.dataDir });
  assert.deepEqual([...again.shown.keys()], [shop]);
  await again.tend();
  assert.deepEqual([again.row(shop)?.state, again.row(routeEvents)?.state], ['valid', 'valid']);
});

test('a clock that is set back by seconds brings no attempt forward', async (t) => {
  const world = await CertificateWorld.open(t);
  const ann = await world.plane.person('ann@example.test');
  const host = world.tunnel(ann, 'shop');
  world.authority.fault = new AcmeError('network', 'no server there');
  await world.certificates.want(host);
  await world.pass(10_000);
  await world.pass(-20_000);
  assert.equal(world.authority.orders.length, 1);
  await world.pass(-HOUR_MS);
  assert.equal(world.authority.orders.length, 2);
});
