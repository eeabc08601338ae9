/** `/superadmin/users`: accounts for those who run the server. Mounted by routes.ts, behind its guard. */
import { z } from '@hono/zod-openapi';
import { ROLES } from '../core/rules/actor.ts';
import type { OperatorUsers, UserView } from './users.ts';
import type { Ended } from '../auth/sessions/ends.ts';
import { type Api, operatorOf } from '../core/http/context.ts';
import { defineRoute } from '../core/http/define-route.ts';
import { json } from '../core/http/errors.ts';
import { iso } from '../core/http/fields/shared.ts';
import { newEmail, plainName } from '../core/http/fields/new-account.ts';
import { text } from '../core/http/fields/text.ts';
import { given } from '../../base/given.ts';

interface Deps {
  readonly operatorUsers: OperatorUsers;
}

const user = z
  .object({
    id: z.uuid(),
    email: z.string(),
    name: z.string(),
    email_verified: z.boolean(),
    mfa_enabled: z.boolean(),
    is_superadmin: z.boolean(),
    is_locked: z
      .boolean()
      .openapi({ description: "Locked by an operator: the user can't log in until it is unlocked" }),
    password_pending: z
      .boolean()
      .openapi({ description: 'The first account of the server, until its owner sets a password or logs in' }),
    created_at: z.iso.datetime(),
    orgs: z.array(z.object({ id: z.uuid(), name: z.string(), slug: z.string(), role: z.enum(ROLES) })),
  })
  .openapi('User', {
    example: {
      id: '019aa3c2-5b7e-7c44-9d0e-6a3d1f8b2c11',
      email: 'ann@example.com',
      name: 'Ann',
      email_verified: true,
      mfa_enabled: true,
      is_superadmin: false,
      is_locked: false,
      password_pending: false,
      created_at: '2026-11-21T09:30:00.000Z',
      orgs: [{ id: '019aa3c2-5b70-7b02-8a3e-0c9d3f5e7a10', name: 'Shop', slug: 'shop', role: 'owner' }],
    },
  });

/** The one answer that holds the password. */
const withPassword = z.object({ id: z.uuid(), email: z.string(), password: z.string() }).openapi('UserWithPassword', {
  example: {
    id: '019aa3c2-5b7e-7c44-9d0e-6a3d1f8b2c11',
    email: 'ann@example.com',
    password: '1U5Y08nc3DBpYHtjlU3qlg',
  },
});

/** The one answer that holds the link. */
const passwordLink = z
  .object({ id: z.uuid(), email: z.string(), url: z.url(), expires_at: z.iso.datetime() })
  .openapi('PasswordLink', {
    example: {
      id: '019aa3c2-5b7e-7c44-9d0e-6a3d1f8b2c11',
      email: 'ann@example.com',
      url: 'https://culvert.example.com/app/reset?token=h5Tn0cG3d8yqkz1VxJm2pWb7RsLf4aUeQo9iKvXw6Zc',
      expires_at: '2026-11-21T10:30:00.000Z',
    },
  });

const ended = z
  .object({
    revoked: z.int().openapi({ description: 'Number of ended sessions' }),
    revoked_keys: z.int().openapi({ description: 'Number of revoked keys' }),
  })
  .openapi('EndedSessions', { example: { revoked: 2, revoked_keys: 1 } });

/** A page of a list under /superadmin. */
export const page = z.object({
  query: text(1, 320).optional().openapi({ description: 'Part of a name, an address or a slug' }),
  limit: z.coerce.number().int().min(1).max(200).default(50),
  after: z.uuid().optional().openapi({ description: 'ID of the last object of the previous page' }),
});
const userParam = z.object({
  id: z.string().openapi({ description: 'ID or email address', example: 'ann@example.com' }),
});
const tags = ['superadmin'];

export function mountOperatedUsers(app: Api, deps: Deps): void {
  mountAccounts(app, deps);
  mountLocks(app, deps);
  mountPasswords(app, deps);
}

function mountAccounts(app: Api, { operatorUsers }: Deps): void {
  app.openapi(
    defineRoute(
      {
        method: 'get',
        path: '/superadmin/users',
        tags,
        summary: 'List users of this server, oldest first',
        request: { query: page },
        responses: { 200: json(z.array(user), 'Accounts') },
      },
      ['forbidden'],
    ),
    (c) => {
      const { query, limit, after } = c.req.valid('query');
      return c.json(operatorUsers.list(operatorOf(c), { query, limit, after }).map(presentUser), 200);
    },
  );
  app.openapi(
    defineRoute(
      {
        method: 'patch',
        path: '/superadmin/users/{id}',
        tags,
        summary: 'Change a user',
        description: "The last superadmin can't be changed to a normal user.",
        request: {
          params: userParam,
          body: {
            required: true,
            ...json(
              z.object({
                superadmin: z.boolean().optional(),
                name: plainName.optional().openapi({ example: 'Ann' }),
              }),
              'The changes',
            ),
          },
        },
        responses: { 200: json(user, 'The account') },
      },
      ['forbidden', 'conflict'],
    ),
    (c) => {
      const change = given(c.req.valid('json'));
      return c.json(presentUser(operatorUsers.update(operatorOf(c), c.req.valid('param').id, change)), 200);
    },
  );
  app.openapi(
    defineRoute(
      {
        method: 'post',
        path: '/superadmin/users/{id}/reset-mfa',
        tags,
        summary: 'Turn off two-factor authentication for a user',
        request: { params: userParam },
        responses: {
          200: json(z.object({ reset: z.boolean().openapi({ description: 'False if there was none' }) }), 'Done'),
        },
      },
      ['forbidden'],
    ),
    (c) => c.json({ reset: operatorUsers.resetMfa(operatorOf(c), c.req.valid('param').id) }, 200),
  );
  app.openapi(
    defineRoute(
      {
        method: 'post',
        path: '/superadmin/users/{id}/revoke-sessions',
        tags,
        summary: 'End all sessions of a user, including CLI logins',
        description: 'Access keys for machines keep working.',
        request: { params: userParam },
        responses: {
          200: json(ended, 'Done'),
        },
      },
      ['forbidden'],
    ),
    (c) => c.json(presentEnded(operatorUsers.revokeSessions(operatorOf(c), c.req.valid('param').id)), 200),
  );
}

function mountLocks(app: Api, { operatorUsers }: Deps): void {
  app.openapi(
    defineRoute(
      {
        method: 'post',
        path: '/superadmin/users/{id}/lock',
        tags,
        summary: 'Lock a user out of their account',
        description: 'Ends all sessions of the user and all keys that they created.',
        request: { params: userParam },
        responses: { 200: json(ended, 'Locked') },
      },
      ['forbidden', 'conflict'],
    ),
    (c) => c.json(presentEnded(operatorUsers.lock(operatorOf(c), c.req.valid('param').id)), 200),
  );
  app.openapi(
    defineRoute(
      {
        method: 'post',
        path: '/superadmin/users/{id}/unlock',
        tags,
        summary: 'Unlock an account',
        description: 'Ended sessions stay ended, and revoked keys stay revoked.',
        request: { params: userParam },
        responses: {
          200: json(
            z.object({ unlocked: z.boolean().openapi({ description: 'False if the account was not locked' }) }),
            'Done',
          ),
        },
      },
      ['forbidden'],
    ),
    (c) => c.json({ unlocked: operatorUsers.unlock(operatorOf(c), c.req.valid('param').id) }, 200),
  );
}

function mountPasswords(app: Api, { operatorUsers }: Deps): void {
  app.openapi(
    defineRoute(
      {
        method: 'post',
        path: '/superadmin/users',
        tags,
        summary: 'Create a verified user with an organization',
        description: 'The password is random.',
        request: {
          body: {
            required: true,
            ...json(
              z.object({
                email: newEmail.openapi({ example: 'ann@example.com' }),
                superadmin: z.boolean().default(false),
                name: plainName.default('').openapi({ example: 'Ann' }),
              }),
              'The account',
            ),
          },
        },
        responses: { 201: json(withPassword, 'Created. The password is shown once.') },
      },
      ['forbidden', 'conflict', 'unavailable'],
    ),
    async (c) => {
      const made = await operatorUsers.create(operatorOf(c), c.req.valid('json'));
      return c.json({ id: made.id, email: made.email, password: made.password.reveal() }, 201);
    },
  );
  app.openapi(
    defineRoute(
      {
        method: 'post',
        path: '/superadmin/users/{id}/reset-password',
        tags,
        summary: 'Set a random password and end all sessions',
        request: { params: userParam },
        responses: { 200: json(withPassword, 'Done. The password is shown once.') },
      },
      ['forbidden', 'unavailable'],
    ),
    async (c) => {
      const { id, email, password } = await operatorUsers.resetPassword(operatorOf(c), c.req.valid('param').id);
      return c.json({ id, email, password: password.reveal() }, 200);
    },
  );
  app.openapi(
    defineRoute(
      {
        method: 'post',
        path: '/superadmin/users/{id}/password-link',
        tags,
        summary: 'Create a link that sets the password of a user',
        description:
          'The link works once, for one hour. Give it to the user. The password and the sessions stay until the link is used.',
        request: { params: userParam },
        responses: { 201: json(passwordLink, 'Created. The link is shown once.') },
      },
      ['forbidden'],
    ),
    (c) => {
      const { id, email, url, expiresAt } = operatorUsers.passwordLink(operatorOf(c), c.req.valid('param').id);
      return c.json({ id, email, url, expires_at: iso(expiresAt) }, 201);
    },
  );
}

function presentEnded({ sessions, keys }: Ended) {
  return { revoked: sessions, revoked_keys: keys };
}

function presentUser({ user: row, mfaEnabled, orgs }: UserView) {
  return {
    id: row.id,
    email: row.email,
    name: row.name,
    email_verified: row.emailVerifiedAt !== null,
    mfa_enabled: mfaEnabled,
    is_superadmin: row.isSuperadmin,
    is_locked: row.lockedAt !== null,
    password_pending: row.passwordUnseen,
    created_at: iso(row.createdAt),
    orgs: [...orgs],
  };
}
