/** Which records a list, or an archive, is of: the query of `GET /inspector` and `GET /inspector/har`. */
import { z } from '@hono/zod-openapi';
import { readIpNetwork } from '../../base/net/ip-network.ts';
import { text } from '../core/http/fields/text.ts';
import { OUTCOMES } from './schemas.ts';
import { type HeaderMatch, MAX_LIST, type RecordFilter, type RecordPage, type StatusRange } from './service.ts';

const DEFAULT_LIMIT = 100;
const MAX_PATH = 200;
const MAX_TEXT = 200;
const MAX_MS = 86_400_000;

export const time = z.iso.datetime({ offset: true });
export const ofTunnel = z.uuid().openapi({ description: 'Requests of this tunnel only' });
const milliseconds = z.coerce.number().int().min(0).max(MAX_MS);
/** In the API document. Derived from what reads a query it would offer null too. */
const MILLISECONDS = { type: 'integer', minimum: 0, maximum: MAX_MS } as const;

export const filterFields = {
  tunnel_id: ofTunnel.optional(),
  limit: z.coerce.number().int().min(1).max(MAX_LIST).default(DEFAULT_LIMIT),
  before: z.uuid().optional().openapi({ description: 'Records before this ID, from the previous page' }),
  method: z
    .string()
    .regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,32}$/, 'is not a method')
    .optional()
    .openapi({ example: 'POST', description: 'The method as written, or in capitals: `get` also finds GET' }),
  status: z
    .string()
    .regex(/^([1-5][xX]{2}|[1-5]\d\d|0)$/, 'is not a status or a status class such as 5xx')
    .optional()
    .openapi({ example: '5xx', description: 'A status, a class of statuses, or 0: no response' }),
  path: text(1, MAX_PATH)
    .optional()
    .openapi({ example: '/orders', description: 'Text anywhere in path or query; case is ignored' }),
  outcome: z
    .enum(OUTCOMES)
    .optional()
    .openapi({ description: '`refused`: blocked by the edge; `failed`: no complete response' }),
  address: z
    .string()
    .max(64)
    .refine((value) => readIpNetwork(value) !== undefined, 'is not an address or a network such as 203.0.113.0/24')
    .optional()
    .openapi({ example: '203.0.113.7', description: "The visitor's address, or a network" }),
  header: text(1, MAX_TEXT, {
    pattern: /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}(:[^\r\n]*)?$/,
    says: 'is not a header name, or name:value',
  })
    .optional()
    .openapi({
      example: 'content-type:json',
      description:
        'A header of request or response: its name, or `name:value` for text in its value; case is ignored. 403 for viewers who search for credentials.',
    }),
  body: text(1, MAX_TEXT).optional().openapi({
    example: 'order-4711',
    description:
      'Text in the request body or response body; case of ASCII letters is ignored. Searches the first 64 KB of each, decoded from gzip, deflate, br or zstd.',
  }),
  min_latency_ms: milliseconds
    .optional()
    .openapi({ ...MILLISECONDS, description: 'Requests that took at least this long' }),
  max_latency_ms: milliseconds
    .optional()
    .openapi({ ...MILLISECONDS, description: 'Requests that took at most this long' }),
  trace_id: z
    .string()
    .regex(/^[0-9a-fA-F]{32}$/, 'is not a trace id of 32 hexadecimal digits')
    .optional()
    .openapi({ description: "Trace id of the request's `traceparent` header" }),
  since: time.optional(),
  until: time.optional().openapi({ description: 'Before this time' }),
  replay_of: z.uuid().optional().openapi({ description: 'Replays of this record' }),
};
export const filters = z.object(filterFields);
type Asked = z.output<typeof filters>;

/** Headers of a page of the list. */
export const PAGE_HEADERS = {
  Link: {
    description: '`<?…>; rel="next"`: the query of the next page, if there may be one',
    schema: { type: 'string' as const },
  },
  'Culvert-Searched-To': {
    description: 'Set if the search ran out of time: all requests since this time were searched. `Link` continues it.',
    schema: { type: 'string' as const },
  },
};

export function filterOf(asked: Asked): RecordFilter {
  return {
    limit: asked.limit,
    tunnelId: asked.tunnel_id,
    before: asked.before,
    method: asked.method,
    status: asked.status === undefined ? undefined : rangeOf(asked.status),
    pathContains: asked.path,
    outcome: asked.outcome,
    address: asked.address,
    header: asked.header === undefined ? undefined : headerOf(asked.header),
    bodyContains: asked.body,
    minLatencyMs: asked.min_latency_ms,
    maxLatencyMs: asked.max_latency_ms,
    traceId: asked.trace_id,
    since: asked.since === undefined ? undefined : Date.parse(asked.since),
    until: asked.until === undefined ? undefined : Date.parse(asked.until),
    replayOf: asked.replay_of,
  };
}

function rangeOf(status: string): StatusRange {
  const first = Number(status.replace(/xx/i, '00'));
  return { from: first, to: /xx/i.test(status) ? first + 99 : first };
}

function headerOf(asked: string): HeaderMatch {
  const colon = asked.indexOf(':');
  const value = colon < 0 ? '' : asked.slice(colon + 1).trim();
  return { name: colon < 0 ? asked : asked.slice(0, colon), value: value === '' ? undefined : value };
}

/** The query of the page behind this one; undefined: this is the last. */
export function nextOf(asked: Asked, { items, stoppedAt }: RecordPage): string | undefined {
  const last = stoppedAt ?? (items.length < asked.limit ? undefined : items.at(-1)?.id);
  if (last === undefined) return undefined;
  const given = Object.entries({ ...asked, before: last }).filter(([, value]) => value !== undefined);
  return new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
}

/** How far back a search came that ran out of time: ids begin with the time (UUIDv7). */
export function searchedTo({ stoppedAt }: RecordPage): number | undefined {
  return stoppedAt === null ? undefined : Number.parseInt(stoppedAt.slice(0, 13).replace('-', ''), 16);
}
