import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatIpNetwork, holdsNetwork, type IpNetwork, readIpNetwork } from './ip-network.ts';

const read = (text: string): IpNetwork => {
  const network = readIpNetwork(text);
  assert.ok(network !== undefined, text);
  return network;
};

test('a network is written in one form, with the bits behind its prefix cleared', () => {
  for (const [text, form] of [
    ['10.1.2.3/8', '10.0.0.0/8'],
    ['192.168.7.0/24', '192.168.7.0/24'],
    ['192.168.7.255/31', '192.168.7.254/31'],
    ['192.0.2.1', '192.0.2.1/32'],
    ['255.255.255.255/0', '0.0.0.0/0'],
    ['2001:DB8:0:0:0:0:0:1/32', '2001:db8::/32'],
    ['fd00::1:2', 'fd00::1:2/128'],
    ['fd00:0:0:0:ffff::/65', 'fd00::8000:0:0:0/65'],
    ['::/0', '::/0'],
    ['::ffff:192.0.2.1/120', '::ffff:c000:200/120'],
  ] as const) {
    assert.equal(formatIpNetwork(read(text)), form, text);
  }
});

test('what is no network is none', () => {
  for (const text of [
    '',
    '10.0.0.0/',
    '10.0.0.0/33',
    '10.0.0.0/08',
    '10.0.0.0/+8',
    '10.0.0.0/8/8',
    '10.0.0/8',
    '010.0.0.0/8',
    ' 10.0.0.0/8',
    '10.0.0.0/8\n',
    'fe80::1%eth0/64',
    '::/129',
    '::/1000',
    'example.com/8',
  ]) {
    assert.equal(readIpNetwork(text), undefined, text);
  }
});

test('a network holds itself and what is narrower, of its own family', () => {
  for (const [outer, inner, holds] of [
    ['10.0.0.0/8', '10.200.0.0/16', true],
    ['10.0.0.0/8', '10.0.0.0/8', true],
    ['10.0.0.0/9', '10.128.0.0/16', false],
    ['10.0.0.0/16', '10.0.0.0/8', false],
    ['0.0.0.0/0', '192.0.2.1/32', true],
    ['0.0.0.0/0', 'fd00::/8', false],
    ['fd00::/8', 'fdab::/64', true],
    ['::/0', '10.0.0.0/8', false],
  ] as const) {
    assert.equal(holdsNetwork(read(outer), read(inner)), holds, `${outer} holds ${inner}`);
  }
});
