/** The rows of the table of limits about visitors who sign in. */
import { elsewhere, met, type Row } from './row.ts';
import type { LimitFixture } from './fixture.ts';
import { said } from '../../../src/control/core/testing/team.ts';

async function put(fixture: LimitFixture, count: number): Promise<unknown> {
  const caller = fixture.caller();
  const made = await caller.call('POST', '/tunnels', { localPort: 3000 });
  const half = Math.floor(count / 2);
  return said(
    await caller.call('PUT', `/tunnels/${String(made.body['id'])}/edge-auth`, {
      allowed_domains: Array.from({ length: half }, (_, i) => `d${i}.example.test`),
      allowed_emails: Array.from({ length: count - half }, (_, i) => `a${i}@example.test`),
    }),
  );
}

export function visitorLimits(): readonly Row[] {
  return [
    met<number>({
      limit: 'Allowed domains and emails of visitor login',
      value: '1 to 100 together',
      meet: put,
      below: [[0, [400, 'invalid_request']]],
      at: [
        [1, [200]],
        [100, [200]],
      ],
      above: [[101, [400, 'invalid_request']]],
    }),
    elsewhere('Visitor login: one-time code', '60 seconds, single use', [
      'src/data/policy/visitor-login/passes.test.ts',
      'a ticket is good once, for a minute',
    ]),
    elsewhere('Visitor login: session', '8 hours', [
      'src/data/policy/visitor-login/passes.test.ts',
      'a pass lives for eight hours',
    ]),
    elsewhere('Visitor login: return path', '512 characters; a longer one becomes `/`', [
      'src/plane/visitor-tokens.test.ts',
      'a path leads to its own host, or it is /',
    ]),
    elsewhere('`/edge-auth/*`: burst', '300 requests per address', [
      'src/control/tunnels/visitor-login/sign-in.test.ts',
      'an address has a limit of its own on sign-ins',
    ]),
    elsewhere('`/edge-auth/*`: rate', 'then 5 requests per second', [
      'src/control/tunnels/visitor-login/sign-in.test.ts',
      'an address has a limit of its own on sign-ins',
    ]),
  ];
}
