import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  canonicalIp,
  formatHostPort,
  isHostName,
  isLoopback,
  isWildcard,
  NetworkSet,
  parseHostPort,
  parseNetwork,
  parsePortRange,
  plainIp,
} from './addr.ts';

const hostPorts: ReadonlyArray<[text: string, host: string, port: number]> = [
  ['127.0.0.1:8080', '127.0.0.1', 8080],
  ['[::1]:443', '::1', 443],
  ['localhost:0', 'localhost', 0],
  ['a-b.example.com:65535', 'a-b.example.com', 65535],
];
for (const [text, host, port] of hostPorts) {
  test(`reads ${text} and writes it again`, () => {
    assert.deepEqual(parseHostPort(text), { host, port });
    assert.equal(formatHostPort({ host, port }), text);
  });
}

// biome-ignore format: a list to be scanned
const badHostPorts = [
  '', ':80', 'host', 'host:', '127.0.0.1:65536', '127.0.0.1:080', '127.0.0.1:-1', '127.0.0.1:8 0', '::1:80', '[::1]',
  '[::1:80', '[host]:80', '010.0.0.1:80', '1:80', '0x7f.1:80', '127.1:80', '-a.example:80', 'a_b:80', 'a..b:80', '*:80',
  'http://a:80', 'a:80/path',
];
for (const text of badHostPorts) {
  test(`refuses ${JSON.stringify(text)} as host:port`, () => assert.equal(parseHostPort(text), undefined));
}

test('takes names and refuses what the system would read as an address', () => {
  for (const name of ['localhost', 'a', 'x1.example.com', 'xn--bcher-kva.example']) assert.ok(isHostName(name), name);
  for (const name of ['1', '1.2', '10.0.0.010', '0x1', 'a.', '.a', `${'a'.repeat(64)}.b`])
    assert.ok(!isHostName(name), name);
});

const ranges: ReadonlyArray<[string, { first: number; last: number } | undefined]> = [
  ['20000-20099', { first: 20000, last: 20099 }],
  ['20000 - 20099', { first: 20000, last: 20099 }],
  ['7', { first: 7, last: 7 }],
  ['1-65535', { first: 1, last: 65535 }],
  ['0-10', undefined],
  ['10-9', undefined],
  ['1-65536', undefined],
  ['1-2-3', undefined],
  ['-', undefined],
  ['', undefined],
];
for (const [text, expected] of ranges) {
  test(`port range ${JSON.stringify(text)}`, () => assert.deepEqual(parsePortRange(text), expected));
}

test('knows wildcard and loopback addresses', () => {
  assert.deepEqual(['0.0.0.0', '::', '0:0::0', '127.0.0.1', '::1'].map(isWildcard), [true, true, true, false, false]);
  const hosts = ['127.0.0.1', '127.9.9.9', '::1', 'localhost', '::ffff:127.0.0.1', '10.0.0.1', 'example.com'];
  assert.deepEqual(hosts.map(isLoopback), [true, true, true, true, true, false, false]);
});

test('an address has one form as text, and what is none has none', () => {
  for (const [text, one] of [
    ['10.1.2.3', '10.1.2.3'],
    ['::ffff:0a01:0203', '10.1.2.3'],
    ['::FFFF:10.1.2.3%eth0', '10.1.2.3'],
    ['2001:0DB8:0:0:0::0001', '2001:db8::1'],
    ['fe80::1%eth0', 'fe80::1'],
    ['64:ff9b::10.1.2.3', '64:ff9b::a01:203'],
  ] as const)
    assert.equal(canonicalIp(text), one);
  for (const text of ['', 'unknown', '010.1.2.3', '10.1.2', '[::1]', '2001:db8::1::'])
    assert.equal(canonicalIp(text), undefined, text);
});

test('unmaps IPv4 in IPv6', () => {
  assert.equal(plainIp('::ffff:10.1.2.3'), '10.1.2.3');
  assert.equal(plainIp('::ffff:1'), '::ffff:1');
  assert.equal(plainIp('10.1.2.3'), '10.1.2.3');
  for (const text of ['::FFFF:203.0.113.1', '::ffff:cb00:7101', '0:0:0:0:0:ffff:CB00:7101', '0::ffff:203.0.113.1'])
    assert.equal(plainIp(text), '203.0.113.1', text);
  for (const text of [
    '::1:ffff:203.0.113.1',
    '64:ff9b::203.0.113.1',
    '1::ffff:cb00:7101',
    '2001:db8:ffff:ffff::1',
    ':ffff:',
  ])
    assert.equal(plainIp(text), text);
});

const networks: ReadonlyArray<[text: string, valid: boolean]> = [
  ['10.0.0.0/8', true],
  ['10.1.2.3', true],
  ['0.0.0.0/0', true],
  ['2001:db8::/32', true],
  ['::1', true],
  ['::ffff:10.0.0.0/104', true],
  ['10.0.0.1/8', false],
  ['2001:db8::1/32', false],
  ['10.0.0.0/33', false],
  ['::/129', false],
  ['10.0.0.0/', false],
  ['10.0.0.0/08', false],
  ['010.0.0.0/8', false],
  ['10/8', false],
  ['fe80::1%eth0', false],
  ['host/8', false],
  ['', false],
];
for (const [text, valid] of networks) {
  test(`network ${JSON.stringify(text)} is ${valid ? 'taken' : 'refused'}`, () => {
    assert.equal(parseNetwork(text) !== undefined, valid);
  });
}

test('a network set holds its addresses, mapped ones too, and nothing else', () => {
  const set = new NetworkSet(['10.0.0.0/8', '192.168.1.7', '2001:db8::/32']);
  for (const address of ['10.255.0.1', '::ffff:10.0.0.1', '192.168.1.7', '2001:db8:1::2'])
    assert.ok(set.has(address), address);
  for (const address of ['11.0.0.1', '192.168.1.8', '2001:db9::1', 'nonsense', ''])
    assert.ok(!set.has(address), address);
  assert.ok(!new NetworkSet([]).has('127.0.0.1'));
  assert.throws(() => new NetworkSet(['10.0.0.1/8']), RangeError);
});
