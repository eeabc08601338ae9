/** Rows as the API answers them, made up for tests of the dashboard's logic. */
import type { Token, Tunnel } from '../../src/dashboard/api/types.ts';

export function tunnel(more: Partial<Tunnel>): Tunnel {
  return {
    id: 't1',
    subdomain: 'shop',
    publicUrl: 'https://shop.example.com',
    status: 'active',
    protocol: 'http',
    localPort: 3000,
    authEnabled: false,
    bytesIn: 0,
    bytesOut: 0,
    totalRequests: 0,
    createdAt: '2026-01-01T00:00:00.000Z',
    projectSlug: 'default',
    online: true,
    stopped: false,
    expiresAt: null,
    maintenance: false,
    edgeAuthEnabled: false,
    policyEnabled: false,
    state: 'online',
    stateSince: null,
    stateReason: null,
    endedSessionId: null,
    ...more,
  };
}

/** Times in Unix seconds; never used, and without an end in sight. */
export function token(more: Partial<Token>): Token {
  return {
    id: 'k1',
    nonce: 'aa',
    name: 'ci',
    kind: 'agent',
    version: 1,
    projectSlug: null,
    parentNonce: null,
    allowedSubdomains: ['*'],
    tunnelQuota: 5,
    bandwidthLimitMbps: 100,
    monthlyBudgetUsdCents: null,
    spentUsdCents: 0,
    issuedAt: 0,
    expiresAt: 100 * 86_400,
    graceEndsAt: null,
    replacedBy: null,
    lastUsedAt: null,
    revoked: false,
    wireBytesLen: 100,
    ...more,
  };
}
