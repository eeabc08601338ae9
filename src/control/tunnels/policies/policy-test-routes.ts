/** `/tunnels/{id}/policy/test`. */
import { z } from '@hono/zod-openapi';
import type { UnknownReason } from '../../../plane/policy-test.ts';
import { MAX_SHOWN, MAX_TESTED_REQUESTS, type PolicyTestResult, type PolicyTests } from './policy-test.ts';
import { invalidPolicy } from './input.ts';
import { type Api, actorOf, goneSignal } from '../../core/http/context.ts';
import { defineRoute } from '../../core/http/define-route.ts';
import { json, refuseInvalid } from '../../core/http/errors.ts';
import { byId, iso, jsonBody } from '../../core/http/fields/shared.ts';
import { trafficPolicy } from './routes.ts';

interface Deps {
  readonly policyTests: PolicyTests;
}

const REASONS: Readonly<Record<UnknownReason, string>> = {
  credentials: 'credentials_not_recorded',
  keys: 'keys_not_known',
  form: 'not_readable',
};

const question = z
  .object({
    policy: trafficPolicy,
    limit: z
      .int()
      .min(1)
      .max(MAX_TESTED_REQUESTS)
      .default(MAX_TESTED_REQUESTS)
      .openapi({ description: 'Number of recorded requests to test, newest first' }),
  })
  .openapi('PolicyTest', { example: { policy: { actions: [{ kind: 'deny', path_prefix: '/admin' }] }, limit: 1000 } });

const code = z.string().openapi({ description: 'Error code that the visitor would get' });
const index = z.int().openapi({ description: 'Place of the action in the policy, from 0' });
const enforced = z.boolean().openapi({ description: 'False: the action is in log-only mode (`"enforce": false`)' });

const answer = z
  .object({
    tested: z.int().openapi({ description: 'Recorded requests that were tested' }),
    would_refuse: z.int().openapi({ description: 'Tested requests that an enforced action would block' }),
    not_tested: z.array(z.object({ reason: z.enum(Object.values(REASONS)), count: z.int() })).openapi({
      description:
        '`credentials_not_recorded`: the record has no token for `jwt_validation`, because the edge blocked the request or removed the token. `keys_not_known`: the edge has not fetched the keys of the issuer; a test fetches none. `not_readable`: the edge would reject the request today.',
    }),
    from: z.iso.datetime().nullable().openapi({ description: 'Time of the oldest request; null: none was recorded' }),
    to: z.iso.datetime().nullable(),
    by_action: z
      .array(z.object({ index, kind: z.string(), rule: z.string(), enforced, would_refuse: z.int() }))
      .openapi({ description: "Each action that can block requests. Later actions don't test a blocked request." }),
    requests: z
      .array(
        z.object({
          id: z.uuid().openapi({ description: 'ID of the record: `GET /inspector/{id}`' }),
          timestamp: z.iso.datetime(),
          method: z.string(),
          path: z.string(),
          status: z.int().openapi({ description: 'Status that the visitor got; 0: none' }),
          remote_ip: z.string(),
          action: index,
          code,
          enforced,
        }),
      )
      .openapi({
        description: `Requests that an action would block, log-only actions included: newest first, at most ${MAX_SHOWN}`,
      }),
  })
  .openapi('PolicyTestResult', {
    example: {
      tested: 998,
      would_refuse: 14,
      not_tested: [{ reason: 'credentials_not_recorded', count: 2 }],
      from: '2026-11-20T08:00:00.000Z',
      to: '2026-11-21T13:04:11.000Z',
      by_action: [{ index: 0, kind: 'deny', rule: '/admin', enforced: true, would_refuse: 14 }],
      requests: [
        {
          id: '019aa3c2-5b95-7d13-9b1e-6a0c2f4d8b21',
          timestamp: '2026-11-21T13:04:11.000Z',
          method: 'GET',
          path: '/admin/users',
          status: 200,
          remote_ip: '203.0.113.7',
          action: 0,
          code: 'denied',
          enforced: true,
        },
      ],
    },
  });

export function mountPolicyTests(app: Api, { policyTests }: Deps): void {
  app.openapi(
    defineRoute(
      {
        method: 'post',
        path: '/tunnels/{id}/policy/test',
        tags: ['tunnels'],
        summary: 'Test a policy on recorded requests of a tunnel',
        description:
          "The test changes nothing. Every user who can see the requests can run it. The policy doesn't have to be the tunnel's. The test uses the same checks as for visitors, with the times of the records. `rate_limit` counts recorded requests only, and a token is valid if it was valid at that time. No keys are fetched. Password and visitor login are not tested. A test waits up to ten seconds for its turn. An organization can have one running test and two waiting ones; more get 429. An organization, and a user in all organizations, can run ten in a row and then one every three seconds.",
        request: {
          params: byId,
          body: jsonBody(question),
        },
        responses: { 200: json(answer, 'Requests that the policy would have blocked') },
      },
      ['forbidden', 'bad_policy', 'rate_limited', 'unavailable'],
    ),
    async (c) => {
      const input = { ...c.req.valid('json'), gone: goneSignal(c) };
      return c.json(resultJson(await policyTests.test(actorOf(c), c.req.valid('param').id, input)), 200);
    },
    (result, c) => {
      if (!result.success && result.target === 'json') {
        const inPolicy = result.error.issues.filter(({ path }) => path[0] === 'policy');
        // The same message as of PUT.
        if (inPolicy.length > 0)
          throw invalidPolicy(inPolicy.map(({ path, message }) => ({ path: path.slice(1), message })));
      }
      refuseInvalid(result, c);
    },
  );
}

function resultJson({ span, ...result }: PolicyTestResult): z.input<typeof answer> {
  return {
    tested: result.tested,
    would_refuse: result.wouldRefuse,
    not_tested: result.notTested.map(({ reason, count }) => ({ reason: REASONS[reason], count })),
    from: iso(span?.from ?? null),
    to: iso(span?.to ?? null),
    by_action: result.byAction.map(({ enforce, wouldRefuse, ...action }) => ({
      ...action,
      enforced: enforce,
      would_refuse: wouldRefuse,
    })),
    requests: result.requests.map(({ item, index: action, code: refusedWith, enforce }) => ({
      id: item.id,
      timestamp: iso(item.at),
      method: item.method,
      path: item.target,
      status: item.status,
      remote_ip: item.remoteIp,
      action,
      code: refusedWith,
      enforced: enforce,
    })),
  };
}
