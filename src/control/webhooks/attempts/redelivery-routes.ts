/** `/webhook-receivers/{id}/redeliver`. */
import { z } from '@hono/zod-openapi';
import { type Api, actorOf } from '../../core/http/context.ts';
import { defineRoute } from '../../core/http/define-route.ts';
import { json } from '../../core/http/errors.ts';
import { byId, iso, jsonBody } from '../../core/http/fields/shared.ts';
import type { Redeliveries } from './redelivery.ts';
import { MAX_REDELIVERED, REDELIVERABLE } from './redelivery-rows.ts';

interface Deps {
  readonly redeliveries: Redeliveries;
}

const range = z
  .object({
    from: z.iso.datetime({ offset: true }).openapi({ description: 'Received at this time or later' }),
    to: z.iso.datetime({ offset: true }).optional().openapi({ description: 'Received until this time. Default: now' }),
    state: z.enum(REDELIVERABLE).default('failed').openapi({
      description: '`all`: failed, delivered and never forwarded. Waiting deliveries are never queued twice.',
    }),
    dry_run: z.boolean().default(false).openapi({ description: '`true`: only count the deliveries' }),
    idempotency_key: z.string().min(1).max(100).optional().openapi({
      description: 'A second call with the key of the last one queues nothing, and gets the same response.',
    }),
  })
  .openapi('WebhookRedelivery', {
    example: { from: '2026-11-21T02:00:00.000Z', to: '2026-11-21T04:30:00.000Z', state: 'failed' },
  });

const redelivered = z
  .object({
    matched: z.int().openapi({ description: 'Deliveries in the range and state' }),
    queued: z.int(),
    continue_from: z.iso
      .datetime()
      .nullable()
      .openapi({ description: '`from` of the next call; null: all were queued' }),
  })
  .openapi('WebhookRedelivered', { example: { matched: 12, queued: 12, continue_from: null } });

/** Mounts the redelivery of a time range. */
export function mountRedelivery(app: Api, { redeliveries }: Deps): void {
  app.openapi(
    defineRoute(
      {
        method: 'post',
        path: '/webhook-receivers/{id}/redeliver',
        'x-needs': 'webhook_receiver.change',
        tags: ['webhooks'],
        summary: 'Send the deliveries of a time range to the tunnel again',
        description: `They are queued in the order in which they came, before newer ones; at most ${MAX_REDELIVERED} per call, the oldest first.`,
        request: { params: byId, body: jsonBody(range) },
        responses: { 202: json(redelivered, 'Queued') },
      },
      ['forbidden', 'conflict'],
    ),
    (c) => {
      const { from, to, state, dry_run: isDryRun, idempotency_key: key } = c.req.valid('json');
      const until = to === undefined ? undefined : Date.parse(to);
      const asked = { from: Date.parse(from), to: until, state, isDryRun, key };
      const { matched, queued, continueFrom } = redeliveries.redeliver(actorOf(c), c.req.valid('param').id, asked);
      return c.json({ matched, queued, continue_from: iso(continueFrom) }, 202);
    },
  );
}
