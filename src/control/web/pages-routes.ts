/** `/app/`: the dashboard, and `/`, which leads there. */
import { randomBytes } from 'node:crypto';
import { z } from '@hono/zod-openapi';
import type { Context } from 'hono';
import { AppError } from '../../base/errors.ts';
import type { Api, ApiEnv } from '../core/http/context.ts';
import { defineRoute } from '../core/http/define-route.ts';
import { keptCookie } from '../auth/oauth/login-cookie.ts';
import { DashboardFiles } from './dashboard-files.ts';
import { dashboardPage, dashboardPolicy } from './dashboard-page.ts';
import { STYLE } from './style.ts';
import { refreshCookies } from '../core/http/refresh-cookie.ts';
import { ANY_TYPE, fileOf, redirectTo } from '../core/http/served.ts';
import type { Refresh } from '../auth/sessions/refresh.ts';
import type { ProviderLogins } from '../auth/oauth/provider-logins.ts';

interface Deps {
  readonly refresh: Refresh;
  readonly providerLogins: ProviderLogins;
  readonly publicUrl: () => string;
}

const FOREVER = 'public, max-age=31536000, immutable';
const open = { method: 'get' as const, security: [], tags: ['pages'] };
const part = z.string();

/** The dashboard's own addresses are as deep as this. */
const PAGES = [
  { path: '/app/', params: z.object({}) },
  { path: '/app/{page}', params: z.object({ page: part }) },
  { path: '/app/{page}/{id}', params: z.object({ page: part, id: part }) },
] as const;

export function mountPages(app: Api, deps: Deps): void {
  const files = new DashboardFiles();
  mountWayHome(app, deps);
  mountFiles(app, files);
  for (const { path, params } of PAGES) {
    const summary = 'Show the dashboard';
    const route = { ...open, path, summary, request: { params }, responses: { 200: fileOf('text/html') } };
    app.openAPIRegistry.registerPath(
      defineRoute(route, path === '/app/' ? ['unavailable'] : ['unavailable', 'not_found']),
    );
    app.get(path.replaceAll('{', ':').replaceAll('}', ''), (c) => servePage(c, deps, files));
  }
}

function servePage(c: Context<ApiEnv>, deps: Deps, files: DashboardFiles): Response {
  // Where a browser asks for a file that is not there, a page in its place would only puzzle.
  if (c.req.path.slice(c.req.path.lastIndexOf('/')).includes('.')) throw nothingAt(c);
  const list = files.list();
  if (list === undefined)
    throw new AppError('unavailable', 'The dashboard is not built. Run `npm run build:dashboard`, then reload.');
  const nonce = randomBytes(16).toString('base64url');
  const signedIn = refreshCookies(c, deps).some((cookie) => deps.refresh.isLive(cookie));
  const segments = c.req.path.slice(c.req.path.indexOf('/app/') + '/app/'.length).split('/');
  const kept = takeKept(c, deps, segments.join('/'));
  c.header('Content-Type', 'text/html; charset=utf-8');
  c.header('Content-Security-Policy', dashboardPolicy(nonce, deps.publicUrl()));
  c.header('X-Frame-Options', 'DENY');
  return c.body(dashboardPage({ nonce, signedIn, kept, segments, files: list }));
}

/** What this page had by its address before its reader went to an identity provider. Another page leaves it there. */
function takeKept(c: Context<ApiEnv>, { providerLogins, publicUrl }: Deps, page: string): string | undefined {
  const sealed = keptCookie.read(c, publicUrl());
  const kept = sealed === '' ? undefined : providerLogins.openKept({ sealed, page });
  if (kept !== undefined) keptCookie.forget(c, publicUrl());
  return kept;
}

function mountFiles(app: Api, files: DashboardFiles): void {
  const params = z.object({ file: part });
  app.openAPIRegistry.registerPath(
    defineRoute({
      ...open,
      path: '/app/assets/{file}',
      summary: 'Get a script or style of the dashboard',
      description: 'The content of a file name never changes.',
      request: { params },
      responses: { 200: fileOf(ANY_TYPE) },
    }),
  );
  app.get('/app/assets/:file', async (c) => {
    const file = await files.find(c.req.param('file'), c.req.header('accept-encoding') ?? '');
    if (file === undefined) throw nothingAt(c);
    c.header('Content-Type', file.type);
    c.header('Cache-Control', FOREVER);
    c.header('Vary', 'Accept-Encoding');
    if (file.coding !== 'identity') c.header('Content-Encoding', file.coding);
    return c.body(file.bytes);
  });
  const style = { ...open, path: '/app/page.css', summary: 'Get the style of pages beside the dashboard' };
  app.openAPIRegistry.registerPath(defineRoute({ ...style, responses: { 200: fileOf('text/css') } }));
  app.get('/app/page.css', (c) => {
    c.header('Content-Type', 'text/css; charset=utf-8');
    return c.body(STYLE);
  });
}

function nothingAt(c: Context<ApiEnv>): AppError {
  return new AppError('not_found', `There is no page at ${c.req.path}. Check the URL.`);
}

function mountWayHome(app: Api, { publicUrl }: Deps): void {
  for (const path of ['/', '/app']) {
    const responses = { 302: redirectTo('To `/app/`, with the same query') };
    app.openapi(defineRoute({ ...open, path, summary: 'Redirect to the dashboard', responses }), (c) => {
      // Its path alone: a user of another name of this host stays on it.
      const prefix = new URL(publicUrl()).pathname.replace(/\/+$/, '');
      return c.redirect(`${prefix}/app/${new URL(c.req.url).search}`, 302);
    });
  }
}
