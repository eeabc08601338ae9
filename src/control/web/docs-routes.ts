/** `/docs/`: the documentation, as the build has made it of docs/*.md. Public: nothing on it is of a user. */
import { z } from '@hono/zod-openapi';
import type { Context } from 'hono';
import { AppError } from '../../base/errors.ts';
import type { Api, ApiEnv } from '../core/http/context.ts';
import { defineRoute } from '../core/http/define-route.ts';
import { BuiltFiles, BuiltList } from './built-files.ts';
import { PAGE_POLICY } from '../core/http/page-policy.ts';
import { ANY_TYPE, fileOf, redirectTo } from '../core/http/served.ts';

interface Deps {
  readonly publicUrl: () => string;
}

const List = BuiltList.extend({
  /** Addresses below `/docs/`; empty for the home page. */
  pages: z.array(z.string()),
});
type Files = BuiltFiles<z.infer<typeof List>>;

/** A new version of the server has new pages at the same addresses. */
const MINUTES_5 = 'public, max-age=300';
/** The name of an asset says its content. */
const FOREVER = 'public, max-age=31536000, immutable';
const open = { method: 'get' as const, security: [], tags: ['pages'] };
const responses = { 200: fileOf('text/html') };

export function mountDocs(app: Api, deps: Deps): void {
  const files: Files = new BuiltFiles('docs', List);
  mountRedirects(app, deps);
  app.openAPIRegistry.registerPath(
    defineRoute({ ...open, path: '/docs/', summary: 'Show the documentation', responses }, ['unavailable']),
  );
  app.get('/docs/', async (c) => servePage(c, files, ''));
  const pageParams = z.object({ page: z.string() });
  app.openAPIRegistry.registerPath(
    defineRoute(
      {
        ...{ ...open, path: '/docs/{page}', summary: 'Show a page of the documentation' },
        request: { params: pageParams },
        responses,
      },
      ['unavailable'],
    ),
  );
  app.get('/docs/:page', async (c) => servePage(c, files, c.req.param('page')));
  const fileParams = z.object({ file: z.string() });
  const asset = { ...open, path: '/docs/assets/{file}', summary: 'Get a style, script or index of the documentation' };
  app.openAPIRegistry.registerPath(
    defineRoute({ ...asset, request: { params: fileParams }, responses: { 200: fileOf(ANY_TYPE) } }),
  );
  app.get('/docs/assets/:file', async (c) => {
    const name = c.req.param('file');
    if (name.endsWith('.html')) throw nothingAt(c);
    c.header('Cache-Control', FOREVER);
    return serveFile(c, files, name);
  });
}

async function servePage(c: Context<ApiEnv>, files: Files, slug: string): Promise<Response> {
  const list = files.list();
  if (list === undefined)
    throw new AppError('unavailable', 'The documentation is not built. Run `npm run build:dashboard`, then reload.');
  if (!list.pages.includes(slug)) throw nothingAt(c);
  c.header('Content-Security-Policy', PAGE_POLICY);
  c.header('X-Frame-Options', 'DENY');
  c.header('Cache-Control', MINUTES_5);
  return serveFile(c, files, `${slug === '' ? 'index' : slug}.html`);
}

async function serveFile(c: Context<ApiEnv>, files: Files, name: string): Promise<Response> {
  const file = await files.find(name, c.req.header('accept-encoding') ?? '');
  if (file === undefined) throw nothingAt(c);
  c.header('Content-Type', file.type);
  c.header('Vary', 'Accept-Encoding');
  if (file.coding !== 'identity') c.header('Content-Encoding', file.coding);
  return c.body(file.bytes);
}

function nothingAt(c: Context<ApiEnv>): AppError {
  return new AppError('not_found', `There is no page at ${c.req.path}. Check the URL.`);
}

/** Pages link relative to a folder, so its address ends with a slash. */
function mountRedirects(app: Api, { publicUrl }: Deps): void {
  for (const [path, summary] of [
    ['/docs', 'Redirect to the documentation'],
    ['/docs/api', 'Redirect to the API reference'],
  ] as const) {
    const redirect = { 302: redirectTo(`To \`${path}/\``) };
    app.openapi(defineRoute({ ...open, path, summary, responses: redirect }), (c) => {
      // Its path alone: a client that used another name of this host stays on it.
      const prefix = new URL(publicUrl()).pathname.replace(/\/+$/, '');
      return c.redirect(`${prefix}${path}/`, 302);
    });
  }
}
