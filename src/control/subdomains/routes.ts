/** `/reserved-subdomains`. */
import { z } from '@hono/zod-openapi';
import { MAX_RESERVED, type ReservedSubdomain, type ReservedSubdomains } from './service.ts';
import { type Api, actorOf } from '../core/http/context.ts';
import { defineRoute } from '../core/http/define-route.ts';
import { json } from '../core/http/errors.ts';
import { byId, DONE, done, iso, jsonBody } from '../core/http/fields/shared.ts';
import { label } from '../core/http/fields/label.ts';

interface Deps {
  readonly reservedSubdomains: ReservedSubdomains;
}

const reserved = z
  .object({
    id: z.uuid(),
    subdomain: z.string().openapi({ description: 'The whole label, with the suffix of a project' }),
    organization_id: z.uuid(),
    created_at: z.iso.datetime(),
  })
  .openapi('ReservedSubdomain', {
    example: {
      id: '019aa3c2-5b76-7c1f-8d52-7e0a9b3c6f05',
      subdomain: 'shop',
      organization_id: '019aa3c2-5b6e-7d10-b1a5-3f2e9c4d7a01',
      created_at: '2026-11-21T09:00:00.000Z',
    },
  });

const newReserved = z.object({ subdomain: label }).openapi('NewReservedSubdomain', { example: { subdomain: 'shop' } });

const tags = ['reserved-subdomains'];

export function mountReservedSubdomains(app: Api, { reservedSubdomains }: Deps): void {
  app.openapi(
    defineRoute({
      method: 'get',
      path: '/reserved-subdomains',
      tags,
      summary: 'List reserved subdomains, newest first',
      responses: { 200: json(z.array(reserved), 'Reserved subdomains') },
    }),
    (c) => c.json(reservedSubdomains.list(actorOf(c)).map(present), 200),
  );
  app.openapi(
    defineRoute(
      {
        method: 'post',
        path: '/reserved-subdomains',
        'x-needs': 'reserved_subdomain.create',
        tags,
        summary: 'Reserve a subdomain, with or without a tunnel',
        description: `As many as the plan includes, and at most ${MAX_RESERVED}. Names are unique on the server.`,
        request: { body: jsonBody(newReserved) },
        responses: { 201: json(reserved, 'Reserved') },
      },
      ['forbidden', 'upgrade_required', 'duplicate_name', 'conflict', 'rate_limited'],
    ),
    (c) => c.json(present(reservedSubdomains.create(actorOf(c), c.req.valid('json').subdomain)), 201),
  );
  app.openapi(
    defineRoute(
      {
        method: 'delete',
        path: '/reserved-subdomains/{id}',
        tags,
        summary: 'Release a reserved subdomain',
        description: 'The name has a cooldown of 24 hours. A tunnel with the name stays online.',
        request: { params: byId },
        responses: { 200: json(done, 'Released') },
      },
      ['forbidden'],
    ),
    (c) => {
      reservedSubdomains.delete(actorOf(c), c.req.valid('param').id);
      return c.json(DONE, 200);
    },
  );
}

function present(row: ReservedSubdomain) {
  return {
    id: row.id,
    subdomain: row.subdomain,
    organization_id: row.orgId,
    created_at: iso(row.createdAt),
  };
}
