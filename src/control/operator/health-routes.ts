/** `/health`, `/ready` and `GET /superadmin/health`: what probes and operators ask. Costs no query: operator/health.ts looks by itself. */
import { z } from '@hono/zod-openapi';
import type { Check } from './health-checks.ts';
import { type Api, type Discovery, operatorOf } from '../core/http/context.ts';
import { defineRoute } from '../core/http/define-route.ts';
import { json } from '../core/http/errors.ts';
import type { Health } from './health.ts';

interface Deps {
  readonly health: Pick<Health, 'report' | 'fullReport'>;
  readonly version: string;
  readonly discovery: () => Discovery | undefined;
}

const check = z
  .object({
    name: z.string().openapi({
      description:
        'database, disk_space, data_node, keys, recording, certificates, mail, jobs, backups, log, file_descriptors or agents. New names can appear: use the `status` of an unknown one.',
    }),
    status: z.enum(['ok', 'warn', 'fail']),
    detail: z.string().openapi({ description: 'For users' }),
  })
  .openapi('HealthCheck', { example: { name: 'database', status: 'ok', detail: 'The database is writable.' } });

const EXAMPLE = {
  version: '1.0.0-rc.1',
  checks: [
    { name: 'database', status: 'ok' as const, detail: 'The database is writable.' },
    { name: 'disk_space', status: 'warn' as const, detail: 'The disk is nearly full: requests are not recorded.' },
  ],
};
const health = z
  .object({ status: z.enum(['ok', 'degraded']), version: z.string(), checks: z.array(check) })
  .openapi('Health', { example: { status: 'degraded', ...EXAMPLE } });
const readiness = z
  .object({ status: z.enum(['ready', 'unavailable']), version: z.string(), checks: z.array(check) })
  .openapi('Readiness', { example: { status: 'ready', ...EXAMPLE } });
const operatedCheck = check
  .extend({ next: z.string().openapi({ description: 'What to do; empty when there is nothing to do' }) })
  .openapi('OperatedHealthCheck', {
    example: {
      name: 'disk_space',
      status: 'warn',
      detail: '1.2 GB of 40 GB are free on the disk of /var/lib/culvert; recordings stop below 2 GB.',
      next: 'Free space.',
    },
  });
const operatedHealth = z
  .object({ status: z.enum(['ok', 'degraded']), version: z.string(), checks: z.array(operatedCheck) })
  .openapi('OperatedHealth', {
    example: {
      status: 'ok',
      version: '1.0.0-rc.1',
      checks: [{ name: 'database', status: 'ok', detail: 'The database in /var/lib/culvert is writable.', next: '' }],
    },
  });
const NOT_READY = {
  status: 'unavailable',
  error: 'unavailable',
  message: 'The database is read-only: its disk is full or faulty.',
  version: '1.0.0-rc.1',
  checks: [
    {
      name: 'database',
      status: 'fail',
      detail: 'The database is read-only: its disk is full or faulty.',
    },
  ],
};
const notReady = readiness
  .extend({ error: z.literal('unavailable'), message: z.string() })
  .openapi('NotReady', { example: NOT_READY });

const open = { method: 'get' as const, security: [], tags: ['probes'] };
const forAll = ({ name, status, detail }: Check) => ({ name, status, detail });

export function mountHealth(app: Api, deps: Deps): void {
  const { version } = deps;
  app.openapi(
    defineRoute({
      ...open,
      path: '/health',
      summary: 'Check the health of the server',
      description: 'Always 200 while the process runs. The checks are at most 5 seconds old.',
      responses: { 200: json(health, '`ok`, or `degraded` if a check is not `ok`') },
    }),
    (c) => {
      const { checks, isWell } = deps.health.report();
      return c.json(
        { status: isWell ? ('ok' as const) : ('degraded' as const), version, checks: checks.map(forAll) },
        200,
      );
    },
  );
  app.openapi(
    defineRoute({
      ...open,
      path: '/ready',
      summary: 'Check whether the server can serve',
      description: '503 while the database, the keys or the data node fail. The checks are at most 5 seconds old.',
      responses: {
        200: json(readiness, 'Ready'),
        503: {
          description: 'Not ready; see `checks`',
          content: {
            'application/json': { schema: notReady, examples: { unavailable: { value: NOT_READY } } },
          },
        },
      },
    }),
    (c) => {
      const { checks, isReady } = deps.health.report();
      const list = checks.map(forAll);
      if (isReady && deps.discovery() !== undefined)
        return c.json({ status: 'ready' as const, version, checks: list }, 200);
      const message = list.find(({ status }) => status === 'fail')?.detail ?? 'The server is starting.';
      const status = 'unavailable' as const;
      return c.json({ status, error: status, message, version, checks: list }, 503);
    },
  );
}

/** Behind operator/routes.ts's check for operators. */
export function mountOperatedHealth(app: Api, { health: of, version }: Omit<Deps, 'discovery'>): void {
  app.openapi(
    defineRoute(
      {
        method: 'get',
        path: '/superadmin/health',
        tags: ['superadmin'],
        summary: 'Get health checks with folders, numbers and next steps',
        responses: { 200: json(operatedHealth, 'As `/health`, with `next`') },
      },
      ['forbidden'],
    ),
    (c) => {
      const { checks, isWell } = of.fullReport(operatorOf(c));
      const list = checks.map(({ name, status, full, next }) => ({ name, status, detail: full, next }));
      return c.json({ status: isWell ? ('ok' as const) : ('degraded' as const), version, checks: list }, 200);
    },
  );
}
