import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  certificateSaid,
  type Domain,
  hostOf,
  isMoving,
  pointerOf,
  stateOf,
} from '../../src/dashboard/pages/domains/domain-state.ts';
import { roomText } from '../../src/dashboard/pages/names/name-labels.ts';

const DOMAIN: Domain = {
  id: 'd',
  domain: 'shop.example.net',
  verified: true,
  verifiedAt: '2026-01-01T00:00:00Z',
  verificationToken: 't',
  boundTunnelId: 'x',
  createdAt: '2026-01-01T00:00:00Z',
  dnsRecord: { type: 'TXT', name: '_tunnel-challenge.shop.example.net', value: 't' },
  certificate: null,
};
const CERTIFICATE = { state: 'valid' as const, expiresAt: null, lastError: null, nextAttemptAt: null };

test('domain state: names the first missing step', () => {
  const said = (more: Partial<Domain>): string => stateOf({ ...DOMAIN, ...more }).words;
  assert.equal(said({}), 'Active');
  assert.equal(said({ verified: false, boundTunnelId: null }), 'Not verified');
  assert.equal(said({ boundTunnelId: null }), 'No tunnel');
  assert.equal(said({ certificate: { ...CERTIFICATE, state: 'failed' } }), 'No certificate');
  assert.equal(said({ certificate: CERTIFICATE }), 'Active');
});

test('certificate state: valid with a warning while its renewal fails', () => {
  assert.deepEqual(certificateSaid(CERTIFICATE), { tone: 'good', words: 'Valid' });
  assert.deepEqual(certificateSaid({ ...CERTIFICATE, lastError: 'no' }), { tone: 'warn', words: 'Valid' });
  assert.equal(isMoving({ ...DOMAIN, certificate: { ...CERTIFICATE, state: 'pending' } }), true);
  assert.equal(isMoving(DOMAIN), false);
});

test('domain target: the host of its tunnel, if that is a DNS name', () => {
  assert.deepEqual(pointerOf(DOMAIN, 'shop.example.com'), {
    type: 'CNAME',
    name: 'shop.example.net',
    value: 'shop.example.com',
  });
  assert.equal(pointerOf(DOMAIN, 'shop.localhost'), undefined);
  assert.equal(hostOf('https://shop.example.com:8443'), 'shop.example.com');
  assert.equal(hostOf('tcp://example.com:20000'), undefined);
});

test('reserved names: usage against the limit of the plan', () => {
  assert.deepEqual(
    [roomText(2, 5), roomText(0, 0), roomText(0, null), roomText(3, null)],
    ['2 of 5 are in use.', undefined, 'Your plan sets no limit.', '3 reserved; your plan sets no limit.'],
  );
});
