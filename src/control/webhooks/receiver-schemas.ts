/** A webhook receiver as the API tells of it. Used by routes.ts. */
import { z } from '@hono/zod-openapi';
import { WEBHOOK_KINDS } from '../../signatures/kinds.ts';
import { iso } from '../core/http/fields/shared.ts';
import { text } from '../core/http/fields/text.ts';
import { type Destination, destinationOf } from './forward-rows.ts';
import { presentRefused, refusedSchema } from './refusals-schemas.ts';
import type { ShownReceiver } from './service.ts';
import { type ReceiverWarning, WARNING_CODES } from './warnings/service.ts';

const ID = '019aa3c2-5b78-7a4e-9c61-2d8f0b7e5a13';
export const destination = z
  .object({
    tunnel_id: text(0, 64),
    path: z
      .string()
      .max(1024)
      .regex(/^\/[!-"$-~]*$/, 'a path on the service, with its query and without a fragment: it begins with /')
      .default('/'),
  })
  .openapi('WebhookForward', {
    example: { tunnel_id: '019aa3c2-5b70-7d3c-8f11-6f1c9d2e4b57', path: '/webhooks/github' },
    description: 'A tunnel of the organization that speaks HTTP, and where on it',
  });
const failing = z.object({
  event_id: z.uuid(),
  attempts: z.int(),
  last_status: z.int().nullable().openapi({ description: 'HTTP status of the last attempt; null: no response' }),
  last_error: z.string().nullable().openapi({ description: 'Error code of the edge; null: none' }),
  next_attempt_at: z.iso.datetime(),
});
const warning = z
  .object({
    code: z.enum(WARNING_CODES),
    message: z.string().openapi({ description: 'For users: the cause and what to do' }),
  })
  .openapi('WebhookWarning', {
    example: {
      code: 'tunnel_offline',
      message: 'The tunnel shop is offline. Deliveries wait, and no attempts are counted. Start its agent.',
    },
  });

export const receiver = z
  .object({
    id: z.uuid(),
    name: z.string(),
    validator: z.enum(WEBHOOK_KINDS),
    url: z.url().openapi({ description: 'URL to which the sender delivers' }),
    verify_token: z.string().openapi({
      description: 'For senders that check the URL with `hub.challenge`, as Meta does: their verify token',
    }),
    created_at: z.iso.datetime(),
    last_received_at: z.iso.datetime().nullable(),
    received: z.int().openapi({ description: 'All deliveries since the receiver was created' }),
    stored: z.int().openapi({ description: 'Stored deliveries' }),
    displaced: z.int().openapi({ description: 'Deliveries that were deleted to make room for newer ones' }),
    refused: refusedSchema,
    failed: z.int().openapi({ description: 'Stored deliveries whose forwarding failed for good' }),
    failing: failing.nullable().openapi({
      description: 'The first waiting delivery, if its last attempt failed; it blocks the others',
    }),
    waiting: z.int().openapi({ description: 'Deliveries that wait to be forwarded, with the one in progress' }),
    forward: destination.nullable().openapi({ description: 'Tunnel and path to which deliveries are forwarded' }),
    test_events: z.array(z.string()).openapi({
      description: "Types of test events; empty: the server has only the sender's public key, and can't sign one",
    }),
    warnings: z
      .array(warning)
      .openapi({ description: 'Current problems that keep deliveries from arriving or from being forwarded' }),
  })
  .openapi('WebhookReceiver', {
    example: {
      id: ID,
      name: 'orders',
      validator: 'github',
      url: `https://api.example.com/webhooks/${ID}`,
      verify_token: '5f2b6c1d9a3e4f708192a3b4c5d6e7f8',
      created_at: '2026-11-21T09:00:00.000Z',
      last_received_at: '2026-11-21T09:05:00.000Z',
      received: 12,
      stored: 12,
      displaced: 0,
      refused: {
        total: 0,
        by_reason: { signature_missing: 0, signature_wrong: 0, signature_too_old: 0, too_large: 0, came_back: 0 },
        last_at: null,
        last_reason: null,
        since_received: 0,
      },
      failed: 0,
      failing: {
        event_id: '019aa3c2-5b90-7b02-8a3e-0c9d3f5e7a10',
        attempts: 2,
        last_status: 500,
        last_error: null,
        next_attempt_at: '2026-11-21T09:05:06.000Z',
      },
      waiting: 2,
      forward: { tunnel_id: '019aa3c2-5b70-7d3c-8f11-6f1c9d2e4b57', path: '/webhooks/github' },
      test_events: ['push', 'pull_request', 'issues', 'release'],
      warnings: [],
    },
  });

/** `publicUrl`: where its address begins. */
export function presentReceiver(
  row: ShownReceiver,
  { publicUrl, warnings }: { readonly publicUrl: string; readonly warnings: readonly ReceiverWarning[] },
): z.output<typeof receiver> {
  return {
    id: row.id,
    name: row.name,
    validator: row.validator,
    url: `${publicUrl}/webhooks/${row.id}`,
    verify_token: row.verifyToken,
    created_at: iso(row.createdAt),
    last_received_at: iso(row.lastReceivedAt),
    received: row.received,
    stored: row.storedCount,
    displaced: row.displaced,
    refused: presentRefused(row),
    failed: row.failed,
    failing: presentFailing(row),
    waiting: row.waiting,
    forward: presentDestination(destinationOf(row)),
    test_events: [...row.testTypes],
    warnings: [...warnings],
  };
}

function presentDestination(to: Destination | null) {
  return to === null ? null : { tunnel_id: to.tunnelId, path: to.path };
}

function presentFailing({ failing: head }: ShownReceiver): z.output<typeof failing> | null {
  if (head === undefined) return null;
  const { id, attempts, lastStatus, lastError, nextAt } = head;
  return { event_id: id, attempts, last_status: lastStatus, last_error: lastError, next_attempt_at: iso(nextAt) };
}
