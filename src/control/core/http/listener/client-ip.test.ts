import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NetworkSet } from '../../../../base/net/addr.ts';
import { silentLog } from '../../../../base/log.ts';
import { ClientIps, limitKey } from './client-ip.ts';

const TRUSTED = new NetworkSet(['10.0.0.0/8', 'fd00::/8']);
const find = (socket: string, header?: string): string => new ClientIps(TRUSTED, silentLog).find(socket, header);

// biome-ignore format: a table
const CASES: ReadonlyArray<[what: string, socket: string, header: string | undefined, address: string]> = [
  ['no header', '10.0.0.1', undefined, '10.0.0.1'],
  ['a stranger’s header', '198.51.100.1', '203.0.113.7', '198.51.100.1'],
  ['one hop', '10.0.0.1', '203.0.113.7', '203.0.113.7'],
  ['what the visitor wrote before the proxy', '10.0.0.1', '192.0.2.66, 203.0.113.7', '203.0.113.7'],
  ['two trusted hops', '::ffff:10.0.0.1', '203.0.113.7, 10.2.0.1', '203.0.113.7'],
  ['a port', '10.0.0.1', '203.0.113.7:4711', '203.0.113.7'],
  ['a port behind a trusted hop', '10.0.0.1', '203.0.113.7:4711,10.2.0.1:80', '203.0.113.7'],
  ['IPv6', '10.0.0.1', '2001:db8::1', '2001:db8::1'],
  ['brackets', '10.0.0.1', '[2001:db8::1]', '2001:db8::1'],
  ['brackets and a port', '10.0.0.1', '[2001:db8::1]:443', '2001:db8::1'],
  ['a mapped address in any spelling', '10.0.0.1', '::FFFF:cb00:7107', '203.0.113.7'],
  ['a mapped address in brackets', '10.0.0.1', '[::ffff:203.0.113.7]:1', '203.0.113.7'],
  ['a mapped trusted hop', '::ffff:a00:1', '203.0.113.7, ::FFFF:10.0.0.2', '203.0.113.7'],
  ['unknown', '10.0.0.1', 'unknown', '10.0.0.1'],
  ['unknown behind a trusted hop', '10.0.0.1', '203.0.113.7, unknown, 10.2.0.1', '10.2.0.1'],
  ['nothing', '10.0.0.1', '', '10.0.0.1'],
  ['what only looks like an address', '10.0.0.1', '203.0.113.7:x', '10.0.0.1'],
  ['half a bracket', '10.0.0.1', '[2001:db8::1', '10.0.0.1'],
  ['IPv4 in brackets', '10.0.0.1', '[203.0.113.7]:1', '10.0.0.1'],
  ['an address out of range', '10.0.0.1', '203.0.113.777:1', '10.0.0.1'],
];
for (const [what, socket, header, address] of CASES) {
  test(`${what}: ${socket} and ${JSON.stringify(header)} is ${address}`, () => {
    assert.equal(find(socket, header), address);
  });
}

test('a trusted proxy that says no address is in the log, once; a stranger who does is not', () => {
  const said: object[] = [];
  const ips = new ClientIps(TRUSTED, { ...silentLog, warn: (fields) => void said.push(fields) });
  ips.find('198.51.100.1', 'unknown');
  ips.find('10.0.0.1', 'unknown, 203.0.113.7');
  assert.deepEqual(said, []);
  for (let i = 0; i < 3; i++) ips.find('10.0.0.1', 'x'.repeat(1_000));
  assert.deepEqual(said, [{ proxy: '10.0.0.1', said: 'x'.repeat(100) }]);
});

test('limits count IPv6 by the /64, and a mapped address as what it is', () => {
  assert.equal(limitKey('203.0.113.7'), '203.0.113.7');
  assert.equal(limitKey('2001:db8:1:2:3:4:5:6'), '2001:db8:1:2::/64');
  assert.equal(limitKey('2001:DB8:1:2::'), limitKey('2001:db8:1:2:ffff::1'));
  assert.notEqual(limitKey('2001:db8:1:3::'), limitKey('2001:db8:1:2::'));
  assert.equal(limitKey('fe80::1%eth0'), 'fe80:0:0:0::/64');
  assert.equal(limitKey('::FFFF:203.0.113.7'), '203.0.113.7');
  assert.notEqual(limitKey('::ffff:cb00:7107'), limitKey('::ffff:cb00:7108'));
  assert.equal(limitKey(''), '');
});
