/** Policies to start from: what people ask for most. Pure. */
import type { Action } from './kinds.ts';

export interface Example {
  readonly title: string;
  readonly about: string;
  readonly actions: readonly Action[];
  readonly forTcp?: true;
}

export const EXAMPLES: readonly Example[] = [
  {
    title: 'Keep /admin private',
    about: 'Blocks visitors from paths below /admin.',
    actions: [{ kind: 'deny', path_prefix: '/admin', enforce: true }],
  },
  {
    title: 'Allow office only',
    about: 'Allows only visitors from your networks. Enter your own.',
    actions: [{ kind: 'ip_allow', networks: ['203.0.113.0/24'], enforce: true }],
    forTcp: true,
  },
  {
    title: '60 requests a minute per visitor',
    about: 'Visitors over the limit get 429 until the minute ends.',
    actions: [{ kind: 'rate_limit', requests_per_minute: 60, per_client_ip: true, enforce: true }],
  },
  {
    title: 'Require provider tokens',
    about: 'Allows only requests with a bearer JWT from your identity provider.',
    actions: [
      {
        kind: 'jwt_validation',
        allowed_issuers: ['https://login.example.com'],
        allowed_audiences: [],
        jwks_url: null,
        enforce: true,
      },
    ],
  },
];
