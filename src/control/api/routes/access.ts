/** `/auth/*`: log-in, refresh, log-out, who am I. */
import { z } from '@hono/zod-openapi';
import { getCookie } from 'hono/cookie';
import { AppError } from '../../../base/errors.ts';
import type { Summary } from '../../services/sessions.ts';
import type { Api } from '../app.ts';
import { bearerActor } from '../auth.ts';
import { type ApiDeps, actorOf, visitOf } from '../context.ts';
import { defineRoute } from '../define-route.ts';
import { json } from '../errors.ts';
import { activeOrg, loginResult, welcome } from '../login-result.ts';
import { clearRefreshCookie, giveRefreshCookie, REFRESH_COOKIE } from '../refresh-cookie.ts';

const credentials = z
  .object({ email: z.string().min(1).max(320), password: z.string().min(1).max(1024) })
  .openapi('Credentials');
const mfaRequired = z
  .object({
    mfa_required: z.literal(true).openapi({ example: true }),
    challenge_token: z.string().openapi({
      example: 'eyJhbGciOiJFZERTQSJ9.eyJqdGkiOiIuLi4ifQ.c2ln',
      description: 'For POST /auth/login/mfa, within 5 minutes',
    }),
  })
  .openapi('MfaRequired');
const refreshed = z.object({ access_token: z.string() }).openapi('RefreshResult');
const loggedOut = z.object({ status: z.literal('logged_out') }).openapi('LogoutResult');
const account = z
  .object({
    user: z.object({
      id: z.uuid(),
      email: z.string(),
      name: z.string(),
      email_verified: z.boolean(),
      mfa_enabled: z.boolean(),
      created_at: z.iso.datetime(),
    }),
    active_org: activeOrg,
    orgs: z.array(z.object({ id: z.uuid(), name: z.string(), slug: z.string(), role: z.string() })),
    entitlements: z.object({
      plan: z.string(),
      max_tunnel_ttl_seconds: z.int().nullable(),
      reserved_subdomains: z.int().nullable(),
      edge_auth: z.boolean(),
      master_keys: z.boolean(),
      inspector_retention_days: z.int(),
    }),
    is_superadmin: z.boolean(),
  })
  .openapi('Account');

export function mountAccess(app: Api, deps: ApiDeps): void {
  const { sessions, publicUrl, log } = deps;
  app.openapi(
    defineRoute(
      {
        method: 'post',
        path: '/auth/login',
        security: [],
        tags: ['auth'],
        summary: 'Log in; sets the refresh cookie',
        request: { body: { required: true, content: { 'application/json': { schema: credentials } } } },
        responses: {
          200: json(
            z.union([loginResult, mfaRequired]),
            'Logged in; or a second factor is asked for, and no cookie is set',
          ),
        },
      },
      ['forbidden', 'email_not_verified'],
    ),
    async (c) => {
      const done = await sessions.login(c.req.valid('json'), visitOf(c, log));
      if ('challengeToken' in done) {
        return c.json({ mfa_required: true as const, challenge_token: done.challengeToken }, 200);
      }
      return c.json(welcome(c, done, publicUrl()), 200);
    },
  );
  app.openapi(
    defineRoute({
      method: 'post',
      path: '/auth/refresh',
      security: [],
      tags: ['auth'],
      summary: 'Swap the refresh cookie for an access token and a new cookie',
      responses: { 200: json(refreshed, 'Refreshed') },
    }),
    async (c) => {
      const done = await sessions.refresh(getCookie(c, REFRESH_COOKIE) ?? '', visitOf(c, log));
      giveRefreshCookie(c, done.refreshToken, publicUrl());
      return c.json({ access_token: done.accessToken }, 200);
    },
  );
  app.openapi(
    defineRoute({
      method: 'post',
      path: '/auth/logout',
      // Works with the cookie alone, for the access token may have run out: hence a check of its own.
      security: [],
      tags: ['auth'],
      summary: 'End the session',
      responses: { 200: json(loggedOut, 'The session is over') },
    }),
    async (c) => {
      const actor =
        (await bearerActor(c, sessions)) ??
        sessions.actorOfRefresh(getCookie(c, REFRESH_COOKIE) ?? '', visitOf(c, log));
      clearRefreshCookie(c, publicUrl());
      if (actor === undefined) throw new AppError('unauthorized', 'There is no live session.');
      sessions.logout(actor);
      return c.json({ status: 'logged_out' as const }, 200);
    },
  );
  app.openapi(
    defineRoute({
      method: 'get',
      path: '/auth/me',
      tags: ['auth'],
      summary: 'The account and what its plan includes',
      responses: { 200: json(account, 'The account') },
    }),
    (c) => c.json(accountView(sessions.summary(actorOf(c))), 200),
  );
}

function accountView({ user, mfaEnabled, activeOrg, orgs, plan, entitlements }: Summary) {
  return {
    user: {
      id: user.id,
      email: user.email,
      name: user.name,
      email_verified: user.emailVerifiedAt !== null,
      mfa_enabled: mfaEnabled,
      created_at: new Date(user.createdAt).toISOString(),
    },
    active_org: activeOrg,
    orgs: [...orgs],
    entitlements: {
      plan,
      max_tunnel_ttl_seconds: entitlements.maxTunnelTtlSeconds,
      reserved_subdomains: entitlements.reservedSubdomains,
      edge_auth: entitlements.edgeAuth,
      master_keys: entitlements.masterKeys,
      inspector_retention_days: entitlements.inspectorRetentionDays,
    },
    is_superadmin: user.isSuperadmin,
  };
}
