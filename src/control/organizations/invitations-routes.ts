/** `/orgs/{id}/invitations`; and `/orgs/invitations/lookup` and `/orgs/invitations/accept`, for invited users. */
import { z } from '@hono/zod-openapi';
import { given } from '../../base/given.ts';
import { linkTo } from '../core/mail/email-text.ts';
import type { InvitationShown, InvitationView } from './invitation-rows.ts';
import { type Api, actorOf } from '../core/http/context.ts';
import { defineRoute } from '../core/http/define-route.ts';
import { json } from '../core/http/errors.ts';
import { DONE, iso, jsonBody } from '../core/http/fields/shared.ts';
import { newEmail } from '../core/http/fields/new-account.ts';
import { role } from '../core/http/fields/role.ts';
import { organization, orgPath, presentOrg } from './routes.ts';
import { text } from '../core/http/fields/text.ts';
import type { Invitations } from './invitations.ts';

interface Deps {
  readonly invitations: Invitations;
  readonly publicUrl: () => string;
}

const invitation = z
  .object({
    id: z.uuid(),
    email: z.string(),
    role,
    invited_by: z.string().openapi({ description: 'Email address' }),
    created_at: z.iso.datetime(),
    expires_at: z.iso.datetime(),
  })
  .openapi('Invitation', {
    example: {
      id: '019aa3c2-5b90-7a10-8d31-7c2b5e9f4a08',
      email: 'bob@example.com',
      role: 'member',
      invited_by: 'ann@example.com',
      created_at: '2026-11-21T09:00:00.000Z',
      expires_at: '2026-11-28T09:00:00.000Z',
    },
  });
const made = invitation
  .extend({
    accept_url: z.url().optional().openapi({
      description: 'The link to send to the user, where this server sends no email. Only this response contains it.',
    }),
  })
  .openapi('CreatedInvitation');
const resent = invitation
  .extend({
    accept_url: z.url().openapi({ description: 'The link of the email. Only this response contains it.' }),
  })
  .openapi('ResentInvitation', {
    example: {
      id: '019aa3c2-5b90-7a10-8d31-7c2b5e9f4a08',
      email: 'bob@example.com',
      role: 'member',
      invited_by: 'ann@example.com',
      created_at: '2026-11-21T09:00:00.000Z',
      expires_at: '2026-11-30T10:15:00.000Z',
      accept_url: 'https://tunnel.example.com/app/invite?token=q3zVw0Yl9pXr7uT2mKc5bN8dHf1sJg4aEo6iLyRtPvQ',
    },
  });
const shown = z
  .object({
    organization: z.string(),
    email: z.string().openapi({ description: 'The invited address. No other account can accept.' }),
    role,
    invited_by: z.string().openapi({ description: 'Email address' }),
    invited_by_name: z.string().openapi({ description: 'Display name; may be empty' }),
    expires_at: z.iso.datetime(),
  })
  .openapi('ShownInvitation', {
    example: {
      organization: 'Acme',
      email: 'bob@example.com',
      role: 'member',
      invited_by: 'ann@example.com',
      invited_by_name: 'Ann',
      expires_at: '2026-11-28T09:00:00.000Z',
    },
  });
const newInvitation = z
  .object({ email: newEmail, role })
  .openapi('NewInvitation', { example: { email: 'bob@example.com', role: 'member' } });
const shownToken = z
  .object({ token: text(1, 128) })
  .openapi('AcceptInvitation', { example: { token: 'q3zVw0Yl9pXr7uT2mKc5bN8dHf1sJg4aEo6iLyRtPvQ' } });
const revoked = z.object({ success: z.literal(true) }).openapi('RevokedInvitation', { example: { success: true } });

const tags = ['organizations'];
const onePath = z.object({ id: z.string(), invitation_id: z.string() });

/** Mounts invitations: for members who invite, and for the user who accepts. */
export function mountInvitations(app: Api, deps: Deps): void {
  mountSending(app, deps);
  mountAccepting(app, deps);
}

function mountSending(app: Api, { invitations, publicUrl }: Deps): void {
  app.openapi(
    defineRoute({
      method: 'get',
      path: '/orgs/{id}/invitations',
      tags,
      summary: 'List open invitations, newest first',
      request: { params: orgPath },
      responses: { 200: json(z.array(invitation), 'Invitations, without their tokens') },
    }),
    (c) => c.json(invitations.list(actorOf(c), c.req.valid('param').id).map(present), 200),
  );
  app.openapi(
    defineRoute(
      {
        method: 'post',
        path: '/orgs/{id}/invitations',
        'x-needs': 'invitation.create',
        tags,
        summary: 'Invite a user by email',
        description:
          'Roles up to your own. The email contains a link to `/app/invite?token=`, which works once, for 7 days, and only for the account with this address. ' +
          'An earlier invitation to the address ends. 403 until the organization is approved; 409 for a member, and if 100 are open; 429 after 200 of your ' +
          'invitations in a day, or a few to the same address.',
        request: {
          params: orgPath,
          body: jsonBody(newInvitation),
        },
        responses: { 201: json(made, 'The email is sent, or the link is in the response') },
      },
      ['forbidden', 'conflict', 'rate_limited'],
    ),
    (c) => {
      const { token, ...view } = invitations.create(actorOf(c), c.req.valid('param').id, c.req.valid('json'));
      const link = token === undefined ? undefined : linkTo(publicUrl(), 'invite', token);
      return c.json({ ...present(view), ...given({ accept_url: link }) }, 201);
    },
  );
  app.openapi(
    defineRoute(
      {
        method: 'delete',
        path: '/orgs/{id}/invitations/{invitation_id}',
        tags,
        summary: 'Revoke an invitation',
        request: { params: onePath },
        responses: { 200: json(revoked, 'Revoked') },
      },
      ['forbidden'],
    ),
    (c) => {
      const { id, invitation_id: invitationId } = c.req.valid('param');
      invitations.revoke(actorOf(c), id, invitationId);
      return c.json(DONE, 200);
    },
  );
  app.openapi(
    defineRoute(
      {
        method: 'post',
        path: '/orgs/{id}/invitations/{invitation_id}/resend',
        tags,
        summary: 'Send an invitation again, with a new link',
        description:
          "For members who may invite to this role. Earlier links become invalid; the new one works for 7 days. The response contains it too, in case emails don't arrive. Counts toward the limits of invitations per day and per address (429).",
        request: { params: onePath },
        responses: { 200: json(resent, 'The email is sent') },
      },
      ['forbidden', 'rate_limited'],
    ),
    (c) => {
      const { id, invitation_id: invitationId } = c.req.valid('param');
      const sent = invitations.resend(actorOf(c), id, invitationId);
      return c.json({ ...present(sent), accept_url: linkTo(publicUrl(), 'invite', sent.token) }, 200);
    },
  );
}

function mountAccepting(app: Api, { invitations }: Deps): void {
  app.openapi(
    defineRoute(
      {
        method: 'post',
        path: '/orgs/invitations/lookup',
        security: [],
        tags,
        summary: 'Get an invitation by the token of its email',
        description:
          "For the page that accepts an invitation. It needs no account, doesn't use the token up, and doesn't reveal whether the address has an account. 404 for a token that is used, revoked or expired. The rate limit is that of `/auth/*`, counted separately.",
        request: { body: jsonBody(shownToken) },
        responses: { 200: json(shown, 'The invitation') },
      },
      ['not_found', 'rate_limited'],
    ),
    (c) => c.json(presentShown(invitations.show(c.req.valid('json').token)), 200),
  );
  app.openapi(
    defineRoute(
      {
        method: 'post',
        path: '/orgs/invitations/accept',
        tags,
        summary: 'Accept an invitation by the token of its email',
        description:
          'Only the account with the invited address can accept; others get 403. A user without an account signs up with that address first; if sign-up is closed, an operator creates the account. 404 for a token that is used, revoked or expired; 409 for a member. To act for the organization, switch to it with `POST /auth/switch-org`.',
        request: { body: jsonBody(shownToken) },
        responses: { 200: json(organization, 'The organization that you joined, with your role') },
      },
      ['forbidden', 'not_found', 'conflict'],
    ),
    (c) => c.json(presentOrg(invitations.accept(actorOf(c), c.req.valid('json').token)), 200),
  );
}

function present({ row, inviterEmail }: InvitationView): z.infer<typeof invitation> {
  return {
    id: row.id,
    email: row.email,
    role: row.role,
    invited_by: inviterEmail,
    created_at: iso(row.createdAt),
    expires_at: iso(row.expiresAt),
  };
}

function presentShown({ row, organization, inviterEmail, inviterName }: InvitationShown): z.infer<typeof shown> {
  return {
    organization,
    email: row.email,
    role: row.role,
    invited_by: inviterEmail,
    invited_by_name: inviterName,
    expires_at: iso(row.expiresAt),
  };
}
