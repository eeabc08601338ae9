/** `/tunnels/{id}/auth`. */
import { z } from '@hono/zod-openapi';
import { type BasicGates, MAX_GATE_TEXT } from './password.ts';
import { type Api, actorOf } from '../../core/http/context.ts';
import { defineRoute } from '../../core/http/define-route.ts';
import { json } from '../../core/http/errors.ts';
import { byId, jsonBody } from '../../core/http/fields/shared.ts';
import { text } from '../../core/http/fields/text.ts';

interface Deps {
  readonly basicGates: BasicGates;
}

/** RFC 7617: neither has control characters, and the first colon is where the user name ends. Half a character can't be sent. */
const sent = (not: string, says: string) =>
  text(1, MAX_GATE_TEXT, { pattern: new RegExp(`^[^\\u0000-\\u001f\\u007f-\\u009f${not}]*$`, 'u'), says }).refine(
    (value) => value.isWellFormed(),
    'must have whole characters',
  );

const gate = z
  .object({
    username: sent(':', 'must have no colon and no control characters'),
    password: sent('', 'must have no control characters'),
  })
  .openapi('BasicGate', { example: { username: 'preview', password: 'correct horse battery staple' } });

const answer = z
  .object({ id: z.string(), authEnabled: z.boolean() })
  .openapi({ example: { id: '019aa3c2-5b70-7b02-8a3e-0c9d3f5e7a10', authEnabled: true } });
const tags = ['tunnels'];

export function mountBasicGates(app: Api, { basicGates }: Deps): void {
  app.openapi(
    defineRoute(
      {
        method: 'put',
        path: '/tunnels/{id}/auth',
        'x-needs': 'tunnel.change',
        tags,
        summary: 'Require a user name and password from visitors',
        description:
          "Applies from the next request on. The edge checks HTTP Basic (RFC 7617) after the tunnel's policy. The password is stored as an argon2id hash. The edge doesn't forward the header `Authorization`. A request has only one such header, so none passes both this and an enforced `jwt_validation`. After ten different wrong passwords in a minute, an address gets 429 for the rest of it. Not for `tcp` tunnels.",
        request: { params: byId, body: jsonBody(gate) },
        responses: { 200: json(answer, 'Visitors need the password') },
      },
      ['forbidden', 'unavailable'],
    ),
    async (c) => {
      const tunnelId = c.req.valid('param').id;
      await basicGates.put(actorOf(c), tunnelId, c.req.valid('json'));
      return c.json({ id: tunnelId, authEnabled: true }, 200);
    },
  );
  app.openapi(
    defineRoute(
      {
        method: 'delete',
        path: '/tunnels/{id}/auth',
        tags,
        summary: 'Remove the password of a tunnel',
        request: { params: byId },
        responses: { 200: json(answer, 'Visitors need no password') },
      },
      ['forbidden'],
    ),
    (c) => {
      const tunnelId = c.req.valid('param').id;
      basicGates.remove(actorOf(c), tunnelId);
      return c.json({ id: tunnelId, authEnabled: false }, 200);
    },
  );
}
