/** `/orgs/{id}/members`. */
import { z } from '@hono/zod-openapi';
import type { Members, MemberView } from './members.ts';
import { type Api, actorOf } from '../core/http/context.ts';
import { defineRoute } from '../core/http/define-route.ts';
import { json } from '../core/http/errors.ts';
import { DONE, iso, jsonBody } from '../core/http/fields/shared.ts';
import { role } from '../core/http/fields/role.ts';
import { orgPath } from './routes.ts';

interface Deps {
  readonly members: Members;
}

const member = z
  .object({
    user_id: z.uuid(),
    email: z.string(),
    name: z.string(),
    role,
    joined_at: z.iso.datetime(),
    mfa_enabled: z
      .boolean()
      .nullable()
      .openapi({ description: 'null: only admins and owners see it for other members' }),
  })
  .openapi('Member', {
    example: {
      user_id: '019aa3c2-5b6a-7f31-8c02-51d0a7b9e604',
      email: 'ann@example.com',
      name: 'Ann',
      role: 'owner',
      joined_at: '2026-11-21T09:00:00.000Z',
      mfa_enabled: true,
    },
  });
const changedMember = member
  .extend({
    revoked_tokens: z.int().openapi({ description: "Revoked tokens that the new role can't create" }),
  })
  .openapi('ChangedMember', {
    example: {
      user_id: '019aa3c2-5b6a-7f31-8c02-51d0a7b9e604',
      email: 'ann@example.com',
      name: 'Ann',
      role: 'viewer',
      joined_at: '2026-11-21T09:00:00.000Z',
      mfa_enabled: true,
      revoked_tokens: 2,
    },
  });
const newRole = z.object({ role }).openapi('ChangeMember', { example: { role: 'admin' } });
const removed = z
  .object({
    success: z.literal(true),
    revoked_tokens: z.int().openapi({ description: 'Revoked tokens that the member created here' }),
  })
  .openapi('RemovedMember', { example: { success: true, revoked_tokens: 2 } });

const tags = ['organizations'];
const memberPath = z.object({ id: z.string(), user_id: z.string() });

export function mountMembers(app: Api, { members }: Deps): void {
  app.openapi(
    defineRoute({
      method: 'get',
      path: '/orgs/{id}/members',
      tags,
      summary: 'List members, oldest first',
      request: { params: orgPath },
      responses: { 200: json(z.array(member), 'Members') },
    }),
    (c) => c.json(members.list(actorOf(c), c.req.valid('param').id).map(present), 200),
  );
  app.openapi(
    defineRoute(
      {
        method: 'patch',
        path: '/orgs/{id}/members/{user_id}',
        'x-needs': 'member.change',
        tags,
        summary: 'Change the role of a member',
        description:
          "Admins change roles up to admin; only owners change or appoint owners. Applies from the member's next request on. Invitations that the new role doesn't allow are revoked, and all tokens of a member who becomes a viewer. 403 while the organization is suspended, 409 if no owner would be left.",
        request: {
          params: memberPath,
          body: jsonBody(newRole),
        },
        responses: { 200: json(changedMember, 'The member') },
      },
      ['forbidden', 'conflict'],
    ),
    (c) => {
      const { id: orgId, user_id: userId } = c.req.valid('param');
      const changed = members.setRole(actorOf(c), { orgId, userId }, c.req.valid('json').role);
      return c.json({ ...present(changed), revoked_tokens: changed.revokedTokens }, 200);
    },
  );
  app.openapi(
    defineRoute(
      {
        method: 'delete',
        path: '/orgs/{id}/members/{user_id}',
        tags,
        summary: 'Remove a member, or leave',
        description:
          'Members can leave with their own ID. The tokens and invitations that the member created here are revoked, with keys that those tokens created, and their agents are disconnected. Tunnels stay. 403 while the organization is suspended, except for members other than owners who leave. 409 for the last owner.',
        request: { params: memberPath },
        responses: { 200: json(removed, 'Removed') },
      },
      ['forbidden', 'conflict'],
    ),
    (c) => {
      const { id: orgId, user_id: userId } = c.req.valid('param');
      const ended = members.remove(actorOf(c), { orgId, userId });
      return c.json({ ...DONE, revoked_tokens: ended }, 200);
    },
  );
}

function present(row: MemberView): z.infer<typeof member> {
  return {
    user_id: row.userId,
    email: row.email,
    name: row.name,
    role: row.role,
    joined_at: iso(row.joinedAt),
    mfa_enabled: row.mfaEnabled,
  };
}
