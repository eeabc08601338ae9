/** `/orgs/{id}/export`: what an organization sends to systems of its own. */
import { type Api, actorOf } from '../../core/http/context.ts';
import { defineRoute } from '../../core/http/define-route.ts';
import { json } from '../../core/http/errors.ts';
import { jsonBody } from '../../core/http/fields/shared.ts';
import { orgPath } from '../routes.ts';
import { exportInput, exportView, presentExport } from './schemas.ts';
import type { Exports } from './service.ts';

const tags = ['organizations'];

export function mountExport(app: Api, exports: Exports): void {
  app.openapi(
    defineRoute({
      method: 'get',
      path: '/orgs/{id}/export',
      tags,
      summary: 'Get the export of requests and events, and its state',
      description: 'Only admins see URLs in full. Counters are reset when the server starts.',
      request: { params: orgPath },
      responses: { 200: json(exportView, 'The export') },
    }),
    (c) => c.json(presentExport(exports.get(actorOf(c), c.req.valid('param').id)), 200),
  );
  app.openapi(
    defineRoute(
      {
        method: 'put',
        path: '/orgs/{id}/export',
        'x-needs': 'organization.change',
        tags,
        summary: 'Export requests, audit and security events',
        description:
          'Sends events in batches to an OTLP collector as log records, to a webhook, or to both. Replaces all settings; `null` turns a destination off. ' +
          'The server retries a failed batch for five minutes and honors `Retry-After`; then it drops and counts the batch. ' +
          'The audit log is exported from now on. `docs/export.md` has the fields.',
        request: { params: orgPath, body: jsonBody(exportInput) },
        responses: { 200: json(exportView, 'The export') },
      },
      ['forbidden'],
    ),
    (c) => c.json(presentExport(exports.put(actorOf(c), c.req.valid('param').id, c.req.valid('json'))), 200),
  );
}
