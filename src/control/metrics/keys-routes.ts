/** `/metrics/keys`: metrics keys, with which scrapers read the exposition. */
import { z } from '@hono/zod-openapi';
import type { MetricKeyView } from './key-rows.ts';
import { MAX_METRIC_KEYS, type MetricKeys } from './keys.ts';
import { type Api, actorOf } from '../core/http/context.ts';
import { defineRoute } from '../core/http/define-route.ts';
import { json } from '../core/http/errors.ts';
import { byId, DONE, done, iso, jsonBody } from '../core/http/fields/shared.ts';
import { someName } from '../core/http/fields/new-account.ts';

interface Deps {
  readonly metricKeys: MetricKeys;
}

const ID = '019aa3c2-5b7c-7d21-9f0e-4b1d6a7c8e05';
const metricKey = z
  .object({
    id: z.uuid(),
    name: z.string(),
    created_at: z.iso.datetime(),
    created_by: z.string().nullable().openapi({ description: 'Email address' }),
    last_used_at: z.iso.datetime().nullable().openapi({ description: 'To the minute' }),
  })
  .openapi('MetricKey', {
    example: {
      id: ID,
      name: 'prometheus',
      created_at: '2026-11-21T09:00:00.000Z',
      created_by: 'ann@example.com',
      last_used_at: '2026-11-21T09:30:00.000Z',
    },
  });
const newKey = z.object({ name: someName().openapi({ example: 'prometheus' }) }).openapi('NewMetricKey');
const madeKey = z
  .object({ id: z.uuid(), name: z.string(), key: z.string().openapi({ description: 'Shown once' }) })
  .openapi('MadeMetricKey', {
    example: { id: ID, name: 'prometheus', key: 'msk_4fVq…' },
  });
const tags = ['metrics'];

export function mountMetricKeys(app: Api, { metricKeys }: Deps): void {
  app.openapi(
    defineRoute({
      method: 'get',
      path: '/metrics/keys',
      tags,
      summary: 'List metrics keys, oldest first',
      responses: { 200: json(z.array(metricKey), 'Keys') },
    }),
    (c) => c.json(metricKeys.list(actorOf(c)).map(present), 200),
  );
  app.openapi(
    defineRoute(
      {
        method: 'post',
        path: '/metrics/keys',
        'x-needs': 'metric_key.create',
        tags,
        summary: 'Create a metrics key',
        description: `A metrics key works only for \`GET /metrics/prometheus\`, until you delete it or its creator leaves the organization. At most ${MAX_METRIC_KEYS}.`,
        request: { body: jsonBody(newKey) },
        responses: { 201: json(madeKey, 'Created') },
      },
      ['forbidden', 'conflict', 'rate_limited'],
    ),
    (c) => {
      const { row, key } = metricKeys.create(actorOf(c), c.req.valid('json').name);
      return c.json({ id: row.id, name: row.name, key }, 201);
    },
  );
  app.openapi(
    defineRoute(
      {
        method: 'delete',
        path: '/metrics/keys/{id}',
        tags,
        summary: 'Delete a metrics key',
        description: 'The key stops working immediately.',
        request: { params: byId },
        responses: { 200: json(done, 'Deleted') },
      },
      ['forbidden'],
    ),
    (c) => {
      metricKeys.delete(actorOf(c), c.req.valid('param').id);
      return c.json(DONE, 200);
    },
  );
}

function present({ row, createdBy }: MetricKeyView) {
  return {
    id: row.id,
    name: row.name,
    created_at: iso(row.createdAt),
    created_by: createdBy,
    last_used_at: iso(row.lastUsedAt),
  };
}
