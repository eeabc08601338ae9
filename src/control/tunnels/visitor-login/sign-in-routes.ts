/** `/edge-auth/*`: where the edge sends visitors of a tunnel that asks who they are, and where the identity provider sends them back. */
import { z } from '@hono/zod-openapi';
import { AppError } from '../../../base/errors.ts';
import type { Api } from '../../core/http/context.ts';
import { defineRoute } from '../../core/http/define-route.ts';
import { visitCookies } from '../../auth/oauth/login-cookie.ts';
import { PAGE_POLICY } from '../../core/http/page-policy.ts';
import { notListedPage } from './pages.ts';
import { redirectTo } from '../../core/http/served.ts';
import type { VisitorLogins } from './sign-in.ts';

interface Deps {
  readonly publicUrl: () => string;
  readonly visitorLogins: VisitorLogins;
}

const open = { method: 'get' as const, security: [], tags: ['edge-auth'] };

const startQuery = z.object({
  tunnel_id: z.string().openapi({ example: '019aa3c2-5b70-7b02-8a3e-0c9d3f5e7a10' }),
  return_to: z.string().default('/').openapi({
    description:
      'Page to which the browser returns: a URL of the tunnel or its custom domain, or a path, of at most 512 characters. Any other value becomes `/`.',
    example: 'https://shop.example.com/orders?open=1',
  }),
  nonce: z.string().default('').openapi({
    description:
      "SHA-256, in base64url, of the cookie that the edge set for the tunnel's host. Without it, the browser is redirected once more to get the cookie.",
    example: 'n4bQgYhMfWWaL-qgxVrQFaO_TxsrC4Is0V1sFbDwCgg',
  }),
  again: z
    .string()
    .optional()
    .openapi({ description: 'The browser returned without this cookie before', example: '1' }),
  prompt: z.string().optional().openapi({
    description: '`select_account`: the provider shows its account chooser',
    example: 'select_account',
  }),
});
const answerQuery = z.object({
  state: z.string().openapi({ example: 'q1bW4Y0tV8Jd2c5sZ7mKx9uE3rT6aG1hN0pLfOiQwSe' }),
  code: z.string().optional().openapi({ description: 'Missing when the provider refused', example: '4/0AdQt8qi' }),
  error: z.string().optional().openapi({ description: 'Why the provider refused', example: 'access_denied' }),
});

export function mountVisitorLogins(app: Api, { visitorLogins, publicUrl }: Deps): void {
  app.openapi(
    defineRoute(
      {
        ...open,
        path: '/edge-auth/start',
        summary: 'Send a visitor to the identity provider',
        description:
          'The edge redirects browsers without a session here. Browsers get errors as a page. `/edge-auth/` has its own limit per address: 300 requests at once, then 5 per second.',
        request: { query: startQuery },
        responses: {
          302: redirectTo(
            'To the provider of `edge_auth.provider`. Sets a cookie for one day. The login must finish within ten minutes.',
          ),
        },
      },
      ['not_found', 'rate_limited', 'not_configured', 'unavailable'],
    ),
    async (c) => {
      const { tunnel_id: tunnelId, return_to: returnTo, nonce, again, prompt } = c.req.valid('query');
      const started = await visitorLogins.start({
        tunnelId,
        returnTo,
        nonceHash: nonce,
        again: again === '1',
        chooses: prompt === 'select_account',
      });
      visitCookies.give(c, started, publicUrl());
      return c.redirect(started.location, 302);
    },
    refuseIncomplete,
  );
  app.openapi(
    defineRoute(
      {
        ...open,
        path: '/edge-auth/callback',
        summary: 'Finish the login of a visitor',
        description:
          'Register `{api.public_url}/edge-auth/callback` at the provider. Only addresses that the provider verified count. Case is ignored.',
        request: { query: answerQuery },
        responses: {
          302: redirectTo(
            "To the tunnel's host with a one-time code, valid for one minute in this browser. That host sets its cookie `culvert_visitor`.",
          ),
        },
      },
      ['forbidden', 'email_not_verified', 'not_found', 'rate_limited', 'not_configured', 'unavailable'],
    ),
    async (c) => {
      const { state } = c.req.valid('query');
      const sealed = visitCookies.take(c, state, publicUrl());
      c.set('visitedSite', visitorLogins.siteOf({ sealed, state }));
      const done = await visitorLogins.finish({ sealed, answer: new URL(c.req.url).searchParams });
      if (done.kind === 'in') return c.redirect(done.location, 302);
      if (!(c.req.header('accept') ?? '').includes('text/html')) {
        throw new AppError(
          'forbidden',
          `${done.email} has no access to ${done.site}. Ask its owner to add this address.`,
        );
      }
      c.header('Content-Security-Policy', PAGE_POLICY);
      return c.body(String(await notListedPage(done)), 403, { 'Content-Type': 'text/html; charset=utf-8' });
    },
    refuseIncomplete,
  );
}

/** A user typed this address, or cut it off, and knows no fields. */
function refuseIncomplete(result: { success: true } | { success: false; error: z.ZodError }): undefined {
  if (result.success) return;
  const details = result.error.issues.map(({ path, message }) => ({ path: path.map(String).join('.'), message }));
  throw new AppError('invalid_request', 'The login URL is incomplete. Open the URL of the site itself.', {
    details,
  });
}
