/**
 * The REST API: the order of the middleware on one screen; the features mount their routes. Served at `/` and, the same, under `/api`.
 * A route is: schema in, one service call, schema out. No SQL and no rules here or below routes/.
 */
import { OpenAPIHono } from '@hono/zod-openapi';
import { cors } from 'hono/cors';
import { getPath } from 'hono/utils/url';
import { type Bearers, requireBearer } from './auth.ts';
import { type AuthLimitDeps, authLimit, visitorLimit } from './auth-limit.ts';
import { limitBody } from './bodies/body-limit.ts';
import { redirectBareHost } from './bare-host.ts';
import { ClientIps } from './listener/client-ip.ts';
import type { Api, ApiEnv, ApiSettings } from './context.ts';
import { ErrorLog } from './error-log.ts';
import { answerError, type ErrorPages, refuseInvalid } from './errors.ts';
import { neededPermission, takesAgentKeys, takesMasterKeys, takesMetricKeys } from './define-route.ts';
import { requireBody } from './bodies/required-body.ts';
import { requireRoute, RouteTable } from './route-table.ts';
import { queueWrites } from './write-queue.ts';

export interface ApiDeps extends ApiSettings {
  /** The features, which mount themselves (control/core/slice.ts). */
  readonly slices: {
    mountBefore(app: Api): void;
    mount(app: Api, settings: ApiSettings): void;
    errorPages(): readonly ErrorPages[];
  };
  readonly bearers: Bearers;
  readonly refresh: AuthLimitDeps['refresh'];
}

/** Builds the application; `app.fetch` serves it. */
export function buildApi(deps: ApiDeps): Api {
  const table = new RouteTable();
  const ips = new ClientIps(deps.trustedProxies, deps.log);
  const errors = new ErrorLog(deps.log, deps.monotonic);
  const pages = deps.slices.errorPages();
  const limit = { ...deps, sessions: deps.bearers.sessions };
  const app: Api = new OpenAPIHono<ApiEnv>({
    defaultHook: refuseInvalid,
    getPath: (request) => withoutPrefix(getPath(request)),
  });
  app.onError((error, c) => answerError(error, c, { log: errors, pages }));

  app.use(async (c, next) => {
    c.set('clientIp', ips.find(c.env.incoming.socket.remoteAddress ?? '', c.req.header('x-forwarded-for')));
    c.header('Cache-Control', 'no-store');
    c.header('X-Content-Type-Options', 'nosniff');
    c.header('Referrer-Policy', 'no-referrer');
    await next();
  });
  if (deps.bareHost !== undefined) app.use(redirectBareHost(deps));
  if (deps.corsOrigins.length > 0)
    app.use(
      cors({
        origin: [...deps.corsOrigins],
        credentials: true,
        maxAge: 600,
        exposeHeaders: ['Link', 'Retry-After', 'Culvert-Searched-To'],
      }),
    );
  app.use('/auth/*', authLimit(limit));
  // A bucket of its own: a user who opens an invitation needs their tries for the login that follows.
  app.use('/orgs/invitations/lookup', authLimit(limit));
  app.use('/alerts/confirm', authLimit(limit));
  app.use('/edge-auth/*', visitorLimit(deps));
  app.use(requireBearer(table, deps.bearers));
  deps.slices.mountBefore(app);
  app.use(limitBody(table));
  app.use(requireRoute(table));
  app.use(requireBody(table));
  app.use(queueWrites(deps.writes));

  deps.slices.mount(app, deps);

  for (const definition of app.openAPIRegistry.definitions) {
    if (definition.type !== 'route') continue;
    const { method, path, security } = definition.route;
    table.add({
      method,
      path,
      isPublic: security?.length === 0,
      takesMasterKeys: takesMasterKeys(security),
      takesMetricKeys: takesMetricKeys(security),
      takesAgentKeys: takesAgentKeys(security),
      needs: neededPermission(definition.route),
      needsBody: definition.route.request?.body?.required === true,
    });
  }
  return app;
}

function withoutPrefix(path: string): string {
  if (path === '/api') return '/';
  return path.startsWith('/api/') ? path.slice('/api'.length) : path;
}
