/** `/connections`: agent sessions, the live ones and how the last ones ended. */
import { z } from '@hono/zod-openapi';
import { END_REASONS, type EndReason } from '../../../plane/events.ts';
import { type EndedSessionRow, MAX_ENDED } from './ended-sessions.ts';
import type { Connections, ConnectionView } from './service.ts';
import { type Api, actorOf } from '../../core/http/context.ts';
import { defineRoute } from '../../core/http/define-route.ts';
import { json } from '../../core/http/errors.ts';
import { optionalBody } from '../../core/http/bodies/optional-body.ts';
import { text } from '../../core/http/fields/text.ts';
import { UNSEEN_SIGNS } from '../../core/rules/unseen-signs.ts';
import { byId, DONE, done, iso } from '../../core/http/fields/shared.ts';

interface Deps {
  readonly connections: Connections;
}

const connection = z
  .object({
    agent_id: z.uuid(),
    remote_ip: z.string(),
    hostname: z.string().openapi({ description: "Name of the agent's machine, as the agent reports it" }),
    version: z.string().openapi({ description: 'Version of the agent, as it reports it' }),
    token_name: z.string().nullable().openapi({ description: 'Name of its key' }),
    connected_at: z.iso.datetime(),
    tunnels: z.array(z.uuid()),
    networks: z.array(z.uuid()).openapi({ description: 'Private networks that it serves' }),
  })
  .openapi('Connection', {
    example: {
      agent_id: '0b7e6f6e-4a0f-4b8e-9c52-1d9b1f0a7c33',
      remote_ip: '198.51.100.20',
      hostname: 'laptop',
      version: '1.0.0-rc.1',
      token_name: 'ci',
      connected_at: '2026-11-21T09:30:00.000Z',
      tunnels: ['019aa3c2-5b70-7b02-8a3e-0c9d3f5e7a10'],
      networks: [],
    },
  });

const ended = z
  .object({
    agent_id: z.uuid(),
    remote_ip: z.string(),
    hostname: z.string().openapi({ description: "Name of the agent's machine, as the agent reports it" }),
    connected_at: z.iso.datetime(),
    ended_at: z.iso.datetime(),
    reason: z.enum(END_REASONS).openapi({
      description:
        '`agent_left`: the agent stopped; `connection_lost`: the connection broke; `heartbeat_lost`: no packet for 20 s; `disconnected`: by `DELETE /connections/{id}`; `token_revoked`, `token_expired`: the token was revoked or expired; `superseded`: another agent took over its last tunnel; `tunnel_deleted`, `tunnel_expired`, `network_deleted`: its last tunnel or private network was deleted or expired; `drained`: the server stopped; `forbidden`: the organization was suspended or deleted; `overloaded`: a limit of the server was reached; `protocol_error`, `internal`',
    }),
    message: z.string().openapi({ description: 'For users' }),
  })
  .openapi('EndedConnection', {
    example: {
      agent_id: '0b7e6f6e-4a0f-4b8e-9c52-1d9b1f0a7c33',
      remote_ip: '198.51.100.20',
      hostname: 'laptop',
      connected_at: '2026-11-21T09:30:00.000Z',
      ended_at: '2026-11-21T10:02:11.000Z',
      reason: 'disconnected',
      message: 'A member of the organization disconnected this agent: moved to the new machine',
    },
  });
/** Shown on a terminal, which a control character would steer. */
const reason = text(0, 200, {
  pattern: new RegExp(`^\\s*[^${UNSEEN_SIGNS}]*\\s*$`, 'u'),
  says: 'must be one line, without control characters',
  isTrimmed: true,
})
  .optional()
  .openapi({ description: 'Sent to the agent and recorded in the audit log', example: 'moved to the new machine' });

const tags = ['connections'];

export function mountConnections(app: Api, { connections }: Deps): void {
  app.openapi(
    defineRoute({
      method: 'get',
      path: '/connections',
      tags,
      summary: 'List connected agents',
      responses: {
        200: { description: 'Connections', content: { 'application/json': { schema: z.array(connection) } } },
      },
    }),
    (c) => c.json(connections.list(actorOf(c)).map(present), 200),
  );
  app.openapi(
    defineRoute({
      method: 'get',
      path: '/connections/ended',
      tags,
      summary: 'List the last sessions that ended, newest first',
      description: `At most ${MAX_ENDED}, for 30 days. Sessions that ended in a crash of the server are not listed.`,
      responses: { 200: json(z.array(ended), 'Ended sessions') },
    }),
    (c) => c.json(connections.ended(actorOf(c)).map(presentEnded), 200),
  );
  app.openapi(
    defineRoute(
      {
        method: 'delete',
        path: '/connections/{id}',
        'x-needs': 'connection.delete',
        middleware: optionalBody,
        tags,
        summary: 'Disconnect an agent',
        description:
          'The agent reconnects in about 5 seconds unless its token was revoked. You can give a reason in the body or in the query; the body wins.',
        request: {
          params: byId,
          query: z.object({ reason }),
          body: { required: false, ...json(z.object({ reason }).openapi('Disconnect'), 'Reason') },
        },
        responses: {
          200: {
            description: 'Ended',
            content: { 'application/json': { schema: done } },
          },
        },
      },
      ['forbidden'],
    ),
    (c) => {
      // Null, too, where no JSON came.
      const why = c.req.valid('json')?.reason || c.req.valid('query').reason || undefined;
      connections.disconnect(actorOf(c), c.req.valid('param').id, why);
      return c.json(DONE, 200);
    },
  );
}

function present(info: ConnectionView) {
  return {
    agent_id: info.agentId,
    remote_ip: info.remoteIp,
    hostname: info.hostname,
    version: info.version,
    token_name: info.tokenName,
    connected_at: iso(info.connectedAt),
    tunnels: [...info.tunnelIds],
    networks: [...info.networkIds],
  };
}

function presentEnded(row: EndedSessionRow) {
  return {
    agent_id: row.agentId,
    remote_ip: row.remoteIp,
    hostname: row.hostname,
    connected_at: iso(row.startedAt),
    ended_at: iso(row.endedAt),
    // The data plane writes no other.
    reason: row.reason as EndReason,
    message: row.message,
  };
}
