/** `/connections`: live agent sessions. */
import { z } from '@hono/zod-openapi';
import type { ConnectionInfo } from '../../../plane/link.ts';
import { type Api, type ApiDeps, actorOf } from '../context.ts';
import { defineRoute } from '../define-route.ts';

const connection = z
  .object({ agent_id: z.uuid(), remote_ip: z.string(), connected_at: z.iso.datetime(), tunnels: z.array(z.uuid()) })
  .openapi('Connection', {
    example: {
      agent_id: '0b7e6f6e-4a0f-4b8e-9c52-1d9b1f0a7c33',
      remote_ip: '198.51.100.20',
      connected_at: '2026-11-21T09:30:00.000Z',
      tunnels: ['019aa3c2-5b70-7b02-8a3e-0c9d3f5e7a10'],
    },
  });

const tags = ['connections'];

export function mountConnections(app: Api, { connections }: ApiDeps): void {
  app.openapi(
    defineRoute({
      method: 'get',
      path: '/connections',
      tags,
      summary: 'Agents that are connected now',
      responses: {
        200: { description: 'Connections', content: { 'application/json': { schema: z.array(connection) } } },
      },
    }),
    (c) => c.json(connections.list(actorOf(c)).map(present), 200),
  );
  app.openapi(
    defineRoute(
      {
        method: 'delete',
        path: '/connections/{id}',
        tags,
        summary: 'End a session; the agent comes back in about 5 seconds unless its token is gone',
        request: { params: z.object({ id: z.string() }) },
        responses: {
          200: {
            description: 'Ended',
            content: { 'application/json': { schema: z.object({ success: z.literal(true) }) } },
          },
        },
      },
      ['forbidden'],
    ),
    (c) => {
      connections.disconnect(actorOf(c), c.req.valid('param').id);
      return c.json({ success: true as const }, 200);
    },
  );
}

function present(info: ConnectionInfo) {
  return {
    agent_id: info.agentId,
    remote_ip: info.remoteIp,
    connected_at: new Date(info.connectedAt).toISOString(),
    tunnels: [...info.tunnelIds],
  };
}
