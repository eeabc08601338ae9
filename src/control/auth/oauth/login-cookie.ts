/**
 * The cookie that binds a log-in with an identity provider to the browser that started it: without it, an attacker could have a user
 * else finish the attacker's own log-in, and so use the attacker's account unawares (log-in CSRF).
 */
import type { Context } from 'hono';
import { deleteCookie, getCookie, setCookie } from 'hono/cookie';
import { KEPT_SECONDS } from './kept-secrets.ts';
import { STATE_SECONDS } from './login-state.ts';
import type { ApiEnv } from '../../core/http/context.ts';

/** A kind of log-in. */
interface Way {
  /** How its cookies begin. */
  readonly name: string;
  readonly seconds: number;
  /** What one browser may have under way, each in a tab: beyond it the older ones are forgotten, or headers would grow too large. */
  readonly most: number;
}

/** The state of a visit runs out sooner: the rest of it then tells a late user where to begin again. */
const VISIT_SECONDS = 24 * 3600;
const STATE = /^[\w-]{16,128}$/;

export class LoginCookies {
  readonly #way: Way;

  constructor(way: Way) {
    this.#way = way;
  }

  /** Remembers a start. Each has a cookie of its own, so that two tabs don't disturb each other. */
  give(c: Context<ApiEnv>, started: { readonly state: string; readonly sealed: string }, publicUrl: string): void {
    const known = Object.keys(getCookie(c)).filter((name) => name.startsWith(this.#nameOf('', publicUrl)));
    if (known.length >= this.#way.most) for (const name of known) deleteCookie(c, name, flags(publicUrl));
    const name = this.#nameOf(started.state, publicUrl);
    setCookie(c, name, started.sealed, { ...flags(publicUrl), maxAge: this.#way.seconds });
  }

  /** The cookie that belongs to this `state`, or ""; it is taken away from the browser. */
  take(c: Context<ApiEnv>, state: string, publicUrl: string): string {
    if (!STATE.test(state)) return '';
    return deleteCookie(c, this.#nameOf(state, publicUrl), flags(publicUrl)) ?? '';
  }

  #nameOf(state: string, publicUrl: string): string {
    return `${prefix(publicUrl)}${this.#way.name}${state.slice(0, 8)}`;
  }
}

/** What a page gets back after a log-in (auth/oauth/kept-secrets.ts): one for all tabs, each of which needs it for a moment. */
export const keptCookie = {
  give(c: Context<ApiEnv>, sealed: string, publicUrl: string): void {
    setCookie(c, keptName(publicUrl), sealed, { ...flags(publicUrl), maxAge: KEPT_SECONDS });
  },
  read: (c: Context<ApiEnv>, publicUrl: string): string => getCookie(c, keptName(publicUrl)) ?? '',
  forget(c: Context<ApiEnv>, publicUrl: string): void {
    deleteCookie(c, keptName(publicUrl), flags(publicUrl));
  },
};

/** Of people with an account here. */
export const accountCookies = new LoginCookies({ name: 'culvert_login_', seconds: STATE_SECONDS, most: 5 });
/** Of visitors of a tunnel. */
export const visitCookies = new LoginCookies({ name: 'culvert_visit_', seconds: VISIT_SECONDS, most: 4 });

function keptName(publicUrl: string): string {
  return `${prefix(publicUrl)}culvert_kept`;
}

/** `__Host-`: no tunnel under the same parent domain can set this cookie for us. Browsers take the prefix over https alone. */
function prefix(publicUrl: string): string {
  return isSecure(publicUrl) ? '__Host-' : '';
}

function flags(publicUrl: string) {
  // Lax: the provider's redirect comes from another site.
  return { path: '/', httpOnly: true, sameSite: 'Lax', secure: isSecure(publicUrl) } as const;
}

function isSecure(publicUrl: string): boolean {
  return publicUrl.startsWith('https:');
}
