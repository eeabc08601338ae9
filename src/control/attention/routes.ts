/** `/attention`. */
import { z } from '@hono/zod-openapi';
import { type Api, actorOf } from '../core/http/context.ts';
import { defineRoute } from '../core/http/define-route.ts';
import { json } from '../core/http/errors.ts';
import { iso } from '../core/http/fields/shared.ts';
import { presentStartCommand, startCommand } from '../tunnels/claims/recall/schemas.ts';
import { KINDS, OBJECTS, SEVERITIES } from './items.ts';
import { type Attention, MAX_ITEMS } from './service.ts';

interface Deps {
  readonly attention: Attention;
}

const item = z
  .object({
    severity: z.enum(SEVERITIES),
    kind: z.enum(KINDS).openapi({
      description:
        '`tunnel_offline`: its connection was lost, and it had traffic in the last 24 hours; `webhook_failing`: deliveries failed for good, or three times in a row; `certificate`: it fails, or ends within two days; `domain`: not verified, or its TXT record is missing; `key_expiring`: a key of more than 48 hours that is in use ends within a week; `budget`: at least 80 % are spent; `alert`: a channel of an alert rule is failing; `more`: the list is cut. For superadmins also `disk`, `mail`, `version`, `backup` and `server`: checks of `GET /superadmin/health` that are not `ok`',
    }),
    title: z.string().openapi({ description: 'For users' }),
    detail: z.string().openapi({ description: 'For users: the cause and what to do' }),
    since: z.iso.datetime().nullable().openapi({ description: 'null: unknown' }),
    object: z.object({ type: z.enum(OBJECTS), id: z.string() }).openapi({
      description:
        '`id`: of an alert its rule, of a token its nonce, of a certificate its name, of the server the name of the check',
    }),
    action: z
      .object({ label: z.string(), href: z.string() })
      .openapi({ description: 'A page of the dashboard; `href` is a path below the address of the API' }),
    startCommand: startCommand
      .optional()
      .openapi({ description: 'For `tunnel_offline`; null: your role cannot publish tunnels' }),
  })
  .openapi('AttentionItem', {
    example: {
      severity: 'critical',
      kind: 'tunnel_offline',
      title: 'Tunnel shop is offline',
      detail: 'The connection to its agent broke. The tunnel had traffic in the last 24 hours. Start its agent again.',
      since: '2026-11-21T02:27:00.000Z',
      object: { type: 'tunnel', id: '019aa3c2-5b70-7b02-8a3e-0c9d3f5e7a10' },
      action: { label: 'Open tunnel', href: '/app/tunnels/019aa3c2-5b70-7b02-8a3e-0c9d3f5e7a10' },
    },
  });

/** Mounts the list of what needs attention. */
export function mountAttention(app: Api, { attention }: Deps): void {
  app.openapi(
    defineRoute({
      method: 'get',
      path: '/attention',
      tags: ['attention'],
      summary: 'List what needs attention, worst first',
      description: `Empty if all is well. At most ${MAX_ITEMS} items: if there are more, the last one is of the kind \`more\`.`,
      responses: { 200: json(z.array(item), 'Problems') },
    }),
    (c) =>
      c.json(
        attention.list(actorOf(c)).map((one) => ({
          ...one,
          since: iso(one.since),
          ...(one.startCommand === undefined ? {} : { startCommand: presentStartCommand(one.startCommand) }),
        })),
        200,
      ),
  );
}
