/** `/auth/login`, `/auth/refresh`, `/auth/logout`. */
import { z } from '@hono/zod-openapi';
import { AppError } from '../../../base/errors.ts';
import { bearerActor } from '../../core/http/auth.ts';
import { type Api, visitOf } from '../../core/http/context.ts';
import { refuseCrossSite } from '../../core/http/listener/cross-site.ts';
import { defineRoute } from '../../core/http/define-route.ts';
import { json } from '../../core/http/errors.ts';
import { jsonBody } from '../../core/http/fields/shared.ts';
import { loginResult, welcome } from './schemas.ts';
import {
  clearRefreshCookie,
  giveRefreshCookie,
  hasRefreshCookie,
  REFRESH_COOKIE,
  refreshCookies,
} from '../../core/http/refresh-cookie.ts';
import { oldEmail, oldPassword } from '../../core/http/fields/new-account.ts';
import type { Sessions } from './service.ts';
import type { Refresh } from './refresh.ts';
import type { Logger } from '../../../base/log.ts';

interface Deps {
  readonly sessions: Sessions;
  readonly refresh: Refresh;
  readonly publicUrl: () => string;
  readonly corsOrigins: readonly string[];
  readonly log: Logger;
}

const credentials = z
  .object({ email: oldEmail, password: oldPassword })
  .openapi('Credentials', { example: { email: 'ada@example.com', password: 'correct horse battery staple' } });
const mfaRequired = z
  .object({
    mfa_required: z.literal(true).openapi({ example: true }),
    challenge_token: z.string().openapi({
      example: 'eyJhbGciOiJFZERTQSJ9.eyJqdGkiOiIuLi4ifQ.c2ln',
      description: 'For POST /auth/login/mfa, within 5 minutes',
    }),
  })
  .openapi('MfaRequired');
const refreshed = z
  .object({ access_token: z.string().openapi({ example: 'eyJhbGciOiJFZERTQSJ9.eyJzdWIiOiIuLi4ifQ.c2ln' }) })
  .openapi('RefreshResult');
const loggedOut = z.object({ status: z.literal('logged_out') }).openapi('LogoutResult');
const REFRESH_RULES = `A cookie works once. Of several requests with the same cookie, exactly one succeeds.

If a cookie is used again, it counts as stolen: 401, and the session ends. Two kinds of requests get 401 with \`retry_after_seconds\` instead,
and the session continues. Send them again without a login, because the browser has the new cookie by then. The first kind overlaps the
request that replaces the cookie (the response waits until no request with the cookie has arrived for 100 ms). The second kind comes from a
page of this origin (\`Sec-Fetch-Site: same-origin\`) within 5 seconds, as long as the new cookie is unused.

Over HTTPS, a login also sets the cookie \`__Host-qnt_bind\`. A browser's request (one with \`Origin\` or \`Sec-Fetch-Site\`) needs both cookies:
without the second one, the refresh cookie is ignored. Other clients can send only \`${REFRESH_COOKIE}\`.

Of several refresh cookies, the valid one counts. With two valid ones, the response is 401, and sessions and cookies stay. After any
other 401 without \`retry_after_seconds\`, both cookies are cleared.

A browser's request from a page of another origin is rejected, unless \`api.cors_origins\` lists it.`;

export function mountAccess(app: Api, deps: Deps): void {
  const { sessions, refresh, publicUrl, log } = deps;
  app.openapi(
    defineRoute(
      {
        method: 'post',
        path: '/auth/login',
        security: [],
        tags: ['auth'],
        summary: 'Log in and set the refresh cookie',
        request: { body: jsonBody(credentials) },
        responses: {
          200: json(
            z.union([loginResult, mfaRequired]),
            'Logged in; or, with two-factor authentication, a challenge without a cookie',
          ),
        },
      },
      ['unauthorized', 'forbidden', 'email_not_verified', 'unavailable'],
    ),
    async (c) => {
      const done = await sessions.login(c.req.valid('json'), visitOf(c, log));
      if ('challengeToken' in done) {
        return c.json({ mfa_required: true as const, challenge_token: done.challengeToken }, 200);
      }
      return c.json(welcome(c, done, deps), 200);
    },
  );
  app.openapi(
    defineRoute(
      {
        method: 'post',
        path: '/auth/refresh',
        security: [],
        tags: ['auth'],
        summary: 'Exchange the refresh cookie for an access token',
        description: REFRESH_RULES,
        responses: { 200: json(refreshed, 'Refreshed') },
      },
      ['unauthorized', 'forbidden', 'unavailable'],
    ),
    async (c) => {
      refuseCrossSite((name) => c.req.header(name), deps);
      const { outgoing } = c.env;
      const sent = refreshCookies(c, deps);
      const cookie = refresh.choose(sent) ?? '';
      const caller = { isGone: () => outgoing.closed, isOwnPage: c.req.header('sec-fetch-site') === 'same-origin' };
      const done = await refresh.swap(cookie, visitOf(c, log), caller).catch((error: unknown) => {
        // A dead cookie would come with each page that is loaded, and use up the login tries of the user.
        if (hasRefreshCookie(c) && isFinal(error)) clearRefreshCookie(c, publicUrl());
        throw error;
      });
      giveRefreshCookie(c, done.refreshToken, deps);
      return c.json({ access_token: done.accessToken }, 200);
    },
  );
  app.openapi(
    defineRoute(
      {
        method: 'post',
        path: '/auth/logout',
        // Works with the cookie alone, for the access token may have run out: hence a check of its own.
        security: [],
        tags: ['auth'],
        summary: 'End the session',
        description: 'If the access token and the cookie belong to different sessions of a user, both sessions end.',
        responses: { 200: json(loggedOut, 'The session has ended') },
      },
      ['unauthorized', 'forbidden'],
    ),
    async (c) => {
      const bearer = await bearerActor(c, sessions);
      if (bearer === undefined) refuseCrossSite((name) => c.req.header(name), deps);
      const sent = refreshCookies(c, deps);
      const counting = bearer === undefined ? [refresh.choose(sent) ?? ''] : sent;
      const byCookie = counting.flatMap((cookie) => refresh.actorOf(cookie, visitOf(c, log)) ?? []);
      const actor = bearer ?? byCookie[0];
      const own = byCookie.filter(({ userId }) => userId === actor?.userId);
      // Another user's session in this browser is not the bearer's to end.
      if (byCookie.length === 0 || own.length > 0) clearRefreshCookie(c, publicUrl());
      if (actor === undefined) throw new AppError('unauthorized', 'The session has ended. Log in again.');
      const ending = new Map([actor, ...own].map((ended) => [ended.sessionId, ended]));
      for (const ended of ending.values()) sessions.logout(ended);
      return c.json({ status: 'logged_out' as const }, 200);
    },
  );
}

/** True for a session that is over; false when the request is to be sent again. */
function isFinal(error: unknown): boolean {
  return error instanceof AppError && error.code === 'unauthorized' && error.retryAfterSeconds === undefined;
}
