import assert from 'node:assert/strict';
import { test } from 'node:test';
import { visitorAddress } from './visitor-address.ts';

const hex = (ip: string): string | undefined => {
  const address = visitorAddress(ip, 1);
  return address === undefined ? undefined : `${address.family} ${Buffer.from(address.bytes).toString('hex')}`;
};

test('an address becomes the bytes of its family', () => {
  assert.equal(hex('192.0.2.255'), '4 c00002ff');
  assert.equal(hex('::ffff:192.0.2.255'), '4 c00002ff');
  assert.equal(hex('2001:db8::1'), '6 20010db8000000000000000000000001');
  assert.equal(hex('::1'), '6 00000000000000000000000000000001');
  assert.equal(hex('fe80::1:2%eth0'), '6 fe800000000000000000000000010002');
  assert.equal(hex('1:2:3:4:5:6:7:8'), '6 00010002000300040005000600070008');
  assert.equal(visitorAddress('192.0.2.1', 443)?.port, 443);
});

test('what is no address has no bytes', () => {
  for (const text of ['', '1.2.3', '1.2.3.4.5', 'localhost']) assert.equal(hex(text), undefined, text);
});
