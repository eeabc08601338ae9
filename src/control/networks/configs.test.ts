/** WireGuard configs of private networks over HTTP, as wg-quick(8) reads them. What a real WireGuard makes of them is elsewhere. */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { addDevice, addNetwork } from './testing.ts';
import { Plane } from '../core/testing/plane.ts';
import { type PlaneApi, servePlane } from '../core/testing/plane-api.ts';
import { type Person, said, Team } from '../core/testing/team.ts';

let plane: Plane;
let api: PlaneApi;
let ann: Person;
beforeEach(async () => {
  plane = new Plane(undefined, { udpPorts: { first: 30_000, last: 30_099 } });
  api = await servePlane(plane);
  ann = await new Team(plane, api).person('ann@example.test');
});
afterEach(async () => {
  await api.close();
  plane.close();
});

const read = async (path: string): Promise<string> => {
  const { status, body, text } = await ann.call('GET', `/private-networks/${path}`);
  assert.equal(status, 200, text);
  return String(body['config']);
};
/** What wg-quick goes by: comments end lines, and count for nothing. */
const settings = (config: string): readonly string[] =>
  config
    .split('\n')
    .map((line) => (line.split('#')[0] ?? '').trim())
    .filter((line) => line !== '');

test('the config of a server has its address, its port and a peer per device', async () => {
  const network = addNetwork(plane, ann.home);
  const laptop = addDevice(plane, network, { host: 2, name: "ann's laptop" });
  const site = addDevice(plane, network, { host: 4, name: 'site', extraAllowedIps: ['192.168.9.0/24', 'fd09::/64'] });
  const late = addDevice(plane, network, { host: 3, expiresAt: plane.now });
  const config = await read(`${network.id}/server-config`);
  assert.deepEqual(settings(config), [
    '[Interface]',
    'PrivateKey = REPLACE_WITH_PRIVATE_KEY',
    'Address = 10.80.0.1/24',
    'ListenPort = 51820',
    'MTU = 1400',
    '[Peer]',
    `PublicKey = ${laptop.publicKey}`,
    'AllowedIPs = 10.80.0.2/32',
    '[Peer]',
    `PublicKey = ${site.publicKey}`,
    'AllowedIPs = 10.80.0.4/32, 192.168.9.0/24, fd09::/64',
  ]);
  assert.ok(!config.includes(late.publicKey), 'one whose time has run out is left out');
  assert.match(config, /^#.*culvert udp 51820 --network office --server http:\/\/api\.test$/m);
  assert.match(config, /^# ann's laptop$/m);
  assert.match(config, /Clients connect to localhost:30000\./);
});

test('the config of a device has its address, and the server as its peer', async () => {
  const network = addNetwork(plane, ann.home);
  const device = addDevice(plane, network, { host: 9 });
  assert.deepEqual(settings(await read(`${network.id}/devices/${device.id}/config`)), [
    '[Interface]',
    'PrivateKey = REPLACE_WITH_PRIVATE_KEY',
    'Address = 10.80.0.9/32',
    'MTU = 1400',
    '[Peer]',
    `PublicKey = ${network.serverPublicKey}`,
    'Endpoint = localhost:30000',
    'AllowedIPs = 10.80.0.0/24',
    'PersistentKeepalive = 25',
  ]);
});

test('name servers and routes of the network are in the configs of devices, but for what is behind the device itself', async () => {
  const extraAllowedIps = ['192.168.7.0/24', '192.168.9.0/24', '192.168.9.128/25', 'fd00::/8'];
  const network = addNetwork(plane, ann.home, { dns: ['10.80.0.1', '2001:db8::1'], extraAllowedIps });
  const device = addDevice(plane, network, { host: 2, extraAllowedIps: ['192.168.9.0/24'] });
  const config = settings(await read(`${network.id}/devices/${device.id}/config`));
  assert.ok(config.includes('DNS = 10.80.0.1, 2001:db8::1'));
  assert.ok(config.includes('AllowedIPs = 10.80.0.0/24, 192.168.7.0/24, fd00::/8'));
  const server = await read(`${network.id}/server-config`);
  assert.ok(!server.includes('192.168.7.0'), 'what clients send to the server is nothing that it sends to them');
});

test('a server that clients reach by themselves needs no agent', async () => {
  const network = addNetwork(plane, ann.home, { selfEndpoint: '[2001:db8::1]:51820', reservedUdpPort: null });
  const device = addDevice(plane, network);
  const config = await read(`${network.id}/server-config`);
  assert.doesNotMatch(config, /culvert udp/);
  assert.match(config, /^# Clients connect to \[2001:db8::1\]:51820/m);
  assert.ok(
    settings(await read(`${network.id}/devices/${device.id}/config`)).includes('Endpoint = [2001:db8::1]:51820'),
  );
});

test('there is no config until a server is registered', async () => {
  const network = addNetwork(plane, ann.home, { serverPublicKey: null, serverListenPort: null, reservedUdpPort: null });
  const device = addDevice(plane, network);
  for (const path of ['server-config', `devices/${device.id}/config`])
    assert.deepEqual(said(await ann.call('GET', `/private-networks/${network.id}/${path}`)), [
      409,
      'server_not_registered',
    ]);
});

test('a name is a comment and nothing else, and no part of a command unless a shell takes it as one word', async () => {
  // As they may stand in a table that something else wrote: the API takes no line ends.
  for (const name of [
    'x\nPostUp = touch /tmp/pwned',
    'x\r\n[Peer]',
    'x\u2028PostUp = y',
    '# [Peer]',
    '$(reboot)',
    '-x',
    'a b',
  ]) {
    const network = addNetwork(plane, ann.home, { name });
    const device = addDevice(plane, network, { name });
    const server = await read(`${network.id}/server-config`);
    const client = await read(`${network.id}/devices/${device.id}/config`);
    assert.equal(settings(server).length, 5 + 3, JSON.stringify(name));
    assert.equal(settings(client).length, 4 + 5, JSON.stringify(name));
    for (const config of [server, client]) {
      assert.doesNotMatch(config, /[^\n\x20-\x7e]/, JSON.stringify(name));
      assert.ok(!settings(config).some((line) => line.startsWith('PostUp')));
    }
    assert.match(server, new RegExp(`^#   culvert udp 51820 --network ${network.id} --server http://api.test$`, 'm'));
  }
});
