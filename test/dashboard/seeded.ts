/**
 * A server with something of everything, as after a few days of a small team: what the pass over all pages and the pictures of them look at. All of
 * it is made by the API and by real agents and visitors.
 */
import assert from 'node:assert/strict';
import { createHmac, randomBytes } from 'node:crypto';
import { request, type IncomingMessage, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import { startDns } from '../harness/dns.ts';
import type { Ends } from '../harness/ends.ts';
import { startOrigin } from '../harness/origin.ts';
import { Account, type ApiAnswer } from '../harness/account.ts';
import { type Person, startFixture, type Fixture } from './fixture.ts';

/** A picture of one pixel. */
const PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
  'base64',
);
const ORDER = JSON.stringify({
  order: 1042,
  items: [{ sku: 'A-7', count: 2 }],
  total: 39.9,
  note: 'leave with reception',
});

export interface Place {
  /** Of the picture's file. */
  readonly name: string;
  /** Below `/app`. */
  readonly path: string;
  /** The viewer of the page, other than the owner: logged out, or a new user without data. */
  readonly as?: 'stranger' | 'newcomer';
}

export interface Seeded extends Fixture {
  /** Every page. */
  readonly places: readonly Place[];
  /** May only look on, in the organization that all is in; their own is another. */
  readonly viewer: Person;
  readonly newcomer: Person;
}

/** The user who opens a page; null: logged out. */
export function whoIs({ newcomer, owner }: Seeded, as: Place['as'] | 'owner' = 'owner'): Person | null {
  return { stranger: null, newcomer, owner }[as];
}

export async function startSeeded(ends: Ends): Promise<Seeded> {
  const dns = await startDns(ends);
  const fixture = await startFixture(ends, {
    toml: `[dns]\nresolvers = ["${dns.address}"]\n[inspector]\nreplay = true`,
  });
  const { account } = fixture.culvert;
  const call = async (method: string, path: string, body?: object): Promise<ApiAnswer['body']> => {
    const answer = await account.call(method, path, body);
    assert.ok(answer.status < 300, `${method} ${path} answered ${answer.status}: ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  await call('POST', '/projects', { slug: 'docs', name: 'Documentation' });
  const shop = await publish(ends, fixture, 'shop');
  await publish(ends, fixture, 'staging');
  const idle = await call('POST', '/tunnels', {
    localPort: 8000,
    subdomain: 'guide',
    projectSlug: 'docs',
    protocol: 'http',
  });
  const closed = await call('POST', '/tunnels', { localPort: 5173, subdomain: 'preview', ttlSeconds: 86_400 });
  await call('PUT', `/tunnels/${String(closed['id'])}/maintenance`, { message: 'Back at noon: we move the database.' });
  await call('PUT', `/tunnels/${String(closed['id'])}/auth`, {
    username: 'team',
    password: randomBytes(9).toString('hex'),
  });
  await call('PUT', `/tunnels/${shop}/policy`, {
    actions: [
      { kind: 'deny', path_prefix: '/admin' },
      { kind: 'rate_limit', requests_per_minute: 600, per_client_ip: true },
      { kind: 'header_set', name: 'X-Environment', value: 'demo' },
    ],
  });
  await keys(call);
  const domain = await call('POST', '/domains', { domain: 'shop.example.test' });
  dns.txt.set('_tunnel-challenge.shop.example.test', [[String(domain['verificationToken'])]]);
  await call('POST', `/domains/${String(domain['id'])}/verify`);
  await call('PUT', `/domains/${String(domain['id'])}/bind`, { tunnel_id: shop });
  await call('POST', '/domains', { domain: 'docs.example.test' });
  for (const subdomain of ['shop', 'acme']) await call('POST', '/reserved-subdomains', { subdomain });
  const network = await networks(call);
  const receiver = await webhooks(call, shop);
  await alerts(call, shop);
  await exporting(call);
  const viewer = await members(fixture, call);
  await visits(fixture, 'shop');
  await visits(fixture, 'staging');
  const requestId = await recorded(fixture, shop);
  const link = await call('POST', `/inspector/${requestId}/share`, { expires_in_seconds: 3_600 });
  const newcomer = await fixture.person('newcomer@example.test');
  const invitation = await invite(call);
  return {
    ...fixture,
    viewer,
    newcomer,
    places: [
      { name: 'login', path: '/', as: 'stranger' },
      { name: 'first-tunnel', path: '/', as: 'newcomer' },
      { name: 'overview', path: '/' },
      { name: 'tunnels', path: '/tunnels' },
      { name: 'tunnel-online', path: `/tunnels/${shop}` },
      ...['access-control', 'policy', 'maintenance', 'recording', 'connect'].map((tab) => ({
        name: `tunnel-${tab}`,
        path: `/tunnels/${shop}?tab=${tab}`,
      })),
      { name: 'tunnel-idle', path: `/tunnels/${String(idle['id'])}` },
      { name: 'tunnel-closed', path: `/tunnels/${String(closed['id'])}` },
      { name: 'domains', path: '/domains' },
      { name: 'names', path: '/names' },
      { name: 'networks', path: '/networks' },
      { name: 'network', path: `/networks/${network}` },
      { name: 'inspector', path: '/inspector' },
      { name: 'request', path: `/inspector/${requestId}` },
      { name: 'shared', path: `/shared/${String(link['url']).split('/').at(-1) ?? ''}`, as: 'stranger' },
      { name: 'shared-over', path: '/shared/abc', as: 'stranger' },
      { name: 'connections', path: '/connections' },
      { name: 'webhooks', path: '/webhooks' },
      { name: 'webhook', path: `/webhooks/${receiver}` },
      { name: 'alerts', path: '/alerts' },
      { name: 'keys', path: '/keys' },
      { name: 'projects', path: '/projects' },
      { name: 'project', path: '/projects/docs' },
      { name: 'members', path: '/members' },
      { name: 'organization', path: '/organization' },
      { name: 'billing', path: '/billing' },
      { name: 'audit', path: '/audit' },
      { name: 'export', path: '/export' },
      { name: 'account', path: '/account' },
      { name: 'cli', path: `/cli?device_code=${randomBytes(32).toString('base64url')}` },
      { name: 'confirm-alerts', path: '/confirm-alerts?token=abc', as: 'stranger' },
      { name: 'invite', path: `/invite?token=${invitation}`, as: 'stranger' },
      { name: 'invite-another', path: `/invite?token=${invitation}` },
      { name: 'invite-over', path: '/invite?token=abc', as: 'stranger' },
      { name: 'reset', path: '/reset?token=abc', as: 'stranger' },
      ...['', '/instance', '/users', '/organizations', '/server', '/certificates', '/keys', '/audit'].map((part) => ({
        name: `operator${part.replace('/', '-')}`,
        path: `/operator${part}`,
      })),
      { name: 'nowhere', path: '/nowhere' },
    ],
  };
}

/** The token of an open invitation. */
async function invite(call: Call): Promise<string> {
  const { active_org: org } = (await call('GET', '/auth/me')) as { active_org: { id: string } };
  const made = await call('POST', `/orgs/${org.id}/invitations`, { email: 'grace@example.test', role: 'member' });
  const sent = await call('POST', `/orgs/${org.id}/invitations/${String(made['id'])}/resend`);
  return new URL(String(sent['accept_url'])).searchParams.get('token') ?? '';
}

type Call = (method: string, path: string, body?: object) => Promise<ApiAnswer['body']>;

/** An agent with a service; returns the tunnel's id. */
async function publish(ends: Ends, fixture: Fixture, subdomain: string): Promise<string> {
  const origin = await startOrigin(ends, serve);
  const agent = fixture.culvert.agent(['http', String(origin.port), '--subdomain', subdomain]);
  await agent.printed(/^(http:\/\/\S+)$/m);
  const tunnels = (await fixture.culvert.account.call('GET', '/tunnels')).body as unknown as {
    id: string;
    subdomain: string;
  }[];
  return tunnels.find((tunnel) => tunnel.subdomain === subdomain)?.id ?? '';
}

function serve(incoming: IncomingMessage, response: ServerResponse): void {
  const url = incoming.url ?? '/';
  incoming.resume();
  if (url.startsWith('/missing')) response.writeHead(404, { 'content-type': 'text/plain' }).end('no such thing');
  else if (url.startsWith('/broken'))
    response.writeHead(500, { 'content-type': 'application/json' }).end('{"error":"internal"}');
  else if (url.endsWith('.png')) response.writeHead(200, { 'content-type': 'image/png' }).end(PIXEL);
  else if (url.startsWith('/api/')) response.writeHead(201, { 'content-type': 'application/json' }).end(ORDER);
  else response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><title>Shop</title><h1>Shop</h1>');
}

async function keys(call: Call): Promise<void> {
  const minted = await call('POST', '/tokens', {
    name: 'ci pipeline',
    ttlHours: 720,
    allowedSubdomains: ['preview-*'],
    tunnelQuota: 2,
  });
  await call('PUT', `/tokens/${String(minted['nonce'])}/budget`, { monthlyBudgetUsdCents: 2500 });
  await call('POST', '/tokens', { name: 'an agent that writes code', ttlHours: 24, bandwidthLimitMbps: 20 });
  await call('POST', '/tokens/master', { name: 'release robot', ttl_days: 90 });
  await call('POST', '/projects/docs/tokens', { name: 'docs preview', ttl_hours: 48 });
}

async function networks(call: Call): Promise<string> {
  const network = await call('POST', '/private-networks', { name: 'home', cidr: '10.80.0.0/24' });
  const id = String(network['id']);
  const key = (): string => randomBytes(32).toString('base64');
  await call('PUT', `/private-networks/${id}/server`, { server_public_key: key(), server_listen_port: 51_820 });
  for (const name of ['laptop', 'phone'])
    await call('POST', `/private-networks/${id}/devices`, { name, public_key: key() });
  await call('POST', '/private-networks', { name: 'office', cidr: '10.81.0.0/24' });
  return id;
}

async function exporting(call: Call): Promise<void> {
  const { active_org: org } = (await call('GET', '/auth/me')) as { active_org: { id: string } };
  const headers = { authorization: 'Bearer example' };
  await call('PUT', `/orgs/${org.id}/export`, {
    events: ['audit', 'security'],
    otlp: { endpoint: 'https://otlp.example.invalid', headers },
    webhook: { url: 'https://siem.example.invalid/culvert' },
  });
}

async function alerts(call: Call, tunnelId: string): Promise<void> {
  const email = { type: 'email', to: 'ops@example.test' };
  const slack = { type: 'slack', url: 'https://hooks.slack.com/services/T0/B0/x' };
  await call('POST', '/alerts', { kind: 'tunnel_offline', for_minutes: 5, channels: [email, slack] });
  const quiet_hours = { from: '22:00', to: '07:00', time_zone: 'Europe/Berlin' };
  const scope = { tunnel_id: tunnelId };
  await call('POST', '/alerts', {
    kind: 'error_rate',
    scope,
    threshold: 0.1,
    for_minutes: 10,
    channels: [email],
    quiet_hours,
  });
}

async function webhooks(call: Call, tunnelId: string): Promise<string> {
  const secret = randomBytes(24).toString('hex');
  const receiver = await call('POST', '/webhook-receivers', { name: 'orders', validator: 'github', secret });
  const id = String(receiver['id']);
  await call('PATCH', `/webhook-receivers/${id}`, { forward: { tunnel_id: tunnelId, path: '/api/github' } });
  for (const event of ['push', 'issues', 'release']) {
    const body = JSON.stringify({ action: 'opened', repository: { full_name: 'acme/shop' }, event });
    const outgoing = request(String(receiver['url']), {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'x-github-event': event,
        'x-github-delivery': randomBytes(16).toString('hex'),
        'x-hub-signature-256': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`,
      },
    });
    outgoing.end(body);
    const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
    response.resume();
    assert.equal(response.statusCode, 202);
  }
  return id;
}

/** Returns the one who has accepted. */
async function members(fixture: Fixture, call: Call): Promise<Person> {
  const me = await call('GET', '/auth/me');
  const { id: org } = me['active_org'] as { id: string };
  for (const email of ['dora@example.test', 'emil@example.test']) await fixture.person(email);
  const viewer = await fixture.person('vera@example.test');
  for (const [email, role] of [
    ['bea@example.test', 'admin'],
    ['carl@example.test', 'viewer'],
    [viewer.email, 'viewer'],
  ] as const)
    await call('POST', `/orgs/${org}/invitations`, { email, role });
  const token = await fixture.culvert.server.printed(/"to":"vera@example.test".*invite\?token=([\w-]+)/);
  const account = await Account.logIn(fixture.culvert.apiUrl, viewer.email, viewer.password);
  assert.equal((await account.call('POST', '/orgs/invitations/accept', { token })).status, 200);
  return viewer;
}

/** A little of everything that a visitor does. */
async function visits(fixture: Fixture, subdomain: string): Promise<void> {
  const paths = ['/', '/products?page=2', '/logo.png', '/missing', '/admin/users', '/broken', '/api/orders', '/login'];
  for (let round = 0; round < 4; round++) {
    for (const path of paths) {
      const isPost = path.startsWith('/api') || path === '/login';
      const type = path === '/login' ? 'application/x-www-form-urlencoded' : 'application/json';
      const outgoing = request({
        host: '127.0.0.1',
        port: fixture.culvert.ports.http,
        path,
        method: isPost ? 'POST' : 'GET',
        agent: false,
        headers: {
          host: `${subdomain}.localhost:${fixture.culvert.ports.http}`,
          'user-agent': 'Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0',
          ...(isPost ? { 'content-type': type } : {}),
        },
      });
      outgoing.end(isPost ? (path === '/login' ? 'user=ann&remember=on' : ORDER) : undefined);
      const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
      response.resume();
      await once(response, 'end');
    }
  }
}

/** The id of a recorded request with bodies; records come in batches, half a second late at most. */
async function recorded(fixture: Fixture, tunnelId: string): Promise<string> {
  const path = `/inspector?tunnel_id=${tunnelId}&path=/api/orders&limit=1`;
  for (const end = Date.now() + 15_000; Date.now() < end; ) {
    const [first] = (await fixture.culvert.account.call('GET', path)).body as unknown as { id: string }[];
    if (first !== undefined) return first.id;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error('no request was recorded');
}
