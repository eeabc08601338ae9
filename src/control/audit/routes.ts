/**
 * `/events`, the audit log of the organization, `/me/events`, that of the caller's own account, and `/superadmin/events`, all of it.
 */
import { z } from '@hono/zod-openapi';
import { MAX_CHANGED_TEXT, MAX_CHANGES } from '../core/rules/audit-changes.ts';
import { AUDIT_ACTIONS } from '../core/rules/audit.ts';
import type { EventFilter, EventRow, Events } from './service.ts';
import { type Api, actorOf, operatorOf } from '../core/http/context.ts';
import { defineRoute } from '../core/http/define-route.ts';
import { json } from '../core/http/errors.ts';
import { iso } from '../core/http/fields/shared.ts';
import { text } from '../core/http/fields/text.ts';

interface Deps {
  readonly events: Events;
}

const value = z.union([z.string(), z.number(), z.boolean(), z.null()]);
const change = z.object({ field: z.string(), from: value, to: value });

const event = z
  .object({
    id: z.uuid(),
    timestamp: z.iso.datetime(),
    action: z.enum(AUDIT_ACTIONS),
    resourceType: z.string(),
    resourceId: z.string().openapi({ description: 'ID of the object; for a token, its nonce' }),
    userEmail: z
      .string()
      .openapi({ description: 'Actor at that time: email address, token name, `operator` or `system`' }),
    actorType: z.enum(['user', 'token', 'operator', 'system']),
    ipAddress: z
      .string()
      .openapi({ description: 'Empty for changes by the server itself, and for operators of the server' }),
    resourceName: z.string().nullable().openapi({
      description: 'Name of the object at that time; null: it has none, or the event is of an older version',
    }),
    changes: z.array(change).openapi({
      description: `Changed fields with old and new values: at most ${MAX_CHANGES}, of at most ${MAX_CHANGED_TEXT} characters each. Of a secret, \`to\` is \`set\`, \`changed\` or \`removed\``,
    }),
    details: z
      .record(z.string(), value)
      .nullable()
      .openapi({ description: 'More about the event. Events of older versions have old and new values here' }),
  })
  .openapi('AuditEvent', {
    example: {
      id: '019aa3c2-5b7e-7c44-9d0e-6a3d1f8b2c11',
      timestamp: '2026-11-21T09:30:00.000Z',
      action: 'member.update',
      resourceType: 'member',
      resourceId: '019aa3c2-5b70-7b02-8a3e-0c9d3f5e7a10',
      userEmail: 'ann@example.com',
      actorType: 'user',
      ipAddress: '203.0.113.7',
      resourceName: 'bob@example.com',
      changes: [{ field: 'role', from: 'viewer', to: 'member' }],
      details: { email: 'bob@example.com' },
    },
  });

/** A `+` that was not encoded arrives as a space; only the offset may hold one. */
const instant = z.preprocess(
  (text) => (typeof text === 'string' ? text.replace(/ (?=\d\d:\d\d$)/, '+') : text),
  z.union([z.iso.datetime({ offset: true }), z.iso.date()]),
);
/** Here an operator is named: the address of a superadmin, or `operator (name)` for `culvert admin`. */
const operatedEvent = event
  .extend({
    orgId: z.uuid().nullable().openapi({ description: 'Organization of the event; null: none' }),
  })
  .openapi('OperatedAuditEvent', {
    example: {
      id: '019aa3c2-5b7e-7c44-9d0e-6a3d1f8b2c11',
      timestamp: '2026-11-21T09:30:00.000Z',
      action: 'org.plan',
      resourceType: 'organization',
      resourceId: '019aa3c2-5b70-7b02-8a3e-0c9d3f5e7a10',
      userEmail: 'operator (root)',
      actorType: 'operator',
      ipAddress: '',
      resourceName: 'Shop',
      changes: [{ field: 'plan', from: 'free', to: 'pro' }],
      details: null,
      orgId: '019aa3c2-5b70-7b02-8a3e-0c9d3f5e7a10',
    },
  });

const page = z.object({
  limit: z.coerce.number().int().min(1).max(1000).default(100),
  before: z.uuid().optional().openapi({ description: 'ID of an event: lists the events before it' }),
});
const filter = page.extend({
  start_time: instant
    .optional()
    .openapi({ description: 'Events at or after this instant, RFC 3339; or a date', example: '2026-11-01T00:00:00Z' }),
  end_time: instant
    .optional()
    .openapi({ description: 'Events before this instant, RFC 3339; or a date', example: '2026-11-08T00:00:00Z' }),
  action: text(0, 64)
    .optional()
    .openapi({ description: 'An action of AuditEvent; an unknown one finds nothing', example: 'tunnel.create' }),
  actor: text(1, 320).optional().openapi({ description: 'Email address or token name', example: 'ann@example.com' }),
});

export function mountEvents(app: Api, { events }: Deps): void {
  app.openapi(
    defineRoute({
      method: 'get',
      path: '/events',
      tags: ['events'],
      summary: 'List the audit log of the organization, newest first',
      request: { query: filter },
      responses: { 200: json(z.array(event), 'Events') },
    }),
    (c) => {
      return c.json(events.list(actorOf(c), filterOf(c.req.valid('query'))).map(present), 200);
    },
  );
  app.openapi(
    defineRoute({
      method: 'get',
      path: '/me/events',
      tags: ['events'],
      summary: 'List security events of your account, newest first',
      request: { query: page },
      responses: { 200: json(z.array(event), 'Events') },
    }),
    (c) => {
      const { limit, before } = c.req.valid('query');
      return c.json(events.mine(actorOf(c), { limit, before }).map(present), 200);
    },
  );
}

/** Mounted by operator/routes.ts, behind its guard. */
export function mountOperatedEvents(app: Api, { events }: Deps): void {
  app.openapi(
    defineRoute(
      {
        method: 'get',
        path: '/superadmin/events',
        tags: ['superadmin'],
        summary: 'List the audit log of all organizations, newest first',
        description: 'Includes deleted organizations.',
        request: {
          query: filter.extend({
            org: text(1, 64).optional().openapi({ description: 'Id or slug', example: 'shop' }),
          }),
        },
        responses: { 200: json(z.array(operatedEvent), 'Events') },
      },
      ['forbidden', 'not_found'],
    ),
    (c) => {
      const { org, ...query } = c.req.valid('query');
      const rows = events.everywhere(operatorOf(c), { ...filterOf(query), org });
      return c.json(
        rows.map((row) => ({ ...present(row), orgId: row.orgId })),
        200,
      );
    },
  );
}

function filterOf({
  limit,
  before,
  action,
  actor,
  start_time: start,
  end_time: end,
}: z.infer<typeof filter>): EventFilter {
  const at = (time: string | undefined): number | undefined => (time === undefined ? undefined : Date.parse(time));
  return { limit, before, action, by: actor, since: at(start), until: at(end) };
}

function present(row: EventRow) {
  return {
    id: row.id,
    timestamp: iso(row.at),
    action: row.action as (typeof AUDIT_ACTIONS)[number],
    resourceType: row.resourceType,
    resourceId: row.resourceId,
    userEmail: row.actorLabel,
    actorType: row.actorKind,
    ipAddress: row.ipAddress,
    resourceName: row.resourceName,
    changes: [...(row.changes ?? [])],
    details: row.details,
  };
}
