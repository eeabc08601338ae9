/** The default addresses of a new network. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { firstHost, freeCidr, networksHere } from './free-cidr.ts';

test('any /24 of 10.0.0.0/8 may come out, and each is one of its own', () => {
  assert.equal(
    freeCidr([], () => 0),
    '10.0.0.0/24',
  );
  assert.equal(
    freeCidr([], () => 0.999999999),
    '10.255.255.0/24',
  );
  const seen = new Set<string>();
  for (let i = 0; i < 50; i += 1) {
    const cidr = freeCidr([...seen]);
    assert.match(cidr ?? '', /^10\.\d+\.\d+\.0\/24$/);
    assert.ok(!seen.has(cidr ?? ''));
    seen.add(cidr ?? '');
  }
});

test('what overlaps, larger or smaller, is passed over', () => {
  const at = (taken: string[]): string | undefined => freeCidr(taken, () => 0);
  assert.equal(at(['10.0.0.0/24']), '10.0.1.0/24');
  assert.equal(at(['10.0.0.0/24', '10.0.1.128/30', '10.0.2.7/16']), '10.1.0.0/24');
  assert.equal(
    freeCidr(['10.255.255.0/24'], () => 0.999999999),
    '10.0.0.0/24',
    'it goes round',
  );
  assert.equal(at(['10.0.0.0/8']), '100.64.0.0/24');
  assert.equal(at(['10.0.0.0/8', '100.64.0.0/11']), '100.96.0.0/24');
  assert.equal(at(['10.0.0.0/8', '100.64.0.0/10']), undefined);
  assert.equal(at(['0.0.0.0/0']), undefined);
});

test('the networks of this machine are read, and the first host is one above', () => {
  for (const cidr of networksHere()) assert.match(cidr, /^\d+\.\d+\.\d+\.\d+\/\d+$/);
  assert.equal(firstHost('10.80.0.0/24'), '10.80.0.1');
  assert.equal(firstHost('172.16.255.252/30'), '172.16.255.253');
});
