/**
 * `/docs/api/`: the API reference. Swagger UI out of its npm package, nothing from another host, and a policy that forbids it.
 */
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { z } from '@hono/zod-openapi';
import type { Context } from 'hono';
import { AppError } from '../../base/errors.ts';
import { readPackageFile } from '../../base/process/assets.ts';
import type { Api, ApiEnv } from '../core/http/context.ts';
import { defineRoute } from '../core/http/define-route.ts';
import { ANY_TYPE, ETAG, fileOf } from '../core/http/served.ts';

interface Deps {
  readonly publicUrl: () => string;
}

/** Addresses are relative to the page, for it is served under `/api` too. */
const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Culvert API reference</title>
<link rel="stylesheet" href="swagger-ui.css">
<link rel="icon" href="data:,">
</head>
<body>
<div id="reference"></div>
<script src="swagger-ui-bundle.js"></script>
<script src="start.js"></script>
</body>
</html>
`;

/** A user who is logged in at this origin need not paste a token: the session cookie gives one. Reloading the page gives the next. */
const START = `const reference = SwaggerUIBundle({
  url: '../../openapi.json',
  dom_id: '#reference',
  deepLinking: true,
  docExpansion: 'list',
  defaultModelsExpandDepth: 0,
  validatorUrl: null,
  onComplete: signIn,
});

async function swapCookie() {
  const answer = await fetch('../../auth/refresh', { method: 'POST', credentials: 'same-origin', keepalive: true });
  return { ok: answer.ok, body: await answer.json() };
}

async function signIn() {
  let answer = await swapCookie();
  // Another tab may be at it with the same cookie: then the server says when to come back, and the new cookie is there.
  const seconds = answer.body.retry_after_seconds;
  if (!answer.ok && seconds !== undefined) {
    await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
    answer = await swapCookie();
  }
  if (answer.ok) reference.preauthorizeApiKey('bearer', answer.body.access_token);
}
`;

const MINUTES_5 = 'public, max-age=300';

interface Served {
  readonly type: string;
  readonly read: () => Uint8Array;
}

const FILES: ReadonlyMap<string, Served> = new Map([
  ['start.js', { type: 'text/javascript; charset=utf-8', read: () => Buffer.from(START) }],
  [
    'swagger-ui-bundle.js',
    {
      type: 'text/javascript; charset=utf-8',
      read: () => readPackageFile('swagger-ui-dist/swagger-ui-bundle.js'),
    },
  ],
  [
    'swagger-ui.css',
    { type: 'text/css; charset=utf-8', read: () => readPackageFile('swagger-ui-dist/swagger-ui.css') },
  ],
]);

/** A file as it goes out, made at its first use: most servers are never asked. */
interface Packed {
  readonly plain: Uint8Array<ArrayBuffer>;
  readonly gzipped: Uint8Array<ArrayBuffer>;
  readonly etag: string;
}

export function mountApiReference(app: Api, deps: Deps): void {
  const packed = new Map<string, Promise<Packed>>();
  const open = { method: 'get' as const, security: [], tags: ['pages'] };
  app.openAPIRegistry.registerPath(
    defineRoute({
      ...open,
      path: '/docs/api/',
      summary: 'Show the API reference',
      responses: { 200: fileOf('text/html') },
    }),
  );
  app.get('/docs/api/', (c) => {
    c.header('Content-Security-Policy', policy(deps.publicUrl()));
    return c.html(PAGE);
  });
  app.openAPIRegistry.registerPath(
    defineRoute({
      ...open,
      path: '/docs/api/{file}',
      summary: 'Get a script or style of the API reference',
      request: { params: z.object({ file: z.string() }) },
      responses: {
        200: { ...fileOf(ANY_TYPE), headers: ETAG },
        304: { description: 'The file has not changed', headers: ETAG },
      },
    }),
  );
  app.get('/docs/api/:file', async (c) => {
    const name = c.req.param('file');
    const file = FILES.get(name);
    if (file === undefined) throw new AppError('not_found', `There is no page at ${c.req.path}. Check the URL.`);
    let ready = packed.get(name);
    if (ready === undefined) packed.set(name, (ready = pack(file.read())));
    return serve(c, file.type, await ready);
  });
}

/** `Try it out` calls the API by its public address, which need not be the one that the page came from. */
function policy(publicUrl: string): string {
  const { origin } = new URL(publicUrl);
  return [
    "default-src 'none'",
    "script-src 'self'",
    // Swagger UI styles its elements one by one.
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data:",
    `connect-src 'self' ${origin}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}

async function pack(bytes: Uint8Array): Promise<Packed> {
  const plain = Uint8Array.from(bytes);
  const gzipped = Uint8Array.from(await promisify(gzip)(plain));
  return { plain, gzipped, etag: `"${createHash('sha256').update(plain).digest('hex').slice(0, 32)}"` };
}

function serve(c: Context<ApiEnv>, type: string, { plain, gzipped, etag }: Packed): Response {
  c.header('Cache-Control', MINUTES_5);
  c.header('ETag', etag);
  c.header('Vary', 'Accept-Encoding');
  if (c.req.header('if-none-match') === etag) return c.body(null, 304);
  c.header('Content-Type', type);
  if (!/\bgzip\b/.test(c.req.header('accept-encoding') ?? '')) return c.body(plain);
  c.header('Content-Encoding', 'gzip');
  return c.body(gzipped);
}
