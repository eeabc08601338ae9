/** The OpenAPI 3.1 document of everything that is mounted, made from the schemas that check requests. */
import type { Api } from '../core/http/context.ts';
import { REFRESH_COOKIE } from '../core/http/refresh-cookie.ts';

interface Deps {
  readonly version: string;
  readonly publicUrl: () => string;
}

const DESCRIPTION = `The REST API of Culvert, a tunnel server that gives local ports public URLs.

**Access.** Log in with \`POST /auth/login\` and send the \`access_token\` as \`Authorization: Bearer\`. It is valid for 15 minutes. \`POST /auth/refresh\`
exchanges the HttpOnly cookie \`${REFRESH_COOKIE}\` for a new one. Routes without a lock need no access token.
A master key works only for the keys of projects; other routes return 401.

**Scope.** A caller sees the objects of the active organization (\`POST /auth/switch-org\`). Objects of other organizations are 404.

**Errors.** Every error is \`{error, message}\`: \`error\` is for programs, \`message\` for users. Unknown fields of a body are ignored. A body is at most 1 MiB, or 64 KiB on routes without a login (1 MiB for webhooks); JSON is at most 32 levels deep.
Every route can also return 500 \`internal\`, and 405 \`method_not_allowed\` with \`Allow\` for a method that is not listed. \`HEAD\` works like \`GET\`, without the body.

**Limits.** \`/auth/*\` allows a few requests at once per address, then one every few seconds. Above that: 429 with \`Retry-After\`.

All paths also work with the prefix \`/api\`.`;

const TAGS: Readonly<Record<string, string>> = {
  probes: 'Health, discovery of the agent listener, and signing keys',
  auth: 'Sign-up, login, sessions, two-factor authentication, identity providers and the CLI',
  organizations: 'Organizations, members, roles and invitations',
  events: 'The audit log',
  tunnels: 'Public names, policies, passwords and maintenance mode',
  'edge-auth': 'Login of visitors with an identity provider',
  tokens: 'Capability tokens: access keys of machines, CI jobs and AI agents',
  projects: 'Namespaces of public names, with their own keys',
  'reserved-subdomains': 'Names that an organization keeps without a tunnel',
  domains: 'Custom domains of tunnels',
  connections: 'Connected agents, and ended sessions with their reasons',
  inspector: 'Recorded requests of visitors: search, details, live feed, replay and exports',
  attention: 'Problems of an organization, worst first',
  alerts: 'Rules that send messages when something is wrong',
  metrics: 'Traffic of an organization: counters, charts and Prometheus',
  webhooks: 'Webhook receivers: verify, store and forward webhooks',
  'private-networks': 'WireGuard networks between your machines: servers, devices and configurations',
  billing: 'Plans and subscriptions',
  pages: 'Pages for browsers: the dashboard and the documentation',
  superadmin: 'For operators of the server',
};

export function mountDocument(app: Api, deps: Deps): void {
  app.openAPIRegistry.registerComponent('securitySchemes', 'bearer', {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
    description:
      'The access token from `POST /auth/login` or `POST /auth/refresh`, valid for 15 minutes. If you are logged in at `/app/`, this page fills it in. Reload the page to get a new one.',
  });
  app.openAPIRegistry.registerComponent('securitySchemes', 'masterKey', {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'mtk_master_…, or the base64 wire form',
    description: 'A master key. It can only manage project keys that it created.',
  });
  app.openAPIRegistry.registerComponent('securitySchemes', 'metricKey', {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'msk_…',
    description: 'A metrics key (`POST /metrics/keys`). It can only read the Prometheus metrics of its organization.',
  });
  app.openAPIRegistry.registerComponent('securitySchemes', 'agentKey', {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'mtk_…, or the base64 wire form',
    description:
      'An agent key or a project key. In this API, it can only read the webhook deliveries of its organization.',
  });
  app.openAPIRegistry.registerPath({
    method: 'get',
    path: '/openapi.json',
    security: [],
    tags: ['probes'],
    summary: 'Get this document',
    responses: { 200: { description: 'OpenAPI 3.1', content: { 'application/json': { schema: { type: 'object' } } } } },
  });
  let made: { publicUrl: string; text: string } | undefined;
  app.get('/openapi.json', (c) => {
    const publicUrl = deps.publicUrl();
    // Making it takes tens of milliseconds, and the request is public.
    if (made?.publicUrl !== publicUrl) made = { publicUrl, text: JSON.stringify(describe(app, deps, publicUrl)) };
    return c.body(made.text, 200, { 'Content-Type': 'application/json' });
  });
}

function describe(app: Api, deps: Deps, publicUrl: string) {
  return app.getOpenAPI31Document({
    openapi: '3.1.0',
    info: {
      title: 'Culvert',
      version: deps.version,
      description: DESCRIPTION,
      license: { name: 'Apache-2.0', url: 'https://www.apache.org/licenses/LICENSE-2.0' },
    },
    servers: [{ url: publicUrl }],
    security: [{ bearer: [] }],
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
  });
}
