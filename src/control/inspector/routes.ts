/** `/inspector`: recorded requests of the organization's tunnels. Replay has a file of its own, and so have the exports. */
import { z } from '@hono/zod-openapi';
import { DAY_MS } from '../../base/clock.ts';
import { AppError } from '../../base/errors.ts';
import type { Inspector } from './service.ts';
import { type Api, actorOf } from '../core/http/context.ts';
import { defineRoute } from '../core/http/define-route.ts';
import { json } from '../core/http/errors.ts';
import { byId, DONE, done, iso } from '../core/http/fields/shared.ts';
import { filterOf, filters, nextOf, ofTunnel, PAGE_HEADERS, searchedTo, time } from './filter-schemas.ts';
import { inspectedDetail, inspectedRequest, presentDetail, presentItem } from './schemas.ts';
import type { Replays } from './replay/service.ts';

interface Deps {
  readonly inspector: Inspector;
  readonly replays: Replays;
}

const DEFAULT_WINDOW_MS = DAY_MS;

const unrecorded = z
  .object({
    tunnel_id: z.uuid(),
    count: z.int().openapi({ description: 'Number of forwarded requests that were not recorded' }),
    last_at: z.iso.datetime().openapi({ description: 'Minute of the last such request' }),
  })
  .openapi('UnrecordedRequests', {
    example: {
      tunnel_id: '019aa3c2-5b70-7b02-8a3e-0c9d3f5e7a10',
      count: 1_204,
      last_at: '2026-11-21T09:05:00.000Z',
    },
  });

const recording = z
  .object({
    enabled: z.boolean().openapi({ description: 'False: recording is off (`inspector.enabled`)' }),
    not_recorded: z.array(z.uuid()).openapi({ description: 'Tunnels whose agents run with `--no-inspect`' }),
    replay: z.boolean().openapi({ description: 'False: replay is off (`inspector.replay`)' }),
    replay_tunnels: z.array(z.uuid()).nullable().openapi({
      description: 'Tunnels of the organization with replay (`inspector.replay_allow`); null: all',
    }),
  })
  .openapi('Recording', {
    example: {
      enabled: true,
      not_recorded: ['019aa3c2-5b70-7b02-8a3e-0c9d3f5e7a10'],
      replay: true,
      replay_tunnels: null,
    },
  });

const tags = ['inspector'];

/** Mounts the inspector: recorded requests, what is recorded, the live feed. */
export function mountInspector(app: Api, deps: Deps): void {
  mountRecords(app, deps);
  mountRecording(app, deps);
  mountFeed(app);
  // The last one: its path fits the others too.
  mountRecord(app, deps);
}

function mountRecords(app: Api, { inspector }: Deps): void {
  app.openapi(
    defineRoute(
      {
        method: 'get',
        path: '/inspector',
        tags,
        summary: 'List recorded requests, newest first',
        description:
          'Requests that finished before the call are included. A search ends after 20 milliseconds, or 80 if it looks at headers, bodies, addresses or trace ids. The response then has fewer results than `limit`, or none, `Culvert-Searched-To` says how far back it searched, and `Link` continues the search.',
        request: { query: filters },
        responses: { 200: { ...json(z.array(inspectedRequest), 'Requests'), headers: PAGE_HEADERS } },
      },
      ['forbidden', 'not_found', 'rate_limited', 'unavailable'],
    ),
    async (c) => {
      const asked = c.req.valid('query');
      const page = await inspector.list(actorOf(c), filterOf(asked));
      const lookedTo = searchedTo(page);
      if (lookedTo !== undefined) c.header('Culvert-Searched-To', iso(lookedTo));
      const next = nextOf(asked, page);
      if (next !== undefined) c.header('Link', `<?${next}>; rel="next"`);
      return c.json(page.items.map(presentItem), 200);
    },
  );
  app.openapi(
    defineRoute(
      {
        method: 'delete',
        path: '/inspector',
        'x-needs': 'record.delete',
        tags,
        summary: 'Delete the recorded requests of a tunnel',
        request: { query: z.object({ tunnel_id: z.uuid() }) },
        responses: { 200: json(done, 'Deleted') },
      },
      ['forbidden', 'not_found', 'rate_limited', 'unavailable'],
    ),
    async (c) => {
      await inspector.clear(actorOf(c), c.req.valid('query').tunnel_id);
      return c.json(DONE, 200);
    },
  );
}

function mountRecording(app: Api, { inspector, replays }: Deps): void {
  app.openapi(
    defineRoute(
      {
        method: 'get',
        path: '/inspector/unrecorded',
        tags,
        summary: 'Count requests that were not recorded, by tunnel',
        description:
          "Recording never delays visitors. Requests above the limits of recording, or without memory or disk, are not recorded and are counted here by the minute. Requests with recording turned off (`GET /inspector/recording`) don't count. Without `since`, the last 24 hours.",
        request: {
          query: z.object({ tunnel_id: ofTunnel.optional(), since: time.optional(), until: time.optional() }),
        },
        responses: { 200: json(z.array(unrecorded), 'Counts by tunnel') },
      },
      ['not_found', 'rate_limited', 'unavailable'],
    ),
    async (c) => {
      const { tunnel_id: tunnelId, since, until } = c.req.valid('query');
      const end = until === undefined ? Date.now() : Date.parse(until);
      const start = since === undefined ? end - DEFAULT_WINDOW_MS : Date.parse(since);
      const found = await inspector.unrecorded(actorOf(c), { tunnelId, since: start, until: end });
      return c.json(
        found.map((one) => ({
          tunnel_id: one.tunnelId,
          count: one.count,
          last_at: iso(one.lastAt),
        })),
        200,
      );
    },
  );
  app.openapi(
    defineRoute(
      {
        method: 'get',
        path: '/inspector/recording',
        tags,
        summary: 'Get what is recorded, and what can be replayed',
        request: {},
        responses: { 200: json(recording, 'Recording settings') },
      },
      [],
    ),
    (c) => {
      const { isOn, leftOut } = inspector.recording(actorOf(c));
      const { enabled, tunnelIds } = replays.rules(actorOf(c));
      return c.json(
        { enabled: isOn, not_recorded: [...leftOut], replay: enabled, replay_tunnels: tunnelIds && [...tunnelIds] },
        200,
      );
    },
  );
}

function mountFeed(app: Api): void {
  app.openapi(
    defineRoute(
      {
        method: 'get',
        path: '/inspector/ws',
        tags,
        summary: 'Stream recorded requests by WebSocket',
        description: FEED,
        request: { query: z.object({ tunnel_id: ofTunnel.optional() }) },
        responses: {
          101: { description: 'One JSON message per request, each an `InspectedRequest`' },
        },
      },
      ['forbidden', 'not_found', 'rate_limited', 'unavailable'],
    ),
    () => {
      throw new AppError('invalid_request', 'The request is not a WebSocket handshake. Send Upgrade: websocket.');
    },
  );
}

function mountRecord(app: Api, { inspector }: Deps): void {
  app.openapi(
    defineRoute(
      {
        method: 'get',
        path: '/inspector/{id}',
        tags,
        summary: 'Get a recorded request with bodies and decisions',
        request: { params: byId },
        responses: { 200: json(inspectedDetail, 'The request') },
      },
      ['rate_limited', 'unavailable'],
    ),
    async (c) => c.json(presentDetail(await inspector.find(actorOf(c), c.req.valid('param').id)), 200),
  );
}

const FEED = `Send the access token as a subprotocol, because browsers can't set headers: \`new WebSocket(url, ['culvert.inspector', 'bearer.' + token])\`.
The response selects \`culvert.inspector\`. Offer it too, because browsers close a connection without a selected subprotocol. The origin of
other pages must be in \`api.cors_origins\`.

Close codes: 4401 within a minute after the session ends (an expired access token doesn't matter); 4408 if more than 1 MB waits for a slow
reader; none if more than 64 MB wait for all readers, for the slowest one, or if the client doesn't answer a ping within 30 seconds;
1001 when the server stops. At most 20 connections per user and 1,000 in total.
At most 2,000 messages a second per organization and 10,000 in total; more are omitted here, and are in \`GET /inspector\`.`;
