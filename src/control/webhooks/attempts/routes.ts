/** `/webhook-receivers/{id}/events/{event_id}/attempts`. */
import { z } from '@hono/zod-openapi';
import { type Api, actorOf } from '../../core/http/context.ts';
import { defineRoute } from '../../core/http/define-route.ts';
import { json } from '../../core/http/errors.ts';
import { iso } from '../../core/http/fields/shared.ts';
import type { Mailbox } from '../mailbox.ts';
import type { AttemptRow } from './rows.ts';

interface Deps {
  readonly mailbox: Pick<Mailbox, 'attempts'>;
}

const attemptSchema = z
  .object({
    attempt: z.int().openapi({ description: '`Culvert-Webhook-Attempt`; a redelivery begins at 1 again' }),
    attempted_at: z.iso.datetime(),
    duration_ms: z.int(),
    status: z.int().nullable().openapi({ description: 'HTTP status; null: no response' }),
    error: z.string().nullable().openapi({ description: 'Error code of the edge; null: your service responded' }),
    response_content_type: z.string().nullable(),
    response_size: z.int().openapi({ description: 'Bytes of the whole response body' }),
    response_body: z.base64().nullable().openapi({
      description:
        'First 2,048 bytes of the response body, in base64; null: no body, or deleted to make room for newer ones',
    }),
  })
  .openapi('WebhookAttempt', {
    example: {
      attempt: 2,
      attempted_at: '2026-11-21T09:05:01.000Z',
      duration_ms: 38,
      status: 500,
      error: null,
      response_content_type: 'application/json',
      response_size: 28,
      response_body: 'eyJlcnJvciI6Im5vIHN1Y2ggb3JkZXIifQ==',
    },
  });

/** Mounts the list of attempts of a delivery. */
export function mountAttempts(app: Api, { mailbox }: Deps): void {
  app.openapi(
    defineRoute({
      method: 'get',
      path: '/webhook-receivers/{id}/events/{event_id}/attempts',
      tags: ['webhooks'],
      summary: 'List the attempts to forward a delivery, newest first',
      description:
        'The last 20 attempts. The last 500 response bodies of a receiver are kept. Waiting for an agent is no attempt.',
      request: { params: z.object({ id: z.string(), event_id: z.string() }) },
      responses: { 200: json(z.array(attemptSchema), 'Attempts') },
    }),
    (c) => {
      const { id, event_id } = c.req.valid('param');
      return c.json(mailbox.attempts(actorOf(c), id, event_id).map(present), 200);
    },
  );
}

function present(row: AttemptRow): z.output<typeof attemptSchema> {
  return {
    attempt: row.attempt,
    attempted_at: iso(row.at),
    duration_ms: row.latencyMs,
    status: row.status,
    error: row.error,
    response_content_type: row.contentType,
    response_size: row.size,
    response_body: row.body === null ? null : row.body.toString('base64'),
  };
}
