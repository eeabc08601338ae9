/** `/tunnels/{id}/edge-auth`. */
import { z } from '@hono/zod-openapi';
import { MAX_VISITOR_ENTRIES, type VisitorGates } from './service.ts';
import { ADDRESS, DOMAIN, MAX_ADDRESS, MAX_DOMAIN } from './visitor-address.ts';
import { type Api, actorOf } from '../../core/http/context.ts';
import { defineRoute } from '../../core/http/define-route.ts';
import { json } from '../../core/http/errors.ts';
import { byId, jsonBody } from '../../core/http/fields/shared.ts';

interface Deps {
  readonly visitorGates: VisitorGates;
}

const gate = z
  .object({
    allowed_domains: z
      .array(
        z
          .string()
          .max(MAX_DOMAIN)
          .regex(DOMAIN, 'must be the part after the @, such as example.com; non-ASCII domains in xn-- form'),
      )
      .max(MAX_VISITOR_ENTRIES)
      .default([]),
    allowed_emails: z
      .array(z.string().max(MAX_ADDRESS).regex(ADDRESS, 'must be an email address in ASCII'))
      .max(MAX_VISITOR_ENTRIES)
      .default([]),
  })
  .openapi('VisitorGate', {
    example: { allowed_domains: ['example.com'], allowed_emails: ['ann@partner.example'] },
  });

const shown = z
  .object({
    id: z.string(),
    edgeAuthEnabled: z.boolean(),
    allowed_domains: z.array(z.string()),
    allowed_emails: z.array(z.string()),
    warnings: z.array(z.string()).optional().openapi({ description: 'Reasons why no visitor can log in' }),
  })
  .openapi({
    example: {
      id: '019aa3c2-5b70-7b02-8a3e-0c9d3f5e7a10',
      edgeAuthEnabled: true,
      allowed_domains: ['example.com'],
      allowed_emails: ['ann@partner.example'],
    },
  });
const removed = z
  .object({ id: z.string(), edgeAuthEnabled: z.literal(false) })
  .openapi({ example: { id: '019aa3c2-5b70-7b02-8a3e-0c9d3f5e7a10', edgeAuthEnabled: false } });
const tags = ['tunnels'];
const path = '/tunnels/{id}/edge-auth';

export function mountVisitorGates(app: Api, { visitorGates }: Deps): void {
  app.openapi(
    defineRoute({
      method: 'get',
      path,
      tags,
      summary: 'Get the visitor login of a tunnel',
      request: { params: byId },
      responses: { 200: json(shown, 'Both lists are empty if visitor login is off') },
    }),
    (c) => {
      const tunnelId = c.req.valid('param').id;
      const lists = visitorGates.get(actorOf(c), tunnelId);
      // Also where there is no gate: the owner should see it before a gate closes the tunnel.
      const warnings = visitorGates.warnings();
      return c.json(
        {
          id: tunnelId,
          edgeAuthEnabled: lists !== null,
          allowed_domains: [...(lists?.allowedDomains ?? [])],
          allowed_emails: [...(lists?.allowedEmails ?? [])],
          ...(warnings.length === 0 ? {} : { warnings: [...warnings] }),
        },
        200,
      );
    },
  );
  app.openapi(
    defineRoute(
      {
        method: 'put',
        path,
        'x-needs': 'tunnel.change',
        tags,
        summary: 'Require visitors to log in',
        description:
          'Applies from the next request on. The identity provider is that of `edge_auth.provider`. The edge checks policy and password first. A visitor is allowed if their verified email, or its exact domain, is on a list. Case is ignored. The service gets the address as `Culvert-Visitor-Email`. Browsers are redirected to the login; other clients get 401. Each change requires a new login from every visitor. Requires the plan Pro or higher. On a smaller plan, an existing visitor login stays, and can only be removed. Not for `tcp` tunnels. Without a provider on this server, no visitor can log in; `warnings` reports it.',
        request: { params: byId, body: jsonBody(gate) },
        responses: { 200: json(shown, 'Visitors need to log in') },
      },
      ['forbidden', 'upgrade_required'],
    ),
    (c) => {
      const tunnelId = c.req.valid('param').id;
      const { allowed_domains: allowedDomains, allowed_emails: allowedEmails } = c.req.valid('json');
      const warnings = visitorGates.warnings();
      const lists = visitorGates.put(actorOf(c), tunnelId, { allowedDomains, allowedEmails });
      return c.json(
        {
          id: tunnelId,
          edgeAuthEnabled: true,
          allowed_domains: [...lists.allowedDomains],
          allowed_emails: [...lists.allowedEmails],
          ...(warnings.length === 0 ? {} : { warnings: [...warnings] }),
        },
        200,
      );
    },
  );
  app.openapi(
    defineRoute(
      {
        method: 'delete',
        path,
        tags,
        summary: 'Remove the visitor login of a tunnel',
        request: { params: byId },
        responses: { 200: json(removed, 'Visitors need no password') },
      },
      ['forbidden'],
    ),
    (c) => {
      const tunnelId = c.req.valid('param').id;
      visitorGates.remove(actorOf(c), tunnelId);
      return c.json({ id: tunnelId, edgeAuthEnabled: false as const }, 200);
    },
  );
}
