/** Verified domains are looked up again by the clock: what becomes of one whose record is gone. */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { eq } from 'drizzle-orm';
import { auditEvents, domains } from '../db/schema.ts';
import type { UserActor } from '../core/rules/actor.ts';
import { type DnsServer, SERVFAIL, startDns } from '../../../test/harness/dns.ts';
import { Plane, START } from '../core/testing/plane.ts';

const HOUR = 3600_000;
const DAY = 24 * HOUR;
const NAME = 'shop.example.net';
const RECORD = `_tunnel-challenge.${NAME}`;
const RUNNING = new AbortController().signal;

let closers: Array<() => unknown> = [];
let dns: DnsServer;
let plane: Plane;
let ann: UserActor;
let id: string;
let tunnel: string;
let token: string;
beforeEach(async () => {
  closers = [];
  dns = await startDns({ after: (close) => void closers.push(close) });
  plane = new Plane(undefined, { dnsResolvers: [dns.address], edgeDomain: 'edge.test' });
  ann = await plane.person('ann@example.test');
  const made = plane.control.domains.create(ann, NAME);
  ({ id, verificationToken: token } = made);
  dns.txt.set(RECORD, [[token]]);
  await plane.control.domains.verify(ann, id);
  tunnel = plane.create(ann).row.id;
  plane.control.domains.bind(ann, id, tunnel);
});
afterEach(async () => {
  plane.close();
  for (const close of closers) await close();
});

const check = (signal = RUNNING) => plane.control.domainChecks.checkDue(signal);
const row = () => plane.control.store.db.select().from(domains).where(eq(domains.id, id)).get();
const domainsAtEdge = async () =>
  (await plane.control.link.snapshot()).routes.find(({ tunnelId }) => tunnelId === tunnel)?.domains;

test('a domain is looked up once a day', async () => {
  plane.now = START + DAY - 1;
  assert.equal(await check(), 0);
  plane.now += 1;
  assert.equal(await check(), 1);
  assert.equal(await check(), 0);
  plane.now += DAY;
  assert.equal(await check(), 1);
  assert.notEqual(row()?.verifiedAt, null);
});

test('a domain whose record is gone for three days is unverified, unbound, and its owners hear of it', async () => {
  dns.txt.set(RECORD, [['another owner']]);
  for (let day = 1; day <= 3; day++) {
    plane.now = START + day * DAY;
    await check();
    assert.deepEqual([row()?.verifiedAt, row()?.tunnelId], [START, tunnel], `day ${day}`);
    assert.deepEqual(await domainsAtEdge(), [NAME]);
  }
  plane.now = START + 4 * DAY;
  await check();
  assert.deepEqual([row()?.verifiedAt, row()?.tunnelId, row()?.failingSince], [null, null, null]);
  assert.deepEqual(await domainsAtEdge(), []);
  const last = plane.deltas.at(-1);
  assert.ok(last?.kind === 'put' && last.route.domains.length === 0, 'the data plane has it');
  const auditLog = plane.control.store.db.select().from(auditEvents).where(eq(auditEvents.action, 'domain.lose')).all();
  assert.deepEqual(
    auditLog.map((event) => [event.orgId, event.resourceId, event.actorKind]),
    [[ann.orgId, id, 'system']],
  );
  const [lost] = auditLog;
  assert.equal(lost?.resourceName, NAME);
  assert.deepEqual(
    lost.changes?.map(({ field, to }) => [field, to]),
    [
      ['verified', false],
      ['tunnel', null],
    ],
  );
  const mails = plane.control.store.db.query.outgoingMails.findMany().sync();
  const email = mails.map((mail) => plane.control.outbox.open(mail)).find(({ kind }) => kind === 'domain_lost');
  assert.ok(email?.kind === 'domain_lost');
  assert.deepEqual([email.to, email.domain, email.record], ['ann@example.test', NAME, RECORD]);
});

test('then another organization can verify it, and the first one again only after that one', async () => {
  const bob = await plane.person('bob@example.test');
  const domain = plane.control.domains;
  assert.throws(() => domain.create(bob, NAME), { code: 'duplicate_name' });
  dns.txt.delete(RECORD);
  for (let day = 1; day <= 4; day++) {
    plane.now = START + day * DAY;
    await check();
  }
  plane.now = START;
  const his = domain.create(bob, NAME);
  dns.txt.set(RECORD, [[his.verificationToken], [token]]);
  assert.notEqual((await domain.verify(bob, his.id)).verifiedAt, null);
  await assert.rejects(domain.verify(ann, id), { code: 'duplicate_name' });
});

test('a record that comes back in time, and a DNS that does not answer, cost nothing', async () => {
  dns.txt.delete(RECORD);
  for (const day of [1, 2, 3]) {
    plane.now = START + day * DAY;
    await check();
  }
  dns.txt.set(RECORD, [[token]]);
  plane.now = START + 4 * DAY;
  await check();
  assert.equal(row()?.failingSince, null);
  dns.rcode = SERVFAIL;
  for (const day of [5, 6, 7, 8, 9]) {
    plane.now = START + day * DAY;
    assert.equal(await check(), 1);
  }
  assert.deepEqual([row()?.verifiedAt, row()?.tunnelId, row()?.failingSince], [START, tunnel, null]);
});

test('after the stop nothing is written', async () => {
  plane.now = START + DAY;
  assert.equal(await check(AbortSignal.abort()), 1);
  assert.equal(row()?.checkedAt, START);
});
