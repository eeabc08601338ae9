/** Custom domains over HTTP, against a real DNS server: who gets one, by what, and what the data plane gets of it. */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { eq } from 'drizzle-orm';
import { auditEvents, domains } from '../db/schema.ts';
import type { Route } from '../../plane/routes.ts';
import { type DnsServer, SERVFAIL, startDns } from '../../../test/harness/dns.ts';
import { Plane, START } from '../core/testing/plane.ts';
import { type PlaneApi, servePlane } from '../core/testing/plane-api.ts';
import { type Person, said, Team } from '../core/testing/team.ts';

const DAY = 24 * 3600_000;
const UNKNOWN = '00000000-0000-7000-8000-000000000000';
const NAME = 'shop.example.net';
const RECORD = `_tunnel-challenge.${NAME}`;

let closers: Array<() => unknown> = [];
let dns: DnsServer;
let plane: Plane;
let api: PlaneApi;
let team: Team;
let ann: Person;
let bob: Person;
beforeEach(async () => {
  closers = [];
  dns = await startDns({ after: (close) => void closers.push(close) });
  plane = new Plane(undefined, { dnsResolvers: [dns.address], edgeDomain: 'edge.test' });
  api = await servePlane(plane);
  team = new Team(plane, api);
  ann = await team.person('ann@example.test');
  bob = await team.person('bob@example.test');
});
afterEach(async () => {
  await api.close();
  plane.close();
  for (const close of closers) await close();
});

const add = (domain: unknown = NAME, by = ann) => by.call('POST', '/domains', { domain });
const verify = (id: unknown, by = ann) => by.call('POST', `/domains/${String(id)}/verify`);
const bind = (id: unknown, tunnel: unknown, by = ann) =>
  by.call('PUT', `/domains/${String(id)}/bind`, { tunnel_id: tunnel });
const unbind = (id: unknown, by = ann) => by.call('DELETE', `/domains/${String(id)}/bind`);
const open = async (by = ann, more: object = {}) =>
  String((await by.call('POST', '/tunnels', { localPort: 3000, ...more })).body['id']);

/** Adds a domain, and puts into the DNS what it asks for. */
async function addWithRecord(by = ann): Promise<string> {
  const { body, text, status } = await add(NAME, by);
  assert.equal(status, 201, text);
  dns.txt.set(RECORD, [['v=spf1 -all'], [String(body['verificationToken'])]]);
  return String(body['id']);
}

async function verified(by = ann): Promise<string> {
  const id = await addWithRecord(by);
  assert.equal((await verify(id, by)).status, 200);
  return id;
}

/** Domains that a tunnel answers for, by the last delta about it and by the snapshot, which must agree. */
async function answersFor(tunnel: string): Promise<readonly string[] | undefined> {
  const puts = plane.deltas.flatMap((delta): Route[] => (delta.kind === 'put' ? [delta.route] : []));
  const told = puts.findLast(({ tunnelId }) => tunnelId === tunnel)?.domains;
  const { routes } = await plane.control.link.snapshot();
  const held = routes.find(({ tunnelId }) => tunnelId === tunnel)?.domains;
  if (held !== undefined) assert.deepEqual(told, held);
  return held;
}

test('a domain is added unverified, with the record to put into the DNS, and shown to its organization alone', async () => {
  const { status, body } = await add('Shop.Example.NET.');
  assert.equal(status, 201);
  const token = String(body['verificationToken']);
  assert.match(token, /^[\w-]{32}$/);
  assert.deepEqual(body, {
    id: body['id'],
    domain: NAME,
    verified: false,
    verificationToken: token,
    boundTunnelId: null,
    verifiedAt: null,
    createdAt: new Date(START).toISOString(),
    dnsRecord: { type: 'TXT', name: RECORD, value: token },
    certificate: null,
  });
  assert.deepEqual((await ann.call('GET', '/domains')).body, [body]);
  assert.deepEqual((await bob.call('GET', '/domains')).body, []);
  assert.deepEqual(said(await add()), [409, 'duplicate_name']);
  for (const of of [verify(body['id'], bob), unbind(body['id'], bob), bind(body['id'], await open(bob), bob)])
    assert.deepEqual(said(await of), [404, 'not_found']);
  assert.deepEqual(said(await bob.call('DELETE', `/domains/${String(body['id'])}`)), [404, 'not_found']);
  assert.deepEqual(dns.asked, [], 'no other organization has it looked up');
});

test('a name of this server, or no name at all, is refused', async () => {
  for (const domain of ['shop.edge.test', 'edge.test', 'api.test', 'localhost', '127.0.0.1', '*.example.net', '']) {
    assert.deepEqual(said(await add(domain)), [400, 'invalid_domain'], domain);
  }
  for (const body of [{}, { domain: 7 }, { domain: null }])
    assert.deepEqual(said(await ann.call('POST', '/domains', body)), [400, 'invalid_request']);
});

test('without the record it is 400 that says what is wanted and what was found; with it, 200 ever after', async () => {
  const { body } = await add();
  const id = body['id'];
  const token = String(body['verificationToken']);
  const none = await verify(id);
  assert.deepEqual(said(none), [400, 'invalid_request']);
  assert.match(String(none.body['message']), new RegExp(`${RECORD} must be "${token}", but there is none`));
  dns.txt.set(RECORD, [['other'], [`${token}x`]]);
  const wrong = await verify(id);
  assert.deepEqual(said(wrong), [400, 'invalid_request']);
  assert.match(String(wrong.body['message']), /there is "other"/);

  dns.txt.set(RECORD, [['other'], [token.slice(0, 9), token.slice(9)]]);
  plane.now += 1000;
  const done = await verify(id);
  assert.equal(done.status, 200);
  assert.deepEqual([done.body['verified'], done.body['verifiedAt']], [true, new Date(plane.now).toISOString()]);
  const asked = dns.asked.length;
  dns.txt.clear();
  assert.deepEqual((await verify(id)).body, done.body);
  assert.equal(dns.asked.length, asked, 'not looked up again');
});

test('a DNS that does not answer is 503, and the domain stays as it was', async () => {
  const id = await addWithRecord();
  dns.rcode = SERVFAIL;
  assert.deepEqual(said(await verify(id)), [503, 'unavailable']);
  dns.rcode = undefined;
  assert.equal((await verify(id)).status, 200);
});

test('the first organization to verify a domain has it, and the others may not add it any more', async () => {
  const hers = (await add()).body;
  const his = (await add(NAME, bob)).body;
  assert.notEqual(hers['verificationToken'], his['verificationToken']);
  dns.txt.set(RECORD, [[String(hers['verificationToken'])], [String(his['verificationToken'])]]);
  const answers = await Promise.all([verify(hers['id']), verify(his['id'], bob)]);
  assert.deepEqual(answers.map((answer) => said(answer).join(' ')).sort(), ['200', '409 duplicate_name']);
  const loser = answers[0]?.status === 200 ? bob : ann;
  const own = ((await loser.call('GET', '/domains')).body as unknown as Array<{ id: string }>)[0]?.id;
  await loser.call('DELETE', `/domains/${String(own)}`);
  assert.deepEqual(said(await add(NAME, loser)), [409, 'duplicate_name']);
});

test('a tunnel answers for a verified domain from the bind to the unbind, and to its organization alone', async () => {
  const id = await addWithRecord();
  const tunnel = await open();
  assert.deepEqual(said(await bind(id, tunnel)), [400, 'invalid_request'], 'not verified');
  assert.equal((await verify(id)).status, 200);
  assert.deepEqual(said(await bind(id, await open(bob))), [404, 'not_found']);
  assert.deepEqual(said(await bind(id, UNKNOWN)), [404, 'not_found']);
  assert.deepEqual(said(await bind(UNKNOWN, tunnel)), [404, 'not_found']);
  assert.deepEqual(said(await bind(id, await open(ann, { protocol: 'tcp' }))), [400, 'invalid_request']);
  assert.deepEqual(await answersFor(tunnel), []);

  const bound = await bind(id, tunnel);
  assert.deepEqual([bound.status, bound.body['boundTunnelId']], [200, tunnel]);
  assert.deepEqual(await answersFor(tunnel), [NAME]);
  const second = await open();
  assert.equal((await bind(id, second)).body['boundTunnelId'], second);
  assert.deepEqual([await answersFor(tunnel), await answersFor(second)], [[], [NAME]]);

  for (let i = 0; i < 2; i++) {
    const free = await unbind(id);
    assert.deepEqual([free.status, free.body['boundTunnelId'], free.body['verified']], [200, null, true]);
  }
  assert.deepEqual(await answersFor(second), []);
  const auditLog = plane.control.store.db.select().from(auditEvents).where(eq(auditEvents.resourceId, id)).all();
  assert.deepEqual(
    auditLog.map(({ action, details }) => [action, details]),
    [
      ['domain.create', { domain: NAME }],
      ['domain.verify', { domain: NAME }],
      ['domain.bind', { domain: NAME, tunnel }],
      ['domain.bind', { domain: NAME, tunnel: second }],
      ['domain.unbind', { domain: NAME, tunnel: second }],
    ],
  );
  assert.ok(auditLog.every(({ resourceName }) => resourceName === NAME));
  const labels = await Promise.all(
    [tunnel, second].map(async (one) => (await ann.call('GET', `/tunnels/${one}`)).body['subdomain']),
  );
  const [first, other] = labels;
  assert.deepEqual(
    auditLog.slice(1).map(({ changes }) => changes),
    [
      [{ field: 'verified', from: false, to: true }],
      [{ field: 'tunnel', from: null, to: first }],
      [{ field: 'tunnel', from: first, to: other }],
      [{ field: 'tunnel', from: other, to: null }],
    ],
  );
});

test('a deleted tunnel leaves the domain verified and bound to nothing', async () => {
  const id = await verified();
  const tunnel = await open();
  await bind(id, tunnel);
  await ann.call('DELETE', `/tunnels/${tunnel}`);
  const [row] = (await ann.call('GET', '/domains')).body as unknown as Array<Record<string, unknown>>;
  assert.deepEqual([row?.['verified'], row?.['boundTunnelId']], [true, null]);
  const next = await open();
  assert.equal((await bind(id, next)).status, 200);
  assert.deepEqual(await answersFor(next), [NAME]);
});

test('a deleted domain is answered for no more, and rests a day before another organization may have it', async () => {
  const id = await verified();
  const tunnel = await open();
  await bind(id, tunnel);
  assert.deepEqual((await ann.call('DELETE', `/domains/${id}`)).body, { success: true });
  assert.deepEqual(await answersFor(tunnel), []);
  assert.deepEqual(said(await ann.call('DELETE', `/domains/${id}`)), [404, 'not_found']);
  assert.deepEqual(said(await add(NAME, bob)), [409, 'duplicate_name']);
  plane.now += DAY;
  bob = await team.again(bob);
  await verified(bob);
});

test('domains: adding and deleting one does not block its owner', async () => {
  const { body } = await add();
  await ann.call('DELETE', `/domains/${String(body['id'])}`);
  await verified(bob);
});

test('with an organization go its domains', async () => {
  const other = String((await ann.call('POST', '/orgs', { name: 'Other' })).body['id']);
  const as = await team.acting(ann, other);
  const made = await api.call('POST', '/domains', { as, body: { domain: NAME } });
  assert.equal(made.status, 201, made.text);
  assert.equal((await api.call('DELETE', `/orgs/${other}`, { as })).status, 200);
  assert.deepEqual(plane.control.store.db.select().from(domains).all(), []);
});

test('domains: a member removed during the look-up verifies nothing', async () => {
  const made = (await add()).body;
  const cid = await team.member('cid@example.test', ann, 'member');
  const as = await team.acting(cid, ann.home);
  dns.txt.set(RECORD, [[String(made['verificationToken'])]]);
  const asking = Promise.withResolvers<void>();
  const answering = Promise.withResolvers<void>();
  dns.hold = async () => {
    asking.resolve();
    await answering.promise;
  };
  const answer = api.call('POST', `/domains/${String(made['id'])}/verify`, { as });
  await asking.promise;
  assert.equal((await ann.call('DELETE', `/orgs/${ann.home}/members/${cid.id}`)).status, 200);
  answering.resolve();
  assert.deepEqual(said(await answer), [401, 'unauthorized']);
  assert.equal(plane.control.store.db.select().from(domains).get()?.verifiedAt, null);
});

test('five lookups of an organization are under way at once and no more; others have theirs', async () => {
  const ids: unknown[] = [];
  for (let i = 0; i < 6; i++) ids.push((await add(`d${i}.example.net`)).body['id']);
  const his = (await add('bob.example.net', bob)).body['id'];
  const all = Promise.withResolvers<void>();
  const answering = Promise.withResolvers<void>();
  dns.hold = async () => {
    if (new Set(dns.asked).size === 6) all.resolve();
    await answering.promise;
  };
  const waiting = [...ids.slice(0, 5).map((id) => verify(id)), verify(his, bob)];
  await all.promise;
  assert.deepEqual(said(await verify(ids[5])), [429, 'rate_limited']);
  answering.resolve();
  for (const answer of waiting) assert.deepEqual(said(await answer), [400, 'invalid_request']);
  assert.deepEqual(said(await verify(ids[5])), [400, 'invalid_request']);
});
