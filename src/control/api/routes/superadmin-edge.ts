/** `GET /superadmin/edge`: what the public edge has counted. Mounted by superadmin.ts, behind its check for operators. */
import { z } from '@hono/zod-openapi';
import type { RelayStats } from '../../../plane/relays.ts';
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
      admitted: z.int().openapi({ description: 'Admitted since the start' }),
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
    relays: z.object({
      attached: z.int().openapi({ description: 'Private networks that agents carry now' }),
      on_stream: z
        .int()
        .openapi({ description: "Of these, by the agent's session, because UDP does not get through to the server" }),
      flows: z.int().openapi({ description: 'Addresses and ports that clients speak from now' }),
      packets_in: z.int().openapi({ description: 'Datagrams of clients that were passed on' }),
      packets_out: z.int().openapi({ description: 'Datagrams to clients that were passed on' }),
      bytes_in: z.int(),
      bytes_out: z.int(),
      dropped: counts.openapi({ description: 'Datagrams that were dropped, by reason; every reason is there' }),
    }),
  })
  .openapi('EdgeCounts', {
    example: {
      since: '2026-11-21T09:30:00.000Z',
      connections: { open: 12, http: 9, tcp: 3, addresses: 7, admitted: 4031 },
      dropped: { over_address: 512, malformed: 0 },
      answered: { tunnel_offline: 3, bad_request: 0 },
      inspector: { recorded: 980, dropped: { tunnel_rate: 17, memory: 0 }, waiting: 2, held_bytes: 4096 },
      relays: {
        attached: 2,
        on_stream: 1,
        flows: 19,
        packets_in: 8001,
        packets_out: 9001,
        bytes_in: 80_010,
        bytes_out: 90_010,
        dropped: { no_agent: 23, queue_full: 0 },
      },
    },
  });

export function mountOperatedEdge(app: Api, { operatorEdge }: ApiDeps): void {
  app.openapi(
    defineRoute(
      {
        method: 'get',
        path: '/superadmin/edge',
        tags: ['superadmin'],
        summary: 'Get counts of accepted and refused traffic',
        description: 'Counts begin with the start of the server.',
        responses: { 200: json(edgeCounts, 'Counts') },
      },
      ['forbidden', 'unavailable'],
    ),
    async (c) => {
      const { since, connections, dropped, answered, inspector, relays } = await operatorEdge.stats(operatorOf(c));
      const { recorded, waiting, heldBytes } = inspector;
      const records = { recorded, dropped: inspector.dropped, waiting, held_bytes: heldBytes };
      const counted = { connections, dropped, answered, inspector: records, relays: presentRelays(relays) };
      return c.json({ since: new Date(since).toISOString(), ...counted }, 200);
    },
  );
}

function presentRelays({ attached, onStream, flows, dropped, ...passed }: RelayStats) {
  const { packetsIn, packetsOut, bytesIn, bytesOut } = passed;
  return {
    attached,
    on_stream: onStream,
    flows,
    packets_in: packetsIn,
    packets_out: packetsOut,
    bytes_in: bytesIn,
    bytes_out: bytesOut,
    dropped: { ...dropped },
  };
}
