/** `/inspector/{id}/curl`, `/inspector/{id}/har`, `/inspector/har`: recorded requests for other tools. */
import { z } from '@hono/zod-openapi';
import { curlCommand } from './curl.ts';
import { archiveOfOne } from './archive.ts';
import { type Api, actorOf, goneSignal } from '../../core/http/context.ts';
import { defineRoute } from '../../core/http/define-route.ts';
import { writtenInParts } from '../../core/http/bodies/written-in-parts.ts';
import { filterFields, filterOf } from '../filter-schemas.ts';
import type { Inspector } from '../service.ts';

interface Deps {
  readonly inspector: Inspector;
  readonly version: string;
}

/** Who reads an archive of 16 MB more slowly than at 2 Mbit/s is cut off: others wait for the place. */
const READ_WITHIN_MS = 60_000;

const SECRETS =
  'Values of `authorization`, `proxy-authorization`, `cookie` and `set-cookie` are `***`, because exports are often shared. With `secrets=true`, members and higher roles get them.';

const BOUNDS = `It has at most 16 MB. Above that, the oldest requests are omitted and counted in \`log.comment\`. Responses with a content coding are decoded
up to 1 MB each; others stay encoded. Bodies that are not text, or longer than 256 KB, are in base64. One archive at a
time per organization and user (429 \`rate_limited\`) and 4 in total (503 \`unavailable\`): try again after \`Retry-After\`. A download is cut off after one minute.`;

const secrets = z
  .enum(['true', 'false'])
  .default('false')
  .openapi({ description: 'Include credentials and cookies; 403 for viewers' });
const archive = z.looseObject({ log: z.looseObject({}) }).openapi('HttpArchive', {
  example: { log: { version: '1.2', creator: { name: 'Culvert', version: '1.0.0' }, pages: [], entries: [] } },
});
const har = { description: 'HAR 1.2', content: { 'application/json': { schema: archive } } };
/** A filter that is passed over would put more into the archive than its reader is meant to see. */
const ofMany = z.looseObject({ ...filterFields, secrets }).superRefine((asked, context) => {
  for (const name of Object.keys(asked).filter((key) => key !== 'secrets' && !Object.hasOwn(filterFields, key)))
    context.addIssue({ code: 'custom', path: [name], message: 'is not a parameter of an archive' });
});
const one = z.object({ id: z.string() });
const tags = ['inspector'];

export function mountInspectorExports(app: Api, { inspector, version }: Deps): void {
  app.openapi(
    defineRoute(
      {
        method: 'get',
        path: '/inspector/har',
        tags,
        summary: 'Export the newest recorded requests as HAR',
        description: `An HTTP archive for browsers and other tools, oldest requests first, with the filters of \`GET /inspector\`. An unknown parameter is rejected. ${SECRETS} ${BOUNDS}`,
        request: { query: ofMany },
        responses: { 200: har },
      },
      ['forbidden', 'not_found', 'rate_limited', 'unavailable'],
    ),
    async (c) => {
      const asked = c.req.valid('query');
      const filter = { ...filterOf(asked), secrets: secretsOf(asked.secrets) };
      const archive = await inspector.archive(actorOf(c), filter, { version, gone: goneSignal(c) });
      c.header('Content-Disposition', 'attachment; filename="culvert.har"');
      c.header('Content-Type', 'application/json');
      return writtenInParts(c, archive, { withinMs: READ_WITHIN_MS, afterwards: archive.leave });
    },
  );
  app.openapi(
    defineRoute(
      {
        method: 'get',
        path: '/inspector/{id}/har',
        tags,
        summary: 'Export a recorded request as HAR',
        description: `${SECRETS} A response with a content coding is decoded up to 1 MB; a larger one stays encoded. Bodies that are not text, or longer than 256 KB, are in base64.`,
        request: { params: one, query: z.object({ secrets }) },
        responses: { 200: har },
      },
      ['forbidden', 'rate_limited', 'unavailable'],
    ),
    async (c) => {
      const { id } = c.req.valid('param');
      const found = await inspector.find(actorOf(c), id, secretsOf(c.req.valid('query').secrets));
      c.header('Content-Disposition', `attachment; filename="${found.record.id}.har"`);
      c.header('Content-Type', 'application/json');
      const archive = await archiveOfOne(found, version);
      return writtenInParts(c, archive, { withinMs: READ_WITHIN_MS, afterwards: () => {} });
    },
  );
  app.openapi(
    defineRoute(
      {
        method: 'get',
        path: '/inspector/{id}/curl',
        tags,
        summary: 'Export a recorded request as a curl command',
        description: `The command requests the public URL again, through policy and access control. Headers that the edge adds are omitted. ${SECRETS}`,
        request: { params: one, query: z.object({ secrets }) },
        responses: {
          200: {
            description: 'The command',
            content: {
              'text/plain': { schema: z.string().openapi({ example: "curl 'https://shop.example.com/orders'\n" }) },
            },
          },
        },
      },
      ['forbidden', 'body_truncated', 'rate_limited', 'unavailable'],
    ),
    async (c) => {
      const { id } = c.req.valid('param');
      const found = await inspector.find(actorOf(c), id, secretsOf(c.req.valid('query').secrets));
      // One byte per character: fields and bodies come out as they came in.
      return c.body(Buffer.from(curlCommand(found), 'latin1'), 200, { 'Content-Type': 'text/plain; charset=utf-8' });
    },
  );
}

function secretsOf(wanted: 'true' | 'false'): 'wanted' | 'masked' {
  return wanted === 'true' ? 'wanted' : 'masked';
}
