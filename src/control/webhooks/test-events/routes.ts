/** `/webhook-receivers/{id}/test`. */
import { z } from '@hono/zod-openapi';
import { type Api, actorOf } from '../../core/http/context.ts';
import { defineRoute } from '../../core/http/define-route.ts';
import { json } from '../../core/http/errors.ts';
import { optionalBody } from '../../core/http/bodies/optional-body.ts';
import { byId } from '../../core/http/fields/shared.ts';
import { deliverySchema, presentDelivery } from '../delivery-schemas.ts';
import type { TestEvents } from './service.ts';

interface Deps {
  readonly testEvents: TestEvents;
  readonly publicUrl: () => string;
}

const asked = z
  .object({
    type: z.string().min(1).max(100).optional().openapi({
      description: "One of the receiver's `test_events`. Default: the first",
    }),
  })
  .openapi('WebhookTest', { example: { type: 'push' } });

/** Mounts the sending of test events. */
export function mountTestEvents(app: Api, { testEvents, publicUrl }: Deps): void {
  app.openapi(
    defineRoute(
      {
        method: 'post',
        path: '/webhook-receivers/{id}/test',
        'x-needs': 'webhook_receiver.change',
        middleware: optionalBody,
        tags: ['webhooks'],
        summary: 'Send a test event to a receiver',
        description:
          "An event as the sender would send it, signed with the receiver's secret, stored and forwarded like a real one. It is marked: `test` of the delivery, and the header `Culvert-Webhook-Test: 1`. If the server has only the sender's public key, it can't sign one.",
        request: { params: byId, body: { required: false, content: { 'application/json': { schema: asked } } } },
        responses: { 202: json(deliverySchema, 'Stored, and queued if the receiver forwards') },
      },
      ['forbidden', 'conflict', 'rate_limited'],
    ),
    (c) => {
      const { id } = c.req.valid('param');
      const { type } = asked.parse(c.req.valid('json'));
      const found = testEvents.send(actorOf(c), id, { type, url: `${publicUrl()}/webhooks/${id}` });
      return c.json(presentDelivery({ ...found, isSending: false }), 202);
    },
  );
}
