/** The OpenAPI 3.1 document of everything that is mounted, made from the schemas that check requests. */
import type { Api, ApiDeps } from '../context.ts';
import { REFRESH_COOKIE } from '../refresh-cookie.ts';

const DESCRIPTION = `Publishes local ports on public names.

**Access.** Log in with \`POST /auth/login\` and send the \`access_token\` as \`Authorization: Bearer\`. It lives 15 minutes; \`POST /auth/refresh\`
swaps the HttpOnly cookie \`${REFRESH_COOKIE}\` for a new one. Routes without a lock need no bearer.
The keys of projects can also be handled with a master key as the bearer; every other route answers it with 401.

**Scope.** A caller sees the resources of the active organization (\`POST /auth/switch-org\`). Things of other organizations are 404.

**Errors.** Every error is \`{error, message}\`: branch on \`error\`, show \`message\`. Unknown fields of a body are ignored. A body is at most 1 MiB, or 64 KiB on routes without a log-in (1 MiB for webhooks); JSON is at most 32 levels deep.
Every route may also answer 500 \`internal\`, and 405 \`method_not_allowed\`, with \`Allow\`, for a method that is not listed. \`HEAD\` is answered like \`GET\`, without the body.

**Limits.** \`/auth/*\` takes a few requests at once per source address, then one every few seconds: 429 with \`Retry-After\`.

The API is served at \`/\` and, the same, under \`/api\`.`;

const TAGS: Readonly<Record<string, string>> = {
  probes: 'Is it up, where do agents connect, which keys sign',
  auth: 'Sign-up, log-in, sessions, second factor, identity providers, the command line',
  organizations: 'Teams: members, roles, invitations',
  events: 'The audit log',
  tunnels: 'Public names and what stands behind them',
  'edge-auth': 'Sign-in of visitors of tunnels that ask who they are',
  tokens: 'Capability tokens: keys of machines, CI jobs and AI agents',
  projects: 'Namespaces of public names, with keys of their own',
  'reserved-subdomains': 'Names that an organization keeps',
  domains: "Domains of one's own that lead to a tunnel",
  connections: 'Agents that are connected now, and why others are not any more',
  inspector: 'Requests of visitors as they were recorded: lists, one with everything, live, replay, exports',
  metrics: 'What tunnels carry: numbers, charts, Prometheus',
  webhooks: 'Webhook receivers: webhooks are stored until they are read',
  'private-networks': "WireGuard networks whose server is a customer's machine: who may speak there, and their configs",
  billing: 'Plans, and what is paid for them',
  pages: 'The dashboard, for people with a browser',
  superadmin: 'For those who run the server',
};

export function mountDocument(app: Api, deps: ApiDeps): void {
  app.openAPIRegistry.registerComponent('securitySchemes', 'bearer', {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
    description:
      'The access token that `POST /auth/login` or `POST /auth/refresh` answers with, good for 15 minutes. This page fills it in for a user who is logged in at `/app/`; reload for a new one.',
  });
  app.openAPIRegistry.registerComponent('securitySchemes', 'masterKey', {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'mtk_master_…, or the base64 wire form',
    description: 'A master key. Good for the keys of projects that it minted itself, and for nothing else.',
  });
  app.openAPIRegistry.registerComponent('securitySchemes', 'metricKey', {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'msk_…',
    description:
      'A metrics key (`POST /metrics/keys`). Good for the exposition of its organization, and for nothing else.',
  });
  app.openAPIRegistry.registerComponent('securitySchemes', 'agentKey', {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'mtk_…, or the base64 wire form',
    description:
      'A key of an agent or a project. Reads the mailboxes of its organization, and opens tunnels, which is not by this API.',
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

function describe(app: Api, deps: ApiDeps, publicUrl: string) {
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
