/** `/inspector/{id}/curl`, `/inspector/{id}/har`, `/inspector/har`: recorded requests for other tools. */
import { z } from '@hono/zod-openapi';
import { curlCommand } from '../../services/inspector/curl.ts';
import { harOf } from '../../services/inspector/har.ts';
import { type Api, type ApiDeps, actorOf } from '../context.ts';
import { defineRoute } from '../define-route.ts';
import { limit } from './inspector.ts';

const SECRETS =
  'Values of `authorization`, `proxy-authorization`, `cookie` and `set-cookie` are `***`, for exports are passed on; `secrets=true` leaves them as they are, for members and up.';

const secrets = z
  .enum(['true', 'false'])
  .default('false')
  .openapi({ description: 'Leaves credentials and cookies unmasked; 403 for a viewer' });
const archive = z.looseObject({ log: z.looseObject({}) }).openapi('HttpArchive', {
  example: { log: { version: '1.2', creator: { name: 'Culvert', version: '1.0.0' }, pages: [], entries: [] } },
});
const har = { description: 'HAR 1.2', content: { 'application/json': { schema: archive } } };
const one = z.object({ id: z.string() });
const tags = ['inspector'];

export function mountInspectorExports(app: Api, { inspector, version }: ApiDeps): void {
  app.openapi(
    defineRoute(
      {
        method: 'get',
        path: '/inspector/har',
        tags,
        summary: 'The newest recorded requests as an HTTP archive',
        description: `For the import of browsers and other tools; oldest first. ${SECRETS} Of more than 16 MB the oldest are left out, and the archive says so.`,
        request: { query: z.object({ tunnel_id: z.uuid().optional(), limit, secrets }) },
        responses: { 200: har },
      },
      ['forbidden', 'not_found', 'rate_limited', 'unavailable'],
    ),
    async (c) => {
      const { tunnel_id: tunnelId, limit: most, secrets: wants } = c.req.valid('query');
      const found = await inspector.collect(actorOf(c), { tunnelId, limit: most, secrets: secretsOf(wants) });
      c.header('Content-Disposition', 'attachment; filename="culvert.har"');
      return c.json(await harOf(found, version), 200);
    },
  );
  app.openapi(
    defineRoute(
      {
        method: 'get',
        path: '/inspector/{id}/har',
        tags,
        summary: 'A recorded request as an HTTP archive',
        description: SECRETS,
        request: { params: one, query: z.object({ secrets }) },
        responses: { 200: har },
      },
      ['forbidden', 'rate_limited', 'unavailable'],
    ),
    async (c) => {
      const { id } = c.req.valid('param');
      const found = await inspector.find(actorOf(c), id, secretsOf(c.req.valid('query').secrets));
      c.header('Content-Disposition', `attachment; filename="${found.record.id}.har"`);
      return c.json(await harOf({ requests: [found], leftOut: 0 }, version), 200);
    },
  );
  app.openapi(
    defineRoute(
      {
        method: 'get',
        path: '/inspector/{id}/curl',
        tags,
        summary: 'A recorded request as a curl command for a POSIX shell',
        description: `Asks the public address again, through the tunnel's policy and gates. What the edge adds for the service is left out. ${SECRETS}`,
        request: { params: one, query: z.object({ secrets }) },
        responses: {
          200: {
            description: 'One command',
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
