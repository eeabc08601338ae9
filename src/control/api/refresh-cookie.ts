/**
 * The refresh cookie: its name and flags in one place (contract §1).
 */
import type { Context } from 'hono';
import { deleteCookie, setCookie } from 'hono/cookie';
import { SESSION_SECONDS } from '../services/session-rows.ts';
import type { ApiEnv } from './context.ts';

export const REFRESH_COOKIE = 'qnt_refresh';

function flags(publicUrl: string) {
  // Host-only (no Domain): tunnels under the same parent never see it.
  return { path: '/', httpOnly: true, sameSite: 'Lax', secure: publicUrl.startsWith('https:') } as const;
}

export function giveRefreshCookie(c: Context<ApiEnv>, value: string, publicUrl: string): void {
  setCookie(c, REFRESH_COOKIE, value, { ...flags(publicUrl), maxAge: SESSION_SECONDS });
}

export function clearRefreshCookie(c: Context<ApiEnv>, publicUrl: string): void {
  deleteCookie(c, REFRESH_COOKIE, flags(publicUrl));
}
