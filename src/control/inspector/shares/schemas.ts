/** Links to recorded requests, and what a reader of one sees. */
import { z } from '@hono/zod-openapi';
import { iso } from '../../core/http/fields/shared.ts';
import { readHead } from '../../core/rules/recorded-head.ts';
import { OUTCOMES } from '../schemas.ts';
import type { SharedRequest, ShareView } from './service.ts';

const MIN_SECONDS = 60;
const MAX_SECONDS = 30 * 86_400;

export const shareInput = z
  .strictObject({
    expires_in_seconds: z
      .int()
      .min(MIN_SECONDS)
      .max(MAX_SECONDS)
      .openapi({ description: 'One minute to 30 days. The link also ends when the request is deleted.' }),
  })
  .openapi('ShareInput', { example: { expires_in_seconds: 86_400 } });

const SHARE_EXAMPLE = {
  id: '019aa3c2-5b95-7d13-9b1e-6a0c2f4d8b21',
  request_id: '019aa3c2-5b90-7b02-8a3e-0c9d3f5e7a10',
  created_by: 'ann@example.com',
  created_at: '2026-11-21T09:06:00.000Z',
  expires_at: '2026-11-22T09:06:00.000Z',
};

export const share = z
  .object({
    id: z.uuid(),
    request_id: z.uuid(),
    created_by: z.string(),
    created_at: z.iso.datetime(),
    expires_at: z.iso.datetime(),
  })
  .openapi('Share', { example: SHARE_EXAMPLE });

export const createdShare = share
  .extend({ url: z.url().openapi({ description: 'The link, shown only now' }) })
  .openapi('CreatedShare', {
    example: {
      ...SHARE_EXAMPLE,
      url: 'https://culvert.example.com/inspector/shared/k3S0mVq1xJm6r9T2bYwzPq8uN4cLhD7eF5gA1iOoXyE',
    },
  });

export function presentShare({ id, recordId, createdBy, createdAt, expiresAt }: ShareView): z.input<typeof share> {
  return {
    id,
    request_id: recordId,
    created_by: createdBy,
    created_at: iso(createdAt),
    expires_at: iso(expiresAt),
  };
}

const field = z.object({ name: z.string(), value: z.string() });

export const sharedRequest = z
  .object({
    id: z.uuid(),
    timestamp: z.iso.datetime(),
    method: z.string(),
    host: z.string(),
    path: z.string(),
    http_version: z.enum(['1.0', '1.1', '2']),
    status: z.int(),
    outcome: z.enum(OUTCOMES),
    code: z.string().nullable(),
    latency_ms: z.number(),
    request_size: z.int(),
    response_size: z.int(),
    request_headers: z.array(field),
    response_headers: z.array(field),
    request_body: z.base64(),
    response_body: z.base64(),
    request_body_truncated: z.boolean(),
    response_body_truncated: z.boolean(),
    expires_at: z.iso.datetime().openapi({ description: 'When the link expires' }),
  })
  .openapi('SharedRequest', {
    description: 'Credentials and addresses of visitors are `***`.',
    example: {
      id: '019aa3c2-5b90-7b02-8a3e-0c9d3f5e7a10',
      timestamp: '2026-11-21T09:05:00.000Z',
      method: 'POST',
      host: 'shop.example.com',
      path: '/orders?token=***',
      http_version: '1.1',
      status: 201,
      outcome: 'forwarded',
      code: null,
      latency_ms: 12.4,
      request_size: 15,
      response_size: 11,
      request_headers: [{ name: 'Authorization', value: '***' }],
      response_headers: [{ name: 'Content-Length', value: '11' }],
      request_body: 'eyJpdGVtIjoiYm9vayJ9',
      response_body: 'eyJvayI6dHJ1ZX0=',
      request_body_truncated: false,
      response_body_truncated: false,
      expires_at: '2026-11-22T09:06:00.000Z',
    },
  });

export function presentShared({ record, expiresAt }: SharedRequest): z.input<typeof sharedRequest> {
  const { trace } = record;
  return {
    id: record.id,
    timestamp: iso(record.at),
    method: record.method,
    host: trace.host,
    path: record.target,
    http_version: trace.httpVersion,
    status: record.status,
    outcome: trace.outcome,
    code: trace.code,
    latency_ms: record.latencyMs,
    request_size: record.requestSize,
    response_size: record.responseSize,
    request_headers: [...readHead(record.requestHead).fields],
    response_headers: record.responseHead === null ? [] : [...readHead(record.responseHead).fields],
    request_body: Buffer.from(record.requestBody).toString('base64'),
    response_body: Buffer.from(record.responseBody).toString('base64'),
    request_body_truncated: record.requestBodyTruncated,
    response_body_truncated: record.responseBodyTruncated,
    expires_at: iso(expiresAt),
  };
}
