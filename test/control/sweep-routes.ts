/**
 * Every route that a running server has, and how it is called: for tests that hold for all of them. sweep.test.ts fails for a route that is
 * in neither table.
 */
import type { Fixture } from './sweep-fixture.ts';

interface Row {
  /** What fills the parameters of the path, in order. */
  readonly ids?: (fixture: Fixture) => readonly string[];
  /** What must be asked for. */
  readonly query?: string;
  /** A body that is accepted. As a function: it names a thing by its id. */
  readonly body?: object | ((fixture: Fixture) => object);
  /** Why a viewer may write here. */
  readonly viewersMay?: string;
  /** What a call that fits is answered with, where it is not 200. */
  readonly answer?: readonly unknown[];
  /** For those who run the server: 403 to all others, whatever they name. */
  readonly operators?: true;
}

const ownAccount = "it is about the caller's own account";
const org = ({ org: id }: Fixture) => [id];
const member = (fixture: Fixture) => [fixture.org, fixture.user];
const tunnel = ({ tunnel: id }: Fixture) => [id];
const domain = ({ domain: id }: Fixture) => [id];
const record = ({ record: id }: Fixture) => [id];
const receiver = ({ receiver: id }: Fixture) => [id];
const project = ({ project: slug }: Fixture) => [slug];
const network = ({ network: id }: Fixture) => [id];
const alert = ({ alert: id }: Fixture) => [id];
const device = ({ network: id, device: one }: Fixture) => [id, one];
/** Base64 of 32 bytes. */
const publicKey = 'cDwX9Yv2bqLr3m8TfZ0nKs5hJ1oW7uE4iA6gPyQeRHk=';
const password = 'correct horse battery staple';
const operated = { ids: ({ user }: Fixture) => [user], operators: true } as const;
const operatedOrg = { ids: org, operators: true } as const;

/** Every route that needs a bearer, and how it is called. */
export const ROUTES: Readonly<Record<string, Row>> = {
  'GET /auth/me': {},
  'PATCH /auth/me': { body: { name: 'Viv' }, viewersMay: ownAccount },
  'POST /auth/password': { body: { current_password: password, new_password: password }, viewersMay: ownAccount },
  'GET /auth/sessions': {},
  'DELETE /auth/sessions': { viewersMay: ownAccount },
  'DELETE /auth/sessions/{id}': { ids: ({ session }) => [session], viewersMay: ownAccount },
  'POST /auth/switch-org': { body: ({ org: org_id }: Fixture) => ({ org_id }), viewersMay: ownAccount },
  'POST /auth/cli/authorize': { body: { device_code: Buffer.alloc(32, 7).toString('base64url') } },
  'GET /auth/mfa': {},
  'POST /auth/mfa/enroll': { viewersMay: ownAccount },
  'POST /auth/mfa/enroll/verify': { body: { code: '000000' }, viewersMay: ownAccount },
  'POST /auth/mfa/recovery-codes': { body: { password }, viewersMay: ownAccount },
  'POST /auth/mfa/disable': { body: { password }, viewersMay: ownAccount },
  'GET /auth/identities': {},
  'DELETE /auth/identities/{id}': { ids: ({ identity }) => [identity], viewersMay: ownAccount },

  'GET /orgs': {},
  'POST /orgs': { body: { name: 'Another' }, viewersMay: 'a viewer of one organization may own another' },
  'GET /orgs/{id}': { ids: org },
  'PATCH /orgs/{id}': { ids: org, body: { name: 'Renamed' } },
  'DELETE /orgs/{id}': { ids: org },
  'GET /orgs/{id}/export': { ids: org },
  'PUT /orgs/{id}/export': {
    ids: org,
    body: { events: ['audit'], otlp: { endpoint: 'https://otlp.example.test' }, webhook: null },
  },
  'GET /orgs/{id}/members': { ids: org },
  'PATCH /orgs/{id}/members/{user_id}': { ids: member, body: { role: 'owner' } },
  // Of another member: every member may leave.
  'DELETE /orgs/{id}/members/{user_id}': { ids: member },
  'GET /orgs/{id}/invitations': { ids: org },
  'POST /orgs/{id}/invitations': { ids: org, body: { email: 'swept@example.test', role: 'viewer' } },
  'DELETE /orgs/{id}/invitations/{invitation_id}': { ids: ({ org: id, invitation }) => [id, invitation] },
  'POST /orgs/{id}/invitations/{invitation_id}/resend': { ids: ({ org: id, invitation }) => [id, invitation] },
  'POST /orgs/invitations/accept': {
    body: { token: 'x' },
    viewersMay: 'the email is for the user, not the organization',
  },

  'GET /tunnels': {},
  'POST /tunnels': { body: { localPort: 3000 } },
  'GET /tunnels/{id}': { ids: tunnel },
  'DELETE /tunnels/{id}': { ids: tunnel },
  'POST /tunnels/{id}/start': { ids: tunnel },
  'POST /tunnels/{id}/stop': { ids: tunnel },
  'GET /tunnels/{id}/policy': { ids: tunnel },
  'PUT /tunnels/{id}/policy': { ids: tunnel, body: { actions: [] } },
  'DELETE /tunnels/{id}/policy': { ids: tunnel },
  'POST /tunnels/{id}/policy/test': {
    ids: tunnel,
    body: { policy: { actions: [] } },
    viewersMay: 'it reads recorded requests, which they may see, and changes nothing',
  },
  'PUT /tunnels/{id}/auth': { ids: tunnel, body: { username: 'preview', password: 'a long password' } },
  'DELETE /tunnels/{id}/auth': { ids: tunnel },
  'GET /tunnels/{id}/edge-auth': { ids: tunnel },
  'PUT /tunnels/{id}/edge-auth': { ids: tunnel, body: { allowed_domains: ['example.test'], allowed_emails: [] } },
  'DELETE /tunnels/{id}/edge-auth': { ids: tunnel },
  'PUT /tunnels/{id}/maintenance': { ids: tunnel },
  'DELETE /tunnels/{id}/maintenance': { ids: tunnel },
  'GET /tokens': {},
  'POST /tokens': { body: { name: 'ci' } },
  'GET /tokens/pricing': {},
  'GET /tokens/{nonce}': { ids: ({ token }) => [token] },
  'PATCH /tokens/{nonce}': { ids: ({ token }) => [token], body: { tunnelQuota: 2 } },
  'DELETE /tokens/{nonce}': { ids: ({ token }) => [token] },
  'POST /tokens/master': { body: { name: 'ci' } },
  'POST /tokens/{nonce}/rotate': { ids: ({ token }) => [token] },
  'PUT /tokens/{nonce}/budget': { ids: ({ token }) => [token], body: { monthlyBudgetUsdCents: 5 } },
  'POST /projects/{slug}/tokens': { ids: project, body: { name: 'pr' } },
  'DELETE /projects/{slug}/tokens/{nonce}': { ids: ({ project: slug, projectToken }) => [slug, projectToken] },
  'POST /projects/{slug}/tokens/{nonce}/rotate': { ids: ({ project: slug, projectToken }) => [slug, projectToken] },
  'GET /projects': {},
  'POST /projects': { body: { slug: 'swept', name: 'Swept' } },
  'GET /projects/{slug}': { ids: project },
  'PATCH /projects/{slug}': { ids: project, body: { name: 'Renamed' } },
  'DELETE /projects/{slug}': { ids: project },
  'GET /reserved-subdomains': {},
  'POST /reserved-subdomains': { body: { subdomain: 'swept' } },
  'DELETE /reserved-subdomains/{id}': { ids: ({ reserved }) => [reserved] },
  'GET /domains': {},
  'POST /domains': { body: { domain: 'swept.example.net' } },
  'DELETE /domains/{id}': { ids: domain },
  'POST /domains/{id}/verify': { ids: domain },
  'PUT /domains/{id}/bind': { ids: domain, body: ({ tunnel: tunnel_id }: Fixture) => ({ tunnel_id }) },
  'DELETE /domains/{id}/bind': { ids: domain },
  'GET /alerts': {},
  'POST /alerts': {
    body: { kind: 'tunnel_offline', for_minutes: 5, channels: [{ type: 'email', to: 'ops@example.test' }] },
  },
  'GET /alerts/history': {},
  'PATCH /alerts/{id}': { ids: alert, body: { for_minutes: 10 } },
  'DELETE /alerts/{id}': { ids: alert },
  'POST /alerts/{id}/test': { ids: alert },
  'POST /alerts/{id}/channels/{channel_id}/resend': { ids: ({ alert: id, channel }: Fixture) => [id, channel] },
  'GET /connections': {},
  'GET /connections/ended': {},
  'DELETE /connections/{id}': { ids: ({ connection }) => [connection] },
  'GET /inspector': {},
  // Of no tunnel: a tunnel's are in inspector.test.ts.
  'DELETE /inspector': { query: 'tunnel_id=00000000-0000-7000-8000-000000000000' },
  'GET /inspector/unrecorded': {},
  'GET /inspector/recording': {},
  // Without an upgrade: the feed itself is in live-feed.test.ts.
  'GET /inspector/ws': { answer: [400, 'invalid_request'] },
  'GET /inspector/har': {},
  'GET /inspector/{id}': { ids: record },
  'GET /inspector/{id}/curl': { ids: record },
  'GET /inspector/{id}/har': { ids: record },
  'GET /tunnels/{id}/inspector': { ids: tunnel },
  'PUT /tunnels/{id}/inspector': { ids: tunnel, body: { mask: [{ header: 'X-Api-Key' }] } },
  'POST /inspector/{id}/share': { ids: record, body: { expires_in_seconds: 3_600 } },
  'GET /inspector/shares': {},
  'DELETE /inspector/shares/{id}': { ids: ({ share }) => [share] },
  'POST /inspector/{id}/replay': { ids: record, body: { path: '/again' } },
  'GET /metrics': {},
  'GET /metrics/timeseries': { query: 'metric=requests' },
  'GET /metrics/prometheus': {},
  'GET /tunnels/{id}/latency': { ids: tunnel, query: 'range=24h' },
  'GET /orgs/{id}/latency': { ids: org },
  'GET /metrics/keys': {},
  'POST /metrics/keys': { body: { name: 'swept' } },
  'DELETE /metrics/keys/{id}': { ids: ({ metricKey }) => [metricKey] },
  'GET /webhook-receivers': {},
  'POST /webhook-receivers': { body: { name: 'swept', validator: 'github', secret: 'x' } },
  'GET /webhook-receivers/{id}': { ids: receiver },
  'PATCH /webhook-receivers/{id}': { ids: receiver, body: { name: 'renamed' } },
  'DELETE /webhook-receivers/{id}': { ids: receiver },
  'GET /webhook-receivers/{id}/events': { ids: receiver },
  'GET /webhook-receivers/{id}/events/{event_id}': { ids: ({ receiver: id, delivery }) => [id, delivery] },
  'GET /webhook-receivers/{id}/events/{event_id}/attempts': { ids: ({ receiver: id, delivery }) => [id, delivery] },
  'POST /webhook-receivers/{id}/test': { ids: receiver },
  'POST /webhook-receivers/{id}/redeliver': { ids: receiver, body: { from: '2026-11-21T02:00:00.000Z' } },
  'POST /webhook-receivers/{id}/events/{event_id}/redeliver': { ids: ({ receiver: id, delivery }) => [id, delivery] },
  'GET /private-networks': {},
  'POST /private-networks': { body: { name: 'swept', cidr: '10.0.0.0/24' } },
  'GET /private-networks/{id}': { ids: network },
  'PATCH /private-networks/{id}': { ids: network, body: { name: 'renamed' } },
  'DELETE /private-networks/{id}': { ids: network },
  'PUT /private-networks/{id}/server': {
    ids: network,
    body: { server_public_key: publicKey, server_listen_port: 51_820, public_endpoint: 'vpn.example.net:51820' },
  },
  'GET /private-networks/{id}/relay': { ids: network },
  'GET /private-networks/{id}/server-config': { ids: network },
  'GET /private-networks/{id}/devices': { ids: network },
  'POST /private-networks/{id}/devices': { ids: network, body: { name: 'swept', public_key: publicKey } },
  'PATCH /private-networks/{id}/devices/{device_id}': { ids: device, body: { name: 'renamed' } },
  'DELETE /private-networks/{id}/devices/{device_id}': { ids: device },
  'GET /private-networks/{id}/devices/{device_id}/config': { ids: device },
  'GET /attention': {},
  'GET /billing': {},
  'POST /billing/checkout-session': { body: { plan: 'pro' } },
  'POST /billing/portal': {},
  'POST /billing/cancel': {},
  'GET /events': {},
  'GET /me/events': {},

  'GET /superadmin/users': { operators: true },
  'POST /superadmin/users': { body: { email: 'new@example.test' }, operators: true },
  'PATCH /superadmin/users/{id}': { ...operated, body: { name: 'x' } },
  'POST /superadmin/users/{id}/reset-mfa': operated,
  'POST /superadmin/users/{id}/reset-password': operated,
  'POST /superadmin/users/{id}/password-link': operated,
  'POST /superadmin/users/{id}/revoke-sessions': operated,
  'POST /superadmin/users/{id}/lock': operated,
  'POST /superadmin/users/{id}/unlock': operated,
  'GET /superadmin/events': { operators: true },
  'GET /superadmin/edge': { operators: true },
  'GET /superadmin/health': { operators: true },
  'GET /superadmin/metrics': { operators: true },
  'GET /superadmin/orgs': { operators: true },
  'PATCH /superadmin/orgs/{id}': { ...operatedOrg, body: { plan: 'enterprise' } },
  'POST /superadmin/orgs/{id}/approve': operatedOrg,
  'POST /superadmin/orgs/{id}/suspend': operatedOrg,
  'GET /superadmin/certificates': { operators: true },
  'POST /superadmin/certificates/{name}/renew': { ids: () => ['shop.example.test'], operators: true },
  'GET /superadmin/instance': { operators: true },
  'PATCH /superadmin/instance': { body: { settings: {} }, operators: true },
  'POST /superadmin/instance/mail/test': { body: {}, operators: true },
  'POST /superadmin/instance/providers/{provider}/test': { ids: () => ['github'], body: {}, operators: true },
  'POST /superadmin/keys/{purpose}/rotate': { ids: () => ['access'], operators: true },
};

/** Every public route, and why. */
export const PUBLIC: readonly string[] = [
  // What a probe, an agent, a browser or a reader needs before a login; no user's data.
  'GET /',
  'GET /health',
  'GET /ready',
  'GET /.well-known/culvert',
  'GET /.well-known/jwks.json',
  'GET /.well-known/culvert-revocations',
  'GET /openapi.json',
  'GET /docs',
  'GET /docs/',
  'GET /docs/{page}',
  'GET /docs/assets/{file}',
  'GET /docs/api',
  'GET /docs/api/',
  'GET /docs/api/{file}',
  'GET /download',
  'GET /download/',
  'GET /download/release.json',
  'GET /download/{file}',
  'GET /app',
  'GET /app/',
  'GET /app/page.css',
  'GET /app/assets/{file}',
  'GET /app/{page}',
  'GET /app/{page}/{id}',
  // A page that a browser is sent to, by a signed address; one that says nothing; what the payment provider signs.
  'GET /billing/mock-checkout',
  'GET /billing/mock-portal',
  'POST /billing/webhook',
  // What its sender signs with the secret of the receiver.
  'POST /webhooks/{receiver_id}',
  // One request, without credentials, for a reader with the token of its link.
  'GET /inspector/shared/{token}',
  // Visitors of tunnels, who have no account: the identity provider says who they are, the tunnel's lists who may come in.
  'GET /edge-auth/start',
  'GET /edge-auth/callback',
  // Authentication: each checks a secret of its own.
  'POST /auth/login',
  'POST /auth/login/mfa',
  'POST /auth/refresh',
  'POST /auth/logout',
  'POST /auth/signup',
  'POST /auth/verify-email-otp',
  'POST /auth/resend-verify-otp',
  'POST /auth/forgot',
  'POST /auth/reset',
  'POST /orgs/invitations/lookup',
  'POST /alerts/confirm',
  'GET /auth/providers',
  'GET /auth/oauth/{provider}/start',
  'POST /auth/oauth/{provider}/start',
  'GET /auth/oauth/{provider}/callback',
  'POST /auth/cli/token',
  'POST /auth/cli/logout',
  // A sender checks the URL: it gives the receiver's verify token.
  'GET /webhooks/{receiver_id}',
];

export const rows = Object.entries(ROUTES).map(([name, row]) => {
  const [method = '', path = ''] = name.split(' ');
  return { name, method, path, row, isRead: method === 'GET', isAimed: 'ids' in row || typeof row.body === 'function' };
});
/** An id of nothing. */
export const UNKNOWN = '00000000-0000-7000-8000-000000000000';

export type Route = (typeof rows)[number];

/** What a request on the things of this fixture names. */
export function naming({ row }: Route, fixture: Fixture): { ids: readonly string[]; body?: object } {
  return {
    ids: row.ids?.(fixture) ?? [],
    ...(typeof row.body === 'function' ? { body: (row.body as (fixture: Fixture) => object)(fixture) } : {}),
  };
}

/** The path of the route with these ids in it. */
export function pathOf({ path, row }: Route, ids: readonly string[] = []): string {
  let i = 0;
  const filled = path.replaceAll(/\{\w+\}/g, () => ids[i++] ?? UNKNOWN);
  return row.query === undefined ? filled : `${filled}?${row.query}`;
}
