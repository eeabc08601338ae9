/** Rows as the API answers them, made up for tests of the dashboard's logic. */
import type { Tunnel } from '../../src/dashboard/api/types.ts';

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
