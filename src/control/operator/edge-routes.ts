/** `GET /superadmin/edge`: what the public edge has counted. Mounted by routes.ts, behind its check for operators. */
import { z } from '@hono/zod-openapi';
import type { RelayStats } from '../../plane/relays.ts';
import { type Api, operatorOf } from '../core/http/context.ts';
import { defineRoute } from '../core/http/define-route.ts';
import { json } from '../core/http/errors.ts';
import { iso } from '../core/http/fields/shared.ts';
import type { OperatorEdge } from './edge.ts';

interface Deps {
  readonly operatorEdge: OperatorEdge;
}

const counts = z.record(z.string(), z.int());

const edgeCounts = z
  .object({
    since: z.iso.datetime().openapi({ description: 'Start of the counts: the start of the server' }),
    connections: z.object({
      open: z.int().openapi({ description: 'Open now' }),
      http: z.int().openapi({ description: 'Open HTTP connections' }),
      tcp: z.int().openapi({ description: 'Open connections of tcp tunnels' }),
      addresses: z.int().openapi({ description: 'Number of addresses (IPv6: /64 networks) of open connections' }),
      admitted: z.int().openapi({ description: 'Accepted connections since the start' }),
    }),
    dropped: counts.openapi({
      description: 'Refused and closed visitor connections, by reason. All reasons are listed.',
    }),
    answered: counts.openapi({
      description: 'Responses from the edge itself, by the code in `culvert-error`. All codes are listed.',
    }),
    inspector: z.object({
      recorded: z.int().openapi({ description: 'Requests that were recorded' }),
      dropped: counts.openapi({ description: 'Requests that were not recorded, by reason. All reasons are listed.' }),
      waiting: z.int().openapi({ description: 'Records that wait for the disk' }),
      held_bytes: z.int().openapi({ description: 'Memory of records that wait for the disk' }),
    }),
    relays: z.object({
      attached: z.int().openapi({ description: 'Private networks with an agent' }),
      on_stream: z
        .int()
        .openapi({ description: "Private networks that use the agent's TLS session, because UDP is blocked" }),
      flows: z.int().openapi({ description: 'Active addresses and ports of clients' }),
      packets_in: z.int().openapi({ description: 'Forwarded datagrams of clients' }),
      packets_out: z.int().openapi({ description: 'Forwarded datagrams to clients' }),
      bytes_in: z.int(),
      bytes_out: z.int(),
      dropped: counts.openapi({ description: 'Dropped datagrams, by reason. All reasons are listed.' }),
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

export function mountOperatedEdge(app: Api, { operatorEdge }: Deps): void {
  app.openapi(
    defineRoute(
      {
        method: 'get',
        path: '/superadmin/edge',
        tags: ['superadmin'],
        summary: 'Get counts of accepted and refused traffic',
        description: 'Counts start with the server.',
        responses: { 200: json(edgeCounts, 'Counts') },
      },
      ['forbidden', 'unavailable'],
    ),
    async (c) => {
      const { since, connections, dropped, answered, inspector, relays } = await operatorEdge.stats(operatorOf(c));
      const { recorded, waiting, heldBytes } = inspector;
      const records = { recorded, dropped: inspector.dropped, waiting, held_bytes: heldBytes };
      const counted = { connections, dropped, answered, inspector: records, relays: presentRelays(relays) };
      return c.json({ since: iso(since), ...counted }, 200);
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
