/** `GET /superadmin/metrics`: the whole server for Prometheus. Mounted by routes.ts, behind its check for operators. */
import { z } from '@hono/zod-openapi';
import { type Api, operatorOf } from '../core/http/context.ts';
import { defineRoute } from '../core/http/define-route.ts';
import { exposeServer } from './exposition.ts';
import type { OperatorMetrics } from './metrics.ts';

interface Deps {
  readonly operatorMetrics: OperatorMetrics;
  readonly version: string;
}

export function mountOperatedMetrics(app: Api, { operatorMetrics, version }: Deps): void {
  app.openapi(
    defineRoute(
      {
        method: 'get',
        path: '/superadmin/metrics',
        tags: ['superadmin'],
        summary: 'Get metrics of the server for Prometheus',
        description:
          'Labels contain no tunnels, organizations or visitors. Prometheus scrapes the listener of `metrics.listen` instead.',
        responses: {
          200: {
            description: 'Text exposition',
            content: { 'text/plain': { schema: z.string().openapi({ example: 'culvert_agent_sessions 12\n' }) } },
          },
        },
      },
      ['forbidden', 'unavailable'],
    ),
    async (c) => {
      const { contentType, text } = await exposeServer(await operatorMetrics.figures(operatorOf(c)), version);
      return c.body(text, 200, { 'Content-Type': contentType });
    },
  );
}
