/** What senders of webhooks get as a response. Used by routes.ts, here and in webhooks/. */
import { z } from '@hono/zod-openapi';

export const acceptedSchema = z.object({ ok: z.literal(true) }).openapi('WebhookAccepted', { example: { ok: true } });

/** A check of the address, or the 200 that Linear wants. */
export const repliedSchema = z
  .object({
    challenge: z.string().optional().openapi({ description: "Slack's URL verification: its own text" }),
    type: z.int().optional().openapi({ description: "Discord's PING: 1" }),
    ok: z.literal(true).optional().openapi({ description: 'Stored (Linear)' }),
  })
  .openapi('WebhookReply', { example: { challenge: '3eZbrw1a' } });

export const hubQuery = z.object({
  'hub.mode': z.string().optional().openapi({ description: '`subscribe`' }),
  'hub.verify_token': z.string().optional().openapi({ description: "The receiver's `verify_token`" }),
  'hub.challenge': z.string().optional().openapi({ description: 'Text that is sent back' }),
});
