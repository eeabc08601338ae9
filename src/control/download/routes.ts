/** `/download/`: a page for people, a list for programs, and the files. Public: a new member has no account on the machine yet. */
import { Readable } from 'node:stream';
import { z } from '@hono/zod-openapi';
import type { Context } from 'hono';
import { AppError } from '../../base/errors.ts';
import { Shares } from '../../base/limits/shares.ts';
import type { Api, ApiEnv } from '../core/http/context.ts';
import { defineRoute } from '../core/http/define-route.ts';
import { json } from '../core/http/errors.ts';
import { limitKey } from '../core/http/listener/client-ip.ts';
import { PAGE_POLICY } from '../core/http/page-policy.ts';
import { ANY_TYPE, ETAG, fileOf, redirectTo } from '../core/http/served.ts';
import { downloadPage } from './page.ts';
import { downloadBase, downloads, downloadsView } from './schemas.ts';
import type { Content, Downloads, OfferedFile } from './service.ts';

interface Deps {
  readonly downloads: Downloads;
  readonly publicUrl: () => string;
}

/** Of archives under way: far below the connections that the API has, so that downloads can't take them all. */
const MAX_DOWNLOADS = 100;
/** An office behind one address, which installs at once. */
const MAX_PER_SOURCE = 20;
const RETRY_SECONDS = 10;
/** A client that takes no byte for so long has gone. */
const STALL_MS = 60_000;
/** 60 MB in an hour is 17 KB a second. */
const WHOLE_MS = 3_600_000;

const open = { method: 'get' as const, security: [], tags: ['pages'] };

export function mountDownloads(app: Api, deps: Deps): void {
  const redirect = { 302: redirectTo('To `/download/`') };
  app.openapi(
    defineRoute({ ...open, path: '/download', summary: 'Redirect to the download page', responses: redirect }),
    (c) => {
      // Its path alone: a client that used another name of this host stays on it.
      const prefix = new URL(deps.publicUrl()).pathname.replace(/\/+$/, '');
      return c.redirect(`${prefix}/download/`, 302);
    },
  );
  mountPage(app, deps);
  mountList(app, deps);
  mountFiles(app, deps);
}

function mountPage(app: Api, { downloads: of, publicUrl }: Deps): void {
  app.openAPIRegistry.registerPath(
    defineRoute({
      ...open,
      path: '/download/',
      summary: 'Show the download page',
      description: 'Programs and installers of the server’s own version, for the system of the browser first.',
      responses: { 200: fileOf('text/html') },
    }),
  );
  app.get('/download/', async (c) => {
    const offer = await of.offer();
    c.header('Content-Security-Policy', PAGE_POLICY);
    c.header('X-Frame-Options', 'DENY');
    const userAgent = c.req.header('user-agent') ?? '';
    return c.html(downloadPage({ offer, publicUrl: publicUrl(), base: downloadBase(publicUrl()), userAgent }));
  });
}

function mountList(app: Api, { downloads: of, publicUrl }: Deps): void {
  app.openapi(
    defineRoute({
      ...open,
      // Pages are left out of the types that the dashboard's client has.
      tags: ['probes'],
      path: '/download/release.json',
      summary: 'List the files for download and the install commands',
      responses: { 200: json(downloads, 'Files whose signature and checksum are valid') },
    }),
    async (c) => c.json(downloadsView(await of.offer(), publicUrl()), 200),
  );
}

function mountFiles(app: Api, { downloads: of }: Deps): void {
  const places = new Shares({ places: MAX_DOWNLOADS, each: MAX_PER_SOURCE });
  app.openAPIRegistry.registerPath(
    defineRoute(
      {
        ...open,
        path: '/download/{file}',
        summary: 'Download a file of the release',
        description: 'The file is as the release signed it: its checksum is verified whenever it changes.',
        request: { params: z.object({ file: z.string() }) },
        responses: {
          200: { ...fileOf(ANY_TYPE), headers: ETAG },
          304: { description: 'The file has not changed', headers: ETAG },
        },
      },
      ['unavailable'],
    ),
  );
  app.get('/download/:file', async (c) => {
    const file = await of.find(c.req.param('file'));
    if (file === undefined) throw nothingAt(c);
    const etag = `"${file.sum}"`;
    // Kept, and asked about each time: a fetched release replaces files at once.
    c.header('Cache-Control', 'public, no-cache');
    c.header('ETag', etag);
    if (c.req.header('if-none-match') === etag) return c.body(null, 304);
    c.header('Content-Type', typeOf(file.name));
    c.header('Content-Length', String(file.size));
    if (c.req.method === 'HEAD') return c.body(null);
    return send(c, file, { of, places });
  });
}

async function send(
  c: Context<ApiEnv>,
  file: OfferedFile,
  { of, places }: { readonly of: Downloads; readonly places: Shares },
): Promise<Response> {
  const giveBack = places.take(limitKey(c.get('clientIp')));
  if (giveBack === undefined) {
    throw new AppError('unavailable', 'There are too many downloads at this moment. Try again in a few seconds.', {
      retryAfterSeconds: RETRY_SECONDS,
    });
  }
  let content: Content | undefined;
  try {
    content = await of.open(file);
  } catch (error) {
    giveBack();
    throw error;
  }
  if (content === undefined || 'bytes' in content) giveBack();
  if (content === undefined) throw nothingAt(c);
  if ('bytes' in content) return c.body(Uint8Array.from(content.bytes));
  return c.body(streamOf(content, c.env.outgoing, giveBack));
}

/** Ends by itself when the client stops reading. */
function streamOf(
  { handle }: Extract<Content, { handle: unknown }>,
  outgoing: ApiEnv['Bindings']['outgoing'],
  onEnd: () => void,
): ReadableStream {
  const bytes = handle.createReadStream({ start: 0 });
  const whole = setTimeout(() => bytes.destroy(new Error('the download took too long')), WHOLE_MS);
  outgoing.setTimeout(STALL_MS, () => outgoing.destroy());
  outgoing.once('close', () => bytes.destroy());
  bytes.once('close', () => {
    clearTimeout(whole);
    onEnd();
  });
  return Readable.toWeb(bytes) as ReadableStream;
}

function typeOf(name: string): string {
  if (name.endsWith('.gz')) return 'application/gzip';
  // PowerShell makes text of text alone.
  return name.endsWith('.zip') ? 'application/zip' : 'text/plain; charset=utf-8';
}

function nothingAt(c: Context<ApiEnv>): AppError {
  return new AppError('not_found', `There is no file at ${c.req.path}. GET /download/ lists all of them.`);
}
