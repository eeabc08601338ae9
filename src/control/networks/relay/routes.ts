/** `GET /private-networks/{id}/relay`: what carries a private network's datagrams now, and what has passed. */
import { z } from '@hono/zod-openapi';
import type { RelayStatus, RelayView } from './status.ts';
import { type Api, actorOf } from '../../core/http/context.ts';
import { defineRoute } from '../../core/http/define-route.ts';
import { json } from '../../core/http/errors.ts';
import { byId, iso } from '../../core/http/fields/shared.ts';

interface Deps {
  readonly relayStatus: RelayStatus;
}

const since = (description: string) => z.iso.datetime().nullable().openapi({ description });

const relay = z
  .object({
    online: z.boolean().openapi({ description: 'An agent serves the network: `culvert udp PORT --network NAME`' }),
    path: z.enum(['udp', 'stream']).nullable().openapi({
      description:
        "Path between server and agent. `stream`: UDP is blocked, so datagrams use the agent's TLS session, which is slower under packet loss.",
    }),
    path_since: since('Start of the current path'),
    attached_at: since("Start of the current agent's service"),
    manages_peers: z.boolean().openapi({
      description:
        "The agent keeps the WireGuard peers of the network's server in step with the devices: `culvert udp … --manage wg0`",
    }),
    agent_id: z.uuid().nullable().openapi({ description: 'ID in `GET /connections`' }),
    flows: z.int().openapi({ description: 'Active addresses and ports of clients' }),
    packets_in: z.int().openapi({ description: 'Forwarded datagrams of clients, since the network was created' }),
    packets_out: z.int().openapi({ description: "Forwarded datagrams of the network's server" }),
    bytes_in: z.int().openapi({ description: 'Bytes in the datagrams of clients' }),
    bytes_out: z.int().openapi({ description: "Bytes in the datagrams of the network's server" }),
    dropped: z.record(z.string(), z.int()).nullable().openapi({
      description:
        'Dropped datagrams, by reason. All reasons are listed. Counted since the server opened the port, which can be later than the start of the other counters. null while no agent is connected. `no_agent`: no agent was connected; `queue_full`: the path to the agent was full, and the oldest datagram, or one of an unauthenticated client, was dropped; `send_failed`: the server could not send; `flows`: no room for another client; `unproven`: before the first handshake, more bytes would have gone to an address than came from it; `not_enrolled`: from or to a device that is not enrolled, or is revoked or expired; `no_flow`: for a client that is gone; `too_long`; `wrong_source`: from an address other than that of the agent, or from the previous agent; `malformed`; `budget`: the budget of the token is spent; `bandwidth`: above the bandwidth limit',
    }),
  })
  .openapi('NetworkRelay', {
    example: {
      online: true,
      path: 'udp',
      path_since: '2026-11-21T09:30:01.000Z',
      attached_at: '2026-11-21T09:30:00.000Z',
      manages_peers: false,
      agent_id: '0b7e6f6e-4a0f-4b8e-9c52-1d9b1f0a7c33',
      flows: 2,
      packets_in: 120_400,
      packets_out: 180_020,
      bytes_in: 15_200_180,
      bytes_out: 201_010_220,
      dropped: {
        no_agent: 12,
        queue_full: 0,
        send_failed: 0,
        flows: 0,
        unproven: 3,
        not_enrolled: 1,
        no_flow: 0,
        too_long: 0,
        wrong_source: 0,
        malformed: 0,
        budget: 0,
        bandwidth: 0,
      },
    },
  });

export function mountNetworkRelay(app: Api, { relayStatus }: Deps): void {
  app.openapi(
    defineRoute({
      method: 'get',
      path: '/private-networks/{id}/relay',
      tags: ['private-networks'],
      summary: 'Get the carrier and traffic of a private network',
      description: "Counters are at most two seconds old. Traffic that doesn't use the relay isn't counted.",
      request: { params: byId },
      responses: { 200: json(relay, 'State of the relay') },
    }),
    async (c) => c.json(present(await relayStatus.of(actorOf(c), c.req.valid('param').id)), 200),
  );
}

function present({ totals, now }: RelayView) {
  const counters = {
    packets_in: totals.packetsIn,
    packets_out: totals.packetsOut,
    bytes_in: totals.bytesIn,
    bytes_out: totals.bytesOut,
  };
  if (now === null)
    return {
      online: false,
      path: null,
      path_since: null,
      attached_at: null,
      manages_peers: false,
      agent_id: null,
      flows: 0,
      ...counters,
      dropped: null,
    };
  return {
    online: true,
    path: now.path,
    path_since: iso(now.pathSince),
    attached_at: iso(now.attachedAt),
    manages_peers: now.managesPeers,
    agent_id: now.agentId,
    flows: now.flows,
    ...counters,
    dropped: { ...now.dropped },
  };
}
