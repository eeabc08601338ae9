import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Admission } from './admission.ts';
import { addressKey } from '../../base/net/address-key.ts';

test('one address can not take what others need', () => {
  const admission = new Admission({ total: 3, perAddress: 2 });
  assert.equal(admission.admit('192.0.2.1'), true);
  assert.equal(admission.admit('192.0.2.1'), true);
  assert.equal(admission.admit('192.0.2.1'), false);
  assert.equal(admission.admit('192.0.2.2'), true);
  assert.equal(admission.admit('192.0.2.3'), false, 'full');
  assert.equal(admission.refused, 2);
  admission.release('192.0.2.1');
  assert.equal(admission.admit('192.0.2.3'), true);
  assert.equal(admission.open, 3);
});

test('0 sets no limit per address', () => {
  const admission = new Admission({ total: 3, perAddress: 0 });
  assert.deepEqual(
    [1, 2, 3, 4].map(() => admission.admit('192.0.2.1')),
    [true, true, true, false],
  );
});

test('a release too many frees nothing', () => {
  const admission = new Admission({ total: 1, perAddress: 1 });
  admission.admit('192.0.2.1');
  admission.release('192.0.2.9');
  assert.equal(admission.open, 1);
  admission.release('192.0.2.1');
  admission.release('192.0.2.1');
  assert.equal(admission.open, 0);
});

test('an IPv6 /64 counts as one address, a mapped IPv4 address as itself', () => {
  assert.equal(addressKey('192.0.2.7'), '192.0.2.7');
  assert.equal(addressKey('::ffff:192.0.2.7'), '192.0.2.7');
  assert.equal(addressKey('2001:db8:1:2:aaaa::1'), addressKey('2001:db8:1:2::9'));
  assert.equal(addressKey('2001:db8:1:2::9'), '2001:db8:1:2');
  assert.notEqual(addressKey('2001:db8:1:3::9'), addressKey('2001:db8:1:2::9'));
  assert.equal(addressKey('2001:db8::1'), '2001:db8:0:0');
  assert.equal(addressKey('::1'), '0:0:0:0');
});

test('a connection that turns out to be of another address counts once, there', () => {
  const admission = new Admission({ total: 2, perAddress: 1 });
  for (const ip of ['198.51.100.7', '198.51.100.8']) {
    assert.equal(admission.admit('10.0.0.1', true), true);
    assert.equal(admission.move('10.0.0.1', ip, false), true, 'the last place of all is its own');
  }
  assert.deepEqual([admission.open, admission.admitted, admission.addresses], [2, 2, 2]);
  admission.release('198.51.100.7');
  admission.admit('10.0.0.1', true);
  assert.equal(admission.move('10.0.0.1', '198.51.100.8', false), false);
  assert.deepEqual([admission.open, admission.admitted, admission.refused], [1, 2, 1]);
});

test('what an address has under way is one object for all of its connections', () => {
  const admission = new Admission({ total: 5, perAddress: 0 });
  for (const ip of ['2001:db8:1:2::1', '2001:db8:1:2::2', '192.0.2.1']) admission.admit(ip);
  assert.equal(admission.loadOf('2001:db8:1:2::1'), admission.loadOf('2001:db8:1:2::2'));
  assert.notEqual(admission.loadOf('192.0.2.1'), admission.loadOf('2001:db8:1:2::1'));
  assert.equal(admission.loadOf('2001:db8:1:2::1').connections, 2);
});
