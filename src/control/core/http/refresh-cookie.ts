/**
 * The refresh cookie and its companion: names, flags, and how they are read, in one place.
 */
import type { Context } from 'hono';
import { deleteCookie, setCookie } from 'hono/cookie';
import { SESSION_SECONDS } from '../rules/caller.ts';
import type { ApiEnv } from './context.ts';

export const REFRESH_COOKIE = 'qnt_refresh';
/** Browsers accept the prefix from the host itself over https alone: no sibling host can set it. Without https there is no such cookie. */
const COMPANION = '__Host-qnt_bind';
/** Values that are looked up in the database; an honest client has one. Not a limit on what a page can plant: the binding goes first. */
const MAX_COOKIES = 8;
/** Values that are held against a companion, each a MAC. A page can plant one per parent domain and path that fit: some thirty. */
const MAX_CHECKED = 64;

/** Ties a refresh cookie to the browser that logged in (auth/sessions/refresh-binding.ts). */
interface Binding {
  companionOf(refreshToken: string): string;
  fits(refreshToken: string, companion: string): boolean;
}

export interface CookieDeps {
  readonly publicUrl: () => string;
  readonly refresh: { readonly binding: Binding };
}

function flags(publicUrl: string) {
  // Host-only (no Domain): tunnels under the same parent never see it.
  return { path: '/', httpOnly: true, sameSite: 'Lax', secure: isSecure(publicUrl) } as const;
}

/**
 * The different refresh cookies of the request that count, in its order; Refresh.choose takes one of them. The name can come more than once:
 * a page of a sibling host can set it for the whole parent domain. Over https a browser's request, and any that shows a companion, has
 * those alone that the companion fits: however many others are planted, they are as if they were not there.
 */
export function refreshCookies(c: Context<ApiEnv>, { publicUrl, refresh }: CookieDeps): string[] {
  const values = [...new Set(valuesOf(c, REFRESH_COOKIE))];
  const [companion] = isSecure(publicUrl()) ? valuesOf(c, COMPANION) : [];
  if (companion !== undefined)
    return values
      .slice(0, MAX_CHECKED)
      .filter((value) => refresh.binding.fits(value, companion))
      .slice(0, MAX_COOKIES);
  return isSecure(publicUrl()) && isBrowser(c) ? [] : values.slice(0, MAX_COOKIES);
}

/** Whether the request carries any refresh cookie, its own or a planted one. */
export function hasRefreshCookie(c: Context<ApiEnv>): boolean {
  return valuesOf(c, REFRESH_COOKIE).length > 0;
}

/** Sets the refresh cookie, and over https its companion. Every login and every refresh goes through here. */
export function giveRefreshCookie(c: Context<ApiEnv>, value: string, { publicUrl, refresh }: CookieDeps): void {
  const url = publicUrl();
  setCookie(c, REFRESH_COOKIE, value, { ...flags(url), maxAge: SESSION_SECONDS });
  if (isSecure(url))
    setCookie(c, COMPANION, refresh.binding.companionOf(value), { ...flags(url), maxAge: SESSION_SECONDS });
}

export function clearRefreshCookie(c: Context<ApiEnv>, publicUrl: string): void {
  deleteCookie(c, REFRESH_COOKIE, flags(publicUrl));
  if (isSecure(publicUrl)) deleteCookie(c, COMPANION, flags(publicUrl));
}

/**
 * All values under this very name. Names are stripped of spaces and tabs alone, as browsers do (RFC 6265 §5.2): with `trim` a name that begins
 * with another blank, which any host may set, would pass for one with the prefix.
 */
function valuesOf(c: Context<ApiEnv>, wanted: string): string[] {
  return (c.req.header('cookie') ?? '').split(';').flatMap((pair) => {
    const equals = pair.indexOf('=');
    const name = strip(equals < 0 ? pair : pair.slice(0, equals));
    return name === wanted ? [equals < 0 ? '' : strip(pair.slice(equals + 1))] : [];
  });
}

function strip(text: string): string {
  let from = 0;
  let to = text.length;
  while (from < to && isBlank(text.charCodeAt(from))) from++;
  while (to > from && isBlank(text.charCodeAt(to - 1))) to--;
  return text.slice(from, to);
}

function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x09;
}

/** Browsers send `Origin` with every POST, and most of them `Sec-Fetch-Site` with every request. */
function isBrowser(c: Context<ApiEnv>): boolean {
  return c.req.header('origin') !== undefined || c.req.header('sec-fetch-site') !== undefined;
}

function isSecure(publicUrl: string): boolean {
  return publicUrl.startsWith('https:');
}
