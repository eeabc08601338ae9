/** `/tunnels/{id}/maintenance`. */
import { z } from '@hono/zod-openapi';
import { type Api, actorOf } from '../../core/http/context.ts';
import { defineRoute } from '../../core/http/define-route.ts';
import { json } from '../../core/http/errors.ts';
import { optionalBody } from '../../core/http/bodies/optional-body.ts';
import { text } from '../../core/http/fields/text.ts';
import type { MaintenanceSwitch } from './maintenance-switch.ts';
import { byId } from '../../core/http/fields/shared.ts';

interface Deps {
  readonly maintenance: MaintenanceSwitch;
}

const MAX_MESSAGE_CHARACTERS = 500;

const notice = z
  .object({
    message: text(0, MAX_MESSAGE_CHARACTERS).optional().openapi({
      description: 'Message to visitors, as text. Omitted or empty: a default message',
    }),
  })
  .openapi('MaintenanceNotice', { example: { message: 'Back at six.' } });

const begun = z
  .object({ id: z.string(), maintenance: z.literal(true), message: z.string().nullable() })
  .openapi({ example: { id: '019aa3c2-5b70-7b02-8a3e-0c9d3f5e7a10', maintenance: true, message: 'Back at six.' } });
const ended = z
  .object({ id: z.string(), maintenance: z.literal(false) })
  .openapi({ example: { id: '019aa3c2-5b70-7b02-8a3e-0c9d3f5e7a10', maintenance: false } });
const tags = ['tunnels'];

export function mountMaintenance(app: Api, { maintenance }: Deps): void {
  app.openapi(
    defineRoute(
      {
        method: 'put',
        path: '/tunnels/{id}/maintenance',
        'x-needs': 'tunnel.change',
        middleware: optionalBody,
        tags,
        summary: 'Turn on maintenance mode for a tunnel',
        description:
          'Applies from the next request on; running requests finish. It ends with `DELETE`, when the agent disconnects, and when the server restarts.',
        request: { params: byId, body: { required: false, content: { 'application/json': { schema: notice } } } },
        responses: { 200: json(begun, 'In maintenance') },
      },
      ['forbidden'],
    ),
    (c) => {
      const tunnelId = c.req.valid('param').id;
      const { message = '' } = c.req.valid('json');
      maintenance.begin(actorOf(c), tunnelId, message);
      return c.json({ id: tunnelId, maintenance: true as const, message: message === '' ? null : message }, 200);
    },
  );
  app.openapi(
    defineRoute(
      {
        method: 'delete',
        path: '/tunnels/{id}/maintenance',
        tags,
        summary: 'Turn off maintenance mode for a tunnel',
        request: { params: byId },
        responses: { 200: json(ended, 'Not in maintenance') },
      },
      ['forbidden'],
    ),
    (c) => {
      const tunnelId = c.req.valid('param').id;
      maintenance.end(actorOf(c), tunnelId);
      return c.json({ id: tunnelId, maintenance: false as const }, 200);
    },
  );
}
