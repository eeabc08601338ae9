/** The rows of the table of limits about traffic policies. */
import { elsewhere, met, type Row } from './row.ts';
import type { LimitFixture } from './fixture.ts';
import { said } from '../../../src/control/core/testing/team.ts';

const BAD = [400, 'bad_policy'];

async function put(fixture: LimitFixture, actions: readonly object[]): Promise<unknown> {
  const caller = fixture.caller();
  const made = await caller.call('POST', '/tunnels', { localPort: 3000 });
  return said(await caller.call('PUT', `/tunnels/${String(made.body['id'])}/policy`, { actions }));
}

const times = (count: number, action: object) => Array.from({ length: count }, () => action);
const networks = (count: number) => Array.from({ length: count }, (_, i) => `10.0.0.${i}`);
const issuers = (count: number) => Array.from({ length: count }, (_, i) => `https://id${i}.example.com`);
const deny = { kind: 'deny', path_prefix: '/a' };
const rate = (requests_per_minute: number) => ({ kind: 'rate_limit', requests_per_minute, per_client_ip: false });

export function policyLimits(): readonly Row[] {
  return [
    met<number>({
      limit: 'Actions of a policy',
      value: '16',
      meet: (fixture, count) => put(fixture, times(count, deny)),
      below: [
        [0, [200]],
        [15, [200]],
      ],
      at: [[16, [200]]],
      above: [[17, BAD]],
    }),
    met<number>({
      limit: '`rate_limit` actions of a policy',
      value: '1',
      meet: (fixture, count) => put(fixture, times(count, rate(60))),
      below: [[0, [200]]],
      at: [[1, [200]]],
      above: [[2, BAD]],
    }),
    met<number>({
      limit: '`requests_per_minute`',
      value: '1 to 1,000,000',
      meet: (fixture, requests) => put(fixture, [rate(requests)]),
      below: [[0, BAD]],
      at: [
        [1, [200]],
        [1_000_000, [200]],
      ],
      above: [[1_000_001, BAD]],
    }),
    met<number>({
      limit: '`networks` of an action',
      value: '1 to 100 entries',
      meet: (fixture, count) => put(fixture, [{ kind: 'ip_deny', networks: networks(count) }]),
      below: [[0, BAD]],
      at: [
        [1, [200]],
        [100, [200]],
      ],
      above: [[101, BAD]],
    }),
    met<number>({
      limit: '`allowed_issuers`, `allowed_audiences`',
      value: '100 entries each',
      meet: (fixture, count) =>
        put(fixture, [{ kind: 'jwt_validation', allowed_issuers: issuers(count), allowed_audiences: issuers(count) }]),
      below: [[0, [200]]],
      at: [[100, [200]]],
      above: [[101, BAD]],
    }),
    met<number>({
      limit: '`value` of a header action',
      value: '2,048 characters, ASCII',
      meet: (fixture, length) => put(fixture, [{ kind: 'header_set', name: 'X-A', value: 'a'.repeat(length) }]),
      below: [[0, [200]]],
      at: [[2_048, [200]]],
      above: [[2_049, BAD]],
    }),
    met<number>({
      limit: '`jwt_validation` actions of a policy',
      value: '1',
      meet: (fixture, count) => put(fixture, times(count, { kind: 'jwt_validation' })),
      below: [[0, [200]]],
      at: [[1, [200]]],
      above: [[2, BAD]],
    }),
    elsewhere(
      'Policy test',
      'the last 1,000 requests, of which 100 are listed; 10 tests in a row, then 1 every 3 seconds',
      [
        'src/control/tunnels/policies/policy-test.test.ts',
        'the newest alone, as many as asked for; a hundred of the refused are shown',
      ],
      [
        'src/control/tunnels/policies/policy-test.test.ts',
        'one at a time of an organization, the others wait; and none without a node that can decide',
      ],
      [
        'src/control/tunnels/policies/test-queue.test.ts',
        'ten in a row of an organization and then one every three seconds; others are not concerned',
      ],
      [
        'src/control/tunnels/policies/test-queue.test.ts',
        'so many has a person too, whatever organization it is in; who was refused has spent nothing of the other',
      ],
      [
        'src/control/tunnels/policies/test-queue.test.ts',
        'policy test queue: one test of an organization runs and two wait; in all two run and 64 wait',
      ],
      [
        'src/control/tunnels/policies/test-queue.test.ts',
        'policy test queue: a caller that waited too long or left has no place any more',
      ],
      [
        'src/data/policy/policy-tester.test.ts',
        'the last thousand, two questions at a time, and in slices between which others have their turn',
      ],
    ),
    elsewhere('Window of `rate_limit`', '60 seconds', [
      'src/data/policy/rate-limit.test.ts',
      'lets the given number through in a window, and says when the next one begins',
    ]),
  ];
}
