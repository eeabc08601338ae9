/**
 * What the control plane decides about relays of private networks and keeps of them: who may carry one, what the data plane gets, what it reports, when devices
 * run out, and what people see of it by HTTP.
 */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, type TestContext, test } from 'node:test';
import { eq, sql } from 'drizzle-orm';
import {
  auditEvents,
  capabilityTokens,
  networkDevices,
  organizations,
  privateNetworks,
  tokenSpend,
} from '../../db/schema.ts';
import type { UserActor } from '../../core/rules/actor.ts';
import type { PlaneEvent } from '../../../plane/events.ts';
import { type AttachQuestion, type DeviceEvent, noRelayDrops, type RelayInfo } from '../../../plane/relays.ts';
import { checkMetrics, NEEDS_PROMTOOL } from '../../../../test/harness/promtool.ts';
import { IDLE_NODE } from '../../core/testing/idle-node.ts';
import { addDevice, addNetwork, aKey } from '../testing.ts';
import { Plane } from '../../core/testing/plane.ts';
import { servePlane } from '../../core/testing/plane-api.ts';
import { said, Team } from '../../core/testing/team.ts';

const HOUR = 3_600_000;
const AGENT = 'a0000000-0000-4000-8000-000000000001';

let plane: Plane;
let ann: UserActor;
let sequence: number;
beforeEach(async () => {
  plane = new Plane();
  ann = await plane.person('ann@example.test');
  sequence = 0;
});
afterEach(() => plane.close());

type Minted = ReturnType<Plane['mint']>;

const attach = (token: Minted, network: string, more: Partial<AttachQuestion> = {}) =>
  plane.control.link.attach({ tokenId: token.row.id, agentId: AGENT, network, serving: 0, ...more });
const codeOf = async (token: Minted, network: string, more: Partial<AttachQuestion> = {}): Promise<string> => {
  const answer = await attach(token, network, more);
  return answer.ok ? 'ok' : answer.code;
};
const report = (...events: readonly PlaneEvent[]) =>
  plane.control.link.report({ node: 'n', sequence: ++sequence, events });
const seen = (networkId: string, deviceId: string, more: Partial<DeviceEvent> = {}): DeviceEvent => ({
  kind: 'device',
  networkId,
  deviceId,
  address: '192.0.2.7:40000',
  handshakeAt: plane.now,
  seenAt: plane.now,
  bytesIn: 0,
  bytesOut: 0,
  ...more,
});
const passed = (networkId: string, token: Minted, [packetsIn, bytesIn, packetsOut, bytesOut]: readonly number[]) =>
  ({
    kind: 'relay_usage',
    networkId,
    tokenId: token.row.id,
    packetsIn: packetsIn ?? 0,
    bytesIn: bytesIn ?? 0,
    packetsOut: packetsOut ?? 0,
    bytesOut: bytesOut ?? 0,
  }) as const;
const attached = (networkId: string, more: Partial<RelayInfo> = {}): RelayInfo => ({
  networkId,
  orgId: ann.orgId,
  agentId: AGENT,
  attachedAt: plane.now - HOUR,
  managesPeers: true,
  path: 'udp',
  pathSince: plane.now - HOUR / 2,
  flows: 3,
  packetsIn: 1,
  packetsOut: 2,
  bytesIn: 3,
  bytesOut: 4,
  dropped: { ...noRelayDrops(), no_agent: 7 },
  ...more,
});

test('an agent carries a network of its own organization, by name or id, at the version that holds it', async () => {
  const token = plane.mint(ann);
  const office = addNetwork(plane, ann.orgId);
  const phone = addDevice(plane, office, { expiresAt: plane.now + HOUR });
  for (const handle of [office.id, 'office']) {
    const answer = await attach(token, handle);
    assert.ok(answer.ok, JSON.stringify(answer));
    const { version, relays } = await plane.control.link.snapshot();
    assert.deepEqual(answer, { ok: true, networkId: office.id, version });
    assert.deepEqual(relays, [
      {
        networkId: office.id,
        orgId: ann.orgId,
        name: 'office',
        port: office.reservedUdpPort,
        endpoint: `localhost:${office.reservedUdpPort}`,
        serverKey: office.serverPublicKey,
        devices: [
          {
            deviceId: phone.id,
            publicKey: phone.publicKey,
            allowedIps: [`10.80.0.${phone.host}/32`, ...phone.extraAllowedIps],
            expiresAt: phone.expiresAt,
          },
        ],
        deviceLostAt: null,
      },
    ]);
  }
  const bob = await plane.person('bob@example.test');
  const stranger = plane.mint(bob);
  for (const handle of [office.id, 'office']) assert.equal(await codeOf(stranger, handle), 'network_not_found');
  assert.equal(await codeOf(token, 'Office'), 'network_not_found');
  const own = addNetwork(plane, bob.orgId, { name: office.id });
  const answer = await attach(stranger, office.id);
  assert.ok(answer.ok);
  assert.equal(answer.networkId, own.id, 'a name that looks like the id of another organization');
});

test('a snapshot has the relays of all networks, and they are read in several turns of the loop', async () => {
  const networks = Array.from({ length: 120 }, (_, n) => addNetwork(plane, ann.orgId, { name: `n${n}` }));
  for (const network of networks.slice(0, 3)) addDevice(plane, network);
  let turns = 0;
  let isRead = false;
  const count = (): void => {
    turns++;
    if (!isRead) setImmediate(count);
  };
  setImmediate(count);
  const { relays } = await plane.control.link.snapshot();
  isRead = true;
  assert.deepEqual(
    relays.map(({ networkId, devices }) => [networkId, devices.length]),
    networks.map(({ id }, n) => [id, n < 3 ? 1 : 0]),
  );
  assert.ok(turns >= 4, `${turns} turns`);
});

test('a network without a server key, or one that clients reach without this server, is not carried and in no snapshot', async () => {
  const token = plane.mint(ann);
  const none = { serverPublicKey: null, serverListenPort: null, reservedUdpPort: null };
  addNetwork(plane, ann.orgId, { name: 'new', ...none });
  addNetwork(plane, ann.orgId, { name: 'self', reservedUdpPort: null, selfEndpoint: 'vpn.example.com:51820' });
  addNetwork(plane, ann.orgId, { name: 'portless', reservedUdpPort: null });
  for (const [name, says] of [
    ['new', /no server yet/],
    ['self', /vpn\.example\.com:51820/],
    ['portless', /no public port/],
  ] as const) {
    const answer = await attach(token, name);
    assert.ok(!answer.ok && answer.code === 'network_not_ready', name);
    assert.match(answer.message, says);
  }
  assert.deepEqual((await plane.control.link.snapshot()).relays, []);
});

test('a port that settings have taken away is not carried, and all of them may be', async () => {
  const { id, name } = addNetwork(plane, ann.orgId, { reservedUdpPort: 29_999 });
  const token = plane.mint(ann);
  const answer = await attach(token, name);
  assert.ok(!answer.ok && answer.code === 'network_not_ready');
  assert.match(answer.message, /29999.*Register its server again/);
  const device = plane.control.networkDevices.enroll(ann, id, { name: 'phone', publicKey: aKey() }).device.row.id;
  const shown = () => plane.control.networks.get(ann, id).endpoint;
  const configs = [
    () => plane.control.networks.serverConfig(ann, id),
    () => plane.control.networkDevices.config(ann, id, device),
  ];
  // No client is sent to a port without a server.
  assert.equal(shown(), null);
  for (const config of configs)
    assert.throws(config, { code: 'server_not_registered', message: /29999.*Register its server again/ });
  const server = { publicKey: aKey(), listenPort: 51_820, endpoint: null };
  const again = () => plane.control.networks.setServer(ann, id, server).row.reservedUdpPort;
  assert.deepEqual([again(), again()], [30_000, 30_000], 'a port of those, and then it is kept');
  assert.equal(await codeOf(token, name), 'ok');
  assert.equal(shown(), 'localhost:30000');
  for (const config of configs) assert.match(config(), /localhost:30000/);
  plane.control.close();
  plane = new Plane(plane.dataDir, { udpPorts: null });
  const none = await attach(token, name);
  assert.ok(!none.ok && none.code === 'network_not_ready');
  assert.match(none.message, /edge\.udp_ports/);
  assert.throws(() => plane.control.networks.setServer(ann, id, server), {
    code: 'conflict',
    message: /^This server does not relay private networks/,
  });
});

test('the token must be alive, of an approved organization, not spent, not narrowed, and have room', async () => {
  const { name } = addNetwork(plane, ann.orgId);
  const token = plane.mint(ann, { tunnelQuota: 2 });
  const set = (values: Partial<typeof capabilityTokens.$inferInsert>) =>
    plane.control.store.db.update(capabilityTokens).set(values).where(eq(capabilityTokens.id, token.row.id)).run();
  const org = (approvalStatus: 'approved' | 'suspended') =>
    plane.control.store.db.update(organizations).set({ approvalStatus }).where(eq(organizations.id, ann.orgId)).run();
  assert.equal(await codeOf(token, name, { tokenId: 'none' }), 'unauthorized');
  assert.equal(await codeOf(token, name, { serving: 1 }), 'ok');
  assert.equal(await codeOf(token, name, { serving: 2 }), 'quota_exceeded');
  for (const [change, code, back] of [
    [{ revokedAt: plane.now }, 'unauthorized', { revokedAt: null }],
    [{ expiresAt: plane.now }, 'unauthorized', { expiresAt: token.row.expiresAt }],
    [{ graceEndsAt: plane.now }, 'unauthorized', { graceEndsAt: null }],
    [{ kind: 'master' }, 'forbidden', { kind: 'agent' }],
    [{ allowedSubdomains: ['pr-*', 'shop'] }, 'forbidden', { allowedSubdomains: ['shop', '*'] }],
    [{ monthlyBudgetUsdCents: 0 }, 'budget_exhausted', { monthlyBudgetUsdCents: null }],
  ] as const) {
    set(change);
    assert.equal(await codeOf(token, name), code, JSON.stringify(change));
    set(back);
    assert.equal(await codeOf(token, name), 'ok', JSON.stringify(back));
  }
  org('suspended');
  assert.equal(await codeOf(token, name), 'forbidden');
  org('approved');
  assert.equal(await codeOf(token, name), 'ok');
});

test('tunnels and private networks share one quota', async () => {
  const token = plane.mint(ann, { tunnelQuota: 2 });
  assert.equal(await plane.refusal(token, { subdomain: 'a', liveTunnelIds: ['x'] }), 'bound a');
  assert.equal(await plane.refusal(token, { subdomain: 'b', liveTunnelIds: ['x'], relays: 1 }), 'quota_exceeded');
  assert.equal(await plane.refusal(token, { subdomain: 'b', relays: 1 }), 'bound b');
  assert.equal(await plane.refusal(token, { subdomain: 'c', relays: 2 }), 'quota_exceeded');
});

test('what a relay carried is counted once: for the network, the organization, and the token that pays for it', async () => {
  const token = plane.mint(ann);
  const office = addNetwork(plane, ann.orgId);
  const batch = {
    node: 'n',
    sequence: ++sequence,
    events: [
      passed(office.id, token, [10, 1_000, 20, 4_000]),
      passed(office.id, token, [1, 100, 2, 400]),
      passed('none', token, [5, 5, 5, 5]),
    ],
  };
  await plane.control.link.report(batch);
  await plane.control.link.report(batch);
  const [row] = plane.control.store.db.select().from(privateNetworks).all();
  assert.deepEqual([row?.packetsIn, row?.bytesIn, row?.packetsOut, row?.bytesOut], [11, 1_100, 22, 4_400]);
  const [account] = plane.control.store.db.select().from(tokenSpend).all();
  assert.deepEqual(
    [account?.bytes, account?.requests],
    [1_100 + 4_400 + 10, 0],
    'what passed is paid for, also of a network that is gone',
  );
  const { last24h } = plane.control.metrics.counters(ann);
  assert.deepEqual(last24h, { requests: 0, bytesIn: 1_100, bytesOut: 4_400 });
});

test('what the relay could tell of a device stands in its row; times never go back', async () => {
  const office = addNetwork(plane, ann.orgId);
  const other = addNetwork(plane, ann.orgId, { name: 'other' });
  const phone = addDevice(plane, office);
  const rowOf = () => plane.control.store.db.select().from(networkDevices).get();
  const told = (): readonly unknown[] => {
    const row = rowOf();
    return [row?.lastHandshakeAt, row?.lastSeenAt, row?.endpoint, row?.bytesIn, row?.bytesOut];
  };
  await report(seen(office.id, phone.id, { handshakeAt: null, bytesIn: 5 }));
  const first = plane.now;
  assert.deepEqual(told(), [null, first, '192.0.2.7:40000', 5, 0]);
  plane.now += 10_000;
  await report(seen(office.id, phone.id, { address: '[2001:db8::7]:40001', bytesOut: 7 }));
  assert.deepEqual(told(), [plane.now, plane.now, '[2001:db8::7]:40001', 5, 7]);
  await report(seen(office.id, phone.id, { address: '192.0.2.9:1', handshakeAt: first, seenAt: first, bytesIn: 1 }));
  assert.deepEqual(told(), [plane.now, plane.now, '[2001:db8::7]:40001', 6, 7]);
  await report(seen(other.id, phone.id, { bytesIn: 100 }), seen(office.id, 'none'));
  assert.deepEqual(told(), [plane.now, plane.now, '[2001:db8::7]:40001', 6, 7], 'another network knows no such device');
});

test('a device whose time has run out is gone for the data plane within a second, once, and after a restart', async () => {
  const office = addNetwork(plane, ann.orgId);
  const kept = addDevice(plane, office);
  const guest = addDevice(plane, office, { expiresAt: plane.now + HOUR });
  const listed = async () =>
    (await plane.control.link.snapshot()).relays.flatMap(({ devices }) => devices.map(({ deviceId }) => deviceId));
  assert.equal(plane.control.deviceExpiry.expireDue(), 0);
  assert.deepEqual(await listed(), [kept.id, guest.id]);
  plane.now += HOUR;
  assert.deepEqual(await listed(), [kept.id], 'also before the job has come to it');
  plane.deltas.length = 0;
  assert.equal(plane.control.deviceExpiry.expireDue(), 1);
  assert.equal(plane.control.deviceExpiry.expireDue(), 0);
  const [delta, ...more] = plane.deltas;
  assert.deepEqual(more, []);
  assert.deepEqual(delta, {
    kind: 'device_gone',
    networkId: office.id,
    deviceId: guest.id,
    version: (await plane.control.link.snapshot()).version,
  });
  const [entry] = plane.control.store.db.select().from(auditEvents).where(eq(auditEvents.resourceId, guest.id)).all();
  assert.deepEqual([entry?.action, entry?.actorKind, entry?.orgId], ['network_device.expire', 'system', ann.orgId]);
  assert.deepEqual(entry?.details, { network: office.name, name: guest.name });
  assert.equal((await plane.control.link.snapshot()).relays[0]?.deviceLostAt, plane.now);
  plane.control.close();
  plane = new Plane(plane.dataDir);
  plane.now += HOUR;
  assert.deepEqual(await listed(), [kept.id]);
  assert.equal(plane.control.deviceExpiry.expireDue(), 0);
});

test('many devices that run out at once go in passes', () => {
  const office = addNetwork(plane, ann.orgId, { cidr: '10.0.0.0/16' });
  plane.control.store.inTx(() => {
    for (let n = 0; n < 450; n++) addDevice(plane, office, { host: 2 + n, expiresAt: plane.now + n });
  });
  plane.now += HOUR;
  assert.deepEqual(
    [1, 2, 3, 4].map(() => plane.control.deviceExpiry.expireDue()),
    [200, 200, 50, 0],
  );
});

test('the job asks its index: a server with many devices does not read them all each second', () => {
  const plan = plane.control.store.db.all<{ detail: string }>(
    sql`EXPLAIN QUERY PLAN SELECT id FROM network_devices WHERE network_devices.expired = 0 AND network_devices.expires_at <= ${plane.now}`,
  );
  assert.match(plan.map(({ detail }) => detail).join(), /network_devices_due/);
});

/** The same plane by HTTP, with a node that carries what `relays` says. */
async function serve(t: { after(work: () => unknown): void }) {
  const api = await servePlane(plane);
  t.after(() => api.close());
  const relays = new Map<string, RelayInfo>();
  plane.control.nodes.attach({ ...IDLE_NODE, isCarried: (id) => relays.has(id), relay: async (id) => relays.get(id) });
  const team = new Team(plane, api);
  return { api, team, relays, eve: await team.person('eve@example.test') };
}

test('the relay of a network is shown to its organization, attached or not', async (t) => {
  const { api, team, relays, eve } = await serve(t);
  const token = plane.mint(ann);
  const office = addNetwork(plane, eve.home);
  await report(passed(office.id, token, [10, 1_000, 20, 4_000]));
  const path = `/private-networks/${office.id}/relay`;
  const counters = { packets_in: 10, bytes_in: 1_000, packets_out: 20, bytes_out: 4_000 };
  const offline = {
    path: null,
    path_since: null,
    attached_at: null,
    manages_peers: false,
    agent_id: null,
    flows: 0,
    dropped: null,
  };
  assert.deepEqual((await eve.call('GET', path)).body, { online: false, ...offline, ...counters });
  relays.set(office.id, attached(office.id, { orgId: eve.home, path: 'stream' }));
  const now = {
    path: 'stream',
    path_since: new Date(plane.now - HOUR / 2).toISOString(),
    attached_at: new Date(plane.now - HOUR).toISOString(),
    manages_peers: true,
    agent_id: AGENT,
    flows: 3,
    dropped: { ...noRelayDrops(), no_agent: 7 },
  };
  assert.deepEqual((await eve.call('GET', path)).body, { online: true, ...now, ...counters });
  const viewer = await team.member('viewer@example.test', eve, 'viewer');
  const as = await team.acting(viewer, eve.home);
  assert.equal((await api.call('GET', path, { as })).status, 200);
  const stranger = await team.person('stranger@example.test');
  for (const asked of [path, '/private-networks/none/relay'])
    assert.deepEqual(said(await stranger.call('GET', asked)), [404, 'not_found']);
});

/** Eve's two networks, after some traffic. */
async function carried(t: TestContext) {
  const { relays, eve } = await serve(t);
  const token = plane.mint(ann);
  const office = addNetwork(plane, eve.home, { name: 'Büro "3"\\' });
  const lab = addNetwork(plane, eve.home, { name: 'lab', createdAt: plane.now + 1 });
  addNetwork(plane, ann.orgId, { name: 'hidden' });
  addDevice(plane, office);
  addDevice(plane, office, { expiresAt: plane.now + 1 });
  addDevice(plane, office, { expiresAt: plane.now });
  relays.set(lab.id, attached(lab.id));
  await report(passed(office.id, token, [10, 1_000, 20, 4_000]), passed(lab.id, token, [1, 2, 3, 4]));
  return { eve, office, lab };
}

test('metrics tell of each network what passed it, how many devices it has and whether it is carried', async (t) => {
  const { eve, office, lab } = await carried(t);
  const { body } = await eve.call('GET', '/metrics');
  assert.deepEqual(
    [body['bytes_in_last_24h'], body['bytes_out_last_24h'], body['requests_last_24h']],
    [1_002, 4_004, 0],
  );
  assert.deepEqual(body['networks'], [
    {
      id: office.id,
      name: office.name,
      online: false,
      devices: 2,
      packets_in: 10,
      bytes_in: 1_000,
      packets_out: 20,
      bytes_out: 4_000,
    },
    { id: lab.id, name: 'lab', online: true, devices: 0, packets_in: 1, bytes_in: 2, packets_out: 3, bytes_out: 4 },
  ]);
  const { text } = await eve.call('GET', '/metrics/prometheus');
  const written = text.split('\n').filter((line) => line.startsWith('culvert_network'));
  const labels = (id: string, name: string) => `network="${id}",name="${name}"`;
  const [ofOffice, ofLab] = [labels(office.id, 'Büro \\"3\\"\\\\'), labels(lab.id, 'lab')];
  assert.deepEqual(written, [
    'culvert_networks 2',
    `culvert_network_attached{${ofOffice}} 0`,
    `culvert_network_attached{${ofLab}} 1`,
    `culvert_network_devices{${ofOffice}} 2`,
    `culvert_network_devices{${ofLab}} 0`,
    `culvert_network_packets_total{${ofOffice},direction="in"} 10`,
    `culvert_network_packets_total{${ofOffice},direction="out"} 20`,
    `culvert_network_packets_total{${ofLab},direction="in"} 1`,
    `culvert_network_packets_total{${ofLab},direction="out"} 3`,
    `culvert_network_bytes_total{${ofOffice},direction="in"} 1000`,
    `culvert_network_bytes_total{${ofOffice},direction="out"} 4000`,
    `culvert_network_bytes_total{${ofLab},direction="in"} 2`,
    `culvert_network_bytes_total{${ofLab},direction="out"} 4`,
  ]);
});

test('promtool finds nothing to say about the metrics of networks', NEEDS_PROMTOOL, async (t) => {
  const { eve } = await carried(t);
  checkMetrics((await eve.call('GET', '/metrics/prometheus')).text);
});

test('a connection lists the networks that its agent carries', async (t) => {
  const { eve } = await serve(t);
  const office = addNetwork(plane, eve.home);
  const session = {
    agentId: AGENT,
    orgId: eve.home,
    tokenId: 'x',
    remoteIp: '192.0.2.7',
    hostname: '',
    version: '',
    connectedAt: plane.now,
  };
  plane.control.nodes.attach({
    ...IDLE_NODE,
    connections: () => [{ ...session, tunnelIds: [], uninspectedIds: [], networkIds: [office.id] }],
  });
  const [shown] = (await eve.call('GET', '/connections')).body as unknown as ReadonlyArray<Record<string, unknown>>;
  assert.deepEqual([shown?.['tunnels'], shown?.['networks']], [[], [office.id]]);
});
