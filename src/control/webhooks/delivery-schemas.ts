/** A delivery of a webhook as the API tells of it, and what became of it on its way to a tunnel. Used by routes.ts. */
import { z } from '@hono/zod-openapi';
import type { ForwardRow } from './forward-rows.ts';
import type { Shown } from './mailbox.ts';
import { iso } from '../core/http/fields/shared.ts';

const STATES = ['none', 'waiting', 'sending', 'delivered', 'failed'] as const;
const progress = z
  .object({
    state: z.enum(STATES).openapi({
      description:
        '`none`: not forwarded. `waiting`: for earlier deliveries, for an agent, or until `next_attempt_at`. `failed`: no more attempts.',
    }),
    attempts: z.int(),
    last_status: z.int().nullable().openapi({ description: 'HTTP status of the last attempt; null: no response' }),
    last_error: z.string().nullable().openapi({
      description: 'Error code of the edge for the last attempt; null: none',
    }),
    next_attempt_at: z.iso.datetime().nullable(),
    delivered_at: z.iso.datetime().nullable(),
  })
  .openapi('WebhookProgress', {
    example: {
      state: 'waiting',
      attempts: 2,
      last_status: 500,
      last_error: null,
      next_attempt_at: '2026-11-21T09:05:06.000Z',
      delivered_at: null,
    },
  });
export const deliverySchema = z
  .object({
    id: z.uuid(),
    received_at: z.iso.datetime(),
    event_type: z.string().nullable().openapi({ description: 'Name from the sender' }),
    delivery_id: z
      .string()
      .nullable()
      .openapi({ description: 'ID from the sender. A repeated delivery is stored once.' }),
    content_type: z.string().nullable(),
    headers: z.record(z.string(), z.string()).openapi({ description: 'Names in lower case' }),
    size: z.int().openapi({ description: 'Bytes of the body' }),
    test: z.boolean().openapi({ description: 'A test event: this server has made and signed it' }),
    body: z.base64().openapi({ description: 'The bytes that were signed, in base64' }),
    forward: progress.openapi({ description: 'State of the forwarding to the tunnel' }),
  })
  .openapi('WebhookDelivery', {
    example: {
      id: '019aa3c2-5b90-7b02-8a3e-0c9d3f5e7a10',
      received_at: '2026-11-21T09:05:00.000Z',
      event_type: 'push',
      delivery_id: '72d3162e-cc78-11e3-81ab-4c9367dc0958',
      content_type: 'application/json',
      headers: { 'x-github-event': 'push' },
      size: 25,
      test: false,
      body: 'eyJyZWYiOiJyZWZzL2hlYWRzL21haW4ifQ==',
      forward: {
        state: 'delivered',
        attempts: 1,
        last_status: 200,
        last_error: null,
        next_attempt_at: null,
        delivered_at: '2026-11-21T09:05:01.000Z',
      },
    },
  });

export function presentDelivery({ delivery: row, forward, isSending }: Shown) {
  return {
    id: row.id,
    received_at: iso(row.receivedAt),
    event_type: row.eventType,
    delivery_id: row.deliveryId,
    content_type: row.contentType,
    headers: row.headers,
    size: row.size,
    test: row.isTest,
    body: row.body.toString('base64'),
    forward: presentProgress(forward, isSending),
  };
}

const NOT_SENT_ON = {
  state: 'none',
  attempts: 0,
  last_status: null,
  last_error: null,
  next_attempt_at: null,
  delivered_at: null,
} as const;

function presentProgress(forward: ForwardRow | null, isSending: boolean): z.output<typeof progress> {
  if (forward === null) return NOT_SENT_ON;
  const { state, attempts, lastStatus, lastError, nextAt, deliveredAt } = forward;
  return {
    state: isSending ? 'sending' : state,
    attempts,
    last_status: lastStatus,
    last_error: lastError,
    next_attempt_at: isSending || nextAt === 0 ? null : iso(nextAt),
    delivered_at: iso(deliveredAt),
  };
}
