/** `/orgs`: the caller's organizations. */
import { z } from '@hono/zod-openapi';
import type { OrgRow } from '../../services/organizations/organization-rows.ts';
import { PLANS } from '../../services/plans.ts';
import { type Api, type ApiDeps, actorOf } from '../context.ts';
import { defineRoute } from '../define-route.ts';
import { json } from '../errors.ts';
import { someName } from '../new-account.ts';
import { role } from '../role.ts';

const ACME = {
  id: '019aa3c2-5b6e-7d10-b1a5-3f2e9c4d7a01',
  name: 'Acme',
  slug: 'acme',
  role: 'owner' as const,
  plan: 'pro' as const,
  approval_status: 'approved' as const,
  created_at: '2026-11-21T09:00:00.000Z',
};

export const organization = z
  .object({
    id: z.uuid(),
    name: z.string(),
    slug: z.string().openapi({ description: 'Made from the first name, never changes' }),
    role: role.openapi({ description: "The caller's" }),
    plan: z.enum(PLANS),
    approval_status: z.enum(['approved', 'pending', 'suspended']).openapi({
      description:
        'Unless `approved` it opens no tunnels, mints no tokens, buys no plans and sends no invitations; suspended, its owners stay owners',
    }),
    created_at: z.iso.datetime(),
  })
  .openapi('Organization', { example: ACME });

const named = z
  .object({ name: someName() })
  .openapi('OrganizationName', { example: { name: 'Acme' }, description: 'Other fields are ignored' });

const deleted = z
  .object({ success: z.literal(true), revoked_tokens: z.int(), deleted_tunnels: z.int() })
  .openapi('DeletedOrganization', { example: { success: true, revoked_tokens: 2, deleted_tunnels: 1 } });

const tags = ['organizations'];
export const orgPath = z.object({ id: z.string() });
const nameBody = { required: true, content: { 'application/json': { schema: named } } };

export function mountOrganizations(app: Api, { organizations }: ApiDeps): void {
  app.openapi(
    defineRoute({
      method: 'get',
      path: '/orgs',
      tags,
      summary: 'List your organizations, oldest membership first',
      responses: { 200: json(z.array(organization), 'Organizations') },
    }),
    (c) => c.json(organizations.list(actorOf(c)).map(presentOrg), 200),
  );
  app.openapi(
    defineRoute(
      {
        method: 'post',
        path: '/orgs',
        tags,
        summary: 'Create an organization and become its owner',
        description:
          'At most 20 per owner, and 40 made in a day. It waits for approval where another of yours was suspended. To act for it, switch to it with `POST /auth/switch-org`.',
        request: { body: nameBody },
        responses: { 201: json(organization, 'Made') },
      },
      ['conflict', 'rate_limited'],
    ),
    (c) => c.json(presentOrg(organizations.create(actorOf(c), c.req.valid('json').name)), 201),
  );
  app.openapi(
    defineRoute({
      method: 'get',
      path: '/orgs/{id}',
      tags,
      summary: 'Get one of your organizations',
      description: 'Any that you are in, whichever is the active one; all routes below `/orgs/{id}` take it so.',
      request: { params: orgPath },
      responses: { 200: json(organization, 'The organization') },
    }),
    (c) => c.json(presentOrg(organizations.get(actorOf(c), c.req.valid('param').id)), 200),
  );
  app.openapi(
    defineRoute(
      {
        method: 'patch',
        path: '/orgs/{id}',
        'x-needs': 'organization.change',
        tags,
        summary: 'Rename an organization',
        description: 'Its slug stays.',
        request: { params: orgPath, body: nameBody },
        responses: { 200: json(organization, 'The organization') },
      },
      ['forbidden'],
    ),
    (c) => {
      const { name } = c.req.valid('json');
      return c.json(presentOrg(organizations.rename(actorOf(c), c.req.valid('param').id, name)), 200);
    },
  );
  app.openapi(
    defineRoute(
      {
        method: 'delete',
        path: '/orgs/{id}',
        tags,
        summary: 'Delete an organization',
        description:
          'Only owners may. Ends its tokens, tunnels and invitations, and cuts its agents off. Who was acting for it goes on in another organization of theirs ' +
          "after the next `POST /auth/refresh`. 409 when it is your only one, or goes on paying for a plan; 503 when the payment provider can't say.",
        request: { params: orgPath },
        responses: { 200: json(deleted, 'Deleted, with what went with it') },
      },
      ['forbidden', 'conflict', 'unavailable'],
    ),
    async (c) => {
      const gone = await organizations.delete(actorOf(c), c.req.valid('param').id);
      const counts = { revoked_tokens: gone.revokedTokens, deleted_tunnels: gone.deletedTunnels };
      return c.json({ success: true as const, ...counts }, 200);
    },
  );
}

export function presentOrg(org: OrgRow): z.infer<typeof organization> {
  return {
    id: org.id,
    name: org.name,
    slug: org.slug,
    role: org.role,
    plan: org.plan,
    approval_status: org.approval,
    created_at: new Date(org.createdAt).toISOString(),
  };
}
