import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isPublicAddress } from './public-address.ts';

test('addresses of the public internet, and none besides', () => {
  for (const address of ['1.1.1.1', '8.8.8.8', '172.15.0.1', '172.32.0.1', '2606:4700::1111', '::ffff:1.1.1.1'])
    assert.equal(isPublicAddress(address), true, address);
  const special = [
    ...[
      '0.0.0.0',
      '10.1.2.3',
      '100.64.0.1',
      '127.0.0.1',
      '127.9.9.9',
      '169.254.169.254',
      '172.16.0.1',
      '172.31.255.255',
    ],
    ...['192.168.0.1', '198.18.0.1', '203.0.113.9', '224.0.0.1', '255.255.255.255'],
    ...[
      '::',
      '::1',
      'fe80::1',
      'fe80::1%eth0',
      'fc00::1',
      'fd12::1',
      'ff02::1',
      '64:ff9b::a00:1',
      '2002:a00:1::',
      '2001:db8::1',
    ],
    ...['::ffff:127.0.0.1', '::ffff:a00:1', '::ffff:169.254.169.254', '::127.0.0.1', 'localhost', '0177.0.0.1', ''],
  ];
  for (const address of special) assert.equal(isPublicAddress(address), false, address);
});
