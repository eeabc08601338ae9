/** `/tunnels/{id}/policy`. */
import { z } from '@hono/zod-openapi';
import type { DryRunView } from './dry-runs.ts';
import { invalidPolicy, MAX_ACTIONS, policySchema, writtenPolicy } from './input.ts';
import { type Api, actorOf } from '../../core/http/context.ts';
import { defineRoute } from '../../core/http/define-route.ts';
import { json, refuseInvalid } from '../../core/http/errors.ts';
import { byId, iso, jsonBody } from '../../core/http/fields/shared.ts';
import type { Policies } from './service.ts';

interface Deps {
  readonly policies: Policies;
}

const EXAMPLE = {
  actions: [
    { kind: 'deny' as const, path_prefix: '/admin' },
    { kind: 'rate_limit' as const, requests_per_minute: 600, per_client_ip: true },
    { kind: 'header_set' as const, name: 'X-Tenant', value: 'blue' },
  ],
};

/** Of policy-test-routes.ts too. */
export const trafficPolicy = policySchema().openapi('TrafficPolicy', {
  description: `At most ${MAX_ACTIONS} actions. An unknown field is 400 \`bad_policy\`. With \`"enforce": false\`, an action forwards the requests that it would block, and counts them.`,
  example: EXAMPLE,
});

const answer = z
  .object({
    id: z.string(),
    policy: trafficPolicy.nullable(),
    warnings: z
      .array(z.string())
      .optional()
      .openapi({ description: 'Parts of the policy that block all visitors, and how to fix them' }),
  })
  .openapi({ example: { id: '019aa3c2-5b70-7b02-8a3e-0c9d3f5e7a10', policy: EXAMPLE } });
const DRY_RUN_EXAMPLE = {
  index: 1,
  kind: 'rate_limit' as const,
  would_refuse: 12,
  last_at: '2026-11-21T13:04:11.000Z',
  sample: { method: 'GET', path: '/search', client_ip: '203.0.113.7', error: 'rate_limited' },
};
const TRIED_EXAMPLE = {
  actions: [EXAMPLE.actions[0], { ...EXAMPLE.actions[1], enforce: false }],
};
const dryRun = z.object({
  index: z.int().openapi({ description: 'Place of the action in the policy, from 0.' }),
  kind: z.string(),
  would_refuse: z.int().openapi({
    description: 'Requests, or connections of a tcp tunnel, since the policy was set. At most a few seconds old.',
  }),
  last_at: z.iso.datetime().nullable(),
  sample: z
    .object({
      method: z.string().nullable(),
      path: z.string().nullable().openapi({ description: 'Without query, at most 200 characters.' }),
      client_ip: z.string(),
      error: z.string().openapi({ description: 'The error code that the visitor would have got.' }),
    })
    .nullable()
    .openapi({ description: 'The last such request. A connection of a tcp tunnel has neither method nor path.' }),
});
const shown = z
  .object({
    id: z.string(),
    policy: trafficPolicy.nullable(),
    dry_run: z.array(dryRun).openapi({
      description:
        'One entry for each log-only action (`"enforce": false`) that can block requests. A new policy resets the counts.',
    }),
  })
  .openapi({
    example: { id: '019aa3c2-5b70-7b02-8a3e-0c9d3f5e7a10', policy: TRIED_EXAMPLE, dry_run: [DRY_RUN_EXAMPLE] },
  });
const tags = ['tunnels'];

export function mountPolicies(app: Api, { policies }: Deps): void {
  app.openapi(
    defineRoute({
      method: 'get',
      path: '/tunnels/{id}/policy',
      tags,
      summary: 'Get the traffic policy of a tunnel',
      request: { params: byId },
      responses: { 200: json(shown, 'The policy, or null, and the counts of log-only actions') },
    }),
    (c) => {
      const tunnelId = c.req.valid('param').id;
      const { policy, dryRuns } = policies.get(actorOf(c), tunnelId);
      const dry_run = dryRuns.map(dryRunJson);
      return c.json({ id: tunnelId, policy: policy === null ? null : writtenPolicy(policy), dry_run }, 200);
    },
  );
  app.openapi(
    defineRoute(
      {
        method: 'put',
        path: '/tunnels/{id}/policy',
        'x-needs': 'tunnel.change',
        tags,
        summary: 'Replace the traffic policy of a tunnel',
        description:
          'Applies from the next request on. The order is always `ip_deny`, `ip_allow`, `deny`, `jwt_validation`, `rate_limit`. A blocked request does not count toward the rate limit. `deny` compares the path and its normalized form with `path_prefix` and its normalized form. A `jwt_validation` without `jwks_url` and without an https issuer in `allowed_issuers` allows access tokens of this server for the organization of the tunnel. A header action replaces the header of the visitor or of the service.',
        request: { params: byId, body: jsonBody(trafficPolicy) },
        responses: { 200: json(answer, 'The new policy') },
      },
      ['forbidden', 'bad_policy'],
    ),
    (c) => {
      const tunnelId = c.req.valid('param').id;
      const { policy, warnings } = policies.put(actorOf(c), tunnelId, c.req.valid('json'));
      return c.json(
        { id: tunnelId, policy: writtenPolicy(policy), ...(warnings.length === 0 ? {} : { warnings: [...warnings] }) },
        200,
      );
    },
    (result, c) => {
      if (!result.success && result.target === 'json') throw invalidPolicy(result.error.issues);
      refuseInvalid(result, c);
    },
  );
  app.openapi(
    defineRoute(
      {
        method: 'delete',
        path: '/tunnels/{id}/policy',
        tags,
        summary: 'Remove the traffic policy of a tunnel',
        request: { params: byId },
        responses: { 200: json(answer, 'The tunnel has no policy') },
      },
      ['forbidden'],
    ),
    (c) => {
      const tunnelId = c.req.valid('param').id;
      policies.remove(actorOf(c), tunnelId);
      return c.json({ id: tunnelId, policy: null }, 200);
    },
  );
}

function dryRunJson({ index, kind, wouldRefuse, last }: DryRunView): z.input<typeof dryRun> {
  return {
    index,
    kind,
    would_refuse: wouldRefuse,
    last_at: iso(last?.at ?? null),
    sample: last === null ? null : { method: last.method, path: last.path, client_ip: last.clientIp, error: last.code },
  };
}
