/**
 * `/superadmin/*`: organizations and keys for those who run the server; accounts are in users-routes.ts. A superadmin calls with an access token, `culvert admin`
 * with an operator's token (operator/admin-tokens.ts). All others get 403, before their input is read.
 */
import { z } from '@hono/zod-openapi';
import { createMiddleware } from 'hono/factory';
import { allowOperator } from '../core/rules/actor.ts';
import type { OperatorOrgs, OrgView } from './organizations.ts';
import { PLANS } from '../core/rules/plans.ts';
import { type Api, type ApiEnv, operatorOf } from '../core/http/context.ts';
import { defineRoute } from '../core/http/define-route.ts';
import { json } from '../core/http/errors.ts';
import { iso } from '../core/http/fields/shared.ts';
import { mountOperatedHealth } from './health-routes.ts';
import { mountOperatedEvents } from '../audit/routes.ts';
import { mountCertificates } from './certificates-routes.ts';
import { mountOperatedEdge } from './edge-routes.ts';
import { mountOperatedMetrics } from './metrics-routes.ts';
import { mountOperatedUsers, page } from './users-routes.ts';
import type { OperatorUsers } from './users.ts';
import type { OperatorEdge } from './edge.ts';
import type { OperatorMetrics } from './metrics.ts';
import type { Events } from '../audit/service.ts';
import type { Certificates } from '../certificates/service.ts';
import type { Health } from './health.ts';
import type { Keys } from '../core/secrets/keys.ts';

interface Deps {
  readonly operatorUsers: OperatorUsers;
  readonly operatorOrgs: OperatorOrgs;
  readonly operatorEdge: OperatorEdge;
  readonly operatorMetrics: OperatorMetrics;
  readonly events: Events;
  readonly certificates: Certificates;
  readonly health: Pick<Health, 'report' | 'fullReport'>;
  readonly keys: Keys;
  readonly version: string;
}

const APPROVALS = ['approved', 'pending', 'suspended'] as const;

const organization = z
  .object({
    id: z.uuid(),
    name: z.string(),
    slug: z.string(),
    plan: z.enum(PLANS),
    approval_status: z.enum(APPROVALS),
    created_at: z.iso.datetime(),
    deleted_at: z.iso.datetime().nullable(),
    members: z.int(),
    owners: z.array(z.string()).openapi({ description: 'Email addresses' }),
  })
  .openapi('OperatedOrganization', {
    example: {
      id: '019aa3c2-5b70-7b02-8a3e-0c9d3f5e7a10',
      name: 'Shop',
      slug: 'shop',
      plan: 'pro',
      approval_status: 'pending',
      created_at: '2026-11-21T09:30:00.000Z',
      deleted_at: null,
      members: 3,
      owners: ['ann@example.com'],
    },
  });

const orgParam = z.object({ id: z.string().openapi({ description: 'Id or slug', example: 'shop' }) });
const tags = ['superadmin'];

const operatorsOnly = createMiddleware<ApiEnv>(async (c, next) => {
  const caller = c.get('operator') ?? c.get('actor');
  // No caller, on a path that is no route: that is answered with 404 or 405.
  if (caller !== undefined) allowOperator(caller);
  await next();
});

export function mountSuperadmin(app: Api, deps: Deps): void {
  app.use('/superadmin/*', operatorsOnly);
  mountOperatedUsers(app, deps);
  mountOrgs(app, deps);
  mountOperatedEvents(app, deps);
  mountCertificates(app, deps);
  mountOperatedEdge(app, deps);
  mountOperatedHealth(app, deps);
  mountOperatedMetrics(app, deps);
  mountKeys(app, deps);
}

function mountOrgs(app: Api, { operatorOrgs }: Deps): void {
  app.openapi(
    defineRoute(
      {
        method: 'get',
        path: '/superadmin/orgs',
        tags,
        summary: 'List organizations of this server, oldest first',
        request: {
          query: page.extend({
            status: z.enum(APPROVALS).optional(),
            deleted: z
              .enum(['true', 'false'])
              .default('false')
              .openapi({ description: 'List deleted organizations instead' }),
          }),
        },
        responses: { 200: json(z.array(organization), 'Organizations') },
      },
      ['forbidden'],
    ),
    (c) => {
      const { query, limit, after, status, deleted } = c.req.valid('query');
      const wanted = { query, limit, after, status, deleted: deleted === 'true' };
      return c.json(operatorOrgs.list(operatorOf(c), wanted).map(presentOrg), 200);
    },
  );
  app.openapi(
    defineRoute(
      {
        method: 'patch',
        path: '/superadmin/orgs/{id}',
        tags,
        summary: 'Change the plan of an organization',
        request: {
          params: orgParam,
          body: { required: true, ...json(z.object({ plan: z.enum(PLANS).optional() }), 'The changes') },
        },
        responses: { 200: json(organization, 'The organization') },
      },
      ['forbidden'],
    ),
    (c) => {
      const { plan } = c.req.valid('json');
      return c.json(presentOrg(operatorOrgs.setPlan(operatorOf(c), c.req.valid('param').id, plan)), 200);
    },
  );
  for (const [action, summary] of [
    ['approve', 'Allow an organization to open tunnels and create tokens'],
    ['suspend', 'Suspend an organization and disconnect its agents'],
  ] as const) {
    app.openapi(
      defineRoute(
        {
          method: 'post',
          path: `/superadmin/orgs/{id}/${action}`,
          tags,
          summary,
          request: { params: orgParam },
          responses: { 200: json(organization, 'The organization') },
        },
        ['forbidden'],
      ),
      (c) => c.json(presentOrg(operatorOrgs[action](operatorOf(c), c.req.valid('param').id)), 200),
    );
  }
}

function mountKeys(app: Api, { keys }: Deps): void {
  app.openapi(
    defineRoute(
      {
        method: 'post',
        path: '/superadmin/keys/{purpose}/rotate',
        tags,
        summary: 'Rotate a signing key',
        description: 'Earlier signatures stay valid.',
        request: { params: z.object({ purpose: z.enum(['access', 'capability']) }) },
        responses: {
          200: json(z.object({ kid: z.string().openapi({ example: '9f86d081884c7d65' }) }), 'Id of the new key'),
        },
      },
      ['forbidden', 'conflict'],
    ),
    (c) => c.json({ kid: keys.rotate(operatorOf(c), c.req.valid('param').purpose) }, 200),
  );
}

function presentOrg({ org, members, owners }: OrgView) {
  return {
    id: org.id,
    name: org.name,
    slug: org.slug,
    plan: org.plan,
    approval_status: org.approvalStatus,
    created_at: iso(org.createdAt),
    deleted_at: iso(org.deletedAt),
    members,
    owners: [...owners],
  };
}
