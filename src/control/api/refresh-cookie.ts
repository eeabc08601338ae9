/**
 * The refresh cookie: its name, its flags, and how it is read, in one place.
 */
import type { Context } from 'hono';
import { deleteCookie, setCookie } from 'hono/cookie';
import { SESSION_SECONDS } from '../services/sessions/session-rows.ts';
import type { ApiEnv } from './context.ts';

export const REFRESH_COOKIE = 'qnt_refresh';
/** Values of the name that are looked at: each costs a look-up, and an honest browser has one. What comes behind them is left out. */
const MAX_COOKIES = 8;

function flags(publicUrl: string) {
  // Host-only (no Domain): tunnels under the same parent never see it.
  return { path: '/', httpOnly: true, sameSite: 'Lax', secure: publicUrl.startsWith('https:') } as const;
}

/**
 * The different values that the request has under the name, in its order; Refresh.choose says which counts. A name can come more than once:
 * a page of a sibling host can set it for the whole parent domain.
 */
export function refreshCookies(c: Context<ApiEnv>): string[] {
  const values = new Set<string>();
  for (const pair of (c.req.header('cookie') ?? '').split(';')) {
    const [name = '', ...value] = pair.split('=');
    if (name.trim() === REFRESH_COOKIE) values.add(value.join('=').trim());
  }
  return [...values].slice(0, MAX_COOKIES);
}

export function giveRefreshCookie(c: Context<ApiEnv>, value: string, publicUrl: string): void {
  setCookie(c, REFRESH_COOKIE, value, { ...flags(publicUrl), maxAge: SESSION_SECONDS });
}

export function clearRefreshCookie(c: Context<ApiEnv>, publicUrl: string): void {
  deleteCookie(c, REFRESH_COOKIE, flags(publicUrl));
}
