/** `GET /superadmin/edge`: what the public edge has counted. Mounted by superadmin.ts, behind its check for operators. */
import { z } from '@hono/zod-openapi';
import { type Api, type ApiDeps, operatorOf } from '../context.ts';
import { defineRoute } from '../define-route.ts';
import { json } from '../errors.ts';

const counts = z.record(z.string(), z.int());

const edgeCounts = z
  .object({
    since: z.iso.datetime().openapi({ description: 'When counting began: the start of the server' }),
    connections: z.object({
      open: z.int().openapi({ description: 'Open now' }),
      http: z.int().openapi({ description: 'Of these, with HTTP on them' }),
      tcp: z.int().openapi({ description: 'Of these, to the public port of a tcp tunnel' }),
      addresses: z.int().openapi({ description: 'Addresses (IPv6: /64 networks) that they come from' }),
      admitted: z.int().openapi({ description: 'Let in since the start' }),
    }),
    dropped: counts.openapi({
      description: 'Connections of visitors that were refused or cut, by reason; every reason is there',
    }),
    answered: counts.openapi({
      description:
        'Requests that the edge answered by itself, by the code of its `culvert-error` header; every code is there',
    }),
    inspector: z.object({
      recorded: z.int().openapi({ description: 'Requests that were recorded' }),
      dropped: counts.openapi({ description: 'Requests that were not recorded, by reason; every reason is there' }),
      waiting: z.int().openapi({ description: 'Records on their way into the file' }),
      held_bytes: z.int().openapi({ description: 'Memory that records take until they are stored' }),
    }),
  })
  .openapi('EdgeCounts', {
    example: {
      since: '2026-11-21T09:30:00.000Z',
      connections: { open: 12, http: 9, tcp: 3, addresses: 7, admitted: 4031 },
      dropped: { over_address: 512, malformed: 0 },
      answered: { tunnel_offline: 3, bad_request: 0 },
      inspector: { recorded: 980, dropped: { tunnel_rate: 17, memory: 0 }, waiting: 2, held_bytes: 4096 },
    },
  });

export function mountOperatedEdge(app: Api, { operatorEdge }: ApiDeps): void {
  app.openapi(
    defineRoute(
      {
        method: 'get',
        path: '/superadmin/edge',
        tags: ['superadmin'],
        summary: 'What the public edge has let in, refused and cut since the server started',
        responses: { 200: json(edgeCounts, 'Counts') },
      },
      ['forbidden', 'unavailable'],
    ),
    (c) => {
      const { since, connections, dropped, answered, inspector } = operatorEdge.stats(operatorOf(c));
      const { recorded, waiting, heldBytes } = inspector;
      const records = { recorded, dropped: inspector.dropped, waiting, held_bytes: heldBytes };
      return c.json({ since: new Date(since).toISOString(), connections, dropped, answered, inspector: records }, 200);
    },
  );
}
