import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { claimsOf, MAX_SUBDOMAIN_PATTERNS, readGrant, TOKEN_KINDS, type WireGrant } from './wire-form.ts';

const NONCE = '5f2b1c9e8d7a4f60b3c2d1e0f9a8b7c6';
const AGENT: WireGrant = {
  orgId: '019aa3c2-5b70-7b02-8a3e-0c9d3f5e7a00',
  kind: 'agent',
  nonce: NONCE,
  parentNonce: null,
  project: null,
  allowedSubdomains: ['shop', 'pr-*'],
  tunnelQuota: 2,
  bandwidthLimitMbps: 100,
  issuedAt: 1_795_250_000,
  expiresAt: 1_795_336_400,
};
const PROJECT: WireGrant = {
  ...AGENT,
  kind: 'project',
  project: { slug: 'web', suffix: '-web' },
  parentNonce: NONCE.replace('5f', '00'),
};
const MASTER: WireGrant = { ...AGENT, kind: 'master', tunnelQuota: 0, allowedSubdomains: [], bandwidthLimitMbps: 0 };

test('what was written is read back, whatever the token is for', () => {
  for (const grant of [AGENT, PROJECT, MASTER, { ...AGENT, kind: 'cli' as const }])
    assert.deepEqual(readGrant(claimsOf(grant)), grant);
  const inDefault: WireGrant = { ...PROJECT, project: { slug: 'default', suffix: '' }, parentNonce: null };
  assert.deepEqual(readGrant(claimsOf(inDefault)), inDefault);
  fc.assert(
    fc.property(
      fc.record({
        kind: fc.constantFrom(...TOKEN_KINDS.filter((kind) => kind === 'agent' || kind === 'cli')),
        tunnelQuota: fc.integer({ min: 1, max: 1_000_000 }),
        bandwidthLimitMbps: fc.integer({ min: 0, max: 1_000_000 }),
        allowedSubdomains: fc.array(fc.constantFrom('*', 'a', 'b-*', 'x'.repeat(63)), { minLength: 1, maxLength: 100 }),
      }),
      (some) => assert.deepEqual(readGrant(claimsOf({ ...AGENT, ...some })), { ...AGENT, ...some }),
    ),
    { numRuns: 100 },
  );
});

/** The claims of a sound token with one of them replaced, or (undefined) left out. */
function changed(grant: WireGrant, key: number, value: unknown): ReadonlyMap<number, unknown> {
  const claims = new Map(claimsOf(grant));
  if (value === undefined) claims.delete(key);
  else claims.set(key, value);
  return claims;
}

// biome-ignore format: a table
const WRONG: ReadonlyArray<readonly [claim: string, key: number, values: readonly unknown[]]> = [
  ['issuer', 1, [undefined, 'other', 1]],
  ['subject', 2, [undefined, 'org:', 'user:019aa3c2-5b70-7b02-8a3e-0c9d3f5e7a00', 7]],
  ['expiry', 4, [undefined, -1, 1.5, '1795336400', 1_795_250_000]],
  ['time of issue', 6, [undefined, -1, '0']],
  ['nonce', 7, [undefined, NONCE, new Uint8Array(15), new Uint8Array(17)]],
  ['version', -65537, [undefined, 0, 2, '1']],
  ['kind', -65538, [undefined, 'root', 'master', 'project', 0]],
  ['subdomains', -65539, [undefined, '*', [], ['A'], [1], new Array(MAX_SUBDOMAIN_PATTERNS + 1).fill('*')]],
  ['quota', -65540, [undefined, 0, -1, 1.5, '1', Number.MAX_SAFE_INTEGER + 1]],
  ['bandwidth', -65541, [undefined, -1, 0.5, '1']],
  ['project', -65542, ['web']],
  ['suffix', -65543, ['-web', '']],
  ['parent', -65544, [new Uint8Array(16)]],
  ['an unknown claim', -65599, [0]],
  ['a registered claim that no token has', 3, ['someone']],
];
for (const [claim, key, values] of WRONG) {
  test(`claims whose ${claim} is not as it must be are no grant`, () => {
    for (const value of values) assert.equal(readGrant(changed(AGENT, key, value)), undefined, String(value));
  });
}

test('a project key says its project whole, and a master key opens nothing', () => {
  for (const [key, value] of [
    [-65542, undefined],
    [-65543, undefined],
    [-65543, '-other'],
    [-65544, new Uint8Array(3)],
    [-65538, 'agent'],
  ] as const)
    assert.equal(readGrant(changed(PROJECT, key, value)), undefined, `${key}`);
  assert.equal(readGrant(changed(MASTER, -65540, 1)), undefined);
  assert.equal(readGrant(changed(MASTER, -65539, ['*'])), undefined);
});
