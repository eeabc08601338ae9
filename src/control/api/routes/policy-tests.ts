/** `/tunnels/{id}/policy/test`. */
import { z } from '@hono/zod-openapi';
import type { UnknownReason } from '../../../plane/policy-test.ts';
import { MAX_SHOWN, MAX_TESTED_REQUESTS, type PolicyTestResult } from '../../services/tunnels/policy-tests.ts';
import { invalidPolicy } from '../../services/tunnels/policy-input.ts';
import { type Api, type ApiDeps, actorOf, goneSignal } from '../context.ts';
import { defineRoute } from '../define-route.ts';
import { json, refuseInvalid } from '../errors.ts';
import { trafficPolicy } from './policies.ts';

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
      .openapi({ description: 'How many of the newest recorded requests are looked at' }),
  })
  .openapi('PolicyTest', { example: { policy: { actions: [{ kind: 'deny', path_prefix: '/admin' }] }, limit: 1000 } });

const code = z.string().openapi({ description: 'The code that the visitor would get' });
const index = z.int().openapi({ description: 'Place of the action in the policy, from 0' });
const enforced = z.boolean().openapi({ description: 'False: the action is only tried (`"enforce": false`)' });

const answer = z
  .object({
    tested: z.int().openapi({ description: 'Recorded requests that could be judged' }),
    would_refuse: z.int().openapi({ description: 'Of those, what an enforced action would refuse' }),
    not_tested: z.array(z.object({ reason: z.enum(Object.values(REASONS)), count: z.int() })).openapi({
      description:
        '`credentials_not_recorded`: the record does not have the token that `jwt_validation` asks for, as of a request that was refused, or whose token stayed at the edge. `keys_not_known`: the keys that the token may be signed by are not known at the edge now; none are fetched for a test. `not_readable`: the edge would not take the request today.',
    }),
    from: z.iso.datetime().nullable().openapi({ description: 'When the oldest of them came; null: none was recorded' }),
    to: z.iso.datetime().nullable(),
    by_action: z
      .array(z.object({ index, kind: z.string(), rule: z.string(), enforced, would_refuse: z.int() }))
      .openapi({ description: 'Each action that can refuse. A request that one refuses does not come to the next' }),
    requests: z
      .array(
        z.object({
          id: z.uuid().openapi({ description: 'Of the record: `GET /inspector/{id}`' }),
          timestamp: z.iso.datetime(),
          method: z.string(),
          path: z.string(),
          status: z.int().openapi({ description: 'What the visitor got then; 0: nothing' }),
          remote_ip: z.string(),
          action: index,
          code,
          enforced,
        }),
      )
      .openapi({
        description: `What would be refused, or is refused by an action that is only tried: newest first, ${MAX_SHOWN} at most`,
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

export function mountPolicyTests(app: Api, { policyTests }: ApiDeps): void {
  app.openapi(
    defineRoute(
      {
        method: 'post',
        path: '/tunnels/{id}/policy/test',
        tags: ['tunnels'],
        summary: 'Test a policy on recorded requests of a tunnel',
        description:
          "Changes nothing. Every user who may see the requests may run it. The policy need not be the tunnel's. It is asked by the very steps that visitors meet, with the times of the records: `rate_limit` counts the recorded requests in their windows (those that were not recorded are not counted), and a token is good if it was then. No keys are fetched. The password and the sign-in of visitors are not asked. Organizations take turns: a test waits up to ten seconds for its own. An organization has one under way and two in line, so that three can be sent at once and the next is 429; and it has ten in a row and then one every three seconds, as has a person over all of their organizations.",
        request: {
          params: z.object({ id: z.string() }),
          body: { required: true, content: { 'application/json': { schema: question } } },
        },
        responses: { 200: json(answer, 'What it would have refused') },
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
    from: span === null ? null : new Date(span.from).toISOString(),
    to: span === null ? null : new Date(span.to).toISOString(),
    by_action: result.byAction.map(({ enforce, wouldRefuse, ...action }) => ({
      ...action,
      enforced: enforce,
      would_refuse: wouldRefuse,
    })),
    requests: result.requests.map(({ item, index: action, code: refusedWith, enforce }) => ({
      id: item.id,
      timestamp: new Date(item.at).toISOString(),
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
