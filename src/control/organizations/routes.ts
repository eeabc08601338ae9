/** `/orgs`: the caller's organizations. */
import { z } from '@hono/zod-openapi';
import type { OrgRow } from './rows.ts';
import { PLANS } from '../core/rules/plans.ts';
import { type Api, actorOf } from '../core/http/context.ts';
import { defineRoute } from '../core/http/define-route.ts';
import { json } from '../core/http/errors.ts';
import { DONE, iso, jsonBody } from '../core/http/fields/shared.ts';
import { someName } from '../core/http/fields/new-account.ts';
import { role } from '../core/http/fields/role.ts';
import type { Organizations } from './service.ts';

interface Deps {
  readonly organizations: Organizations;
}

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
    slug: z.string().openapi({ description: 'Created from the first name; never changes' }),
    role: role.openapi({ description: 'Role of the caller' }),
    plan: z.enum(PLANS),
    approval_status: z.enum(['approved', 'pending', 'suspended']).openapi({
      description:
        "Unless it is `approved`, the organization can't open tunnels, create tokens, buy plans or send invitations.",
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
const nameBody = jsonBody(named);

export function mountOrganizations(app: Api, { organizations }: Deps): void {
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
          'At most 20 per owner, and 40 new ones in a day. The organization waits for approval if another of yours was suspended. To act for it, switch to it with `POST /auth/switch-org`.',
        request: { body: nameBody },
        responses: { 201: json(organization, 'Created') },
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
      description: 'Routes below `/orgs/{id}` accept any of your organizations, not only the active one.',
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
        description: "The slug doesn't change.",
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
          'For owners only. Ends the tokens, tunnels and invitations of the organization, and disconnects its agents. Users who acted for it continue in another ' +
          'organization after the next `POST /auth/refresh`. 409 if it is your only organization, or has a running subscription. 503 if the payment provider does not respond.',
        request: { params: orgPath },
        responses: { 200: json(deleted, 'Deleted, with the number of deleted objects') },
      },
      ['forbidden', 'conflict', 'unavailable'],
    ),
    async (c) => {
      const gone = await organizations.delete(actorOf(c), c.req.valid('param').id);
      const counts = { revoked_tokens: gone.revokedTokens, deleted_tunnels: gone.deletedTunnels };
      return c.json({ ...DONE, ...counts }, 200);
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
    created_at: iso(org.createdAt),
  };
}
