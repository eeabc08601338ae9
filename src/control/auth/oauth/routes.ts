/** `/auth/oauth/*` and `/auth/providers`: log-in with an identity provider. */
import { z } from '@hono/zod-openapi';
import { type Api, visitOf } from '../../core/http/context.ts';
import { defineRoute } from '../../core/http/define-route.ts';
import { json } from '../../core/http/errors.ts';
import { jsonBody } from '../../core/http/fields/shared.ts';
import { accountCookies, keptCookie } from './login-cookie.ts';
import { giveRefreshCookie } from '../../core/http/refresh-cookie.ts';
import { redirectTo } from '../../core/http/served.ts';
import type { ProviderLogins } from './provider-logins.ts';
import type { Refresh } from '../sessions/refresh.ts';
import type { Logger } from '../../../base/log.ts';

interface Deps {
  readonly providerLogins: ProviderLogins;
  readonly refresh: Refresh;
  readonly publicUrl: () => string;
  readonly log: Logger;
}

const providerId = z.enum(['google', 'github']);
const whichProvider = z.object({
  provider: providerId.openapi({
    description: '`google` stands for the OpenID Connect issuer that the operator has set',
  }),
});
const returnTo = z.string().default('/').openapi({
  description: 'A path of this server, to which the browser returns. Any other value becomes `/`.',
  example: '/app/tunnels',
});
const startQuery = z.object({ return_to: returnTo });
const startBody = z
  .object({ return_to: returnTo })
  .openapi('StartLogin', { example: { return_to: '/app/invite?token=q3zVw0Yl9pXr7uT2mKc5bN8dHf1sJg4aEo6iLyRtPvQ' } });
const started = z
  .object({ url: z.url().openapi({ description: 'URL of the provider' }) })
  .openapi('StartedLogin', { example: { url: 'https://github.com/login/oauth/authorize?client_id=Iv1.8a61f9b3' } });
const answerQuery = z.object({
  state: z.string().openapi({ example: 'q1bW4Y0tV8Jd2c5sZ7mKx9uE3rT6aG1hN0pLfOiQwSe' }),
  code: z.string().optional().openapi({ description: 'Missing when the provider refused', example: '4/0AdQt8qi' }),
  error: z.string().optional().openapi({ description: 'Why the provider refused', example: 'access_denied' }),
});
const loginOptions = z
  .object({
    name: z.string().nullable().openapi({ description: 'What the operator calls this server (`server.name`)' }),
    signup: z.enum(['open', 'closed']),
    mail: z.enum(['on', 'off']).openapi({ description: '`off`: codes and links are in the log of the server' }),
    providers: z.array(z.object({ id: providerId, name: z.string(), start_url: z.url() })),
  })
  .openapi('LoginOptions', {
    example: {
      name: 'Tunnels of Example Ltd',
      signup: 'open',
      mail: 'on',
      providers: [{ id: 'github', name: 'GitHub', start_url: 'https://tunnel.example.com/auth/oauth/github/start' }],
    },
  });
export function mountOauth(app: Api, deps: Deps): void {
  const { providerLogins, publicUrl, log } = deps;
  app.openapi(
    defineRoute(
      {
        method: 'get',
        path: '/auth/oauth/{provider}/start',
        security: [],
        tags: ['auth'],
        summary: 'Send the browser to an identity provider',
        request: { params: whichProvider, query: startQuery },
        responses: { 302: redirectTo('To the provider. Sets a cookie for ten minutes.') },
      },
      ['not_configured', 'unavailable'],
    ),
    async (c) => {
      const started = await providerLogins.start(c.req.valid('param').provider, c.req.valid('query').return_to);
      accountCookies.give(c, started, publicUrl());
      return c.redirect(started.location, 302);
    },
  );
  app.openapi(
    defineRoute(
      {
        method: 'post',
        path: '/auth/oauth/{provider}/start',
        security: [],
        tags: ['auth'],
        summary: 'Start a login with an identity provider',
        description:
          'Like GET, for a page that redirects the browser itself. The return path, which can contain secrets, is then in no URL.',
        request: {
          params: whichProvider,
          body: jsonBody(startBody),
        },
        responses: { 200: json(started, 'URL for the browser. Sets a cookie for ten minutes.') },
      },
      ['not_configured', 'unavailable'],
    ),
    async (c) => {
      const login = await providerLogins.start(c.req.valid('param').provider, c.req.valid('json').return_to);
      accountCookies.give(c, login, publicUrl());
      return c.json({ url: login.location }, 200);
    },
  );
  app.openapi(
    defineRoute(
      {
        method: 'get',
        path: '/auth/oauth/{provider}/callback',
        security: [],
        tags: ['auth'],
        summary: 'Finish a login with an identity provider',
        request: { params: whichProvider, query: answerQuery },
        responses: {
          302: redirectTo(
            'To `return_to`, with query `oauth_token=<access token>` and the refresh cookie. If the account has two-factor authentication, with query `mfa_challenge=<challenge_token>` instead. Secrets in the return path (`token`, `device_code`) are in a cookie for one minute, not in the URL.',
          ),
        },
      },
      ['forbidden', 'email_not_verified', 'not_configured', 'unavailable'],
    ),
    async (c) => {
      const { state } = c.req.valid('query');
      const sealed = accountCookies.take(c, state, publicUrl());
      const answer = new URL(c.req.url).searchParams;
      const done = await providerLogins.finish(c.req.valid('param').provider, { sealed, answer }, visitOf(c, log));
      if (done.refreshToken !== undefined) giveRefreshCookie(c, done.refreshToken, deps);
      if (done.kept !== undefined) keptCookie.give(c, done.kept, publicUrl());
      return c.redirect(done.location, 302);
    },
  );
  app.openapi(
    defineRoute({
      method: 'get',
      path: '/auth/providers',
      security: [],
      tags: ['auth'],
      summary: 'List the login methods of this server',
      responses: { 200: json(loginOptions, 'Identity providers, and whether sign-up is open') },
    }),
    (c) => {
      const { providers, ...options } = providerLogins.loginOptions();
      const withUrl = providers.map((one) => ({ ...one, start_url: `${publicUrl()}/auth/oauth/${one.id}/start` }));
      return c.json({ ...options, providers: withUrl }, 200);
    },
  );
}
