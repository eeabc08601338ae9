/** `/auth/identities`: who at which provider logs in to the own account. */
import { z } from '@hono/zod-openapi';
import type { Identities, IdentityRow } from './identities.ts';
import { type Api, actorOf } from '../../core/http/context.ts';
import { defineRoute } from '../../core/http/define-route.ts';
import { json } from '../../core/http/errors.ts';
import { iso } from '../../core/http/fields/shared.ts';

interface Deps {
  readonly identities: Identities;
}

const identity = z
  .object({
    id: z.uuid(),
    provider: z.enum(['google', 'github']),
    email: z.string().openapi({ description: 'From the provider, at the last login' }),
    created_at: z.iso.datetime(),
    last_used_at: z.iso.datetime(),
  })
  .openapi('Identity', {
    example: {
      id: '019aa3c2-5b7e-7c44-9d0e-6a3d1f8b2c11',
      provider: 'github',
      email: 'ann@example.com',
      created_at: '2026-11-21T09:30:00.000Z',
      last_used_at: '2026-11-21T09:30:00.000Z',
    },
  });
const unlinked = z.object({ id: z.uuid(), unlinked: z.literal(true) }).openapi('UnlinkResult', {
  example: { id: '019aa3c2-5b7e-7c44-9d0e-6a3d1f8b2c11', unlinked: true },
});

export function mountIdentities(app: Api, { identities }: Deps): void {
  app.openapi(
    defineRoute({
      method: 'get',
      path: '/auth/identities',
      tags: ['auth'],
      summary: 'List the identities that log in to your account',
      responses: { 200: json(z.array(identity), 'Identities, oldest first') },
    }),
    (c) => c.json(identities.list(actorOf(c)).map(present), 200),
  );
  app.openapi(
    defineRoute(
      {
        method: 'delete',
        path: '/auth/identities/{id}',
        tags: ['auth'],
        summary: 'Unlink an identity',
        description: 'The last login method of an account stays.',
        request: { params: z.object({ id: z.uuid() }) },
        responses: { 200: json(unlinked, 'Unlinked: it can no longer log in') },
      },
      ['forbidden', 'conflict'],
    ),
    (c) => {
      const { id } = c.req.valid('param');
      identities.unlink(actorOf(c), id);
      return c.json({ id, unlinked: true as const }, 200);
    },
  );
}

function present(row: IdentityRow) {
  return {
    id: row.id,
    provider: row.provider,
    email: row.email,
    created_at: iso(row.createdAt),
    last_used_at: iso(row.lastUsedAt),
  };
}
