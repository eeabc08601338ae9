/** What a webhook receiver has refused, as the API tells of it; and the refusals that happen before its route is reached. Used by routes.ts and index.ts. */
import { z } from '@hono/zod-openapi';
import { createMiddleware } from 'hono/factory';
import { AppError } from '../../base/errors.ts';
import type { ShownReceiver } from './service.ts';
import { REFUSAL_REASONS } from './refusals.ts';
import type { ApiEnv } from '../core/http/context.ts';
import { iso } from '../core/http/fields/shared.ts';
import type { Mailbox } from './mailbox.ts';

interface Deps {
  readonly mailbox: Mailbox;
}

const count = z.int().min(0);

export const refusedSchema = z
  .object({
    total: count,
    by_reason: z.object({
      signature_missing: count.openapi({ description: "No signature, or one in another format than the validator's" }),
      signature_wrong: count.openapi({ description: 'Signed with another secret, or changed on the way' }),
      signature_too_old: count.openapi({
        description: "The sender's timestamp is more than 300 s (Linear: 60 s) away from this server's clock",
      }),
      too_large: count.openapi({ description: 'The body was larger than 1 MiB' }),
      came_back: count.openapi({ description: 'This server forwarded the delivery itself' }),
    }),
    last_at: z.iso.datetime().nullable(),
    last_reason: z.enum(REFUSAL_REASONS).nullable(),
    since_received: count.nullable().openapi({
      description:
        'Rejected deliveries since the last accepted one; null: none was accepted since the secret or the validator changed',
    }),
  })
  .openapi('WebhookRefusals', {
    description: 'Rejected deliveries since the last change of secret or validator. They are not stored.',
    example: {
      total: 12,
      by_reason: { signature_missing: 0, signature_wrong: 12, signature_too_old: 0, too_large: 0, came_back: 0 },
      last_at: '2026-11-21T09:04:50.000Z',
      last_reason: 'signature_wrong',
      since_received: null,
    },
  });

export function presentRefused({
  refused: { total, byReason, last },
  refusedBefore: before,
}: Pick<ShownReceiver, 'refused' | 'refusedBefore'>): z.output<typeof refusedSchema> {
  return {
    total,
    by_reason: byReason,
    last_at: iso(last?.at ?? null),
    last_reason: last?.reason ?? null,
    // A server that was killed may have lost the last seconds of its counts.
    since_received: before === null ? null : Math.max(0, total - before),
  };
}

/** Stands before the bound on bodies: what that refuses never comes to the route. What is delivered is POSTed, and nothing else has a route there. */
export function countTooLarge({ mailbox }: Deps) {
  return createMiddleware<ApiEnv>(async (c, next) => {
    // Behind `next` the parameters are those of the handler.
    const receiverId = c.req.param('receiver_id') ?? '';
    await next();
    const isTooLarge = c.error instanceof AppError && c.error.code === 'payload_too_large';
    if (isTooLarge && c.req.method === 'POST') mailbox.refuseTooLarge(receiverId);
  });
}
