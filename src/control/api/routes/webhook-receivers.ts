/** `/webhook-receivers` and `/webhooks/{id}`: the webhook mailbox. */
import { z } from '@hono/zod-openapi';
import { AppError } from '../../../base/errors.ts';
import type { DeliveryRow } from '../../services/webhooks/mailbox.ts';
import { MAX_STORED, MAX_STORED_BYTES } from '../../services/webhooks/mailbox.ts';
import type { ReceiverRow } from '../../services/webhooks/receiver-rows.ts';
import { MAX_RECEIVERS } from '../../services/webhooks/receivers.ts';
import { VALIDATORS } from '../../services/webhooks/validators.ts';
import { type Api, type ApiDeps, actorOf, goneSignal } from '../context.ts';
import { defineRoute } from '../define-route.ts';
import { json } from '../errors.ts';

/** Below what proxies commonly allow an answer to take (60 s). */
const MAX_WAIT_SECONDS = 30;
const MEGABYTE = 1024 * 1024;

const ID = '019aa3c2-5b78-7a4e-9c61-2d8f0b7e5a13';
const receiver = z
  .object({
    id: z.uuid(),
    name: z.string(),
    validator: z.enum(VALIDATORS),
    url: z.url().openapi({ description: 'Where the sender delivers to' }),
    created_at: z.iso.datetime(),
    last_received_at: z.iso.datetime().nullable(),
    received: z.int().openapi({ description: 'Deliveries since the beginning' }),
    stored: z.int().openapi({ description: 'Deliveries that can be read now' }),
    displaced: z.int().openapi({ description: 'Deliveries that went because newer ones needed their room' }),
  })
  .openapi('WebhookReceiver', {
    example: {
      id: ID,
      name: 'orders',
      validator: 'github',
      url: `https://api.example.com/webhooks/${ID}`,
      created_at: '2026-11-21T09:00:00.000Z',
      last_received_at: '2026-11-21T09:05:00.000Z',
      received: 12,
      stored: 12,
      displaced: 0,
    },
  });

const name = z.string().trim().min(1).max(100).openapi({ example: 'orders' });
const validator = z.enum(VALIDATORS).openapi({
  example: 'github',
  description:
    '`generic_hmac_sha256`: `X-Signature-256: sha256=<hex HMAC-SHA256 of the body>`, with `X-Delivery-Id` and `X-Event-Type` where the sender has them. `github`, `slack`, `stripe`: as these sign.',
});
const secret = z
  .string()
  .max(512)
  .refine((text) => text.trim() !== '', 'must not be empty')
  .openapi({ example: 'k3Yw0mV8…', description: 'Shared with the sender; never shown again' });
const newReceiver = z.object({ name, validator, secret }).openapi('NewWebhookReceiver');
const changes = newReceiver.partial().openapi('WebhookReceiverChanges', { example: { name: 'orders, new shop' } });

const delivery = z
  .object({
    id: z.uuid(),
    received_at: z.iso.datetime(),
    event_type: z.string().nullable().openapi({ description: 'As the sender calls it' }),
    delivery_id: z.string().nullable().openapi({ description: 'By which the sender knows it; stored once' }),
    content_type: z.string().nullable(),
    headers: z.record(z.string(), z.string()).openapi({ description: 'Names in lower case' }),
    body: z.base64().openapi({ description: 'The bytes that were signed, in base64' }),
  })
  .openapi('WebhookDelivery', {
    example: {
      id: '019aa3c2-5b90-7b02-8a3e-0c9d3f5e7a10',
      received_at: '2026-11-21T09:05:00.000Z',
      event_type: 'push',
      delivery_id: '72d3162e-cc78-11e3-81ab-4c9367dc0958',
      content_type: 'application/json',
      headers: { 'x-github-event': 'push' },
      body: 'eyJyZWYiOiJyZWZzL2hlYWRzL21haW4ifQ==',
    },
  });
const reading = z.object({
  after: z
    .uuid()
    .optional()
    .openapi({ description: 'Id of the last delivery that you have; without it from the oldest on' }),
  limit: z.coerce.number().int().min(1).max(500).default(100),
  wait: z.coerce.number().int().min(0).max(MAX_WAIT_SECONDS).default(0).openapi({
    description: 'Seconds to hold the request while there is no delivery; it may be answered earlier',
  }),
});

const id = z.object({ id: z.string() });
const done = z.object({ success: z.literal(true) });
const accepted = z.object({ ok: z.literal(true) }).openapi('WebhookAccepted', { example: { ok: true } });
const challenge = z
  .object({ challenge: z.string() })
  .openapi('WebhookChallenge', { example: { challenge: '3eZbrw1a' } });
const tags = ['webhooks'];

export function mountWebhookReceivers(app: Api, { receivers, mailbox, publicUrl }: ApiDeps): void {
  const present = (row: ReceiverRow) => ({
    id: row.id,
    name: row.name,
    validator: row.validator,
    url: `${publicUrl()}/webhooks/${row.id}`,
    created_at: new Date(row.createdAt).toISOString(),
    last_received_at: row.lastReceivedAt === null ? null : new Date(row.lastReceivedAt).toISOString(),
    received: row.received,
    stored: row.storedCount,
    displaced: row.displaced,
  });
  app.openapi(
    defineRoute({
      method: 'get',
      path: '/webhook-receivers',
      tags,
      summary: 'Webhook receivers of the organization, oldest first',
      responses: { 200: json(z.array(receiver), 'Receivers') },
    }),
    (c) => c.json(receivers.list(actorOf(c)).map(present), 200),
  );
  app.openapi(
    defineRoute(
      {
        method: 'post',
        path: '/webhook-receivers',
        'x-needs': 'webhook_receiver.create',
        tags,
        summary: 'Make a public URL that signed webhooks are delivered to',
        description: `At most ${MAX_RECEIVERS}. Each keeps ${MAX_STORED} deliveries and ${MAX_STORED_BYTES / MEGABYTE} MiB, for as long as the plan keeps inspected requests; beyond that the oldest go.`,
        request: { body: { required: true, content: { 'application/json': { schema: newReceiver } } } },
        responses: { 201: json(receiver, 'Made') },
      },
      ['forbidden', 'conflict', 'rate_limited'],
    ),
    (c) => c.json(present(receivers.create(actorOf(c), c.req.valid('json'))), 201),
  );
  app.openapi(
    defineRoute({
      method: 'get',
      path: '/webhook-receivers/{id}',
      tags,
      summary: 'A webhook receiver',
      request: { params: id },
      responses: { 200: json(receiver, 'The receiver') },
    }),
    (c) => c.json(present(receivers.get(actorOf(c), c.req.valid('param').id)), 200),
  );
  app.openapi(
    defineRoute(
      {
        method: 'patch',
        path: '/webhook-receivers/{id}',
        'x-needs': 'webhook_receiver.change',
        tags,
        summary: 'Change name, validator or secret, from the next delivery on',
        request: { params: id, body: { required: true, content: { 'application/json': { schema: changes } } } },
        responses: { 200: json(receiver, 'Changed') },
      },
      ['forbidden'],
    ),
    (c) => {
      const { name, validator, secret } = c.req.valid('json');
      const given = {
        ...(name === undefined ? {} : { name }),
        ...(validator === undefined ? {} : { validator }),
        ...(secret === undefined ? {} : { secret }),
      };
      return c.json(present(receivers.update(actorOf(c), c.req.valid('param').id, given)), 200);
    },
  );
  app.openapi(
    defineRoute(
      {
        method: 'delete',
        path: '/webhook-receivers/{id}',
        tags,
        summary: 'Delete a webhook receiver with all that was delivered to it',
        request: { params: id },
        responses: { 200: json(done, 'Deleted') },
      },
      ['forbidden'],
    ),
    (c) => {
      receivers.delete(actorOf(c), c.req.valid('param').id);
      return c.json({ success: true as const }, 200);
    },
  );
  app.openapi(
    defineRoute({
      method: 'get',
      path: '/webhook-receivers/{id}/events',
      tags,
      summary: 'Deliveries behind a cursor, oldest first',
      description:
        'Ask with the id of the last delivery that you have as `after`, and none comes twice or is left out. With `wait` the request is held until one comes. An answer with many large bodies holds fewer than `limit`.',
      request: { params: id, query: reading },
      responses: { 200: json(z.array(delivery), 'Deliveries') },
    }),
    async (c) => {
      const { after, limit, wait } = c.req.valid('query');
      const rows = await mailbox.read(actorOf(c), c.req.valid('param').id, {
        after,
        limit,
        waitSeconds: wait,
        gone: goneSignal(c),
      });
      return c.json(rows.map(presentDelivery), 200);
    },
  );

  app.openAPIRegistry.registerPath(
    defineRoute(
      {
        method: 'post',
        path: '/webhooks/{receiver_id}',
        security: [],
        tags,
        summary: 'Deliver a webhook: for the sender that the receiver was made for',
        request: {
          params: z.object({ receiver_id: z.string() }),
          body: {
            required: true,
            content: {
              'application/json': { schema: z.looseObject({}).openapi({ example: { ref: 'refs/heads/main' } }) },
            },
          },
        },
        responses: {
          200: json(challenge, "Slack's question whether somebody is there"),
          202: json(accepted, 'Kept, now or before'),
        },
      },
      ['invalid_signature', 'unavailable'],
    ),
  );
  // Not by `openapi`: the signature is over the bytes as they came, whatever their type.
  app.post('/webhooks/:receiver_id', async (c) => {
    const body = Buffer.from(await c.req.arrayBuffer());
    const receiverId = c.req.param('receiver_id');
    if (!z.uuid().safeParse(receiverId).success)
      throw new AppError('not_found', 'There is no webhook receiver at this URL.');
    const said = mailbox.receive(receiverId, { headers: c.req.header(), body });
    return said === 'stored' ? c.json({ ok: true as const }, 202) : c.json(said, 200);
  });
}

function presentDelivery(row: DeliveryRow) {
  return {
    id: row.id,
    received_at: new Date(row.receivedAt).toISOString(),
    event_type: row.eventType,
    delivery_id: row.deliveryId,
    content_type: row.contentType,
    headers: row.headers,
    body: row.body.toString('base64'),
  };
}
