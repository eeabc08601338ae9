/** `/app/`: the pages for people, and `/`, which leads there. */
import { z } from '@hono/zod-openapi';
import type { Context } from 'hono';
import { AppError } from '../../../base/errors.ts';
import type { Api, ApiDeps, ApiEnv } from '../context.ts';
import { defineRoute } from '../define-route.ts';
import { cliPage } from '../pages/cli-page.ts';
import { PAGE_POLICY, type PageFacts } from '../pages/document.ts';
import { homePage } from '../pages/home-page.ts';
import { invitePage } from '../pages/invite-page.ts';
import { resetPage } from '../pages/reset-page.ts';
import { CALLS_SCRIPT } from '../pages/scripts/calls-script.ts';
import { CLI_SCRIPT } from '../pages/scripts/cli-script.ts';
import { FORGOTTEN_SCRIPT } from '../pages/scripts/forgotten-script.ts';
import { HOME_SCRIPT } from '../pages/scripts/home-script.ts';
import { INVITE_SCRIPT } from '../pages/scripts/invite-script.ts';
import { PARTS_SCRIPT } from '../pages/scripts/parts-script.ts';
import { RESET_SCRIPT } from '../pages/scripts/reset-script.ts';
import { SIGN_IN_SCRIPT } from '../pages/scripts/sign-in-script.ts';
import { SIGN_UP_SCRIPT } from '../pages/scripts/sign-up-script.ts';
import { STYLE } from '../pages/style.ts';
import { refreshCookies } from '../refresh-cookie.ts';

const HTML = 'text/html; charset=utf-8';
const SCRIPT = 'text/javascript; charset=utf-8';

const PAGES: ReadonlyArray<{ path: string; summary: string; page: (facts: PageFacts) => string }> = [
  { path: '/app/', summary: 'Page to sign in or up, and to see who one is', page: homePage },
  { path: '/app/cli', summary: 'Page on which a person lets a command line in', page: cliPage },
  { path: '/app/reset', summary: 'Page to set a new password, with the token of a mail', page: resetPage },
  { path: '/app/invite', summary: 'Page to accept an invitation, with the token of a mail', page: invitePage },
];

const FILES: ReadonlyMap<string, { readonly type: string; readonly text: string }> = new Map([
  ['page.css', { type: 'text/css; charset=utf-8', text: STYLE }],
  ['calls.js', { type: SCRIPT, text: CALLS_SCRIPT }],
  ['cli.js', { type: SCRIPT, text: CLI_SCRIPT }],
  ['forgotten.js', { type: SCRIPT, text: FORGOTTEN_SCRIPT }],
  ['home.js', { type: SCRIPT, text: HOME_SCRIPT }],
  ['invite.js', { type: SCRIPT, text: INVITE_SCRIPT }],
  ['parts.js', { type: SCRIPT, text: PARTS_SCRIPT }],
  ['reset.js', { type: SCRIPT, text: RESET_SCRIPT }],
  ['sign-in.js', { type: SCRIPT, text: SIGN_IN_SCRIPT }],
  ['sign-up.js', { type: SCRIPT, text: SIGN_UP_SCRIPT }],
]);

const open = { method: 'get' as const, security: [], tags: ['pages'] };
const forBrowsers = (type: string) => ({
  200: { description: 'A file for a browser', content: { [type]: { schema: { type: 'string' as const } } } },
});

export function mountPages(app: Api, deps: ApiDeps): void {
  mountWayHome(app, deps);
  for (const { path, summary, page } of PAGES) {
    app.openAPIRegistry.registerPath({ ...open, path, summary, responses: forBrowsers(HTML) });
    app.get(path, (c) => {
      c.header('Content-Type', HTML);
      c.header('Content-Security-Policy', PAGE_POLICY);
      c.header('X-Frame-Options', 'DENY');
      return c.body(page(factsOf(c, deps)));
    });
  }
  app.openAPIRegistry.registerPath(
    defineRoute({
      ...open,
      path: '/app/{asset}',
      summary: 'Scripts and style of these pages',
      request: { params: z.object({ asset: z.enum([...FILES.keys()]) }) },
      responses: { 200: { description: 'A file for a browser' } },
    }),
  );
  app.get('/app/:asset', (c) => {
    const file = FILES.get(c.req.param('asset'));
    if (file === undefined) throw new AppError('not_found', `There is nothing at ${c.req.path}.`);
    c.header('Content-Type', file.type);
    return c.body(file.text);
  });
}

function mountWayHome(app: Api, { publicUrl }: ApiDeps): void {
  for (const path of ['/', '/app']) {
    const responses = { 302: { description: 'To `/app/`, with the same query' } };
    app.openapi(defineRoute({ ...open, path, summary: 'Leads to the pages for people', responses }), (c) => {
      // Its path alone: whoever came by another name of this host stays on it.
      const prefix = new URL(publicUrl()).pathname.replace(/\/+$/, '');
      return c.redirect(`${prefix}/app/${new URL(c.req.url).search}`, 302);
    });
  }
}

function factsOf(c: Context<ApiEnv>, { refresh }: ApiDeps): PageFacts {
  const signedIn = refreshCookies(c).some((cookie) => refresh.isLive(cookie));
  return { query: (name) => c.req.query(name), signedIn };
}
