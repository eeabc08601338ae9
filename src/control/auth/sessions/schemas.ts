/**
 * What every log-in answers with, and the cookie that goes with it.
 */
import { z } from '@hono/zod-openapi';
import type { Context } from 'hono';
import type { LoginResult } from './service.ts';
import type { ApiEnv } from '../../core/http/context.ts';
import { type CookieDeps, giveRefreshCookie } from '../../core/http/refresh-cookie.ts';

const ID = '01939e5c-7f00-7a31-b0c4-0d2b9d4f6a10';

export const activeOrg = z
  .object({
    id: z.uuid().openapi({ example: ID }),
    name: z.string().openapi({ example: 'Acme' }),
    slug: z.string().openapi({ example: 'acme' }),
    role: z.string().openapi({ example: 'owner' }),
    approval_status: z.string().openapi({ example: 'approved' }),
  })
  .openapi('ActiveOrg');

export const loginResult = z
  .object({
    access_token: z
      .string()
      .openapi({ example: 'eyJhbGciOiJFZERTQSJ9.eyJzdWIiOiIuLi4ifQ.c2ln', description: '15 minutes' }),
    user: z.object({
      id: z.uuid().openapi({ example: ID }),
      email: z.string().openapi({ example: 'ada@example.com' }),
    }),
    active_org: activeOrg,
    is_superadmin: z.boolean().openapi({ example: false }),
  })
  .openapi('LoginResult');

/** Sets the refresh cookie with its companion and returns the body. */
export function welcome(c: Context<ApiEnv>, done: LoginResult, deps: CookieDeps): z.infer<typeof loginResult> {
  giveRefreshCookie(c, done.refreshToken, deps);
  return {
    access_token: done.accessToken,
    user: done.user,
    active_org: done.activeOrg,
    is_superadmin: done.superadmin,
  };
}
