/** Devices of private networks over HTTP: which address each gets, who may have one, when it ends, and what the data plane gets. */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { eq } from 'drizzle-orm';
import { auditEvents, networkDevices } from '../db/schema.ts';
import type { RelayRoute } from '../../plane/relays.ts';
import { addDevice, addNetwork, aKey } from './testing.ts';
import { Plane, START } from '../core/testing/plane.ts';
import { type PlaneApi, servePlane } from '../core/testing/plane-api.ts';
import { type Person, said, Team } from '../core/testing/team.ts';

const HOUR = 3_600_000;
const iso = (at: number): string => new Date(at).toISOString();

let plane: Plane;
let api: PlaneApi;
let ann: Person;
let bob: Person;
beforeEach(async () => {
  plane = new Plane();
  api = await servePlane(plane);
  const team = new Team(plane, api);
  ann = await team.person('ann@example.test');
  bob = await team.person('bob@example.test');
});
afterEach(async () => {
  await api.close();
  plane.close();
});

async function made(cidr = '10.80.0.0/24', { name = 'office', server = false } = {}): Promise<string> {
  const { status, body, text } = await ann.call('POST', '/private-networks', { name, cidr });
  assert.equal(status, 201, text);
  const id = String(body['id']);
  const input = { server_public_key: aKey(), server_listen_port: 51_820 };
  if (server) assert.equal((await ann.call('PUT', `/private-networks/${id}/server`, input)).status, 200);
  return id;
}
const enroll = (id: string, more: object = {}, by = ann) =>
  by.call('POST', `/private-networks/${id}/devices`, { name: 'laptop', public_key: aKey(), ...more });
const revoke = (id: string, device: string, by = ann) => by.call('DELETE', `/private-networks/${id}/devices/${device}`);
const change = (id: string, device: string, body: object, by = ann) =>
  by.call('PATCH', `/private-networks/${id}/devices/${device}`, body);
const deviceIn = ({ body }: { body: Record<string, unknown> }) => body['device'] as Record<string, unknown>;
/** Id and address of a device that must be enrolled. */
async function enrolled(id: string, more: object = {}): Promise<{ id: string; ip: string }> {
  const answer = await enroll(id, more);
  assert.equal(answer.status, 201, answer.text);
  const device = deviceIn(answer);
  return { id: String(device['id']), ip: String(device['assigned_ip']) };
}
const listed = async (id: string) =>
  (await ann.call('GET', `/private-networks/${id}/devices`)).body as unknown as ReadonlyArray<Record<string, unknown>>;
const addresses = async (id: string) => (await listed(id)).map((device) => device['assigned_ip']);
/** What the snapshot holds of a network. */
async function relayed(id: string): Promise<RelayRoute | undefined> {
  const { relays } = await plane.control.link.snapshot();
  return relays.find(({ networkId }) => networkId === id);
}

test('a device gets the lowest address behind the server, and is shown with all that is known of it', async () => {
  const id = await made();
  const key = aKey();
  const { status, body } = await enroll(id, { name: ' laptop ', public_key: key });
  assert.equal(status, 201);
  const device = deviceIn({ body });
  assert.deepEqual(body, {
    network_cidr: '10.80.0.0/24',
    device: {
      id: device['id'],
      name: 'laptop',
      assigned_ip: '10.80.0.2',
      public_key: key,
      expires_at: null,
      expired: false,
      extra_allowed_ips: [],
      created_at: iso(START),
      last_handshake_at: null,
      last_seen_at: null,
      endpoint: null,
      bytes_in: 0,
      bytes_out: 0,
    },
  });
  assert.deepEqual(await listed(id), [device]);
  assert.equal((await enrolled(id)).ip, '10.80.0.3');
  assert.equal((await ann.call('GET', `/private-networks/${id}`)).body['device_count'], 2);
});

test('what the relay saw of a device is shown', async () => {
  const network = addNetwork(plane, ann.home);
  const row = addDevice(plane, network, {
    lastHandshakeAt: START,
    lastSeenAt: START + 1,
    endpoint: '192.0.2.7:40000',
    bytesIn: 10,
    bytesOut: 20,
  });
  const [device] = await listed(network.id);
  assert.deepEqual(
    ['id', 'last_handshake_at', 'last_seen_at', 'endpoint', 'bytes_in', 'bytes_out'].map((field) => device?.[field]),
    [row.id, iso(START), iso(START + 1), '192.0.2.7:40000', 10, 20],
  );
});

test('a key that is enrolled again gets its device back, unchanged; in another network it is another device', async () => {
  const id = await made();
  const public_key = aKey();
  const first = await enroll(id, { public_key });
  await enrolled(id);
  const again = await enroll(id, { public_key, name: 'another', extra_allowed_ips: ['192.168.9.0/24'] });
  assert.deepEqual([again.status, again.body], [200, first.body]);
  assert.equal((await listed(id)).length, 2);
  const other = await enroll(await made('10.90.0.0/24', { name: 'other' }), { public_key });
  assert.equal(other.status, 201);
  assert.notEqual(deviceIn(other)['id'], deviceIn(first)['id']);
});

test('an address that is freed is the next one given, and no address is given twice', async () => {
  const id = await made();
  const devices = [];
  for (let i = 0; i < 5; i++) devices.push(await enrolled(id));
  const [, second, third, , fifth] = devices;
  assert.ok(second && third && fifth);
  assert.deepEqual((await revoke(id, third.id)).body, { success: true });
  assert.equal((await revoke(id, second.id)).status, 200);
  assert.deepEqual(said(await revoke(id, second.id)), [404, 'not_found']);
  assert.equal((await enrolled(id)).ip, second.ip);
  assert.equal((await enrolled(id)).ip, third.ip);
  assert.equal((await revoke(id, fifth.id)).status, 200);
  assert.equal((await enrolled(id)).ip, fifth.ip);
  assert.equal((await enrolled(id)).ip, '10.80.0.7');
});

test('a /30 has one device', async () => {
  const id = await made('10.80.0.4/30');
  const only = await enrolled(id);
  assert.equal(only.ip, '10.80.0.6');
  const full = await enroll(id);
  assert.deepEqual(said(full), [409, 'network_full']);
  assert.match(String(full.body['message']), /All addresses of 10\.80\.0\.4\/30 are taken/);
  const key = (await listed(id))[0]?.['public_key'];
  assert.equal((await enroll(id, { public_key: key })).status, 200, 'a device keeps its address');
  await revoke(id, only.id);
  assert.equal((await enrolled(id)).ip, only.ip);
});

test('a /24 is filled to the last address, and one more is refused', async () => {
  const id = await made();
  for (let host = 2; host <= 254; host++) assert.equal((await enrolled(id)).ip, `10.80.0.${host}`);
  assert.deepEqual(said(await enroll(id)), [409, 'network_full']);
  assert.equal(new Set(await addresses(id)).size, 253);
});

test('addresses run on behind the last byte', async () => {
  const network = addNetwork(plane, ann.home, { cidr: '10.80.0.0/16' });
  for (let host = 2; host <= 254; host++) addDevice(plane, network, { host });
  assert.equal((await enrolled(network.id)).ip, '10.80.0.255');
  assert.equal((await enrolled(network.id)).ip, '10.80.1.0');
});

test('a hundred enrolments at once get a hundred addresses, the lowest', async () => {
  const id = await made('10.80.0.0/24', { server: true });
  const answers = await Promise.all(Array.from({ length: 100 }, () => enroll(id)));
  assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([201]));
  const given = answers.map((answer) => String(deviceIn(answer)['assigned_ip']));
  assert.deepEqual(new Set(given), new Set(Array.from({ length: 100 }, (_, i) => `10.80.0.${i + 2}`)));
  assert.equal((await relayed(id))?.devices.length, 100);
});

test('the same key a hundred times at once is one device', async () => {
  const id = await made();
  const public_key = aKey();
  const answers = await Promise.all(Array.from({ length: 100 }, () => enroll(id, { public_key })));
  assert.equal(answers.filter(({ status }) => status === 201).length, 1);
  assert.equal(answers.filter(({ status }) => status === 200).length, 99);
  assert.equal(new Set(answers.map((answer) => deviceIn(answer)['id'])).size, 1);
});

test('names and keys that do not fit are refused by their own codes', async () => {
  const id = await made();
  for (const name of ['', ' ', 'n'.repeat(64), 'a\n[Peer]', 'a\rb', 'a\u2029b'])
    assert.deepEqual(said(await enroll(id, { name })), [400, 'invalid_name'], JSON.stringify(name));
  for (const public_key of ['', 'x', aKey().slice(4), Buffer.alloc(32).toString('base64')])
    assert.deepEqual(said(await enroll(id, { public_key })), [400, 'invalid_public_key'], public_key);
  for (const wrong of [{ name: 7 }, { public_key: null }, { expires_at: 'tomorrow' }, { extra_allowed_ips: 'x' }])
    assert.deepEqual(said(await enroll(id, wrong)), [400, 'invalid_request'], JSON.stringify(wrong));
  assert.deepEqual(await listed(id), []);
});

test('the server of a network is no device of it, and no device its server', async () => {
  const id = await made();
  const [server, device] = [aKey(), aKey()];
  const register = (server_public_key: string) =>
    ann.call('PUT', `/private-networks/${id}/server`, { server_public_key, server_listen_port: 1 });
  assert.equal((await register(server)).status, 200);
  assert.deepEqual(said(await enroll(id, { public_key: server })), [400, 'invalid_public_key']);
  assert.equal((await enroll(id, { public_key: device })).status, 201);
  assert.deepEqual(said(await register(device)), [400, 'invalid_public_key']);
  const other = await made('10.90.0.0/24', { name: 'other' });
  assert.equal((await enroll(other, { public_key: server })).status, 201, 'a server may be a device elsewhere');
});

test('what is behind a device is written in one form and is behind no other', async () => {
  const id = await made();
  const site = await enroll(id, { extra_allowed_ips: ['192.168.9.7/24', '192.168.9.0/24', 'FD09::/64'] });
  assert.deepEqual(deviceIn(site)['extra_allowed_ips'], ['192.168.9.0/24', 'fd09::/64']);
  const siteId = String(deviceIn(site)['id']);
  const taken = await enroll(id, { extra_allowed_ips: ['192.168.9.0/24'] });
  assert.deepEqual(said(taken), [400, 'invalid_request']);
  assert.match(String(taken.body['message']), /The device laptop already has 192\.168\.9\.0\/24/);
  const wide = await change(id, siteId, { extra_allowed_ips: ['0.0.0.0/0'] });
  assert.match(
    String(wide.body['message']),
    /its own traffic there too.* edit NETWORK --extra-allowed-ips 0\.0\.0\.0\/0/,
  );
  assert.deepEqual(said(await change(id, siteId, { extra_allowed_ips: ['172.0.0.0/8'] })), [200]);
  assert.deepEqual(said(await change(id, siteId, { extra_allowed_ips: ['192.168.9.0/24', 'fd09::/64'] })), [200]);
  // A part of it is more exact, and routes go by what is more exact.
  const part = await enrolled(id, { extra_allowed_ips: ['192.168.9.128/25'] });
  assert.deepEqual(said(await change(id, part.id, { extra_allowed_ips: ['fd09::/64'] })), [400, 'invalid_request']);
  assert.deepEqual(said(await change(id, siteId, { extra_allowed_ips: ['fd09::/64'] })), [200], 'its own is not taken');
  assert.deepEqual(said(await change(id, part.id, { extra_allowed_ips: ['192.168.9.0/24'] })), [200]);
  for (const extra_allowed_ips of [
    ['x'],
    ['0.0.0.0/0'],
    ['::/0'],
    ['0.0.0.0/1', '128.0.0.0/1'],
    ['10.80.0.9'],
    ['10.80.0.0/25'],
    Array.from({ length: 17 }, (_, i) => `10.1.${i}.0/24`),
  ])
    assert.deepEqual(
      said(await enroll(id, { extra_allowed_ips })),
      [400, 'invalid_request'],
      String(extra_allowed_ips),
    );
  assert.deepEqual(said(await enroll(id, { extra_allowed_ips: ['10.0.0.0/8'] })), [201]);
});

test('a device may end by itself, and go on with a new end', async () => {
  const id = await made('10.80.0.0/24', { server: true });
  for (const expires_at of [iso(START), iso(START - 1)])
    assert.deepEqual(said(await enroll(id, { expires_at })), [400, 'invalid_request']);
  const { id: device } = await enrolled(id, { expires_at: '2026-11-21T11:00:00+01:00' });
  const end = Date.parse('2026-11-21T10:00:00Z');
  assert.ok(end > START, 'the clock of the plane stands before that');
  assert.deepEqual(
    (await listed(id)).map((one) => [one['expires_at'], one['expired']]),
    [[iso(end), false]],
  );
  assert.deepEqual(
    (await relayed(id))?.devices.map(({ expiresAt }) => expiresAt),
    [end],
  );
  // Past its end, by the tables alone: access tokens do not live as long.
  plane.control.store.db
    .update(networkDevices)
    .set({ expiresAt: START - 1, expired: true })
    .where(eq(networkDevices.id, device))
    .run();
  assert.deepEqual(
    (await listed(id)).map((one) => one['expired']),
    [true],
  );
  assert.deepEqual((await relayed(id))?.devices, []);
  assert.equal((await enrolled(id)).ip, '10.80.0.3', 'it keeps its address');
  const before = plane.deltas.length;
  assert.deepEqual(said(await change(id, device, { name: 'old' })), [200]);
  assert.equal(plane.deltas.length, before, 'another name does not bring it back');
  const on = await change(id, device, { expires_at: iso(START + HOUR) });
  assert.deepEqual([on.status, on.body['expired'], on.body['expires_at']], [200, false, iso(START + HOUR)]);
  assert.deepEqual(plane.deltas.at(-1), {
    version: (await plane.control.link.snapshot()).version,
    kind: 'device',
    networkId: id,
    device: {
      deviceId: device,
      publicKey: on.body['public_key'],
      allowedIps: ['10.80.0.2/32'],
      expiresAt: START + HOUR,
    },
  });
  assert.equal((await change(id, device, { expires_at: null })).body['expires_at'], null);
  assert.ok((await relayed(id))?.devices.some(({ deviceId, expiresAt }) => deviceId === device && expiresAt === null));
  assert.deepEqual(said(await change(id, device, { expires_at: iso(START) })), [400, 'invalid_request']);
});

test('the data plane hears of each enrolment and revocation of a network that it relays, and of no other', async () => {
  const quiet = await made('10.90.0.0/24', { name: 'quiet' });
  const before = plane.deltas.length;
  await revoke(quiet, (await enrolled(quiet)).id);
  assert.equal(plane.deltas.length, before);
  const id = await made('10.80.0.0/24', { server: true });
  const device = await enrolled(id);
  assert.deepEqual(
    (await relayed(id))?.devices.map(({ deviceId }) => deviceId),
    [device.id],
  );
  await revoke(id, device.id);
  assert.deepEqual(
    plane.deltas.slice(-2).map((delta) => [delta.kind, 'networkId' in delta ? delta.networkId : null]),
    [
      ['device', id],
      ['device_gone', id],
    ],
  );
  assert.deepEqual((await relayed(id))?.devices, []);
  assert.equal((await relayed(id))?.deviceLostAt, plane.now);
});

test('a device is found in its own network alone, and in its own organization alone', async () => {
  const id = await made('10.80.0.0/24', { server: true });
  const other = await made('10.90.0.0/24', { name: 'other', server: true });
  const { id: device } = await enrolled(id);
  for (const answer of [
    await revoke(other, device),
    await change(other, device, { name: 'x' }),
    await ann.call('GET', `/private-networks/${other}/devices/${device}/config`),
    await revoke(id, device, bob),
    await change(id, device, { name: 'x' }, bob),
    await bob.call('GET', `/private-networks/${id}/devices/${device}/config`),
  ])
    assert.deepEqual(said(answer), [404, 'not_found']);
  assert.equal((await listed(id)).length, 1);
});

test('devices: the audit log has every action and its actor', async () => {
  const id = await made();
  const public_key = aKey();
  const device = String(deviceIn(await enroll(id, { public_key }))['id']);
  await enroll(id, { public_key });
  await change(id, device, { expires_at: iso(START + HOUR), extra_allowed_ips: ['192.168.9.0/24'] });
  await revoke(id, device);
  const auditLog = plane.control.store.db.select().from(auditEvents).where(eq(auditEvents.resourceId, device)).all();
  const of = { network: 'office', name: 'laptop' };
  assert.deepEqual(
    auditLog.map(({ action, resourceType, orgId, details }) => [action, resourceType, orgId, details]),
    [
      ['network_device.enroll', 'network_device', ann.home, { ...of, assigned_ip: '10.80.0.2', public_key }],
      ['network_device.update', 'network_device', ann.home, of],
      ['network_device.revoke', 'network_device', ann.home, { ...of, public_key }],
    ],
  );
  assert.deepEqual(auditLog[1]?.changes, [
    { field: 'expires_at', from: null, to: iso(START + HOUR) },
    { field: 'extra_allowed_ips', from: null, to: '192.168.9.0/24' },
  ]);
});
