/** Private networks over HTTP: who makes them, how their server is registered, which port they get, and what the data plane gets. */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { eq } from 'drizzle-orm';
import { auditEvents, networkDevices, privateNetworks } from '../db/schema.ts';
import type { RelayRoute } from '../../plane/relays.ts';
import { aKey } from './testing.ts';
import { Plane, START } from '../core/testing/plane.ts';
import { type PlaneApi, servePlane } from '../core/testing/plane-api.ts';
import { type Person, said, Team } from '../core/testing/team.ts';

let plane: Plane;
let api: PlaneApi;
let team: Team;
let ann: Person;
let bob: Person;
beforeEach(async () => {
  // Four ports, from 30000 on.
  plane = new Plane();
  api = await servePlane(plane);
  team = new Team(plane, api);
  ann = await team.person('ann@example.test');
  bob = await team.person('bob@example.test');
});
afterEach(async () => {
  await api.close();
  plane.close();
});

const make = (name: unknown = 'office', by = ann, cidr: unknown = '10.80.0.0/24') =>
  by.call('POST', '/private-networks', { name, cidr });
const made = async (name = 'office', by = ann): Promise<string> => {
  const { status, body, text } = await make(name, by);
  assert.equal(status, 201, text);
  return String(body['id']);
};
const register = (id: string, more: object = {}, by = ann) =>
  by.call('PUT', `/private-networks/${id}/server`, {
    server_public_key: aKey(),
    server_listen_port: 51_820,
    ...more,
  });
const endpoints = ({ body }: { body: Record<string, unknown> }) => [body['public_endpoint'], body['reserved_udp_port']];
const change = (id: string, body: object, by = ann) => by.call('PATCH', `/private-networks/${id}`, body);

/** What data nodes hold of a network: by the deltas so far and by the snapshot, which must agree. */
async function relayed(id: string): Promise<RelayRoute | undefined> {
  let told: RelayRoute | undefined;
  for (const delta of plane.deltas) {
    if (delta.kind === 'relay' && delta.relay.networkId === id) told = delta.relay;
    if (delta.kind === 'relay_gone' && delta.networkId === id) told = undefined;
    if (delta.kind === 'device' && delta.networkId === id && told !== undefined) {
      const others = told.devices.filter(({ deviceId }) => deviceId !== delta.device.deviceId);
      told = { ...told, devices: [...others, delta.device] };
    }
    if (delta.kind === 'device_gone' && delta.networkId === id && told !== undefined)
      told = { ...told, devices: told.devices.filter(({ deviceId }) => deviceId !== delta.deviceId) };
  }
  const { relays } = await plane.control.link.snapshot();
  const held = relays.find(({ networkId }) => networkId === id);
  assert.deepEqual(told, held);
  return held;
}

test('a network has a name and addresses, and no server yet', async () => {
  const { status, body } = await make(' office ');
  assert.equal(status, 201);
  assert.deepEqual(body, {
    id: body['id'],
    name: 'office',
    cidr: '10.80.0.0/24',
    server_public_key: null,
    public_endpoint: null,
    server_listen_port: null,
    reserved_udp_port: null,
    dns: [],
    extra_allowed_ips: [],
    device_count: 0,
    created_at: new Date(START).toISOString(),
  });
  assert.deepEqual((await ann.call('GET', '/private-networks')).body, [body]);
  assert.deepEqual((await ann.call('GET', `/private-networks/${String(body['id'])}`)).body, body);
  assert.equal(await relayed(String(body['id'])), undefined);
});

test('names are one per organization, and what is no name or no network is refused by its own code', async () => {
  await made();
  assert.deepEqual(said(await make()), [409, 'duplicate_name']);
  assert.deepEqual(said(await make('Office')), [201], 'a name is taken as it is written');
  assert.deepEqual(said(await make('office', bob)), [201], "another organization's names are its own");
  // Each network is by itself: the same addresses again are no fault.
  for (const name of ['x', 'n'.repeat(63), '😀'.repeat(63), '❤\uFE0F', 'Büro 東京 مكتب'])
    assert.deepEqual(said(await make(name)), [201], name);
  for (const name of ['', '   ', 'n'.repeat(64), '😀'.repeat(64), 'a\nb', 'a\u2028b', 'a\u0000b', 'a\u0085b'])
    assert.deepEqual(said(await make(name)), [400, 'invalid_name'], JSON.stringify(name));
  // No other user sees what they hold, or what they make of their line.
  for (const hidden of ['\u200b', '\u202e', '\u2066', '\u00ad', '\u3164', '\u115f', '\u2800', '\ufe0f', '\u{e0041}'])
    for (const name of [hidden, `a${hidden}b`, `1${hidden}`])
      assert.deepEqual(said(await make(name)), [400, 'invalid_name'], JSON.stringify(name));
  for (const cidr of ['10.80.0.0', '10.80.0.0/31', '10.80.0.1/24', '8.8.8.0/24', 'fd00::/64', ''])
    assert.deepEqual(said(await make('new', ann, cidr)), [400, 'invalid_cidr'], cidr);
  for (const body of [{ name: 'new' }, { cidr: '10.0.0.0/24' }, { name: 1, cidr: '10.0.0.0/24' }, []])
    assert.deepEqual(said(await ann.call('POST', '/private-networks', body)), [400, 'invalid_request']);
});

test('no name has the form of an id, which would be taken for another network', async () => {
  const id = await made();
  for (const name of [id, id.toUpperCase(), ` ${id} `])
    assert.deepEqual(said(await make(name)), [400, 'invalid_name'], name);
  assert.deepEqual(said(await change(id, { name: id })), [400, 'invalid_name']);
  const device = { name: id, public_key: aKey() };
  const path = `/private-networks/${id}/devices`;
  assert.deepEqual(said(await ann.call('POST', path, device)), [400, 'invalid_name']);
});

test('a server is registered: the network gets a port of this server, keeps it, and the data plane hears of it', async () => {
  const id = await made();
  const key = aKey();
  const answer = await register(id, { server_public_key: key });
  assert.deepEqual(
    [answer.status, answer.body['server_public_key'], answer.body['server_listen_port'], ...endpoints(answer)],
    [200, key, 51_820, 'localhost:30000', 30_000],
  );
  assert.deepEqual(await relayed(id), {
    networkId: id,
    orgId: ann.home,
    name: 'office',
    port: 30_000,
    endpoint: 'localhost:30000',
    serverKey: key,
    devices: [],
    deviceLostAt: null,
  });
  const other = aKey();
  const again = await register(id, { server_public_key: other, server_listen_port: 1 });
  assert.deepEqual(endpoints(again), ['localhost:30000', 30_000]);
  assert.equal((await relayed(id))?.serverKey, other);
  await change(id, { name: 'home' });
  assert.equal((await relayed(id))?.name, 'home');
});

test('what is no key, no port or no endpoint is refused', async () => {
  const id = await made();
  for (const server_public_key of ['', 'x', aKey().slice(1), Buffer.alloc(32).toString('base64')])
    assert.deepEqual(said(await register(id, { server_public_key })), [400, 'invalid_public_key'], server_public_key);
  for (const server_listen_port of [0, 65_536, 1.5, '51820', null])
    assert.deepEqual(
      said(await register(id, { server_listen_port })),
      [400, 'invalid_request'],
      String(server_listen_port),
    );
  for (const public_endpoint of [
    '',
    'vpn.example.com',
    'vpn.example.com:0',
    'http://vpn.example.com:1',
    ':51820',
    'a b:1',
    'a\nb:1',
  ])
    assert.deepEqual(said(await register(id, { public_endpoint })), [400, 'invalid_request'], public_endpoint);
  assert.equal((await ann.call('GET', `/private-networks/${id}`)).body['server_public_key'], null);
  assert.equal(await relayed(id), undefined);
});

test('a network that clients reach by themselves takes no port, and either way can become the other', async () => {
  const id = await made();
  assert.deepEqual(endpoints(await register(id, { public_endpoint: 'vpn.example.com:51820' })), [
    'vpn.example.com:51820',
    null,
  ]);
  assert.equal(await relayed(id), undefined);
  assert.deepEqual(endpoints(await register(id, { public_endpoint: null })), ['localhost:30000', 30_000]);
  assert.ok(await relayed(id));
  assert.deepEqual(endpoints(await register(id, { public_endpoint: '[2001:db8::1]:51820' })), [
    '[2001:db8::1]:51820',
    null,
  ]);
  assert.equal(await relayed(id), undefined);
  assert.equal(plane.deltas.findLast((delta) => delta.kind === 'relay_gone')?.code, 'network_not_ready');
});

test('ports go round: an organization gets its own again, and when all are taken that is said', async () => {
  const [a, b, c] = [await made('a'), await made('b'), await made('c')];
  for (const [i, id] of [a, b, c].entries())
    assert.deepEqual(endpoints(await register(id)), [`localhost:${30_000 + i}`, 30_000 + i]);
  const d = await made('d');
  const beyond = await register(d);
  assert.deepEqual(said(beyond), [409, 'conflict']);
  assert.match(String(beyond.body['message']), /share of the UDP ports.*public_endpoint/);
  assert.deepEqual(endpoints(await register(d, { public_endpoint: 'vpn.example.com:1' })), ['vpn.example.com:1', null]);
  assert.equal((await ann.call('DELETE', `/private-networks/${a}`)).status, 200);
  const theirs = [await made('a', bob), await made('b', bob)];
  assert.deepEqual(endpoints(await register(theirs[0] ?? '', {}, bob)), ['localhost:30003', 30_003]);
  const none = await register(theirs[1] ?? '', {}, bob);
  assert.deepEqual(said(none), [409, 'conflict']);
  assert.match(String(none.body['message']), /No UDP port is free.*public_endpoint/);
  assert.deepEqual(endpoints(await register(d)), ['localhost:30000', 30_000]);
});

test('a server without UDP ports says so, and networks that need none go on', async () => {
  const without = new Plane(undefined, { udpPorts: null });
  const served = await servePlane(without);
  try {
    const eve = await new Team(without, served).person('eve@example.test');
    const id = String((await make('office', eve)).body['id']);
    assert.deepEqual(said(await register(id, {}, eve)), [409, 'conflict']);
    assert.deepEqual(said(await register(id, { public_endpoint: 'vpn.example.com:1' }, eve)), [200]);
  } finally {
    await served.close();
    without.close();
  }
});

test('name servers and routes are written in one form, and stay when they are not given', async () => {
  const id = await made();
  const set = await change(id, {
    dns: ['10.80.0.1', '2001:DB8:0::1', '10.80.0.1'],
    extra_allowed_ips: ['192.168.7.9/24', '192.168.7.0/24', 'FD00::1/64', '0.0.0.0/0'],
  });
  assert.equal(set.status, 200, set.text);
  assert.deepEqual(set.body['dns'], ['10.80.0.1', '2001:db8::1']);
  assert.deepEqual(set.body['extra_allowed_ips'], ['192.168.7.0/24', 'fd00::/64', '0.0.0.0/0']);
  const named = await change(id, { name: 'home' });
  assert.deepEqual(named.body, Object.assign(set.body, { name: 'home' }));
  assert.deepEqual((await change(id, {})).body, named.body);
  assert.deepEqual((await change(id, { dns: [] })).body['dns'], []);
  for (const wrong of [
    { dns: ['ns.example.com'] },
    { dns: ['fe80::1%eth0'] },
    { dns: ['10.0.0.1', '10.0.0.2', '10.0.0.3', '10.0.0.4'] },
    { dns: ['10.0.0.1\nPostUp = x'] },
    { extra_allowed_ips: ['192.168.7.0/33'] },
    { extra_allowed_ips: ['10.80.0.0/24'] },
    { extra_allowed_ips: ['10.80.0.7'] },
    { extra_allowed_ips: Array.from({ length: 17 }, (_, i) => `192.168.${i}.0/24`) },
  ])
    assert.deepEqual(said(await change(id, wrong)), [400, 'invalid_request'], JSON.stringify(wrong));
  await made('other');
  assert.deepEqual(said(await change(id, { name: 'other' })), [409, 'duplicate_name']);
  assert.deepEqual(said(await change(id, { name: '' })), [400, 'invalid_name']);
  assert.deepEqual(said(await change(id, { name: 'home' })), [200], 'its own name is not taken');
});

test('a network that is deleted is gone with its devices, for the data plane too', async () => {
  const id = await made();
  await register(id);
  await ann.call('POST', `/private-networks/${id}/devices`, { name: 'laptop', public_key: aKey() });
  assert.equal((await relayed(id))?.devices.length, 1);
  assert.deepEqual((await ann.call('DELETE', `/private-networks/${id}`)).body, { success: true });
  assert.equal(await relayed(id), undefined);
  assert.equal(plane.deltas.findLast((delta) => delta.kind === 'relay_gone')?.code, 'network_deleted');
  assert.equal(plane.control.store.db.select().from(networkDevices).all().length, 0);
  assert.deepEqual(said(await ann.call('GET', `/private-networks/${id}`)), [404, 'not_found']);
  assert.deepEqual(said(await ann.call('DELETE', `/private-networks/${id}`)), [404, 'not_found']);
});

test('networks of an organization that is deleted go with it, and their ports are free', async () => {
  const second = await ann.call('POST', '/orgs', { name: 'Second' });
  const token = await team.acting(ann, String(second.body['id']));
  const call: Person['call'] = (method, path, body) =>
    api.call(method, path, { as: token, ...(body === undefined ? {} : { body: body as object }) });
  const id = String((await call('POST', '/private-networks', { name: 'x', cidr: '10.0.0.0/24' })).body['id']);
  await register(id, {}, { ...ann, call });
  assert.ok(await relayed(id));
  assert.equal((await ann.call('DELETE', `/orgs/${String(second.body['id'])}`)).status, 200);
  assert.equal(await relayed(id), undefined);
  assert.deepEqual(plane.control.store.db.select().from(privateNetworks).all(), []);
});

test('another organization finds none of it', async () => {
  const id = await made();
  await register(id);
  const path = `/private-networks/${id}`;
  assert.deepEqual((await bob.call('GET', '/private-networks')).body, []);
  for (const answer of [
    await bob.call('GET', path),
    await bob.call('DELETE', path),
    await change(id, { name: 'mine' }, bob),
    await register(id, {}, bob),
    await bob.call('GET', `${path}/server-config`),
    await bob.call('GET', `${path}/devices`),
    await bob.call('POST', `${path}/devices`, { name: 'x', public_key: aKey() }),
  ])
    assert.deepEqual(said(answer), [404, 'not_found']);
});

test('an organization that waits or is suspended makes none, and keeps what it has', async () => {
  const id = await made();
  const { orgId } = { orgId: ann.home };
  plane.control.operatorOrgs.suspend(
    { kind: 'operator', orgId: null, userId: null, label: 'op', ipAddress: '' },
    orgId,
  );
  assert.deepEqual(said(await make('more')), [403, 'forbidden']);
  assert.deepEqual(said(await ann.call('POST', `/private-networks/${id}/devices`, { name: 'x', public_key: aKey() })), [
    403,
    'forbidden',
  ]);
  assert.equal((await ann.call('GET', `/private-networks/${id}`)).status, 200);
  assert.deepEqual(said(await ann.call('DELETE', `/private-networks/${id}`)), [200]);
});

test('networks: the audit log has every action and its actor', async () => {
  const id = await made();
  const key = aKey();
  await register(id, { server_public_key: key });
  await change(id, { dns: ['10.80.0.1'] });
  await ann.call('DELETE', `/private-networks/${id}`);
  const auditLog = plane.control.store.db.select().from(auditEvents).where(eq(auditEvents.resourceId, id)).all();
  assert.deepEqual(
    auditLog.map(({ action, resourceType, orgId, details }) => [action, resourceType, orgId, details]),
    [
      ['network.create', 'network', ann.home, { name: 'office', cidr: '10.80.0.0/24' }],
      [
        'network.server',
        'network',
        ann.home,
        { name: 'office', public_endpoint: 'localhost:30000', server_public_key: key },
      ],
      ['network.update', 'network', ann.home, null],
      ['network.delete', 'network', ann.home, { name: 'office', devices: 0 }],
    ],
  );
  assert.ok(auditLog.every(({ resourceName }) => resourceName === 'office'));
  assert.deepEqual(
    auditLog.map(({ changes }) => changes),
    [
      null,
      [
        { field: 'server_public_key', from: null, to: key },
        { field: 'server_listen_port', from: null, to: 51_820 },
      ],
      [{ field: 'dns', from: null, to: '10.80.0.1' }],
      null,
    ],
  );
});
