/** `/metrics`: what the organization's tunnels and private networks carry. */
import { z } from '@hono/zod-openapi';
import { METRICS, type Metrics, type NetworkTraffic } from './service.ts';
import { type Window, WINDOWS } from './usage-buckets.ts';
import { type Api, actorOf, scraperOf } from '../core/http/context.ts';
import { defineRoute, WITH_METRIC_KEYS } from '../core/http/define-route.ts';
import { json } from '../core/http/errors.ts';
import { expose } from './exposition.ts';
import { iso } from '../core/http/fields/shared.ts';

interface Deps {
  readonly metrics: Metrics;
}

const network = z.object({
  id: z.uuid(),
  name: z.string(),
  online: z.boolean().openapi({ description: 'True: an agent serves the network' }),
  devices: z.int().openapi({ description: 'Enrolled devices, without expired ones' }),
  packets_in: z.int().openapi({ description: 'Datagrams of clients since the network was created' }),
  packets_out: z.int().openapi({ description: "Datagrams of the network's server since then" }),
  bytes_in: z.int(),
  bytes_out: z.int(),
});
const counters = z
  .object({
    total_tunnels: z.int(),
    active_tunnels: z.int().openapi({ description: 'Tunnels that an agent serves' }),
    requests_last_24h: z.int(),
    bytes_in_last_24h: z.int(),
    bytes_out_last_24h: z.int(),
    networks: z.array(network),
  })
  .openapi('MetricsCounters', {
    example: {
      total_tunnels: 3,
      active_tunnels: 1,
      requests_last_24h: 1_204,
      bytes_in_last_24h: 310_112,
      bytes_out_last_24h: 9_882_010,
      networks: [
        {
          id: '019aa3c2-5b70-7b02-8a3e-0c9d3f5e7a11',
          name: 'office',
          online: true,
          devices: 12,
          packets_in: 120_400,
          packets_out: 180_020,
          bytes_in: 15_200_180,
          bytes_out: 201_010_220,
        },
      ],
    },
  });
const point = z
  .object({ timestamp: z.iso.datetime().openapi({ description: 'Start of the bucket' }), value: z.number() })
  .openapi('MetricsPoint', { example: { timestamp: '2026-11-21T09:15:00.000Z', value: 42 } });
const asked = z.object({
  metric: z.enum(METRICS),
  window: z.enum(Object.keys(WINDOWS) as [Window, ...Window[]]).default('24h'),
});

const tags = ['metrics'];

export function mountMetrics(app: Api, { metrics }: Deps): void {
  app.openapi(
    defineRoute({
      method: 'get',
      path: '/metrics',
      tags,
      summary: 'Get current counts and the traffic of 24 hours',
      description: "Bytes of the last 24 hours include private networks. Datagrams don't count as requests.",
      responses: { 200: json(counters, 'Counters') },
    }),
    (c) => {
      const actor = actorOf(c);
      const { totalTunnels, activeTunnels, last24h } = metrics.counters(actor);
      return c.json(
        {
          total_tunnels: totalTunnels,
          active_tunnels: activeTunnels,
          requests_last_24h: last24h.requests,
          bytes_in_last_24h: last24h.bytesIn,
          bytes_out_last_24h: last24h.bytesOut,
          networks: metrics.perNetwork(actor).map(presentNetwork),
        },
        200,
      );
    },
  );
  app.openapi(
    defineRoute({
      method: 'get',
      path: '/metrics/timeseries',
      tags,
      summary: 'Get traffic by time, oldest first',
      description:
        'Periods without traffic are 0. Buckets: 1 min for 1h, 15 min for 24h, 1 h for 7d, 6 h for 30d. The last bucket is still running.',
      request: { query: asked },
      responses: { 200: json(z.array(point), 'Buckets') },
    }),
    (c) =>
      c.json(
        metrics
          .series(actorOf(c), c.req.valid('query'))
          .map(({ startsAt, value }) => ({ timestamp: iso(startsAt), value })),
        200,
      ),
  );
  app.openapi(
    defineRoute({
      method: 'get',
      path: '/metrics/prometheus',
      security: WITH_METRIC_KEYS,
      tags,
      summary: 'Get metrics of the organization for Prometheus',
      description: 'Requires an access token or a metrics key (`POST /metrics/keys`).',
      responses: {
        200: {
          description: 'Text exposition',
          content: { 'text/plain': { schema: z.string().openapi({ example: 'culvert_tunnels 3\n' }) } },
        },
      },
    }),
    async (c) => {
      const scraper = scraperOf(c);
      const { contentType, text } = await expose(metrics.perTunnel(scraper), metrics.perNetwork(scraper));
      return c.body(text, 200, { 'Content-Type': contentType });
    },
  );
}

function presentNetwork({ id, name, attached, devices, packetsIn, packetsOut, bytesIn, bytesOut }: NetworkTraffic) {
  const passed = { packets_in: packetsIn, packets_out: packetsOut, bytes_in: bytesIn, bytes_out: bytesOut };
  return { id, name, online: attached, devices, ...passed };
}
