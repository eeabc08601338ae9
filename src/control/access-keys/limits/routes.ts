/** `/tokens/{nonce}`: one key with what it serves now, and its limits; `/tokens/pricing`: what a budget buys. */
import { z } from '@hono/zod-openapi';
import { type Api, actorOf } from '../../core/http/context.ts';
import { defineRoute } from '../../core/http/define-route.ts';
import { json } from '../../core/http/errors.ts';
import { jsonBody } from '../../core/http/fields/shared.ts';
import { given } from '../../../base/given.ts';
import { bandwidth, present, quota, somePatterns, token, TOKEN, tokenName } from '../schemas.ts';
import type { TokenDetail, Tokens } from '../service.ts';
import type { TokenLimits } from './changes.ts';
import type { Pricing } from './pricing.ts';

interface Deps {
  readonly tokens: Tokens;
  readonly tokenLimits: TokenLimits;
  readonly pricing: Pricing;
}

const session = z.object({
  agentId: z.uuid(),
  hostname: z.string().openapi({ description: "Name of the agent's machine, as the agent reports it" }),
  remoteIp: z.string(),
  version: z.string().openapi({ description: 'Version of the agent, as it reports it' }),
  connectedAt: z.int().openapi({ description: 'Unix seconds' }),
  tunnels: z.array(z.object({ id: z.uuid(), subdomain: z.string() })),
  networks: z.array(z.uuid()).openapi({ description: 'Private networks that it serves' }),
});

const detail = token
  .extend({ sessions: z.array(session).openapi({ description: 'Agents that are connected with the token now' }) })
  .openapi('TokenDetail', {
    example: {
      ...TOKEN,
      serving: { sessions: 1, tunnels: 1, networks: 0 },
      sessions: [
        {
          agentId: '0b7e6f6e-4a0f-4b8e-9c52-1d9b1f0a7c33',
          hostname: 'laptop',
          remoteIp: '198.51.100.20',
          version: '1.0.0-rc.1',
          connectedAt: 1_795_260_000,
          tunnels: [{ id: '019aa3c2-5b70-7b02-8a3e-0c9d3f5e7a10', subdomain: 'pr-7' }],
          networks: [],
        },
      ],
    },
  });

const changes = z
  .object({
    name: tokenName.optional(),
    allowedSubdomains: somePatterns.optional(),
    tunnelQuota: quota.optional(),
    bandwidthLimitMbps: bandwidth.optional(),
  })
  .openapi('TokenChanges', { example: { tunnelQuota: 2, bandwidthLimitMbps: 50 } });

const pricingSchema = z
  .object({
    usdCentsPerGb: z.number().nullable().openapi({ description: 'GB: 10^9 bytes in both directions; null: no price' }),
    usdCentsPerMillionRequests: z.number().nullable(),
  })
  .openapi('TokenPricing', { example: { usdCentsPerGb: 10, usdCentsPerMillionRequests: null } });

const params = z.object({ nonce: z.string() });
const tags = ['tokens'];

/** Mounts one token, its limits, and the prices of budgets. */
export function mountTokenLimits(app: Api, deps: Deps): void {
  mountPricing(app, deps);
  app.openapi(
    defineRoute({
      method: 'get',
      path: '/tokens/{nonce}',
      tags,
      summary: 'Get a token and what it serves now',
      request: { params },
      responses: { 200: json(detail, 'The token, without secrets') },
    }),
    (c) => c.json(presentDetail(deps.tokens.get(actorOf(c), c.req.valid('param').nonce)), 200),
  );
  app.openapi(
    defineRoute(
      {
        method: 'patch',
        path: '/tokens/{nonce}',
        'x-needs': 'token.change',
        tags,
        summary: 'Change the name and the limits of a token',
        description:
          'Applies immediately, also to replaced tokens in their grace period. Agents that serve more than the token now allows are disconnected, and reconnect within the new limits. To raise limits you need the right to create tokens; only its user can raise those of a login key. `wireBytes` keep the limits of their creation: see Verify access keys offline.',
        request: { params, body: jsonBody(changes) },
        responses: { 200: json(detail, 'Changed') },
      },
      ['forbidden'],
    ),
    (c) => {
      const { nonce } = c.req.valid('param');
      deps.tokenLimits.change(actorOf(c), nonce, given(c.req.valid('json')));
      return c.json(presentDetail(deps.tokens.get(actorOf(c), nonce)), 200);
    },
  );
}

function mountPricing(app: Api, { pricing }: Deps): void {
  app.openapi(
    defineRoute({
      method: 'get',
      path: '/tokens/pricing',
      tags,
      summary: 'Get the prices that budgets are counted in',
      description: 'Set by the operator (`pricing`). Without prices, or with `billing.mode = "none"`, all are null.',
      responses: { 200: json(pricingSchema, 'Prices') },
    }),
    (c) => c.json(pricing.get(actorOf(c)), 200),
  );
}

function presentDetail({ sessions, ...view }: TokenDetail): z.output<typeof detail> {
  return {
    ...present(view),
    sessions: sessions.map(({ connectedAt, tunnels, networks, ...one }) => ({
      ...one,
      connectedAt: Math.floor(connectedAt / 1000),
      tunnels: [...tunnels],
      networks: [...networks],
    })),
  };
}
