/**
 * The REST API: the order of the middleware and every mount, on one screen. Served at `/` and, the same, under `/api`.
 * A route is: schema in, one service call, schema out. No SQL and no rules here or below routes/.
 */
import { OpenAPIHono } from '@hono/zod-openapi';
import { cors } from 'hono/cors';
import { getPath } from 'hono/utils/url';
import { requireBearer } from './auth.ts';
import { authLimit, visitorLimit } from './auth-limit.ts';
import { limitBody } from './body-limit.ts';
import { ClientIps } from './client-ip.ts';
import type { Api, ApiDeps, ApiEnv } from './context.ts';
import { ErrorLog } from './error-log.ts';
import { answerError, refuseInvalid } from './errors.ts';
import { neededPermission, takesAgentKeys, takesMasterKeys, takesMetricKeys } from './define-route.ts';
import { requireBody } from './required-body.ts';
import { requireRoute, RouteTable } from './route-table.ts';
import { queueWrites } from './write-queue.ts';
import { countTooLarge } from './webhook-refusals.ts';
import { mountAccess } from './routes/access.ts';
import { mountAccount } from './routes/account.ts';
import { mountBasicGates } from './routes/basic-gates.ts';
import { mountBilling } from './routes/billing.ts';
import { mountConnections } from './routes/connections.ts';
import { mountDevice } from './routes/device.ts';
import { mountDocument } from './routes/document.ts';
import { mountApiReference } from './routes/api-reference.ts';
import { mountDocs } from './routes/docs.ts';
import { mountDomains } from './routes/domains.ts';
import { mountEvents } from './routes/events.ts';
import { mountIdentities } from './routes/identities.ts';
import { mountInspector } from './routes/inspector.ts';
import { mountInspectorExports } from './routes/inspector-exports.ts';
import { mountInspectorReplay } from './routes/inspector-replay.ts';
import { mountInvitations } from './routes/invitations.ts';
import { mountMembers } from './routes/members.ts';
import { mountMetricKeys } from './routes/metric-keys.ts';
import { mountMetrics } from './routes/metrics.ts';
import { mountNetworkRelay } from './routes/network-relay.ts';
import { mountMfa } from './routes/mfa.ts';
import { mountNetworkDevices } from './routes/network-devices.ts';
import { mountNetworks } from './routes/networks.ts';
import { mountOauth } from './routes/oauth.ts';
import { mountOrganizations } from './routes/organizations.ts';
import { mountMaintenance } from './routes/maintenance.ts';
import { mountPolicies } from './routes/policies.ts';
import { mountPolicyTests } from './routes/policy-tests.ts';
import { mountPages } from './routes/pages.ts';
import { mountPassword } from './routes/password.ts';
import { mountProjectTokens } from './routes/project-tokens.ts';
import { mountProbes } from './routes/probes.ts';
import { mountReservedSubdomains } from './routes/reserved-subdomains.ts';
import { mountSignUp } from './routes/sign-up.ts';
import { mountSuperadmin } from './routes/superadmin.ts';
import { mountTokens } from './routes/tokens.ts';
import { mountTunnels } from './routes/tunnels.ts';
import { mountWebhookReceivers } from './routes/webhook-receivers.ts';
import { mountVisitorGates } from './routes/visitor-gates.ts';
import { mountVisitorLogins } from './routes/visitor-logins.ts';

/** Builds the application; `app.fetch` serves it. */
export function buildApi(deps: ApiDeps): Api {
  const table = new RouteTable();
  const ips = new ClientIps(deps.trustedProxies, deps.log);
  const errors = new ErrorLog(deps.log, deps.monotonic);
  const app: Api = new OpenAPIHono<ApiEnv>({
    defaultHook: refuseInvalid,
    getPath: (request) => withoutPrefix(getPath(request)),
  });
  app.onError((error, c) => answerError(error, c, errors));

  app.use(async (c, next) => {
    c.set('clientIp', ips.find(c.env.incoming.socket.remoteAddress ?? '', c.req.header('x-forwarded-for')));
    c.header('Cache-Control', 'no-store');
    c.header('X-Content-Type-Options', 'nosniff');
    c.header('Referrer-Policy', 'no-referrer');
    await next();
  });
  if (deps.corsOrigins.length > 0)
    app.use(
      cors({ origin: [...deps.corsOrigins], credentials: true, maxAge: 600, exposeHeaders: ['Link', 'Retry-After'] }),
    );
  app.use('/auth/*', authLimit(deps));
  // A bucket of its own: a user who opens an invitation needs their tries for the login that follows.
  app.use('/orgs/invitations/lookup', authLimit(deps));
  app.use('/edge-auth/*', visitorLimit(deps));
  app.use(requireBearer(table, deps));
  app.use('/webhooks/:receiver_id', countTooLarge(deps));
  app.use(limitBody(table));
  app.use(requireRoute(table));
  app.use(requireBody(table));
  app.use(queueWrites(deps.writes));

  mountProbes(app, deps);
  mountAccess(app, deps);
  mountSignUp(app, deps);
  mountPassword(app, deps);
  mountAccount(app, deps);
  mountDevice(app, deps);
  mountPages(app, deps);
  mountMfa(app, deps);
  mountOauth(app, deps);
  mountIdentities(app, deps);
  mountOrganizations(app, deps);
  mountMembers(app, deps);
  mountInvitations(app, deps);
  mountTunnels(app, deps);
  mountPolicies(app, deps);
  mountPolicyTests(app, deps);
  mountBasicGates(app, deps);
  mountVisitorGates(app, deps);
  mountVisitorLogins(app, deps);
  mountMaintenance(app, deps);
  mountTokens(app, deps);
  mountProjectTokens(app, deps);
  deps.slices.mount(app);
  mountReservedSubdomains(app, deps);
  mountDomains(app, deps);
  mountConnections(app, deps);
  mountNetworks(app, deps);
  mountNetworkDevices(app, deps);
  mountNetworkRelay(app, deps);
  // Its paths are read before those of the others, where `har` would be an id.
  mountInspectorExports(app, deps);
  mountInspector(app, deps);
  mountInspectorReplay(app, deps);
  mountMetrics(app, deps);
  mountMetricKeys(app, deps);
  mountWebhookReceivers(app, deps);
  mountBilling(app, deps);
  mountEvents(app, deps);
  mountSuperadmin(app, deps);
  mountDocument(app, deps);
  mountApiReference(app, deps);
  mountDocs(app, deps);

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
