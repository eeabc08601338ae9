/**
 * The REST API: the order of the middleware and every mount, on one screen. Served at `/` and, the same, under `/api`.
 * A route is: schema in, one service call, schema out. No SQL and no rules here or below routes/.
 */
import { OpenAPIHono } from '@hono/zod-openapi';
import { cors } from 'hono/cors';
import { getPath } from 'hono/utils/url';
import { requireBearer } from './auth.ts';
import { authLimit, visitorLimit } from './auth-limit.ts';
import { limitBody } from './bodies/body-limit.ts';
import { ClientIps } from './listener/client-ip.ts';
import type { Api, ApiDeps, ApiEnv } from './context.ts';
import { ErrorLog } from './error-log.ts';
import { answerError, refuseInvalid } from './errors.ts';
import { neededPermission, takesAgentKeys, takesMasterKeys, takesMetricKeys } from './define-route.ts';
import { requireBody } from './bodies/required-body.ts';
import { requireRoute, RouteTable } from './route-table.ts';
import { queueWrites } from './write-queue.ts';
import { countTooLarge } from '../../webhooks/refusals-schemas.ts';
import { mountAccess } from '../../auth/sessions/routes.ts';
import { mountAccount } from '../../auth/sessions/account-routes.ts';
import { mountBasicGates } from '../../tunnels/access-control/password-routes.ts';
import { mountBilling } from '../../billing/routes.ts';
import { mountConnections } from '../../tunnels/connections/routes.ts';
import { mountDevice } from '../../auth/cli/routes.ts';
import { mountDocument } from '../../web/document.ts';
import { mountApiReference } from '../../web/api-reference-routes.ts';
import { mountDocs } from '../../web/docs-routes.ts';
import { mountDomains } from '../../domains/routes.ts';
import { mountEvents } from '../../audit/routes.ts';
import { mountIdentities } from '../../auth/oauth/identities-routes.ts';
import { mountInspector } from '../../inspector/routes.ts';
import { mountInspectorExports } from '../../inspector/export/routes.ts';
import { mountInspectorReplay } from '../../inspector/replay/routes.ts';
import { mountInvitations } from '../../organizations/invitations-routes.ts';
import { mountMembers } from '../../organizations/members-routes.ts';
import { mountMetricKeys } from '../../metrics/keys-routes.ts';
import { mountMetrics } from '../../metrics/routes.ts';
import { mountNetworkRelay } from '../../networks/relay/routes.ts';
import { mountMfa } from '../../auth/mfa/routes.ts';
import { mountNetworkDevices } from '../../networks/devices-routes.ts';
import { mountNetworks } from '../../networks/routes.ts';
import { mountOauth } from '../../auth/oauth/routes.ts';
import { mountOrganizations } from '../../organizations/routes.ts';
import { mountMaintenance } from '../../tunnels/access-control/maintenance-routes.ts';
import { mountPolicies } from '../../tunnels/policies/routes.ts';
import { mountPolicyTests } from '../../tunnels/policies/policy-test-routes.ts';
import { mountPages } from '../../web/pages-routes.ts';
import { mountPassword } from '../../auth/accounts/password-routes.ts';
import { mountProjectTokens } from '../../access-keys/master/project-keys-routes.ts';
import { mountProbes } from '../../web/probes-routes.ts';
import { mountReservedSubdomains } from '../../subdomains/routes.ts';
import { mountSignUp } from '../../auth/accounts/sign-up-routes.ts';
import { mountSuperadmin } from '../../operator/routes.ts';
import { mountTokens } from '../../access-keys/routes.ts';
import { mountTunnels } from '../../tunnels/routes.ts';
import { mountWebhookReceivers } from '../../webhooks/routes.ts';
import { mountVisitorGates } from '../../tunnels/visitor-login/routes.ts';
import { mountVisitorLogins } from '../../tunnels/visitor-login/sign-in-routes.ts';

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
