/** `/projects/{slug}/tokens`: for people, and for master keys on the keys that they minted. */
import { z } from '@hono/zod-openapi';
import { MAX_TTL_HOURS } from '../service.ts';
import { type Api, minterOf } from '../../core/http/context.ts';
import { defineRoute, WITH_MASTER_KEYS } from '../../core/http/define-route.ts';
import { json } from '../../core/http/errors.ts';
import { DONE, jsonBody } from '../../core/http/fields/shared.ts';
import { optionalBody } from '../../core/http/bodies/optional-body.ts';
import { ended, limits, minted, newRotation, patterns, presentMinted, ROTATION, tokenName } from '../schemas.ts';
import type { ProjectTokens } from './project-keys.ts';

interface Deps {
  readonly projectTokens: ProjectTokens;
}

const newToken = z
  .object({
    name: tokenName,
    ttl_hours: z
      .int()
      .min(1)
      .optional()
      .openapi({
        description: `Default: 1 by a master key, 24 by a user. Reduced to ${MAX_TTL_HOURS} and to the lifetime of the master key.`,
      }),
    allowed_subdomains: patterns.openapi({ description: 'Names without the suffix of the project' }),
    ...limits,
  })
  .openapi('NewProjectToken', { example: { name: 'pull-request', ttl_hours: 2, allowed_subdomains: ['pr-*'] } });

const params = z.object({ slug: z.string(), nonce: z.string() });
const shared = { tags: ['tokens'], security: WITH_MASTER_KEYS };

export function mountProjectTokens(app: Api, { projectTokens }: Deps): void {
  app.openapi(
    defineRoute(
      {
        ...shared,
        method: 'post',
        path: '/projects/{slug}/tokens',
        'x-needs': 'token.create',
        summary: 'Create a key that opens tunnels in a project',
        request: {
          params: params.pick({ slug: true }),
          body: jsonBody(newToken),
        },
        responses: { 200: json(minted, 'The key, with its secrets') },
      },
      ['conflict', 'rate_limited'],
    ),
    (c) => {
      const { ttl_hours: ttlHours, allowed_subdomains: allowedSubdomains, ...input } = c.req.valid('json');
      const key = projectTokens.mint(minterOf(c), c.req.valid('param').slug, { ...input, ttlHours, allowedSubdomains });
      return c.json(presentMinted(key), 200);
    },
  );
  app.openapi(
    defineRoute({
      ...shared,
      method: 'delete',
      path: '/projects/{slug}/tokens/{nonce}',
      summary: 'Revoke a key of a project',
      description: 'Its agents are disconnected.',
      request: { params },
      responses: { 200: json(ended, 'Revoked') },
    }),
    (c) => {
      const { slug, nonce } = c.req.valid('param');
      return c.json({ ...DONE, revoked: projectTokens.revoke(minterOf(c), slug, nonce) }, 200);
    },
  );
  app.openapi(
    defineRoute(
      {
        ...shared,
        method: 'post',
        path: '/projects/{slug}/tokens/{nonce}/rotate',
        'x-needs': 'token.create',
        middleware: optionalBody,
        summary: 'Replace a key of a project',
        description: `The old key works until the end of the grace period. ${ROTATION}`,
        request: { params, body: { required: false, content: { 'application/json': { schema: newRotation } } } },
        responses: { 200: json(minted, 'The new key, with its secrets') },
      },
      ['conflict', 'rate_limited'],
    ),
    (c) => {
      const { graceHours = 0 } = c.req.valid('json');
      return c.json(presentMinted(projectTokens.rotate(minterOf(c), c.req.valid('param'), graceHours)), 200);
    },
  );
}
