/** `/auth/me`, `/auth/sessions`, `/auth/switch-org`: who am I, where am I logged in, for which organization do I act. */
import { z } from '@hono/zod-openapi';
import type { SessionList, SessionRow } from './list.ts';
import type { Sessions, Summary } from './service.ts';
import { type Api, actorOf } from '../../core/http/context.ts';
import { defineRoute } from '../../core/http/define-route.ts';
import type { BillingMode } from '../../core/rules/plan-gate.ts';
import { ENTITLEMENTS_EXAMPLE, entitlementsView, presentEntitlements } from '../../billing/entitlements-schemas.ts';
import { json } from '../../core/http/errors.ts';
import { byId, iso, jsonBody } from '../../core/http/fields/shared.ts';
import { activeOrg } from './schemas.ts';
import { plainName } from '../../core/http/fields/new-account.ts';
import { clearRefreshCookie } from '../../core/http/refresh-cookie.ts';
import { text } from '../../core/http/fields/text.ts';
import type { Profile } from '../accounts/profile.ts';

interface Deps {
  readonly sessions: Sessions;
  readonly sessionList: SessionList;
  readonly profile: Profile;
  readonly publicUrl: () => string;
  /** How plans change hands on this server. */
  readonly billingMode: BillingMode;
}

const ORG_EXAMPLE = { id: '019aa3c2-5b6e-7d10-b1a5-3f2e9c4d7a01', name: 'Acme', slug: 'acme', role: 'owner' };

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
    entitlements: entitlementsView,
    is_superadmin: z.boolean(),
    billing_mode: z.enum(['mock', 'stripe', 'none']).openapi({ description: '`none`: only operators change plans' }),
  })
  .openapi('Account', {
    example: {
      user: {
        id: '019aa3c2-5b6a-7f31-8c02-51d0a7b9e604',
        email: 'ann@example.com',
        name: 'Ann',
        email_verified: true,
        mfa_enabled: false,
        created_at: '2026-11-21T09:00:00.000Z',
      },
      active_org: { ...ORG_EXAMPLE, approval_status: 'approved' },
      orgs: [ORG_EXAMPLE],
      entitlements: ENTITLEMENTS_EXAMPLE,
      is_superadmin: false,
      billing_mode: 'none',
    },
  });

const changedAccount = z.object({ name: plainName }).openapi('ChangeAccount', { example: { name: 'Ann' } });

const session = z
  .object({
    id: z.uuid(),
    created_at: z.iso.datetime(),
    last_used_at: z.iso.datetime().openapi({ description: 'The login or the last refresh' }),
    ip_address: z.string(),
    user_agent: z.string(),
    current: z.boolean().openapi({ description: 'True for the session of this request' }),
  })
  .openapi('Session', {
    example: {
      id: '019aa3c2-5b72-7a55-9e1b-c40d8f6b3302',
      created_at: '2026-11-21T09:00:00.000Z',
      last_used_at: '2026-11-21T09:30:00.000Z',
      ip_address: '203.0.113.7',
      user_agent: 'Mozilla/5.0',
      current: true,
    },
  });
const sessionList = z.object({ sessions: z.array(session) }).openapi('SessionList');
const revoked = z
  .object({ revoked: z.int() })
  .openapi('RevokedSessions', { example: { revoked: 1 }, description: 'Number of ended sessions' });
const wantedOrg = z.object({ org_id: text(1, 64) }).openapi('SwitchOrg', { example: { org_id: ORG_EXAMPLE.id } });
const switched = z.object({ access_token: z.string(), active_org: activeOrg }).openapi('SwitchedOrg', {
  example: {
    access_token: 'eyJhbGciOiJFZERTQSJ9.e30.c2ln',
    active_org: { ...ORG_EXAMPLE, approval_status: 'approved' },
  },
});

export function mountAccount(app: Api, deps: Deps): void {
  const { sessions, profile, billingMode } = deps;
  app.openapi(
    defineRoute({
      method: 'get',
      path: '/auth/me',
      tags: ['auth'],
      summary: 'Get your account and the limits of its plan',
      responses: { 200: json(account, 'The account') },
    }),
    (c) => c.json({ ...accountView(sessions.summary(actorOf(c))), billing_mode: billingMode }, 200),
  );
  app.openapi(
    defineRoute({
      method: 'patch',
      path: '/auth/me',
      tags: ['auth'],
      summary: 'Change your name',
      request: { body: jsonBody(changedAccount) },
      responses: { 200: json(account, 'The account') },
    }),
    (c) => {
      const actor = actorOf(c);
      profile.rename(actor, c.req.valid('json').name);
      return c.json({ ...accountView(sessions.summary(actor)), billing_mode: billingMode }, 200);
    },
  );
  mountSessions(app, deps);
  app.openapi(
    defineRoute(
      {
        method: 'post',
        path: '/auth/switch-org',
        tags: ['auth'],
        summary: 'Switch to another organization of yours',
        description: 'Earlier access tokens continue to act for their organization.',
        request: { body: jsonBody(wantedOrg) },
        responses: { 200: json(switched, 'Switched') },
      },
      ['not_found'],
    ),
    async (c) => {
      const done = await sessions.switchOrg(actorOf(c), c.req.valid('json').org_id);
      return c.json({ access_token: done.accessToken, active_org: done.activeOrg }, 200);
    },
  );
}

function mountSessions(app: Api, { sessionList: list, publicUrl }: Deps): void {
  app.openapi(
    defineRoute({
      method: 'get',
      path: '/auth/sessions',
      tags: ['auth'],
      summary: 'List your sessions, latest use first',
      responses: { 200: json(sessionList, 'Live sessions') },
    }),
    (c) => {
      const actor = actorOf(c);
      return c.json({ sessions: list.list(actor).map((row) => sessionView(row, actor.sessionId)) }, 200);
    },
  );
  app.openapi(
    defineRoute({
      method: 'delete',
      path: '/auth/sessions',
      tags: ['auth'],
      summary: 'End all your other sessions',
      description: 'The login keys of these sessions end too.',
      responses: { 200: json(revoked, 'Ended') },
    }),
    (c) => c.json({ revoked: list.revokeOthers(actorOf(c)) }, 200),
  );
  app.openapi(
    defineRoute({
      method: 'delete',
      path: '/auth/sessions/{id}',
      tags: ['auth'],
      summary: 'End one of your sessions',
      description: 'The login key of the session ends too.',
      request: { params: byId },
      responses: { 200: json(revoked, 'Ended') },
    }),
    (c) => {
      const actor = actorOf(c);
      const { id } = c.req.valid('param');
      list.revoke(actor, id);
      if (id === actor.sessionId) clearRefreshCookie(c, publicUrl());
      return c.json({ revoked: 1 }, 200);
    },
  );
}

function sessionView(row: SessionRow, currentId: string) {
  return {
    id: row.id,
    created_at: iso(row.createdAt),
    last_used_at: iso(row.lastUsedAt),
    ip_address: row.ipAddress,
    user_agent: row.userAgent,
    current: row.id === currentId,
  };
}

function accountView({ user, mfaEnabled, activeOrg: org, orgs, plan, entitlements }: Summary) {
  return {
    user: {
      id: user.id,
      email: user.email,
      name: user.name,
      email_verified: user.emailVerifiedAt !== null,
      mfa_enabled: mfaEnabled,
      created_at: iso(user.createdAt),
    },
    active_org: org,
    orgs: [...orgs],
    entitlements: presentEntitlements(plan, entitlements),
    is_superadmin: user.isSuperadmin,
  };
}
