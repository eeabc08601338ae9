/**
 * The limit on `/auth/*`: one bucket per source over all of it. Requests that carry a valid credential and check
 * no secret take nothing from it, so that a dashboard can't lock its own user out.
 */
import { createMiddleware } from 'hono/factory';
import { AppError } from '../../../base/errors.ts';
import { RecentMap } from '../../../base/limits/recent-map.ts';
import { type Bearers, bearerActor } from './auth.ts';
import { limitKey } from './listener/client-ip.ts';
import type { ApiEnv, ApiSettings } from './context.ts';
import { type CookieDeps, refreshCookies } from './refresh-cookie.ts';

/** Sources remembered: about 10 MB. Beyond it the one that was quiet for longest is forgotten, which errs on the mild side. */
const MAX_SOURCES = 100_000;
/** Below `/auth/`, as regular expressions. */
const CHECKS_NO_SECRET: readonly string[] = [
  'me',
  'logout',
  'refresh',
  'sessions(/.*)?',
  'identities(/.*)?',
  'switch-org',
  'mfa',
  'mfa/enroll',
  'cli/authorize',
];

/** Generic cell rate algorithm: one number per source, exact, no windows. */
export class Gcra {
  readonly #arrivals: RecentMap<string, number>;
  readonly #intervalMs: number;
  readonly #slackMs: number;

  constructor(limit: { burst: number; refillSeconds: number }) {
    this.#arrivals = new RecentMap({ max: MAX_SOURCES });
    this.#intervalMs = limit.refillSeconds * 1000;
    this.#slackMs = (limit.burst - 1) * this.#intervalMs;
  }

  /** Takes one; 0 when there was one, else the seconds until there is. */
  take(key: string, nowMs: number): number {
    const due = Math.max(this.#arrivals.get(key) ?? 0, nowMs);
    const early = due - nowMs - this.#slackMs;
    if (early > 0) return Math.ceil(early / 1000);
    this.#arrivals.set(key, due + this.#intervalMs);
    return 0;
  }
}

/**
 * The limit on `/edge-auth/*`, of its own: a company's visitors come from one address in the morning. Nothing is stored for a start, and an
 * answer costs a row of ten minutes and calls of the provider.
 */
const VISITORS = { burst: 300, refillSeconds: 0.2 };

export function visitorLimit({ monotonic }: Pick<ApiSettings, 'monotonic'>) {
  const bucket = new Gcra(VISITORS);
  return createMiddleware<ApiEnv>(async (c, next) => {
    const wait = bucket.take(limitKey(c.get('clientIp')), monotonic());
    if (wait > 0)
      throw new AppError('rate_limited', `Your address made too many login attempts. Try again in ${wait} seconds.`, {
        retryAfterSeconds: wait,
      });
    return next();
  });
}

export interface AuthLimitDeps extends Pick<ApiSettings, 'authLimit' | 'monotonic'>, CookieDeps {
  readonly sessions: Bearers['sessions'];
  readonly refresh: CookieDeps['refresh'] & { isLive(cookie: string): boolean };
}

export function authLimit(deps: AuthLimitDeps) {
  const bucket = new Gcra(deps.authLimit);
  const checksNoSecret = new RegExp(`^/auth/(${CHECKS_NO_SECRET.join('|')})$`);
  return createMiddleware<ApiEnv>(async (c, next) => {
    // A browser asks before it sends the request itself, which counts; the response is the same for all.
    if (c.req.method === 'OPTIONS') return next();
    // The same for all, and requested by each login page: it must not use up the tries of the user.
    if (c.req.path === '/auth/providers') return next();
    if (checksNoSecret.test(c.req.path)) {
      const refreshes = refreshCookies(c, deps).some((cookie) => deps.refresh.isLive(cookie));
      const bears = c.req.path !== '/auth/refresh' && (await bearerActor(c, deps.sessions)) !== undefined;
      if (refreshes || bears) return next();
    }
    const wait = bucket.take(limitKey(c.get('clientIp')), deps.monotonic());
    if (wait > 0)
      throw new AppError('rate_limited', `Your address made too many attempts. Try again in ${wait} seconds.`, {
        retryAfterSeconds: wait,
      });
    return next();
  });
}
