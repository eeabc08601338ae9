/** `/inspector/{id}/replay`. */
import { z } from '@hono/zod-openapi';
import { isSaidByEdge } from '../../services/inspector/replay-request.ts';
import { type Api, type ApiDeps, actorOf } from '../context.ts';
import { defineRoute } from '../define-route.ts';
import { json } from '../errors.ts';
import { optionalBody } from '../optional-body.ts';

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
  .regex(/^[\t\x20-\x7e\x80-\xff]*$/, 'must hold no control characters; bytes beyond ASCII are one character each');
const name = z
  .string()
  .regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$/, 'must be a header name')
  .refine((text) => !isSaidByEdge(text), 'is a header that the edge itself sets, or that frames the message');

const edits = z
  .strictObject(
    {
      method: z
        .string()
        .regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,32}$/, 'must be a method')
        .refine((text) => text.toUpperCase() !== 'CONNECT', 'CONNECT asks for a tunnel of another kind')
        .optional()
        .openapi({ description: 'A standard one in any case; any other is sent as it stands here' }),
      path: z
        .string()
        .max(MAX_PATH_CHARACTERS)
        .regex(
          /^\/[\x21\x22\x24-\x7e\x80-\xff]*$/,
          'must begin with a / and hold neither blanks nor #: percent-encode them',
        )
        .optional()
        .openapi({ description: 'Query included' }),
      headers: z
        .record(name, z.union([value, z.array(value).max(MAX_VALUES), z.null()]))
        .refine((fields) => Object.keys(fields).length <= MAX_FIELDS, `at most ${MAX_FIELDS} headers`)
        .optional()
        .openapi({
          description:
            'By name, in any case: a value, or several, in place of all that were recorded; null leaves the header out. Others stay as they were.',
        }),
      body: z
        .base64()
        .optional()
        .openapi({ description: 'In place of the recorded one, in base64', pattern: z.regexes.base64.source }),
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
        'Of the new record, whose `replay_of` is the one that was sent again. There is none where the agent runs with `--no-inspect`',
    }),
    status: z.int().openapi({ description: "The service's; the edge's own with `code`" }),
    latency_ms: z.number(),
    code: z.string().optional().openapi({
      description:
        "Why the edge answered by itself (`culvert-error`): the tunnel's policy refused it, for example. Beside a status of the service: why its answer was cut",
    }),
  })
  .openapi('Replayed', { example: { id: '019aa3c2-5b95-7d13-9b1e-6a0c2f4d8b21', status: 201, latency_ms: 12.4 } });

/** A misspelt change that is passed over would send the request as it was. */
function saysUnknown(issue: { readonly code: string; readonly keys?: unknown }): string | undefined {
  if (issue.code !== 'unrecognized_keys' || !Array.isArray(issue.keys)) return undefined;
  const names = issue.keys.slice(0, MAX_NAMED).map((key) => String(key).slice(0, MAX_NAMED_CHARACTERS));
  return `it has no ${names.join(', ')}; what can be changed: method, path, headers, body`;
}

export function mountInspectorReplay(app: Api, { replays }: ApiDeps): void {
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
          "To the service behind the tunnel, by the agent that serves it now and through the policy that the tunnel has now; the password and the sign-in of its visitors are not asked for. It goes as it was recorded, with the address of its visitor, or changed by the body of this call. The service can tell by the header `Culvert-Replay`, which holds the id of the record; visitors can't send it. It counts and is paid for as any other request. The answer comes once the service's is complete, or after 60 seconds with 504 and `local_timeout`. Redirects are not followed.\n\nOff unless the operator has switched it on (501; `inspector.replay`; for some tunnels alone: `inspector.replay_allow`). 409 `conflict`: a request that the edge refused, or that asked for a WebSocket, can't be sent again. 409 `body_truncated`: of its body only a part is there; give the whole one. Per organization 8 at a time, 60 at once and then one per second. 503 `unavailable`: too many are under way on this server, or to this tunnel; nothing was sent.",
        request: {
          params: z.object({ id: z.string() }),
          body: { required: false, content: { 'application/json': { schema: edits } } },
        },
        responses: { 200: json(replayed, 'It was sent, and this is how it was answered') },
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
      const { id, status, code, latencyMs } = answer;
      return c.json({ id, status, latency_ms: latencyMs, ...(code === null ? {} : { code }) }, 200);
    },
  );
}
