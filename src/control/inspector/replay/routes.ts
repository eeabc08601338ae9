/** `/inspector/{id}/replay`. */
import { z } from '@hono/zod-openapi';
import { given } from '../../../base/given.ts';
import { isSaidByEdge } from './request.ts';
import { type Api, actorOf } from '../../core/http/context.ts';
import { defineRoute } from '../../core/http/define-route.ts';
import { json } from '../../core/http/errors.ts';
import { optionalBody } from '../../core/http/bodies/optional-body.ts';
import type { Replays } from './service.ts';
import { byId } from '../../core/http/fields/shared.ts';

interface Deps {
  readonly replays: Replays;
}

const MAX_FIELDS = 100;
const MAX_VALUES = 20;
const MAX_PATH_CHARACTERS = 65_536;
const MAX_VALUE_CHARACTERS = 65_536;
/** Of what a refusal repeats. */
const MAX_NAMED = 5;
const MAX_NAMED_CHARACTERS = 100;

const value = z
  .string()
  .max(MAX_VALUE_CHARACTERS)
  .regex(/^[\t\x20-\x7e\x80-\xff]*$/, 'must not have control characters; bytes beyond ASCII are one character each');
const name = z
  .string()
  .regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$/, 'must be a header name')
  .refine((text) => !isSaidByEdge(text), 'is set by the edge or frames the message');

const edits = z
  .strictObject(
    {
      method: z
        .string()
        .regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,32}$/, 'must be a method')
        .refine((text) => text.toUpperCase() !== 'CONNECT', 'must not be CONNECT')
        .optional()
        .openapi({ description: 'A standard method in any case; any other is sent unchanged' }),
      path: z
        .string()
        .max(MAX_PATH_CHARACTERS)
        .regex(/^\/[\x21\x22\x24-\x7e\x80-\xff]*$/, 'must begin with a / and have no spaces or #: percent-encode them')
        .optional()
        .openapi({ description: 'With the query' }),
      headers: z
        .record(name, z.union([value, z.array(value).max(MAX_VALUES), z.null()]))
        .refine((fields) => Object.keys(fields).length <= MAX_FIELDS, `at most ${MAX_FIELDS} headers`)
        .optional()
        .openapi({
          description:
            'By name, in any case: one or several values that replace the recorded ones; null removes the header. Other headers stay unchanged.',
        }),
      body: z
        .base64()
        .optional()
        .openapi({ description: 'Replaces the recorded body, in base64', pattern: z.regexes.base64.source }),
    },
    { error: saysUnknown },
  )
  .openapi('ReplayEdits', {
    example: { method: 'PUT', path: '/orders/7?dry_run=1', headers: { 'X-Debug': '1', Cookie: null }, body: 'e30=' },
  });

const replayed = z
  .object({
    id: z.uuid().openapi({
      description:
        'ID of the new record; its `replay_of` is the replayed record. There is no record if the agent runs with `--no-inspect`.',
    }),
    status: z.int().openapi({ description: 'Status of the service, or of the edge if `code` is set' }),
    latency_ms: z.number(),
    was_blocked: z.literal(true).optional().openapi({
      description: 'The edge blocked the recorded request, so your service receives it for the first time',
    }),
    code: z.string().optional().openapi({
      description:
        "Error code (`culvert-error`) if the edge responded itself, for example because the policy blocked the request, or cut off the service's response",
    }),
  })
  .openapi('Replayed', {
    example: { id: '019aa3c2-5b95-7d13-9b1e-6a0c2f4d8b21', status: 201, latency_ms: 12.4 },
  });

/** A misspelt change that is passed over would send the request as it was. */
function saysUnknown(issue: { readonly code: string; readonly keys?: unknown }): string | undefined {
  if (issue.code !== 'unrecognized_keys' || !Array.isArray(issue.keys)) return undefined;
  const names = issue.keys.slice(0, MAX_NAMED).map((key) => String(key).slice(0, MAX_NAMED_CHARACTERS));
  return `unknown: ${names.join(', ')}. Only method, path, headers and body can be changed`;
}

export function mountInspectorReplay(app: Api, { replays }: Deps): void {
  app.openapi(
    defineRoute(
      {
        method: 'post',
        path: '/inspector/{id}/replay',
        'x-needs': 'record.create',
        middleware: optionalBody,
        tags: ['inspector'],
        summary: 'Replay a recorded request',
        description:
          "Sends the request to the service again, through the current agent and policy. Password and visitor login don't apply. The request is sent as recorded, with its visitor's address, or with the changes in the body. It has the header `Culvert-Replay` with the record's ID, which visitors can't send. It counts like any other request. The response comes once the service's response is complete, or after 60 seconds as 504 `local_timeout`. Redirects are not followed.\n\n501 unless the operator allows replay (`inspector.replay`, `inspector.replay_allow`). A request that the edge blocked goes through the policy as it is now, without `Authorization` and `Cookie`, which were not recorded. 409 `conflict`: it was a WebSocket, or a value was masked that the changes do not replace. 409 `body_truncated`: only part of the body was recorded, or none because the request was blocked; send the whole body. Limits of an organization: 8 at a time, and 60 at once, then one per second. 503 `unavailable`: too many replays are running; nothing was sent.",
        request: {
          params: byId,
          body: { required: false, content: { 'application/json': { schema: edits } } },
        },
        responses: { 200: json(replayed, 'The request was sent; this is the response') },
      },
      ['forbidden', 'conflict', 'body_truncated', 'rate_limited', 'not_implemented', 'tunnel_offline', 'unavailable'],
    ),
    async (c) => {
      const actor = actorOf(c);
      const { method, path, headers, body } = c.req.valid('json');
      const answer = await replays.replay(actor, c.req.valid('param').id, {
        method,
        path,
        headers,
        body: body === undefined ? undefined : Buffer.from(body, 'base64'),
      });
      const { id, status, code, latencyMs, wasBlocked } = answer;
      const marks = given({ code: code ?? undefined, was_blocked: wasBlocked ? (true as const) : undefined });
      return c.json({ id, status, latency_ms: latencyMs, ...marks }, 200);
    },
  );
}
