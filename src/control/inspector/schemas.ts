/** How recorded requests look in answers: the item of lists and of the live feed, and one with everything. Called by routes.ts and live-feed-routes.ts. */
import { z } from '@hono/zod-openapi';
import type { Trace } from '../../plane/inspection.ts';
import { byName, masked, readFields, type ShownField, valueOf } from '../core/rules/recorded-head.ts';
import { presentFrame, presentWebSocket, webSocket, webSocketFrame } from './websockets/schemas.ts';
import type { ShownRequest } from './views.ts';
import type { FeedItem } from './live-feed.ts';
import { iso } from '../core/http/fields/shared.ts';

const ITEM_EXAMPLE = {
  id: '019aa3c2-5b90-7b02-8a3e-0c9d3f5e7a10',
  tunnel_id: '019aa3c2-5b70-7b02-8a3e-0c9d3f5e7a10',
  timestamp: '2026-11-21T09:05:00.000Z',
  method: 'POST',
  path: '/orders?source=web',
  status: 201,
  latency_ms: 12.4,
  request_size: 15,
  response_size: 11,
  remote_ip: '203.0.113.7',
  outcome: 'forwarded' as const,
  code: null,
  replay_of: null,
  websocket: null,
};

export const OUTCOMES = ['forwarded', 'refused', 'failed'] as const;

export const inspectedRequest = z
  .object({
    id: z.uuid(),
    tunnel_id: z.uuid(),
    timestamp: z.iso.datetime().openapi({ description: "Time at which the request's head arrived" }),
    method: z.string(),
    path: z.string().openapi({ description: 'Path and query as the visitor sent them' }),
    status: z.int().openapi({ description: 'Status that the visitor got; 0: none' }),
    latency_ms: z.number().openapi({
      description:
        "From the head's arrival to the end of the response. For a WebSocket, to the response's head: see `websocket.duration_ms`.",
    }),
    request_size: z.int().openapi({ description: 'Size of the whole body in bytes' }),
    response_size: z.int(),
    remote_ip: z.string(),
    outcome: z.enum(OUTCOMES).openapi({
      description:
        "`forwarded`: the visitor got the service's response; `refused`: the edge blocked the request; `failed`: no complete response",
    }),
    code: z.string().nullable().openapi({
      description: 'Error code of the edge (`culvert-error`), if the edge responded itself or cut off the response',
    }),
    replay_of: z.uuid().nullable().openapi({ description: 'The record that this request replays' }),
    websocket: z
      .union([webSocket, z.null()])
      .openapi({ description: 'Duration, frames and bytes of a WebSocket; null for other requests' }),
  })
  .openapi('InspectedRequest', { example: ITEM_EXAMPLE });

const field = z.object({ name: z.string(), value: z.string() });
const FIELDS_BY_NAME =
  'Names in lower case. Repeated ones are joined by a comma and a space, `cookie` by a semicolon and a space, `set-cookie` by a line feed. Bytes beyond ASCII are one character each. The values of `authorization`, `proxy-authorization`, `cookie` and `set-cookie` are `***` to a `viewer`';
const FIELDS_IN_ORDER = 'The same in the original order, with the original names';

const trace = z
  .object({
    outcome: z.enum(OUTCOMES),
    code: z.string().nullable(),
    scheme: z.enum(['http', 'https']),
    steps: z
      .array(
        z.object({
          step: z.string().openapi({
            description:
              'Kind of the action, or `basic_gate`, `visitor_gate`, `visitor_sign_in`, `webhook_verify`, `agent_wait` (no agent was online)',
          }),
          index: z.int().nullable().openapi({ description: 'Place of the action in the policy' }),
          rule: z.string().nullable().openapi({
            description: 'For an action that blocked the request: the reason. For `agent_wait`: the wait.',
            example: '/admin',
          }),
          verdict: z.enum(['passed', 'refused', 'would_refuse', 'beside']).openapi({
            description:
              '`would_refuse`: by a log-only action; `beside`: a log-only action that ran beside the request',
          }),
          code: z.string().nullable(),
        }),
      )
      .openapi({ description: 'Checks before the request was forwarded, in this order' }),
    agent_id: z.uuid().nullable().openapi({ description: 'The agent session that forwarded it' }),
    token_id: z.string().nullable(),
    connection: z
      .enum(['fresh', 'kept'])
      .nullable()
      .openapi({ description: 'To the service: new, or reused from an earlier request' }),
    retried: z.boolean().openapi({ description: 'A reused connection was closed, so the request was repeated' }),
    policy_ms: z.number().openapi({ description: "From the head's arrival to the decision of the policy" }),
    first_byte_ms: z.number().nullable().openapi({ description: "Until the head of the service's response arrived" }),
  })
  .openapi('InspectedTrace');

const maskedPart = z
  .object({
    side: z.enum(['request', 'response']),
    kind: z.enum(['header', 'json_path', 'query', 'form', 'body']).openapi({
      description: '`body`: a rule could not be applied to it, so the rest of it was left out',
    }),
    name: z
      .string()
      .openapi({ description: 'Header, path or parameter of the rule; empty for `body`', example: 'x-api-key' }),
  })
  .openapi('MaskedPart');

export const inspectedDetail = inspectedRequest
  .extend({
    host: z.string(),
    http_version: z.enum(['1.0', '1.1', '2']),
    trace_id: z.string().nullable().openapi({
      description:
        'W3C trace id, from `traceparent` of the visitor or begun by the edge for its access log or an export; null: there is none',
    }),
    request_headers: z.record(z.string(), z.string()).openapi({
      description: `As the service got them; for a blocked request, as the visitor sent them, without credentials. ${FIELDS_BY_NAME}`,
    }),
    response_headers: z
      .record(z.string(), z.string())
      .openapi({ description: 'As the service sent them; empty if it sent none' }),
    request_header_list: z.array(field).openapi({ description: FIELDS_IN_ORDER }),
    response_header_list: z.array(field).openapi({ description: FIELDS_IN_ORDER }),
    response_trailers: z
      .array(field)
      .openapi({ description: 'Fields behind the body of the response, such as `grpc-status`' }),
    grpc_status: z.int().nullable().openapi({
      description: 'Status of a gRPC call: `grpc-status` in the trailers or in the head; null: there is none',
    }),
    request_body: z.base64().openapi({ description: 'The transferred bytes in base64, with any content coding' }),
    response_body: z.base64(),
    request_body_truncated: z.boolean().openapi({
      description: 'True: the body is longer than `inspector.max_body_bytes`, and the rest was not recorded',
    }),
    response_body_truncated: z.boolean(),
    was_blocked: z.boolean().openapi({
      description: 'A replay of a request that the edge had blocked; false also if that one is no longer kept',
    }),
    websocket_frames: z.array(webSocketFrame).nullable().openapi({
      description:
        'Recorded messages and control frames of a WebSocket; null: not a WebSocket, or `websocket_frames` was off',
    }),
    masked: z.array(maskedPart).openapi({
      description: 'Values that the mask rules of the tunnel replaced by `***` before the request was stored',
    }),
    trace,
  })
  .openapi('InspectedRequestDetail', {
    example: {
      ...ITEM_EXAMPLE,
      host: 'shop.example.com',
      http_version: '1.1',
      trace_id: '0af7651916cd43dd8448eb211c80319c',
      request_headers: { host: 'shop.example.com', 'content-type': 'application/json', 'content-length': '15' },
      response_headers: { 'content-length': '11' },
      request_header_list: [
        { name: 'Host', value: 'shop.example.com' },
        { name: 'Content-Type', value: 'application/json' },
        { name: 'Content-Length', value: '15' },
      ],
      response_header_list: [{ name: 'Content-Length', value: '11' }],
      response_trailers: [],
      grpc_status: null,
      request_body: 'eyJpdGVtIjoiYm9vayJ9',
      response_body: 'eyJvayI6dHJ1ZX0=',
      request_body_truncated: false,
      response_body_truncated: false,
      was_blocked: false,
      websocket_frames: null,
      masked: [],
      trace: {
        outcome: 'forwarded',
        code: null,
        scheme: 'https',
        steps: [{ step: 'rate_limit', index: 0, rule: null, verdict: 'passed', code: null }],
        agent_id: '0b7e6f6e-4a0f-4b8e-9c52-1d9b1f0a7c33',
        token_id: '019aa3c2-5b70-7a4e-9c61-2d8f0b7e5a13',
        connection: 'kept',
        retried: false,
        policy_ms: 0.1,
        first_byte_ms: 11.8,
      },
    },
  });

export function presentItem(item: FeedItem): z.input<typeof inspectedRequest> {
  return {
    id: item.id,
    tunnel_id: item.tunnelId,
    timestamp: iso(item.at),
    method: item.method,
    path: item.target,
    status: item.status,
    latency_ms: item.latencyMs,
    request_size: item.requestSize,
    response_size: item.responseSize,
    remote_ip: item.remoteIp,
    outcome: item.outcome,
    code: item.code,
    replay_of: item.replayOf,
    websocket: presentWebSocket(item),
  };
}

export function presentDetail({
  record,
  request,
  response,
  wasBlocked,
}: ShownRequest): z.input<typeof inspectedDetail> {
  const sent = response?.fields ?? [];
  const trailers = masked(readFields(record.trace.trailers ?? ''));
  return {
    ...presentItem({ ...record, outcome: record.trace.outcome, code: record.trace.code }),
    host: record.trace.host,
    http_version: record.trace.httpVersion,
    trace_id: record.trace.traceId ?? null,
    request_headers: byName(request.fields),
    response_headers: byName(sent),
    request_header_list: listed(request.fields),
    response_header_list: listed(sent),
    response_trailers: listed(trailers),
    grpc_status: grpcStatus(trailers) ?? grpcStatus(sent),
    request_body: Buffer.from(record.requestBody).toString('base64'),
    response_body: Buffer.from(record.responseBody).toString('base64'),
    request_body_truncated: record.requestBodyTruncated,
    response_body_truncated: record.responseBodyTruncated,
    was_blocked: wasBlocked ?? false,
    websocket_frames: record.websocket?.frames?.map(presentFrame) ?? null,
    masked: [...(record.trace.masked ?? [])],
    trace: presentTrace(record.trace),
  };
}

function grpcStatus(fields: readonly ShownField[]): number | null {
  const said = valueOf(fields, 'grpc-status') ?? '';
  return /^\d{1,3}$/.test(said) ? Number(said) : null;
}

function listed(fields: readonly ShownField[]): ShownField[] {
  return fields.map(({ name, value }) => ({ name, value }));
}

function presentTrace(decided: Trace): z.input<typeof trace> {
  return {
    outcome: decided.outcome,
    code: decided.code,
    scheme: decided.scheme,
    steps: decided.steps.map(({ step, index, rule, verdict, code }) => ({ step, index, rule, verdict, code })),
    agent_id: decided.agentId,
    token_id: decided.tokenId,
    connection: decided.connection,
    retried: decided.retried,
    policy_ms: decided.policyMs,
    first_byte_ms: decided.firstByteMs,
  };
}
