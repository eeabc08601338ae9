/** Bodies of `/orgs/{id}/export`. */
import { z } from '@hono/zod-openapi';
import { iso } from '../../core/http/fields/shared.ts';
import { EXPORT_EVENTS } from './export-items.ts';
import type { ExportQueueStats } from './export-queue.ts';
import type { ExportView } from './service.ts';

const EVENTS =
  '`requests`: finished requests and connections. `audit`: the audit log. `security`: of both, logins, keys, roles, gates, and blocked requests';
const ENDPOINT = 'https://otlp.example.com';
const HOOK = 'https://siem.example.com/culvert';

const events = z.array(z.enum(EXPORT_EVENTS)).max(EXPORT_EVENTS.length).openapi({ description: EVENTS });
const url = z.string().min(1).max(2_048);

const status = z
  .object({
    sent: z
      .int()
      .openapi({ description: 'Events that were sent since the server started, or the destination changed' }),
    dropped: z
      .int()
      .openapi({ description: 'Events that were dropped: the queue was full, or five minutes of retries failed' }),
    waiting: z.int(),
    last_sent_at: z.iso.datetime().nullable(),
    last_error: z.string().nullable().openapi({ description: 'Why the last attempt failed; null: it did not' }),
    failing_since: z.iso.datetime().nullable(),
  })
  .openapi('ExportStatus', {
    example: {
      sent: 5210,
      dropped: 0,
      waiting: 12,
      last_sent_at: '2026-11-26T17:20:00.000Z',
      last_error: null,
      failing_since: null,
    },
  });

export const exportInput = z
  .object({
    events,
    otlp: z
      .object({
        endpoint: url.openapi({
          description: 'Base URL of an OTLP/HTTP collector; `/v1/logs` is appended. Public addresses only, over https',
        }),
        headers: z.record(z.string(), z.string()).optional().openapi({
          description:
            'Header fields, such as `authorization`. Write-only. Left out: unchanged if the endpoint is unchanged, else none',
        }),
      })
      .nullable(),
    webhook: z
      .object({
        url: url.openapi({ description: 'Gets a POST per batch. Public addresses only, over https' }),
        secret: z.string().max(200).optional().openapi({
          description:
            'Signs each batch (Standard Webhooks): `whsec_` and base64. Write-only. Left out: unchanged if the URL is unchanged, else a new one',
        }),
      })
      .nullable(),
  })
  .openapi('ExportSettings', {
    example: {
      events: ['requests', 'security'],
      otlp: { endpoint: ENDPOINT, headers: { authorization: 'Bearer …' } },
      webhook: null,
    },
  });

export const exportView = z
  .object({
    events,
    otlp: z
      .object({ endpoint: z.string(), headers: z.array(z.string()).openapi({ description: 'Names only' }) })
      .nullable(),
    webhook: z
      .object({
        url: z.string(),
        new_secret: z.string().nullable().openapi({
          description: 'Checks `webhook-signature`. Only in the response to the request that created it',
        }),
      })
      .nullable(),
    status: z.object({ otlp: status.nullable(), webhook: status.nullable() }),
    updated_at: z.iso.datetime().nullable().openapi({ description: 'null: nothing was ever set' }),
  })
  .openapi('Export', {
    example: {
      events: ['requests', 'security'],
      otlp: { endpoint: ENDPOINT, headers: ['authorization'] },
      webhook: { url: HOOK, new_secret: null },
      status: {
        otlp: {
          sent: 5210,
          dropped: 0,
          waiting: 12,
          last_sent_at: '2026-11-26T17:20:00.000Z',
          last_error: null,
          failing_since: null,
        },
        webhook: null,
      },
      updated_at: '2026-11-26T17:00:00.000Z',
    },
  });

export function presentExport(view: ExportView): z.input<typeof exportView> {
  const { webhook, otlp } = view;
  return {
    events: [...view.events],
    otlp: otlp === null ? null : { endpoint: otlp.endpoint, headers: [...otlp.headers] },
    webhook: webhook === null ? null : { url: webhook.url, new_secret: webhook.newSecret },
    status: { otlp: presentStatus(view.status.otlp), webhook: presentStatus(view.status.webhook) },
    updated_at: iso(view.updatedAt),
  };
}

function presentStatus(stats: ExportQueueStats | null): z.input<typeof status> | null {
  if (stats === null) return null;
  const { sent, dropped, waiting, lastSentAt, lastError, failingSince } = stats;
  return {
    sent,
    dropped,
    waiting,
    last_sent_at: iso(lastSentAt),
    last_error: lastError,
    failing_since: iso(failingSince),
  };
}
