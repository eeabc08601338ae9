import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addressOf, overlayFrom, serverAddressOf } from './overlay.ts';

test('private networks of /8 to /30 are taken as they are written', () => {
  for (const [cidr, server, last] of [
    ['10.0.0.0/8', '10.0.0.1', '10.255.255.254'],
    ['10.80.0.0/24', '10.80.0.1', '10.80.0.254'],
    ['172.16.0.0/12', '172.16.0.1', '172.31.255.254'],
    ['172.31.255.252/30', '172.31.255.253', '172.31.255.254'],
    ['192.168.0.0/16', '192.168.0.1', '192.168.255.254'],
    ['100.64.0.0/10', '100.64.0.1', '100.127.255.254'],
    ['100.127.255.128/25', '100.127.255.129', '100.127.255.254'],
  ] as const) {
    const overlay = overlayFrom(cidr);
    assert.equal(overlay.cidr, cidr);
    assert.equal(serverAddressOf(overlay), server);
    assert.equal(addressOf(overlay, overlay.lastHost), last, cidr);
  }
});

test('anything else is refused, and the refusal says why', () => {
  for (const [cidr, why] of [
    ['10.80.0.0', /with a prefix/],
    ['10.80.0.0/31', /\/8 to \/30/],
    ['10.80.0.0/32', /\/8 to \/30/],
    ['0.0.0.0/0', /\/8 to \/30/],
    ['8.0.0.0/7', /\/8 to \/30/],
    ['10.80.0.5/24', /host bits set. Did you mean 10\.80\.0\.0\/24\?/],
    ['8.8.8.0/24', /belong to the internet/],
    ['172.0.0.0/8', /belong to the internet/],
    ['172.32.0.0/16', /belong to the internet/],
    ['100.128.0.0/24', /belong to the internet/],
    ['192.160.0.0/12', /belong to the internet/],
    ['127.0.0.0/24', /belong to the internet/],
    ['169.254.0.0/24', /belong to the internet/],
    ['fd00::/64', /IPv4/],
    ['::ffff:10.0.0.0/104', /IPv4/],
    ['10.80.0.0/024', /with a prefix/],
    ['10.80.0/24', /with a prefix/],
    ['10.80.0.0/24 ', /with a prefix/],
    ['', /with a prefix/],
    [`${'9'.repeat(10_000)}/8`, /with a prefix/],
  ] as const) {
    assert.throws(() => overlayFrom(cidr), { code: 'invalid_cidr', message: why }, cidr.slice(0, 40));
  }
});
