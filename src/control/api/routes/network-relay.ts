/** `GET /private-networks/{id}/relay`: what carries a private network's datagrams now, and what has passed. */
import { z } from '@hono/zod-openapi';
import type { RelayView } from '../../services/networks/relay-status.ts';
import { type Api, type ApiDeps, actorOf } from '../context.ts';
import { defineRoute } from '../define-route.ts';
import { json } from '../errors.ts';

const since = (description: string) => z.iso.datetime().nullable().openapi({ description });

const relay = z
  .object({
    online: z.boolean().openapi({ description: 'An agent carries the network now: `culvert udp PORT --network NAME`' }),
    path: z.enum(['udp', 'stream']).nullable().openapi({
      description:
        'The way between server and agent. `stream`: UDP does not get through, so datagrams go by the session of the agent, slower where packets get lost, until it does',
    }),
    path_since: since('Since when they go this way'),
    attached_at: since('Since when this agent carries the network'),
    agent_id: z.uuid().nullable().openapi({ description: 'The one of `GET /connections`' }),
    flows: z.int().openapi({ description: 'Addresses and ports that clients speak from now' }),
    packets_in: z
      .int()
      .openapi({ description: 'Datagrams of clients that were passed on, since the network was made' }),
    packets_out: z.int().openapi({ description: 'Datagrams of its server that were passed on' }),
    bytes_in: z.int().openapi({ description: 'Bytes in the datagrams of clients' }),
    bytes_out: z.int().openapi({ description: 'Bytes in the datagrams of its server' }),
    dropped: z.record(z.string(), z.int()).nullable().openapi({
      description:
        'Datagrams that were dropped, by reason; every reason is there, and counted since the server opened the port (as it does when it starts, or when an agent comes after all clients have gone), which is later than what packets and bytes are counted from. Null while no agent is attached. `no_agent`: no agent was attached; `queue_full`: the way to the agent was full, and the oldest went; `send_failed`: the system of the server took no more; `flows`: no room for another client; `unproven`: more bytes would have gone to an address than came from it before it had shaken hands; `not_enrolled`: a handshake with a key that is not enrolled, was revoked or has run out; `no_flow`: for a client that has gone; `too_long`; `wrong_source`: not from the address of the agent, or from one that carried the network before; `malformed`; `budget`: the budget of the token is spent; `bandwidth`: over its bandwidth limit',
    }),
  })
  .openapi('NetworkRelay', {
    example: {
      online: true,
      path: 'udp',
      path_since: '2026-11-21T09:30:01.000Z',
      attached_at: '2026-11-21T09:30:00.000Z',
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

export function mountNetworkRelay(app: Api, { relayStatus }: ApiDeps): void {
  app.openapi(
    defineRoute({
      method: 'get',
      path: '/private-networks/{id}/relay',
      tags: ['private-networks'],
      summary: 'Get the carrier and traffic of a private network',
      description:
        'Counters are two seconds behind. Of a network that clients reach without this server there is nothing to tell.',
      request: { params: z.object({ id: z.string() }) },
      responses: { 200: json(relay, 'Its relay') },
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
      agent_id: null,
      flows: 0,
      ...counters,
      dropped: null,
    };
  return {
    online: true,
    path: now.path,
    path_since: new Date(now.pathSince).toISOString(),
    attached_at: new Date(now.attachedAt).toISOString(),
    agent_id: now.agentId,
    flows: now.flows,
    ...counters,
    dropped: { ...now.dropped },
  };
}
