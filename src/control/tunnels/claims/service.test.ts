import assert from 'node:assert/strict';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import Database from 'better-sqlite3';
import { eq } from 'drizzle-orm';
import { capabilityTokens, organizations, projects } from '../../db/schema.ts';
import type { UserActor } from '../../core/rules/actor.ts';
import { Plane, START } from '../../core/testing/plane.ts';

const HOUR = 3600_000;
const DAY = 24 * HOUR;
let p: Plane;
let ann: UserActor;
let bob: UserActor;
beforeEach(async () => {
  p = new Plane();
  ann = await p.person('ann@example.test');
  bob = await p.person('bob@example.test');
});
afterEach(() => p.close());

const change = (values: Partial<typeof capabilityTokens.$inferInsert>, nonce: string) =>
  p.control.store.inTx(
    ({ db }) => void db.update(capabilityTokens).set(values).where(eq(capabilityTokens.nonce, nonce)).run(),
  );
const approval = (actor: UserActor, approvalStatus: 'approved' | 'pending' | 'suspended') =>
  p.control.store.inTx(
    ({ db }) => void db.update(organizations).set({ approvalStatus }).where(eq(organizations.id, actor.orgId)).run(),
  );

test('admits a text key and its wire form, with the grant of the token', async () => {
  const token = p.mint(ann, { tunnelQuota: 2, bandwidthLimitMbps: 7 });
  for (const presented of [token.apiKey, Buffer.from(token.wire).toString('base64')]) {
    const answer = await p.control.link.admit(presented);
    assert.ok(answer.ok);
    assert.deepEqual(answer.grant, {
      tokenId: token.row.id,
      orgId: ann.orgId,
      account: 'ann',
      tunnelQuota: 2,
      lineageId: token.row.id,
      bandwidthLimitMbps: 7,
      budgets: [{ accountId: token.row.id, month: '2026-11', spentCents: 0, capCents: null }],
      expiresAt: START + 24 * HOUR,
    });
  }
  assert.equal(p.control.tokens.list(ann)[0]?.row.lastUsedAt, START);
});

test('a bandwidth limit of 10,000 Mbps or more is none in the data plane', async () => {
  for (const [bandwidthLimitMbps, granted] of [
    [1, 1],
    [9_999, 9_999],
    [10_000, null],
    [1_000_000, null],
  ] as const) {
    const answer = await p.control.link.admit(p.mint(ann, { bandwidthLimitMbps }).apiKey);
    assert.equal(answer.ok && answer.grant.bandwidthLimitMbps, granted);
  }
});

test('refuses to admit what is unknown, revoked, expired, a master key, or of an organization that is not approved', async () => {
  const code = async (presented: string) => {
    const answer = await p.control.link.admit(presented);
    return answer.ok ? 'ok' : answer.code;
  };
  const token = p.mint(ann);
  assert.equal(await code('mtk_unknown'), 'unauthorized');
  assert.equal(await code(''), 'unauthorized');
  assert.equal(await code('x'.repeat(8192)), 'unauthorized');
  assert.equal(await code(token.apiKey.slice(0, -1)), 'unauthorized');
  assert.equal(await code(token.apiKey), 'ok');
  approval(ann, 'pending');
  assert.equal(await code(token.apiKey), 'forbidden');
  approval(ann, 'suspended');
  assert.equal(await code(token.apiKey), 'forbidden');
  approval(ann, 'approved');
  change({ kind: 'master' }, token.row.nonce);
  assert.equal(await code(token.apiKey), 'forbidden');
  change({ kind: 'agent' }, token.row.nonce);
  p.now = START + 24 * HOUR - 1;
  assert.equal(await code(token.apiKey), 'ok');
  p.now = START + 24 * HOUR;
  assert.equal(await code(token.apiKey), 'unauthorized');
  p.now = START;
  p.control.tokenEnds.revoke(ann, token.row.nonce);
  assert.equal(await code(token.apiKey), 'unauthorized');
  assert.equal(await code(Buffer.from(token.wire).toString('base64')), 'unauthorized');
});

test('a claim makes the tunnel, and the same claim takes it again', async () => {
  const token = p.mint(ann);
  const route = await p.bound(token, { subdomain: 'shop' });
  assert.deepEqual([route.subdomain, route.publicUrl, route.stopped], ['shop', 'http://shop.localhost', false]);
  const deltas = p.deltas.length;
  assert.equal((await p.bound(token, { subdomain: 'shop' })).tunnelId, route.tunnelId);
  assert.equal(p.deltas.length, deltas, 'nothing has changed, nothing is published');
  const other = p.mint(ann, { name: 'desktop' });
  assert.equal(
    (await p.bound(other, { subdomain: 'shop' })).tunnelId,
    route.tunnelId,
    'the same organization takes over',
  );
  assert.equal(await p.refusal(p.mint(bob), { subdomain: 'shop' }), 'duplicate_name');
});

test('a claim without a name gets a random one, and the name then holds', async () => {
  const token = p.mint(ann);
  const route = await p.bound(token);
  assert.match(route.subdomain, /^[a-z]+-[a-z]+-\d{4}$/);
  assert.notEqual((await p.bound(token)).tunnelId, route.tunnelId);
  assert.equal((await p.bound(token, { subdomain: route.subdomain })).tunnelId, route.tunnelId);
});

test('names that are no labels, the system needs, or rest after another organization', async () => {
  const token = p.mint(ann);
  for (const subdomain of ['-a', 'a-', 'A', 'a.b', 'ä', 'a'.repeat(64)])
    assert.equal(await p.refusal(token, { subdomain }), 'invalid_name', subdomain);
  assert.equal(await p.refusal(token, { subdomain: 'www' }), 'duplicate_name');
  const { row } = p.create(bob, { subdomain: 'rest' });
  p.control.tunnels.delete(bob, row.id);
  p.now = START + 24 * HOUR - 1;
  assert.equal(await p.refusal(p.mint(ann), { subdomain: 'rest' }), 'duplicate_name');
  p.now = START + 24 * HOUR;
  assert.equal((await p.bound(p.mint(ann), { subdomain: 'rest' })).subdomain, 'rest');
});

test('allowedSubdomains holds exact names and prefixes', async () => {
  const token = p.mint(ann, { allowedSubdomains: ['shop', 'pr-*'] });
  for (const [subdomain, expected] of [
    ['shop', 'bound shop'],
    ['shops', 'subdomain_not_allowed'],
    ['sho', 'subdomain_not_allowed'],
    ['pr-1', 'bound pr-1'],
    ['pr-', 'invalid_name'],
    ['pr', 'subdomain_not_allowed'],
    ['xpr-1', 'subdomain_not_allowed'],
  ] as const) {
    assert.equal(await p.refusal(token, { subdomain }), expected, subdomain);
  }
  const exact = p.mint(ann, { allowedSubdomains: ['one', 'two'] });
  const first = await p.bound(exact);
  assert.equal(first.subdomain, 'one');
  p.online.add(first.tunnelId);
  const second = await p.bound(exact);
  assert.equal(second.subdomain, 'two');
  p.online.add(second.tunnelId);
  assert.equal(await p.refusal(exact), 'subdomain_not_allowed');
  const prefix = p.mint(ann, { allowedSubdomains: ['ci-*'] });
  assert.match((await p.bound(prefix)).subdomain, /^ci-[a-z0-9]{6}$/);
});

test('a refusal names the first patterns of a token, not all of them', async () => {
  const patterns = Array.from({ length: 100 }, (_, i) => `${'p'.repeat(50)}-${i}`);
  const token = p.mint(ann, { allowedSubdomains: patterns });
  const answer = await p.claim(token, { subdomain: 'shop' });
  assert.ok(!answer.ok);
  assert.equal(answer.code, 'subdomain_not_allowed');
  assert.ok(answer.message.endsWith(`Use ${patterns.slice(0, 5).join(', ')} and 95 more.`), answer.message);
});

test('tunnelQuota bounds what a token serves at once', async () => {
  const token = p.mint(ann, { tunnelQuota: 2 });
  const one = await p.bound(token, { subdomain: 'one' });
  const two = await p.bound(token, { subdomain: 'two', liveTunnelIds: [one.tunnelId] });
  const live = [one.tunnelId, two.tunnelId];
  const third = await p.claim(token, { subdomain: 'three', liveTunnelIds: live });
  assert.ok(
    !third.ok && third.code === 'quota_exceeded' && third.message.endsWith('culvert tokens limit NONCE --quota N'),
  );
  assert.equal(
    await p.refusal(token, { subdomain: 'two', liveTunnelIds: live }),
    'bound two',
    'a claim of what it serves is not one more',
  );
  assert.equal(
    await p.refusal(token, { subdomain: 'three', liveTunnelIds: [one.tunnelId, one.tunnelId] }),
    'bound three',
  );
});

test('a stopped tunnel refuses agents until it is started', async () => {
  const token = p.mint(ann);
  const { row } = p.create(ann, { subdomain: 'shop' });
  p.control.tunnels.stop(ann, row.id);
  const refused = await p.claim(token, { subdomain: 'shop' });
  assert.ok(!refused.ok && refused.code === 'tunnel_stopped');
  assert.match(refused.message, /culvert tunnels start shop$/);
  p.control.tunnels.start(ann, row.id);
  assert.equal(await p.refusal(token, { subdomain: 'shop' }), 'bound shop');
});

test('at the end of its time a tunnel is cut off, and a claim of its own starts it anew', async () => {
  const cat = await p.person('cat@example.test', 'free');
  const token = p.mint(cat);
  const route = await p.bound(token, { subdomain: 'brief' });
  assert.equal(route.expiresAt, START + HOUR);
  p.now = START + HOUR - 1;
  assert.equal(p.control.tunnels.expireDue(), 0);
  p.now = START + HOUR;
  p.deltas.length = 0;
  assert.equal(p.control.tunnels.expireDue(), 1);
  assert.equal(p.control.tunnels.expireDue(), 0);
  assert.deepEqual(
    p.deltas.map((d) => [d.kind, d.kind === 'remove' ? d.code : d.kind === 'put' ? d.route.expiresAt : '']),
    [
      ['remove', 'tunnel_expired'],
      ['put', START + HOUR],
    ],
  );
  assert.equal(p.control.tunnels.get(cat, route.tunnelId).row.status, 'inactive');
  p.now += 1000;
  assert.equal(await p.refusal(p.mint(bob), { subdomain: 'brief' }), 'duplicate_name');
  const again = await p.bound(token, { subdomain: 'brief' });
  assert.deepEqual([again.tunnelId, again.expiresAt], [route.tunnelId, p.now + HOUR]);
});

test('the port of a tcp tunnel comes back to the agent that opened it', async () => {
  const token = p.mint(ann);
  const tcp = { protocol: 'tcp', localPort: 22 } as const;
  const one = await p.bound(token, tcp);
  assert.deepEqual([one.tcpPort, one.subdomain, one.publicUrl], [20_000, '', 'tcp://localhost:20000']);
  assert.equal((await p.bound(token, tcp)).tunnelId, one.tunnelId, 'after a reconnect');
  p.online.add(one.tunnelId);
  const two = await p.bound(token, tcp);
  assert.equal(two.tcpPort, 20_001, 'a second one at the same time');
  const again = await p.bound(token, { ...tcp, tunnelId: one.tunnelId });
  assert.equal(again.tcpPort, 20_000, 'its own one, while the session that it lost still counts');
  p.online.add(two.tunnelId);
  const three = await p.bound(token, tcp);
  p.online.add(three.tunnelId);
  assert.equal(await p.refusal(token, tcp), 'quota_exceeded', 'three of four are the share of an organization');
  assert.equal((await p.bound(p.mint(bob), tcp)).tcpPort, 20_003);
  const cat = await p.person('cat@example.test');
  assert.equal(await p.refusal(p.mint(cat), tcp), 'no_port_free');
});

test('of the free ports a new tunnel gets the one that has been free for longest, counted from its last use', () => {
  const made = () => p.create(ann, { protocol: 'tcp' }).row;
  const drop = ({ id }: { id: string }): void => {
    p.now += 1000;
    p.control.tunnels.delete(ann, id);
  };
  const [first, second, third] = [made(), made(), made()];
  for (const row of [third, first, second]) drop(row);
  const ports = () => {
    const rows = [made(), made(), made()];
    for (const row of rows) drop(row);
    return rows.map((row) => row.tcpPort);
  };
  p.now += 2 * DAY;
  assert.deepEqual(ports(), [20_003, 20_002, 20_000], 'one that was never used comes first');
  p.now += 2 * DAY;
  assert.deepEqual(ports(), [20_001, 20_003, 20_002]);
});

test('a name does not change between a port and a host', async () => {
  const token = p.mint(ann);
  await p.bound(token, { subdomain: 'db', protocol: 'tcp' });
  assert.equal(await p.refusal(token, { subdomain: 'db', protocol: 'http' }), 'duplicate_name');
  await p.bound(token, { subdomain: 'web', protocol: 'http' });
  assert.equal((await p.bound(token, { subdomain: 'web', protocol: 'https', localPort: 8443 })).protocol, 'https');
});

test('a project adds its suffix once, and a token of a project stays inside', async () => {
  p.control.store.inTx(({ db, now }) => {
    db.insert(projects)
      .values({ id: 'p1', orgId: ann.orgId, slug: 'web', name: 'Web', isDefault: false, createdAt: now })
      .run();
  });
  const token = p.mint(ann);
  const route = await p.bound(token, { subdomain: 'a', project: 'web' });
  assert.equal(route.subdomain, 'a-web');
  assert.equal(
    (await p.bound(token, { subdomain: 'a-web', project: 'web' })).tunnelId,
    route.tunnelId,
    'as an agent repeats it',
  );
  assert.equal(
    await p.refusal(token, { subdomain: 'a-web' }),
    'duplicate_name',
    'the default project does not reach into another',
  );
  assert.equal(await p.refusal(token, { subdomain: 'a', project: 'none' }), 'invalid_request');
  assert.equal(await p.refusal(token, { subdomain: 'x'.repeat(60), project: 'web' }), 'invalid_name');
  change({ projectId: 'p1', kind: 'project', allowedSubdomains: ['b'] }, token.row.nonce);
  assert.equal(await p.refusal(token, { subdomain: 'b' }), 'bound b-web');
  assert.equal(await p.refusal(token, { subdomain: 'b-web' }), 'bound b-web');
  assert.equal(await p.refusal(token, { subdomain: 'a-web' }), 'subdomain_not_allowed');
  assert.equal(await p.refusal(token, { subdomain: 'b', project: 'default' }), 'forbidden');
});

test('the scope is checked at each claim, not at the handshake alone', async () => {
  const token = p.mint(ann);
  await p.bound(token, { subdomain: 'one' });
  approval(ann, 'suspended');
  assert.equal(await p.refusal(token, { subdomain: 'one' }), 'forbidden');
  approval(ann, 'approved');
  p.control.tokenEnds.revoke(ann, token.row.nonce);
  assert.equal(await p.refusal(token, { subdomain: 'one' }), 'unauthorized');
  assert.equal(
    await p.refusal({ ...token, row: { ...token.row, id: 'unknown' } }, { subdomain: 'one' }),
    'unauthorized',
  );
});

test('revoking tells the data plane, once per token, children too', async () => {
  const master = p.mint(ann);
  const child = p.mint(ann);
  change({ kind: 'master' }, master.row.nonce);
  change({ parentId: master.row.id }, child.row.nonce);
  p.deltas.length = 0;
  assert.equal(p.control.tokenEnds.revoke(ann, master.row.nonce), 2);
  assert.deepEqual(
    new Set(p.deltas.map((d) => (d.kind === 'revoke_token' ? d.tokenId : d.kind))),
    new Set([master.row.id, child.row.id]),
  );
  assert.equal(p.control.tokenEnds.revoke(ann, master.row.nonce), 0);
  assert.equal(p.deltas.length, 2);
});

test('claims: a tunnel whose commit failed is not published', async () => {
  const before = await p.control.link.snapshot();
  const told = p.deltas.length;
  // A constraint that only the commit checks stands in for a full disk.
  p.control.store.db.run('CREATE TABLE doomed (x REFERENCES users(id) DEFERRABLE INITIALLY DEFERRED)');
  p.control.store.db.run("CREATE TRIGGER doom AFTER INSERT ON tunnels BEGIN INSERT INTO doomed VALUES ('absent'); END");
  assert.throws(() => p.create(ann, { subdomain: 'ghost' }), /FOREIGN KEY/);
  assert.equal(await p.refusal(p.mint(ann), { subdomain: 'ghost' }), 'internal');
  assert.equal(p.deltas.length, told);
  assert.deepEqual(await p.control.link.snapshot(), before);
  p.control.store.db.run('DROP TRIGGER doom');
  assert.equal(p.create(ann, { subdomain: 'ghost' }).row.label, 'ghost');
  assert.equal(p.deltas.length, told + 1);
});

test('batches count once, also when they come again', async () => {
  const { tunnelId } = await p.bound(p.mint(ann), { subdomain: 'shop' });
  const usage = { kind: 'usage', tunnelId, tokenId: 'absent', requests: 2, bytesIn: 30, bytesOut: 400 } as const;
  const batch = { node: 'n1', sequence: 1, events: [usage, usage] };
  await p.control.link.report(batch);
  await p.control.link.report(batch);
  await p.control.link.report({ ...batch, node: 'n2' });
  await p.control.link.report({ ...batch, sequence: 2 });
  const { row } = p.control.tunnels.get(ann, tunnelId);
  assert.deepEqual([row.totalRequests, row.bytesIn, row.bytesOut], [12, 180, 2400]);
});

test('agents that come and go make a tunnel active and inactive', async () => {
  const { tunnelId } = await p.bound(p.mint(ann), { subdomain: 'shop' });
  let sequence = 0;
  const event = async (online: boolean) => {
    await p.control.link.report({
      node: 'n',
      sequence: ++sequence,
      events: [{ kind: 'agent', agentId: 'a', tunnelId, online, at: p.now }],
    });
    return p.control.tunnels.get(ann, tunnelId).row.status;
  };
  assert.equal(await event(true), 'active');
  p.online.add(tunnelId);
  assert.equal(await event(false), 'active', 'another agent has taken over');
  p.online.delete(tunnelId);
  assert.equal(await event(false), 'inactive');
  p.control.tunnels.stop(ann, tunnelId);
  assert.equal(await event(true), 'inactive', 'a stopped tunnel is not made active by an event that comes late');
});

test('tunnels: unnamed ones are deleted after a day without an agent; named ones stay', async () => {
  const token = p.mint(ann, { ttlHours: 2000 });
  const random = await p.bound(token);
  const served = await p.bound(token);
  await p.bound(token, { subdomain: 'named' });
  p.online.add(served.tunnelId);
  p.now = START + 24 * HOUR;
  assert.equal(p.control.tunnels.removeUnused(), 0);
  p.now += 1;
  assert.equal(p.control.tunnels.removeUnused(), 1);
  const left = p.control.tunnels.list(ann).map(({ row }) => row.id);
  assert.ok(!left.includes(random.tunnelId) && left.includes(served.tunnelId));
  assert.equal(left.length, 2);
});

test('an unnamed tunnel goes a minute after its agent was stopped; a lost, stopped or reserved one waits for a day', async () => {
  const token = p.mint(ann, { ttlHours: 2000 });
  const [left, lost, stopped, reserved] = [
    await p.bound(token),
    await p.bound(token),
    await p.bound(token),
    await p.bound(token),
  ];
  p.control.reservedSubdomains.create(ann, p.control.tunnels.get(ann, reserved.tunnelId).row.label);
  p.control.tunnels.stop(ann, stopped.tunnelId);
  const events = [left, lost, stopped, reserved].map(({ tunnelId }) => ({
    ...{ kind: 'agent' as const, agentId: 'a', tunnelId, online: false, at: p.now },
    ...(tunnelId === lost.tunnelId ? { lost: true } : {}),
  }));
  await p.control.link.report({ node: 'n', sequence: 1, events });
  p.now += 60_000;
  assert.equal(p.control.tunnels.removeUnused(), 0);
  p.now += 1;
  assert.equal(p.control.tunnels.removeUnused(), 1);
  const names = p.control.tunnels.list(ann).map(({ row }) => row.id);
  assert.deepEqual(new Set(names), new Set([lost.tunnelId, stopped.tunnelId, reserved.tunnelId]));
  p.now += 24 * HOUR;
  assert.equal(p.control.tunnels.removeUnused(), 2);
  assert.deepEqual(
    p.control.tunnels.list(ann).map(({ row }) => row.id),
    [reserved.tunnelId],
  );
});

test('a viewer writes nothing, and a member of a pending organization opens nothing', () => {
  const viewer: UserActor = { ...ann, role: 'viewer' };
  assert.throws(() => p.create(viewer), { code: 'forbidden' });
  assert.throws(() => p.mint(viewer), { code: 'forbidden' });
  assert.deepEqual(p.control.tunnels.list(viewer), []);
  const pending: UserActor = { ...ann, approval: 'pending' };
  assert.throws(() => p.create(pending), { code: 'forbidden' });
  assert.throws(() => p.mint(pending), { code: 'forbidden' });
});

test('a database that takes no writes: a known key is admitted, and what must be stored is to be asked for again', async (t) => {
  const token = p.mint(ann);
  const { tunnelId } = await p.bound(token, { subdomain: 'shop' });
  const other = new Database(join(p.dataDir, 'culvert.db'));
  t.after(() => other.close());
  other.exec('BEGIN IMMEDIATE');
  assert.ok((await p.control.link.admit(token.apiKey)).ok);
  assert.equal(await p.refusal(token, { subdomain: 'new' }), 'overloaded');
  other.exec('ROLLBACK');
  assert.equal((await p.bound(token, { subdomain: 'shop' })).tunnelId, tunnelId);
});
