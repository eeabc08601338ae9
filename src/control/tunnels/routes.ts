/** `/tunnels`. */
import { z } from '@hono/zod-openapi';
import { END_REASONS } from '../../plane/events.ts';
import { ADVICE_CODES } from '../../wire/advice-codes.ts';
import { MIN_TTL_SECONDS, PROTOCOLS, type Tunnels, type TunnelView } from './service.ts';
import { TUNNEL_STATES } from './connections/state.ts';
import { certificateState, presentCertificate } from '../certificates/schemas.ts';
import { presentSetByAgent, setByAgent } from './agent-flags-schemas.ts';
import { presentStartCommand, START_COMMAND, startCommand } from './claims/recall/schemas.ts';
import { type Api, actorOf } from '../core/http/context.ts';
import { defineRoute } from '../core/http/define-route.ts';
import { json } from '../core/http/errors.ts';
import { byId, DONE, done, iso, jsonBody } from '../core/http/fields/shared.ts';
import { text } from '../core/http/fields/text.ts';
import { label } from '../core/http/fields/label.ts';
import type { Actor } from '../core/rules/actor.ts';
import type { Certificates } from '../certificates/service.ts';

interface Deps {
  /** The password in front of a tunnel (access-control/). */
  readonly basicGates: { usernameOf(actor: Actor, tunnelId: string): string | null };
  readonly certificates: Certificates;
  readonly tunnels: Tunnels;
}

const TUNNEL = {
  id: '019aa3c2-5b70-7b02-8a3e-0c9d3f5e7a10',
  subdomain: 'shop',
  publicUrl: 'https://shop.example.com',
  status: 'active',
  protocol: 'http',
  localPort: 3000,
  authEnabled: false,
  bytesIn: 18_204,
  bytesOut: 731_550,
  totalRequests: 412,
  createdAt: '2026-11-21T09:00:00.000Z',
  projectSlug: 'default',
  online: true,
  stopped: false,
  expiresAt: '2026-11-22T09:00:00.000Z',
  maintenance: false,
  edgeAuthEnabled: false,
  policyEnabled: false,
  state: 'online',
  stateSince: '2026-11-21T09:30:00.000Z',
  stateReason: null,
  endedSessionId: null,
} as const;
const tunnel = z
  .object({
    id: z.uuid(),
    subdomain: z.string(),
    publicUrl: z.string(),
    status: z.enum(['active', 'inactive']),
    protocol: z.enum(PROTOCOLS),
    localPort: z.int(),
    authEnabled: z.boolean(),
    bytesIn: z.int(),
    bytesOut: z.int(),
    totalRequests: z.int(),
    createdAt: z.iso.datetime(),
    projectSlug: z.string(),
    online: z.boolean().openapi({ description: 'An agent serves the tunnel' }),
    stopped: z.boolean().openapi({ description: "Agents can't serve the tunnel until it is started" }),
    expiresAt: z.iso.datetime().nullable(),
    maintenance: z.boolean(),
    edgeAuthEnabled: z.boolean(),
    policyEnabled: z.boolean(),
    state: z.enum(TUNNEL_STATES).openapi({
      description:
        '`offline`: no agent serves it, see `stateReason`; `never_connected`: no agent has served it yet; `paused`: stopped by `POST /tunnels/{id}/stop`; `expired`: its time to live is over',
    }),
    stateSince: z.iso.datetime().nullable().openapi({
      description:
        'Start of the state; null: unknown. After a crash of the server, a tunnel is offline since the next start',
    }),
    stateReason: z.enum(END_REASONS).nullable().openapi({
      description:
        'Why the tunnel is `offline`, as `reason` of `GET /connections/ended`; null: unknown, or not offline',
    }),
    endedSessionId: z.uuid().nullable().openapi({
      description:
        '`agent_id` of its last session in `GET /connections/ended`; null: not offline, or not listed any more',
    }),
    agentFlagsEnabled: z.boolean().optional().openapi({
      description:
        'true: the online agent adds access control by flags, `setByAgent` of one tunnel; omitted: it does not',
    }),
  })
  .openapi('Tunnel', {
    example: TUNNEL,
  });

const oneTunnel = tunnel
  .extend({
    certificate: certificateState,
    advice: z.enum(ADVICE_CODES).nullable().openapi({
      description:
        'Why the service refuses requests, as its agent has noticed. `host_header` and `allowed_hosts`: it refuses the public host name. `tls`: it speaks TLS, and the tunnel is for plain HTTP',
    }),
    authUsername: z
      .string()
      .nullable()
      .openapi({ description: "User name of the tunnel's password; null: no password" }),
    maintenanceMessage: z.string().nullable().openapi({
      description: 'Message to visitors in maintenance mode; null: the default message, or no maintenance mode',
    }),
    setByAgent,
    startCommand,
  })
  .openapi({
    example: {
      ...TUNNEL,
      certificate: null,
      advice: null,
      authUsername: null,
      maintenanceMessage: null,
      setByAgent: null,
      startCommand: START_COMMAND,
    },
  });

const newTunnel = z
  .object({
    localPort: z.int().min(1).max(65_535),
    subdomain: label.optional().openapi({
      description:
        'Omitted: a random name. In a project other than the default project, `-<slug>` follows. Both together have at most 63 characters.',
    }),
    protocol: z.enum(PROTOCOLS).default('http'),
    ttlSeconds: z.int().min(MIN_TTL_SECONDS).optional().openapi({ description: 'Reduced to the maximum of the plan' }),
    projectSlug: text(1, 63).optional().openapi({ description: 'Omitted: the default project' }),
  })
  .openapi('NewTunnel', { example: { localPort: 3000, subdomain: 'shop' } });

const tags = ['tunnels'];

/** Mounts tunnels: the list, one tunnel, start and stop. */
export function mountTunnels(app: Api, deps: Deps): void {
  mountTunnelList(app, deps);
  mountTunnel(app, deps);
  mountLifecycle(app, deps);
}

function mountTunnelList(app: Api, { tunnels }: Deps): void {
  app.openapi(
    defineRoute({
      method: 'get',
      path: '/tunnels',
      tags,
      summary: 'List tunnels, newest first',
      responses: { 200: json(z.array(tunnel), 'Tunnels') },
    }),
    (c) => c.json(tunnels.list(actorOf(c)).map(present), 200),
  );
  app.openapi(
    defineRoute(
      {
        method: 'post',
        path: '/tunnels',
        'x-needs': 'tunnel.create',
        tags,
        summary: 'Reserve a tunnel for an agent to serve',
        description:
          '409 if another tunnel has the name, if another organization reserves it or released it within 24 hours, or if it ends with the slug of another project of the organization. At most 1,000 at once, and 5,000 new ones in a day, including those that agents open. A `tcp` tunnel gets a public port, which its organization keeps for 24 hours after the tunnel is deleted. If there are other organizations, one can use at most three quarters of the ports. Above that, or if no port is free: 409 `conflict`. ' +
          'A tunnel that is expired for 30 days is deleted, except on Enterprise. `POST /reserved-subdomains` keeps a name.',
        request: { body: jsonBody(newTunnel) },
        responses: { 201: json(tunnel, 'Created, without an agent') },
      },
      ['forbidden', 'not_found', 'duplicate_name', 'conflict', 'rate_limited'],
    ),
    (c) => {
      const { subdomain, ttlSeconds, projectSlug, ...rest } = c.req.valid('json');
      return c.json(present(tunnels.create(actorOf(c), { ...rest, subdomain, ttlSeconds, projectSlug })), 201);
    },
  );
}

function mountTunnel(app: Api, { tunnels, certificates, basicGates }: Deps): void {
  app.openapi(
    defineRoute({
      method: 'get',
      path: '/tunnels/{id}',
      tags,
      summary: 'Get a tunnel',
      request: { params: byId },
      responses: { 200: json(oneTunnel, 'The tunnel') },
    }),
    (c) => {
      const actor = actorOf(c);
      const view = tunnels.get(actor, c.req.valid('param').id);
      const certificate = certificates.ofTunnel(view.row);
      return c.json(
        {
          ...present(view),
          advice: view.advice,
          certificate: certificate === null ? null : presentCertificate(certificate),
          authUsername: basicGates.usernameOf(actor, view.row.id),
          maintenanceMessage: view.maintenance === '' ? null : view.maintenance,
          setByAgent: presentSetByAgent(view.narrowing),
          startCommand: presentStartCommand(tunnels.startCommand(actor, view.row.id)),
        },
        200,
      );
    },
  );
  app.openapi(
    defineRoute(
      {
        method: 'delete',
        path: '/tunnels/{id}',
        tags,
        summary: 'Delete a tunnel',
        description: "The tunnel's name has a cooldown of 24 hours.",
        request: { params: byId },
        responses: { 200: json(done, 'Deleted') },
      },
      ['forbidden'],
    ),
    (c) => {
      tunnels.delete(actorOf(c), c.req.valid('param').id);
      return c.json(DONE, 200);
    },
  );
}

function mountLifecycle(app: Api, { tunnels }: Deps): void {
  app.openapi(
    defineRoute(
      {
        method: 'post',
        path: '/tunnels/{id}/start',
        tags,
        summary: 'Start a tunnel and its time to live',
        description: 'Also starts an expired tunnel. If its agent exited, start the agent again.',
        request: { params: byId },
        responses: { 200: json(tunnel, 'Started') },
      },
      ['forbidden'],
    ),
    (c) => c.json(present(tunnels.start(actorOf(c), c.req.valid('param').id)), 200),
  );
  app.openapi(
    defineRoute(
      {
        method: 'post',
        path: '/tunnels/{id}/stop',
        tags,
        summary: 'Stop a tunnel and disconnect its agent',
        description: "Agents can't serve the tunnel until you start it.",
        request: { params: byId },
        responses: { 200: json(tunnel, 'Stopped') },
      },
      ['forbidden'],
    ),
    (c) => c.json(present(tunnels.stop(actorOf(c), c.req.valid('param').id)), 200),
  );
}

function present({ row, projectSlug, publicUrl, online, state, maintenance, flags, narrowing }: TunnelView) {
  return {
    id: row.id,
    subdomain: row.label,
    publicUrl,
    // The row hears of an agent with the next batch of events; the node knows now.
    status: online ? ('active' as const) : row.status,
    protocol: row.protocol,
    localPort: row.localPort,
    authEnabled: flags.authEnabled,
    bytesIn: row.bytesIn,
    bytesOut: row.bytesOut,
    totalRequests: row.totalRequests,
    createdAt: iso(row.createdAt),
    projectSlug,
    online,
    stopped: row.stopped,
    expiresAt: iso(row.expiresAt),
    maintenance: maintenance !== null,
    edgeAuthEnabled: flags.edgeAuthEnabled,
    policyEnabled: flags.policyEnabled,
    state: state.state,
    stateSince: iso(state.since),
    stateReason: state.reason,
    endedSessionId: state.sessionId,
    ...(narrowing === undefined ? {} : { agentFlagsEnabled: true }),
  };
}
