/** The OpenAPI document of everything that is mounted. */
import type { Api } from '../app.ts';
import type { ApiDeps } from '../context.ts';
import { AUDIT_ACTIONS } from '../../services/audit.ts';

export function mountDocument(app: Api, deps: ApiDeps): void {
  app.openAPIRegistry.registerComponent('securitySchemes', 'bearer', {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
  });
  app.openAPIRegistry.registerPath({
    method: 'get',
    path: '/openapi.json',
    security: [],
    tags: ['probes'],
    summary: 'This document',
    responses: { 200: { description: 'OpenAPI 3.1', content: { 'application/json': { schema: {} } } } },
  });
  app.get('/openapi.json', (c) => c.json(describe(app, deps)));
}

function describe(app: Api, deps: ApiDeps) {
  return app.getOpenAPI31Document({
    openapi: '3.1.0',
    info: {
      title: 'Culvert',
      version: deps.version,
      description: `Publishes local ports on public names. Audit actions: ${AUDIT_ACTIONS.join(', ')}.`,
    },
    servers: [{ url: deps.publicUrl() }],
    security: [{ bearer: [] }],
  });
}
