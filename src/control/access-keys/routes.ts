/** `/tokens`. */
import { z } from '@hono/zod-openapi';
import { type MasterKeys, MAX_MASTER_DAYS } from './master/keys.ts';
import { MAX_TTL_HOURS, type Tokens } from './service.ts';
import { type Api, actorOf } from '../core/http/context.ts';
import { defineRoute } from '../core/http/define-route.ts';
import { json } from '../core/http/errors.ts';
import { DONE, jsonBody } from '../core/http/fields/shared.ts';
import { optionalBody } from '../core/http/bodies/optional-body.ts';
import {
  budget,
  ended,
  limits,
  minted,
  newRotation,
  patterns,
  present,
  presentMinted,
  ROTATION,
  token,
  tokenName,
} from './schemas.ts';
import type { TokenEnds } from './ends/service.ts';
import type { Rotation } from './rotation.ts';
import type { TokenBudgets } from './budgets.ts';

interface Deps {
  readonly tokens: Tokens;
  readonly masterKeys: MasterKeys;
  readonly tokenEnds: TokenEnds;
  readonly rotation: Rotation;
  readonly tokenBudgets: TokenBudgets;
}

const newToken = z
  .object({
    name: tokenName.default('token'),
    ttlHours: z
      .int()
      .min(1)
      .default(24)
      .openapi({ description: `Reduced to ${MAX_TTL_HOURS}` }),
    allowedSubdomains: patterns,
    ...limits,
  })
  .openapi('NewToken', { example: { name: 'ci', ttlHours: 24, allowedSubdomains: ['pr-*'], tunnelQuota: 2 } });

const newMaster = z
  .object({
    name: tokenName,
    ttl_days: z.int().min(1).max(MAX_MASTER_DAYS).default(90),
    monthlyBudgetUsdCents: limits.monthlyBudgetUsdCents,
  })
  .openapi('NewMasterKey', { example: { name: 'ci', ttl_days: 90 } });

const newBudget = z
  .object({ monthlyBudgetUsdCents: budget })
  .openapi('NewBudget', { example: { monthlyBudgetUsdCents: 500 } });

const params = z.object({ nonce: z.string() });
const tags = ['tokens'];

export function mountTokens(app: Api, deps: Deps): void {
  app.openapi(
    defineRoute({
      method: 'get',
      path: '/tokens',
      tags,
      summary: 'List tokens, newest first',
      description: 'Lists all live tokens, and the latest ended ones.',
      responses: { 200: json(z.array(token), 'Tokens, without secrets') },
    }),
    (c) => c.json(deps.tokens.list(actorOf(c)).map(present), 200),
  );
  app.openapi(
    defineRoute(
      {
        method: 'post',
        path: '/tokens',
        'x-needs': 'token.create',
        tags,
        middleware: optionalBody,
        summary: 'Create a token for an agent',
        request: { body: { required: false, content: { 'application/json': { schema: newToken } } } },
        responses: { 200: json(minted, 'The token, with its secrets') },
      },
      ['forbidden', 'conflict', 'rate_limited'],
    ),
    // Without a body nothing has put the defaults in.
    (c) => c.json(presentMinted(deps.tokens.mint(actorOf(c), newToken.parse(c.req.valid('json')))), 200),
  );
  app.openapi(
    defineRoute(
      {
        method: 'post',
        path: '/tokens/master',
        'x-needs': 'master_key.create',
        tags,
        summary: 'Create a master key',
        description: 'It creates keys for projects and opens no tunnels.',
        request: { body: jsonBody(newMaster) },
        responses: { 200: json(minted, 'The key, with its secrets') },
      },
      ['forbidden', 'upgrade_required', 'conflict', 'rate_limited'],
    ),
    (c) => {
      const { ttl_days, ...input } = c.req.valid('json');
      return c.json(presentMinted(deps.masterKeys.mint(actorOf(c), { ...input, ttlDays: ttl_days })), 200);
    },
  );
  app.openapi(
    defineRoute(
      {
        method: 'delete',
        path: '/tokens/{nonce}',
        tags,
        summary: 'Revoke a token and the keys that it created',
        description: 'Their agents are disconnected.',
        request: { params },
        responses: { 200: json(ended, 'Revoked') },
      },
      ['forbidden'],
    ),
    (c) => {
      const revoked = deps.tokenEnds.revoke(actorOf(c), c.req.valid('param').nonce);
      return c.json({ ...DONE, revoked }, 200);
    },
  );
  mountChanges(app, deps);
}

function mountChanges(app: Api, { rotation, tokenBudgets }: Deps): void {
  app.openapi(
    defineRoute(
      {
        method: 'post',
        path: '/tokens/{nonce}/rotate',
        'x-needs': 'token.create',
        middleware: optionalBody,
        tags,
        summary: 'Replace a token with one of the same scopes',
        description: `Keys that a master key created end with the old one. ${ROTATION}`,
        request: { params, body: { required: false, content: { 'application/json': { schema: newRotation } } } },
        responses: { 200: json(minted, 'The new token, with its secrets') },
      },
      ['forbidden', 'upgrade_required', 'conflict', 'rate_limited'],
    ),
    (c) => {
      const { graceHours = 0 } = c.req.valid('json');
      return c.json(presentMinted(rotation.rotate(actorOf(c), c.req.valid('param').nonce, graceHours)), 200);
    },
  );
  app.openapi(
    defineRoute(
      {
        method: 'put',
        path: '/tokens/{nonce}/budget',
        'x-needs': 'token.change',
        tags,
        summary: 'Set the monthly budget of a token',
        description:
          '0 blocks the token immediately, null removes the budget. Months are UTC. Tokens created by rotation share the budget. The budget of a master key covers all keys that it created.',
        request: { params, body: jsonBody(newBudget) },
        responses: {
          200: json(
            z.object({ success: z.literal(true), monthlyBudgetUsdCents: budget.openapi({ example: 500 }) }),
            'The current budget',
          ),
        },
      },
      ['forbidden'],
    ),
    (c) => {
      const { monthlyBudgetUsdCents } = c.req.valid('json');
      tokenBudgets.set(actorOf(c), c.req.valid('param').nonce, monthlyBudgetUsdCents);
      return c.json({ ...DONE, monthlyBudgetUsdCents }, 200);
    },
  );
}
