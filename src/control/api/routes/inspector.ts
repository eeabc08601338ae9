/** `/inspector`: recorded requests of the organization's tunnels. Replay has a file of its own, and so have the exports. */
import { z } from '@hono/zod-openapi';
import { DAY_MS } from '../../../base/clock.ts';
import { AppError } from '../../../base/errors.ts';
import { MAX_LIST, type RecordFilter, type RecordPage, type StatusRange } from '../../services/inspector/inspector.ts';
import { type Api, type ApiDeps, actorOf } from '../context.ts';
import { defineRoute } from '../define-route.ts';
import { json } from '../errors.ts';
import { inspectedDetail, inspectedRequest, OUTCOMES, presentDetail, presentItem } from '../inspected-request.ts';
import { text } from '../text.ts';

const DEFAULT_LIMIT = 100;
const MAX_PATH = 200;
const DEFAULT_WINDOW_MS = DAY_MS;

const time = z.iso.datetime({ offset: true });
const ofTunnel = z.uuid().openapi({ description: 'Only of this tunnel' });
/** Which records a list, or an archive, is of. */
export const filterFields = {
  tunnel_id: ofTunnel.optional(),
  limit: z.coerce.number().int().min(1).max(MAX_LIST).default(DEFAULT_LIMIT),
  before: z.uuid().optional().openapi({ description: 'Older than this record: its id, from the page before' }),
  method: z
    .string()
    .regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,32}$/, 'is no method')
    .optional()
    .openapi({ example: 'POST', description: 'As it stands here, or in capitals: `get` finds GET too' }),
  status: z
    .string()
    .regex(/^([1-5][xX]{2}|[1-5]\d\d|0)$/, 'is neither a status nor a class of them (5xx)')
    .optional()
    .openapi({ example: '5xx', description: 'A status, a class of them, or 0: the visitor got nothing' }),
  path: text(1, MAX_PATH)
    .optional()
    .openapi({ example: '/orders', description: 'Stands somewhere in the path or query; case does not count' }),
  outcome: z
    .enum(OUTCOMES)
    .optional()
    .openapi({ description: '`refused`: what the edge did not pass on; `failed`: what got no whole answer' }),
  since: time.optional(),
  until: time.optional().openapi({ description: 'Before this time' }),
  replay_of: z.uuid().optional().openapi({ description: 'Replays of this record' }),
};
const filters = z.object(filterFields);
const NEXT = {
  Link: {
    description: '`<?…>; rel="next"`: the query of the next page, when there may be one',
    schema: { type: 'string' as const },
  },
};

const unrecorded = z
  .object({
    tunnel_id: z.uuid(),
    count: z.int().openapi({ description: 'Requests that were served and not recorded' }),
    last_at: z.iso.datetime().openapi({ description: 'The minute of the last one' }),
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
    enabled: z.boolean().openapi({ description: 'False: this server records no requests (`inspector.enabled`)' }),
    not_recorded: z
      .array(z.uuid())
      .openapi({ description: 'Tunnels that are served now by agents which want nothing recorded (`--no-inspect`)' }),
    replay: z.boolean().openapi({ description: 'False: this server sends no request again (`inspector.replay`)' }),
    replay_tunnels: z.array(z.uuid()).nullable().openapi({
      description:
        'Only requests of these tunnels of the organization are sent again (`inspector.replay_allow`); null: of all',
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

export function mountInspector(app: Api, { inspector, replays }: ApiDeps): void {
  app.openapi(
    defineRoute(
      {
        method: 'get',
        path: '/inspector',
        tags,
        summary: 'List recorded requests, newest first',
        description:
          'A request that was answered before the call is there. Filters by method, status and path must look at each record: when that takes too long the answer has what was found until then, fewer than `limit` or none, and `Link` goes on from there.',
        request: { query: filters },
        responses: { 200: { ...json(z.array(inspectedRequest), 'Requests'), headers: NEXT } },
      },
      ['not_found', 'rate_limited', 'unavailable'],
    ),
    async (c) => {
      const asked = c.req.valid('query');
      const page = await inspector.list(actorOf(c), filterOf(asked));
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
        responses: { 200: json(z.object({ success: z.literal(true) }), 'Forgotten') },
      },
      ['forbidden', 'not_found', 'rate_limited', 'unavailable'],
    ),
    async (c) => {
      await inspector.clear(actorOf(c), c.req.valid('query').tunnel_id);
      return c.json({ success: true as const }, 200);
    },
  );
  app.openapi(
    defineRoute(
      {
        method: 'get',
        path: '/inspector/unrecorded',
        tags,
        summary: 'Count requests that were not recorded, by tunnel',
        description:
          'Recording never slows a visitor: what comes faster than the server records, or finds no memory or disk, is left out and counted by the minute. Not counted is what is not to be recorded: tunnels whose agent says `--no-inspect`, and all on a server with `inspector.enabled = false` (`GET /inspector/recording`). Without `since`, of the last 24 hours.',
        request: {
          query: z.object({ tunnel_id: ofTunnel.optional(), since: time.optional(), until: time.optional() }),
        },
        responses: { 200: json(z.array(unrecorded), 'Counts') },
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
          last_at: new Date(one.lastAt).toISOString(),
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
        responses: { 200: json(recording, 'What is recorded') },
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
          101: { description: 'From then on one JSON message per request, each an `InspectedRequest`' },
        },
      },
      ['forbidden', 'not_found', 'rate_limited', 'unavailable'],
    ),
    () => {
      throw new AppError('invalid_request', 'Open this as a WebSocket: send Upgrade: websocket.');
    },
  );
  app.openapi(
    defineRoute(
      {
        method: 'get',
        path: '/inspector/{id}',
        tags,
        summary: 'Get a recorded request with bodies and decisions',
        request: { params: z.object({ id: z.string() }) },
        responses: { 200: json(inspectedDetail, 'The request') },
      },
      ['rate_limited', 'unavailable'],
    ),
    async (c) => c.json(presentDetail(await inspector.find(actorOf(c), c.req.valid('param').id)), 200),
  );
}

const FEED = `The access token comes as a protocol, for a browser can send no other field: \`new WebSocket(url, ['culvert.inspector', 'bearer.' + token])\`.
The answer selects \`culvert.inspector\`; offer it, for browsers close a connection for which nothing they offered was selected (who offers the token
alone gets it back). A page of another origin must be in \`api.cors_origins\`.

Ends with code 4401 within a minute once the session is over (an access token that runs out meanwhile changes nothing), with 4408 when over 1 MB
waits for a reader that does not take it, without a code when 64 MB wait for all readers and most of it for this one, and with 1001 when the server stops. At most 20 per person and 1,000 in all; at most 2,000 messages a second
for an organization and 10,000 in all: what is more is left out here, and is in \`GET /inspector\`.`;

type Asked = z.output<typeof filters>;

export function filterOf(asked: Asked): RecordFilter {
  return {
    limit: asked.limit,
    tunnelId: asked.tunnel_id,
    before: asked.before,
    method: asked.method,
    status: asked.status === undefined ? undefined : rangeOf(asked.status),
    pathContains: asked.path,
    outcome: asked.outcome,
    since: asked.since === undefined ? undefined : Date.parse(asked.since),
    until: asked.until === undefined ? undefined : Date.parse(asked.until),
    replayOf: asked.replay_of,
  };
}

function rangeOf(status: string): StatusRange {
  const first = Number(status.replace(/xx/i, '00'));
  return { from: first, to: /xx/i.test(status) ? first + 99 : first };
}

/** The query of the page behind this one; undefined: this is the last. */
function nextOf(asked: Asked, { items, stoppedAt }: RecordPage): string | undefined {
  const last = stoppedAt ?? (items.length < asked.limit ? undefined : items.at(-1)?.id);
  if (last === undefined) return undefined;
  const given = Object.entries({ ...asked, before: last }).filter(([, value]) => value !== undefined);
  return new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
}
