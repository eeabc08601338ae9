/** What the pages of private networks work out by themselves: addresses, keys, configs, words. */
import assert from 'node:assert/strict';
import { createPrivateKey, createPublicKey } from 'node:crypto';
import { test } from 'node:test';
import {
  addressesFault,
  cidrFault,
  firstHost,
  freeCidr,
  networksFault,
  overlapping,
  roomOf,
} from '../../src/dashboard/pages/networks/addresses.ts';
import { expiryOf, localTime } from '../../src/dashboard/pages/networks/device-terms.ts';
import {
  addPeerCommand,
  type Device,
  deviceStatus,
  dropsOf,
  isOnlyHere,
  type Network,
  type Relay,
  relayCommand,
  networkStatus,
} from '../../src/dashboard/pages/networks/network-labels.ts';
import {
  fileNameOf,
  isWireGuardKey,
  makeKeyPair,
  withKey,
  withoutRemarks,
} from '../../src/dashboard/pages/networks/wireguard.ts';

const KEY = 'dwdtCnMYpX08FsFyUbJmRd9ML4frwJkqsXf7pR25LCo=';
const NETWORK: Network = {
  id: '019aa3c2-5b7a-7e21-9f43-8a1c0d5b6e72',
  name: 'home',
  cidr: '10.80.0.0/24',
  server_public_key: KEY,
  public_endpoint: 'example.com:30000',
  server_listen_port: 51_820,
  reserved_udp_port: 30_000,
  dns: [],
  extra_allowed_ips: [],
  device_count: 1,
  created_at: '2026-11-21T09:00:00.000Z',
};
const RELAY: Relay = {
  online: true,
  path: 'udp',
  path_since: null,
  attached_at: null,
  manages_peers: false,
  agent_id: null,
  flows: 0,
  packets_in: 0,
  packets_out: 0,
  bytes_in: 0,
  bytes_out: 0,
  dropped: null,
};
const DEVICE: Device = {
  id: '019aa3c2-5b7c-7b08-8e15-4d6f2a9c1e30',
  name: 'laptop',
  assigned_ip: '10.80.0.2',
  public_key: KEY,
  expires_at: null,
  expired: false,
  extra_allowed_ips: [],
  created_at: '2026-11-21T09:00:00.000Z',
  last_handshake_at: null,
  last_seen_at: null,
  endpoint: null,
  bytes_in: 0,
  bytes_out: 0,
};

test('network addresses: refused as on the server, with the same hint', () => {
  for (const cidr of ['10.80.0.0/24', '192.168.7.0/30', '100.64.0.0/10', '172.16.0.0/12'])
    assert.equal(cidrFault(cidr), null, cidr);
  assert.match(cidrFault('10.80.0.1/24') ?? '', /Did you mean 10\.80\.0\.0\/24\?/);
  assert.match(cidrFault('10.0.0.0/7') ?? '', /\/8 to \/30/);
  assert.match(cidrFault('10.80.0.0/31') ?? '', /\/8 to \/30/);
  assert.match(cidrFault('8.8.8.0/24') ?? '', /belong to the internet/);
  for (const text of ['', '10.80.0.0', '10.80.0/24', '10.80.0.256/24', '10.80.0.0/33', 'fd00::/64'])
    assert.match(cidrFault(text) ?? '', /such as 10\.80\.0\.0\/24/, text);
});

test('network addresses: a suggestion overlaps no existing network', () => {
  assert.equal(
    freeCidr([], () => 0),
    '10.0.0.0/24',
  );
  assert.equal(
    freeCidr(['10.0.0.0/15', '10.2.0.128/25'], () => 0),
    '10.2.1.0/24',
  );
  assert.equal(
    freeCidr(['10.255.255.0/24'], () => 0.999_999_99),
    '10.0.0.0/24',
  );
  assert.equal(freeCidr(['10.0.0.0/8']), undefined);
  assert.equal(cidrFault(freeCidr([]) ?? ''), null);
});

test('network addresses: overlaps are found, and free addresses counted', () => {
  assert.equal(overlapping('10.80.0.0/16', [NETWORK]), NETWORK);
  assert.equal(overlapping('10.81.0.0/16', [NETWORK]), undefined);
  assert.deepEqual([roomOf('10.80.0.0/24'), roomOf('10.80.0.0/30'), firstHost('10.80.0.0/24')], [253, 1, '10.80.0.1']);
});

test('WireGuard keys: the public key belongs to the private one', async () => {
  const pair = await makeKeyPair();
  assert.ok(pair !== undefined && isWireGuardKey(pair.privateKey) && isWireGuardKey(pair.publicKey));
  const bytes = Buffer.from(pair.privateKey, 'base64');
  assert.equal(bytes.readUInt8(0) & 7, 0);
  assert.equal(bytes.readUInt8(31) & 0xc0, 0x40);
  const der = Buffer.concat([Buffer.from('302e020100300506032b656e04220420', 'hex'), bytes]);
  const { x = '' } = createPublicKey(createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })).export({
    format: 'jwk',
  });
  assert.equal(Buffer.from(x, 'base64url').toString('base64'), pair.publicKey);
});

test('WireGuard config: the private key replaces only its placeholder, even with hostile names', () => {
  const config =
    '# PrivateKey = REPLACE_WITH_PRIVATE_KEY in $& home\n[Interface]\nPrivateKey = REPLACE_WITH_PRIVATE_KEY\nMTU = 1400\n';
  assert.equal(
    withKey(config, KEY),
    `# PrivateKey = REPLACE_WITH_PRIVATE_KEY in $& home\n[Interface]\nPrivateKey = ${KEY}\nMTU = 1400\n`,
  );
  assert.equal(withKey('[Interface]\n', KEY), undefined);
  assert.equal(withoutRemarks(withKey(config, KEY) ?? ''), `[Interface]\nPrivateKey = ${KEY}\nMTU = 1400`);
});

test('WireGuard config: the file name is a valid interface of wg-quick', () => {
  const names = ['home', 'Büro Süd / 3', 'a network of many words', '-x', '日本', "'; rm -rf /"].map(fileNameOf);
  assert.deepEqual(names, [
    'home.conf',
    'b-ro-s-d-3.conf',
    'a-network-of-ma.conf',
    'x.conf',
    'wg-culvert.conf',
    'rm-rf.conf',
  ]);
});

test('network commands: names are safe for a shell, and devices include their networks', () => {
  assert.equal(relayCommand(NETWORK), 'culvert udp 51820 --network home');
  assert.equal(relayCommand({ ...NETWORK, name: 'a $(b)' }), `culvert udp 51820 --network ${NETWORK.id}`);
  const device = { ...DEVICE, extra_allowed_ips: ['192.168.9.0/24'] };
  assert.equal(addPeerCommand(NETWORK, device), `sudo wg set home peer ${KEY} allowed-ips 10.80.0.2/32,192.168.9.0/24`);
});

test('network state: one label each', () => {
  const said = (network: Partial<Network>, relay?: Partial<Relay>) =>
    networkStatus({ ...NETWORK, ...network }, relay && { ...RELAY, ...relay })?.words;
  assert.equal(said({ server_public_key: null, public_endpoint: null, reserved_udp_port: null }), 'No server yet');
  assert.equal(said({ public_endpoint: null }), 'Port removed');
  assert.equal(said({ reserved_udp_port: null, public_endpoint: 'vpn.example.com:1' }), 'Own endpoint');
  assert.deepEqual(
    [said({}), said({}, { online: false }), said({}, {}), said({}, { path: 'stream' })],
    [undefined, 'No agent', 'Relayed over UDP', 'Relayed over TLS'],
  );
});

test('network drops: labels, the most frequent first, without zero counts', () => {
  const drops = dropsOf({ ...RELAY, dropped: { no_agent: 2, queue_full: 0, not_enrolled: 7, new_reason: 1 } });
  assert.deepEqual(
    drops.map(({ count, words }) => `${count} ${words}`),
    ['7 with an unknown, revoked or expired key', '2 without a connected agent', '1 new_reason'],
  );
});

test('device state: connected for three minutes after its last handshake', () => {
  const at = '2026-11-21T09:00:00.000Z';
  const seen = { ...DEVICE, last_handshake_at: at, last_seen_at: at };
  const words = (device: Device, afterMs: number): string => deviceStatus(device, Date.parse(at) + afterMs).words;
  assert.deepEqual(
    [words(DEVICE, 0), words(seen, 179_000), words(seen, 181_000), words({ ...seen, expired: true }, 0)],
    ['Never seen', 'Connected', 'Offline', 'Expired'],
  );
});

test('device expiry: a span, a local time, or never', () => {
  const now = Date.parse('2026-11-21T09:00:00Z');
  assert.equal(expiryOf('never', '', now), null);
  assert.equal(expiryOf('30', '', now), '2026-12-21T09:00:00.000Z');
  assert.equal(expiryOf('at', '', now), undefined);
  assert.equal(expiryOf('at', localTime('2027-01-01T12:30:00Z'), now), '2027-01-01T12:30:00.000Z');
});

test('device fields: networks and name servers are valid as on the server', () => {
  const good = ['192.168.9.0/24', '0.0.0.0/0', '10.1.2.3', 'fd00::/8', '2001:db8::1', '::ffff:10.0.0.1/128'];
  assert.equal(networksFault(good), null);
  assert.equal(networksFault([]), null);
  assert.match(
    networksFault(['192.168.9.0/24', 'pixel']) ?? '',
    /^"pixel" is not an IP network such as 192\.168\.7\.0\/24\.$/,
  );
  for (const bad of [
    '',
    '10.0.0.0/33',
    '10.0.0/8',
    '300.0.0.0/8',
    'fd00::/129',
    'fd00:::/8',
    '10.0.0.0/8/8',
    '10.0.0.0/',
    'x:y/8',
  ])
    assert.notEqual(networksFault([bad]), null, bad);
  assert.equal(addressesFault(['10.82.0.1', 'fd00::1']), null);
  assert.equal(addressesFault(['10.82.0.1', 'nowhere']), '"nowhere" is not an IP address.');
  assert.notEqual(addressesFault(['10.0.0.0/8']), null);
});

test('network endpoint: a loopback address is detected', () => {
  for (const at of ['localhost:30000', 'LOCALHOST:1', 'vpn.localhost:30000', '127.0.0.1:30000', '[::1]:30000'])
    assert.ok(isOnlyHere({ public_endpoint: at }), at);
  for (const at of [
    null,
    'vpn.example.com:30000',
    '192.168.1.5:30000',
    '[2001:db8::1]:30000',
    'localhost.example.com:1',
  ])
    assert.ok(!isOnlyHere({ public_endpoint: at }), String(at));
});
