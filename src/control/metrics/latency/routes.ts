/** `/tunnels/{id}/latency` and `/orgs/{id}/latency`. */
import { z } from '@hono/zod-openapi';
import { STATUS_CLASSES } from '../../../plane/latency.ts';
import { type Api, actorOf } from '../../core/http/context.ts';
import { defineRoute } from '../../core/http/define-route.ts';
import { json } from '../../core/http/errors.ts';
import { byId, iso } from '../../core/http/fields/shared.ts';
import { type Window, WINDOWS } from '../usage-buckets.ts';
import { type LatencySum, percentilesOf } from './latency-sum.ts';
import type { Latency, LatencyView } from './service.ts';

interface Deps {
  readonly latency: Latency;
}

const ms = z.number().nullable();
const percentiles = z.object({ p50_ms: ms, p95_ms: ms, p99_ms: ms });
const status = z.partialRecord(z.enum(STATUS_CLASSES), z.int());
const figures = z.object({
  count: z.int().openapi({ description: 'HTTP requests; those too that the edge blocked or answered itself' }),
  first_byte: percentiles.openapi({
    description:
      'From the end of the request head to the first byte of the response, of requests that reached an agent. null: there were none',
  }),
  total: percentiles.openapi({
    description: 'To the last byte of the response. Responses that were cut, and WebSockets, have none',
  }),
  status: status.openapi({
    description:
      'Requests by status class; `canceled`: the visitor left before the response. Classes without requests are omitted',
  }),
  bytes_in: z.int(),
  bytes_out: z.int(),
  connections: z.int().openapi({ description: 'Connections of a `tcp` tunnel, and WebSockets' }),
});

const EXAMPLE = {
  count: 1_204,
  first_byte: { p50_ms: 12.1, p95_ms: 48.5, p99_ms: 121 },
  total: { p50_ms: 14.3, p95_ms: 61, p99_ms: 180 },
  status: { '2xx': 1_180, '4xx': 22, '5xx': 2 },
  bytes_in: 310_112,
  bytes_out: 9_882_010,
  connections: 0,
};

const view = z
  .object({
    summary: figures.openapi({ description: 'The whole range' }),
    buckets: z.array(z.object({ start: z.iso.datetime(), ...figures.shape })),
  })
  .openapi('Latency', {
    example: { summary: EXAMPLE, buckets: [{ start: '2026-11-21T09:15:00.000Z', ...EXAMPLE }] },
  });

const asked = z.object({ range: z.enum(Object.keys(WINDOWS) as [Window, ...Window[]]).default('1h') });
const description =
  'Oldest first; the last bucket is still running. Buckets: 1 min for 1h, 15 min for 24h, 1 h for 7d, 6 h for 30d. Percentiles are at most 3.2 % off. Servers report every 10 s.';
const tags = ['metrics'];

export function mountLatency(app: Api, { latency }: Deps): void {
  app.openapi(
    defineRoute({
      method: 'get',
      path: '/tunnels/{id}/latency',
      tags,
      summary: 'Get latency and errors of a tunnel by time',
      description,
      request: { params: byId, query: asked },
      responses: { 200: json(view, 'Buckets') },
    }),
    (c) => {
      const of = { tunnelId: c.req.valid('param').id, range: c.req.valid('query').range };
      return c.json(present(latency.ofTunnel(actorOf(c), of)), 200);
    },
  );
  app.openapi(
    defineRoute({
      method: 'get',
      path: '/orgs/{id}/latency',
      tags,
      summary: 'Get latency and errors of an organization by time',
      description: `All tunnels together. ${description}`,
      request: { params: byId, query: asked },
      responses: { 200: json(view, 'Buckets') },
    }),
    (c) => {
      const of = { orgId: c.req.valid('param').id, range: c.req.valid('query').range };
      return c.json(present(latency.ofOrg(actorOf(c), of)), 200);
    },
  );
}

function present({ summary, buckets }: LatencyView): z.infer<typeof view> {
  return {
    summary: presentSum(summary),
    buckets: buckets.map(({ startsAt, sum }) => ({ start: iso(startsAt), ...presentSum(sum) })),
  };
}

function presentSum(sum: LatencySum): z.infer<typeof figures> {
  const shown = STATUS_CLASSES.map((name, i) => [name, sum.status[i] ?? 0] as const).filter(([, count]) => count > 0);
  return {
    count: sum.count,
    first_byte: presentPercentiles(sum.firstByte),
    total: presentPercentiles(sum.total),
    status: Object.fromEntries(shown),
    bytes_in: sum.bytesIn,
    bytes_out: sum.bytesOut,
    connections: sum.connections,
  };
}

function presentPercentiles(cells: LatencySum['total']): z.infer<typeof percentiles> {
  const { p50, p95, p99 } = percentilesOf(cells);
  return { p50_ms: rounded(p50), p95_ms: rounded(p95), p99_ms: rounded(p99) };
}

/** To a microsecond below 10 ms: more says nothing. */
function rounded(of: number | null): number | null {
  if (of === null) return null;
  const unit = of < 10 ? 1_000 : 10;
  return Math.round(of * unit) / unit;
}
