/**
 * Every route that a running server has, by its own document: closed to the anonymous, blind to other organizations, read-only to viewers.
 * A route that is in neither table below fails here: whoever mounts one says how it is called, and by whom it may be.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { identities } from '../../src/control/db/schema.ts';
import type { ConnectionInfo } from '../../src/plane/link.ts';
import { type Answer, callerOf } from './harness.ts';
import { Plane, VISIT } from './plane.ts';
import { type PlaneApi, servePlane } from './plane-api.ts';
import { type Person, said, Team } from './team.ts';

/** One of each thing that has an id, of one person and the organization that they own. */
interface World {
  readonly org: string;
  readonly user: string;
  readonly session: string;
  readonly identity: string;
  readonly tunnel: string;
  readonly token: string;
  readonly project: string;
  readonly projectToken: string;
  readonly reserved: string;
  readonly connection: string;
  readonly invitation: string;
}

interface Row {
  /** What fills the parameters of the path, in order. */
  readonly ids?: (world: World) => readonly string[];
  /** A body that is accepted. As a function: it names a thing by its id. */
  readonly body?: object | ((world: World) => object);
  /** Why a viewer may write here. */
  readonly viewersMay?: string;
  /** For those who run the server: 403 to everybody else, whatever they name. */
  readonly operators?: true;
}

const ownAccount = "it is about the caller's own account";
const org = ({ org: id }: World) => [id];
const member = (world: World) => [world.org, world.user];
const tunnel = ({ tunnel: id }: World) => [id];
const project = ({ project: slug }: World) => [slug];
const password = 'correct horse battery staple';
const operated = { ids: ({ user }: World) => [user], operators: true } as const;
const operatedOrg = { ids: org, operators: true } as const;

const ROUTES: Readonly<Record<string, Row>> = {
  'GET /auth/me': {},
  'PATCH /auth/me': { body: { name: 'Viv' }, viewersMay: ownAccount },
  'POST /auth/password': { body: { current_password: password, new_password: password }, viewersMay: ownAccount },
  'GET /auth/sessions': {},
  'DELETE /auth/sessions': { viewersMay: ownAccount },
  'DELETE /auth/sessions/{id}': { ids: ({ session }) => [session], viewersMay: ownAccount },
  'POST /auth/switch-org': { body: ({ org: org_id }: World) => ({ org_id }), viewersMay: ownAccount },
  'POST /auth/cli/authorize': { body: { device_code: Buffer.alloc(32, 7).toString('base64url') } },
  'GET /auth/mfa': {},
  'POST /auth/mfa/enroll': { viewersMay: ownAccount },
  'POST /auth/mfa/enroll/verify': { body: { code: '000000' }, viewersMay: ownAccount },
  'POST /auth/mfa/recovery-codes': { body: { password }, viewersMay: ownAccount },
  'POST /auth/mfa/disable': { body: { password }, viewersMay: ownAccount },
  'GET /auth/identities': {},
  'DELETE /auth/identities/{id}': { ids: ({ identity }) => [identity], viewersMay: ownAccount },

  'GET /orgs': {},
  'POST /orgs': { body: { name: 'Another' }, viewersMay: 'whoever reads in one organization may own another' },
  'GET /orgs/{id}': { ids: org },
  'PATCH /orgs/{id}': { ids: org, body: { name: 'Renamed' } },
  'DELETE /orgs/{id}': { ids: org },
  'GET /orgs/{id}/members': { ids: org },
  'PATCH /orgs/{id}/members/{user_id}': { ids: member, body: { role: 'owner' } },
  // Of somebody else: everybody may leave.
  'DELETE /orgs/{id}/members/{user_id}': { ids: member },
  'GET /orgs/{id}/invitations': { ids: org },
  'POST /orgs/{id}/invitations': { ids: org, body: { email: 'swept@example.test', role: 'viewer' } },
  'DELETE /orgs/{id}/invitations/{invitation_id}': { ids: ({ org: id, invitation }) => [id, invitation] },
  'POST /orgs/invitations/accept': {
    body: { token: 'x' },
    viewersMay: 'the letter is for the person, not the organization',
  },

  'GET /tunnels': {},
  'POST /tunnels': { body: { localPort: 3000 } },
  'GET /tunnels/{id}': { ids: tunnel },
  'DELETE /tunnels/{id}': { ids: tunnel },
  'POST /tunnels/{id}/start': { ids: tunnel },
  'POST /tunnels/{id}/stop': { ids: tunnel },
  'GET /tokens': {},
  'POST /tokens': { body: { name: 'ci' } },
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
  'GET /connections': {},
  'DELETE /connections/{id}': { ids: ({ connection }) => [connection] },
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
  'POST /superadmin/users/{id}/revoke-sessions': operated,
  'POST /superadmin/users/{id}/lock': operated,
  'POST /superadmin/users/{id}/unlock': operated,
  'GET /superadmin/events': { operators: true },
  'GET /superadmin/orgs': { operators: true },
  'PATCH /superadmin/orgs/{id}': { ...operatedOrg, body: { plan: 'enterprise' } },
  'POST /superadmin/orgs/{id}/approve': operatedOrg,
  'POST /superadmin/orgs/{id}/suspend': operatedOrg,
  'POST /superadmin/keys/{purpose}/rotate': { ids: () => ['access'], operators: true },
};

const PUBLIC: readonly string[] = [
  // What a probe, an agent, a browser or a reader needs before anybody has logged in; nothing of anybody's.
  'GET /',
  'GET /health',
  'GET /ready',
  'GET /.well-known/culvert',
  'GET /.well-known/jwks.json',
  'GET /.well-known/culvert-revocations',
  'GET /openapi.json',
  'GET /docs',
  'GET /docs/{file}',
  'GET /app',
  'GET /app/',
  'GET /app/cli',
  'GET /app/reset',
  'GET /app/invite',
  'GET /app/{asset}',
  // A page that a browser is sent to, by a signed address; one that says nothing; what the payment provider signs.
  'GET /billing/mock-checkout',
  'GET /billing/mock-portal',
  'POST /billing/webhook',
  // The ways in: each checks a secret of its own.
  'POST /auth/login',
  'POST /auth/login/mfa',
  'POST /auth/refresh',
  'POST /auth/logout',
  'POST /auth/signup',
  'POST /auth/verify-email-otp',
  'POST /auth/resend-verify-otp',
  'POST /auth/forgot',
  'POST /auth/reset',
  'GET /auth/providers',
  'GET /auth/oauth/{provider}/start',
  'GET /auth/oauth/{provider}/callback',
  'POST /auth/cli/token',
  'POST /auth/cli/logout',
];

const rows = Object.entries(ROUTES).map(([name, row]) => {
  const [method = '', path = ''] = name.split(' ');
  return { name, method, path, row, isRead: method === 'GET', isAimed: 'ids' in row || typeof row.body === 'function' };
});
const UNKNOWN = '00000000-0000-7000-8000-000000000000';
const NOT_FOUND = [404, 'not_found'];
const FORBIDDEN = [403, 'forbidden'];
const UNAUTHORIZED = [401, 'unauthorized'];

let plane: Plane;
let api: PlaneApi;
let team: Team;
let ann: Person;
let eve: Person;
const connections: ConnectionInfo[] = [];
before(async () => {
  plane = new Plane();
  api = await servePlane(plane);
  team = new Team(plane, api);
  plane.control.nodes.attach({ connections: () => connections, disconnect: () => true, isOnline: () => false });
  ann = await team.person('ann@example.test');
  eve = await team.person('eve@example.test');
});
after(async () => {
  await api.close();
  plane.close();
});

let worlds = 0;
/** New things for a person, in the organization that they own. */
async function worldOf(person: Person): Promise<World> {
  const n = ++worlds;
  const made = async (path: string, body: object): Promise<Answer['body']> => {
    const answer = await person.call('POST', path, body);
    assert.ok(answer.status < 300, `${path}: ${answer.text}`);
    return answer.body;
  };
  const invited = await made(`/orgs/${person.home}/invitations`, { email: `i${n}@example.test`, role: 'viewer' });
  const token = await made('/tokens', { name: 'swept' });
  const open = await made('/tunnels', { localPort: 3000 });
  const space = await made('/projects', { slug: `p${n}`, name: 'Swept' });
  const projectToken = await made(`/projects/p${n}/tokens`, { name: 'swept' });
  const kept = await made('/reserved-subdomains', { subdomain: `kept-${n}` });
  await plane.control.sessions.login({ email: person.email, password: person.password }, VISIT);
  const { sessions } = (await person.call('GET', '/auth/sessions')).body as unknown as {
    sessions: ReadonlyArray<{ id: string; current: boolean }>;
  };
  const connection = `a0000000-0000-4000-8000-${String(n).padStart(12, '0')}`;
  connections.push({
    agentId: connection,
    orgId: person.home,
    tokenId: String(token['id']),
    remoteIp: '192.0.2.1',
    connectedAt: 0,
    tunnelIds: [],
  });
  const identity = `b0000000-0000-7000-8000-${String(n).padStart(12, '0')}`;
  plane.control.store.db
    .insert(identities)
    .values({
      id: identity,
      userId: person.id,
      provider: 'google',
      issuer: 'https://issuer.test',
      subject: String(n),
      email: person.email,
      createdAt: 0,
      lastUsedAt: 0,
    })
    .run();
  return {
    org: person.home,
    user: person.id,
    session: sessions.find(({ current }) => !current)?.id ?? '',
    identity,
    tunnel: String(open['id']),
    token: String(token['nonce']),
    project: String(space['slug']),
    projectToken: String(projectToken['nonce']),
    reserved: String(kept['id']),
    connection,
    invitation: String(invited['id']),
  };
}

type Route = (typeof rows)[number];

/** Sends the request of a row with these ids; without `as`, without a bearer. */
function send(
  { method, path, row }: Route,
  request: { ids?: readonly string[]; body?: object; as?: string },
): Promise<Answer> {
  let i = 0;
  const filled = path.replaceAll(/\{\w+\}/g, () => request.ids?.[i++] ?? UNKNOWN);
  const body = request.body ?? (typeof row.body === 'object' ? row.body : undefined);
  return api.call(method, filled, {
    ...(request.as === undefined ? {} : { as: request.as }),
    ...(body === undefined ? {} : { body }),
  });
}

/** What a request on the things of this world names. */
function naming({ row }: Route, world: World): { ids: readonly string[]; body?: object } {
  return {
    ids: row.ids?.(world) ?? [],
    ...(typeof row.body === 'function' ? { body: (row.body as (world: World) => object)(world) } : {}),
  };
}

test('every route is in one of the tables, and nothing else is', async () => {
  const document = (await api.call('GET', '/openapi.json')).body as unknown as {
    paths: Record<string, Record<string, { security?: readonly unknown[] }>>;
  };
  const open: string[] = [];
  const closed: string[] = [];
  for (const [path, methods] of Object.entries(document.paths)) {
    for (const [method, { security }] of Object.entries(methods)) {
      (security?.length === 0 ? open : closed).push(`${method.toUpperCase()} ${path}`);
    }
  }
  assert.deepEqual(
    closed.sort(),
    Object.keys(ROUTES).sort(),
    'a route that needs a bearer: say in ROUTES how to call it',
  );
  assert.deepEqual(open.sort(), [...PUBLIC].sort(), 'a route that is open to everybody: say in PUBLIC why');
  for (const { name, path, row } of rows) {
    assert.equal((path.match(/\{/g) ?? []).length, row.ids?.(await anyWorld()).length ?? 0, `${name}: ids`);
  }
});

let someWorld: World | undefined;
/** Things of ann's that no test destroys. */
async function anyWorld(): Promise<World> {
  return (someWorld ??= await worldOf(ann));
}

test('nothing but the public routes answers without a bearer, or with one that is none', async () => {
  const world = await anyWorld();
  for (const route of rows) {
    for (const as of [undefined, 'rubbish', `${ann.token.slice(0, -4)}AAAA`]) {
      const answer = await send(route, { ...naming(route, world), ...(as === undefined ? {} : { as }) });
      assert.deepEqual(said(answer), UNAUTHORIZED, `${route.name} with ${as ?? 'no bearer'}`);
    }
  }
});

test("another organization's ids are not found, alone or mixed with one's own", async () => {
  const theirs = await anyWorld();
  const mine = await worldOf(eve);
  for (const route of rows.filter(({ isAimed }) => isAimed)) {
    const foreign = naming(route, theirs);
    const own = naming(route, mine).ids;
    const mixed = foreign.ids.map((id, i) => own.with(i, id));
    for (const ids of [foreign.ids, ...mixed]) {
      const answer = await send(route, { ...foreign, ids, as: eve.token });
      assert.deepEqual(said(answer), route.row.operators ? FORBIDDEN : NOT_FOUND, `${route.name}: ${ids}`);
    }
  }
});

test('the same requests find what they name when it is the own, so that a 404 above means what it says', async () => {
  for (const route of rows.filter(({ isAimed, row }) => isAimed && row.operators === undefined)) {
    const answer = await send(route, { ...naming(route, await worldOf(ann)), as: ann.token });
    // The organization and the membership of its only owner can't go: 409.
    const expected = /^DELETE \/orgs\/\{id\}(\/members\/\{user_id\})?$/.test(route.name) ? [409] : [200, 201];
    assert.ok(expected.includes(answer.status), `${route.name}: ${answer.status} ${answer.text}`);
  }
});

test('an id that can be none is not found', async () => {
  const world = await anyWorld();
  for (const route of rows.filter(({ row }) => row.ids !== undefined && row.operators === undefined)) {
    const { ids } = naming(route, world);
    for (const [i] of ids.entries()) {
      for (const wrong of [UNKNOWN, 'x', '%20', "'--", '..%2f', '%00', '1'.repeat(300)]) {
        const answer = await send(route, { ids: ids.with(i, wrong), as: ann.token });
        assert.deepEqual(said(answer), NOT_FOUND, `${route.name}: ${wrong}`);
      }
    }
  }
});

test('a viewer reads everything and writes nothing', async () => {
  const world = await anyWorld();
  const viewer = await team.member('viv@example.test', ann, 'viewer');
  const as = await team.acting(viewer, ann.home);
  for (const route of rows) {
    const { name, row, isRead } = route;
    if (row.viewersMay !== undefined) {
      assert.equal(isRead, false, `${name}: everybody reads`);
      continue;
    }
    const answer = await send(route, { ...naming(route, world), as });
    const expected = row.operators || !isRead ? FORBIDDEN : [200];
    assert.deepEqual(said(answer), expected, name);
  }
});

test('the same routes are as closed under /api', async () => {
  const call = callerOf(`http://127.0.0.1:${api.port}/api`);
  for (const { name, method, path } of rows) {
    assert.deepEqual(said(await call(method, path.replaceAll(/\{\w+\}/g, UNKNOWN))), UNAUTHORIZED, name);
  }
});

test('who may not do it hears so before the body is looked at', async () => {
  const world = await anyWorld();
  const viewer = await team.member('vic@example.test', ann, 'viewer');
  const as = await team.acting(viewer, ann.home);
  for (const route of rows.filter(({ isRead, row }) => !isRead && row.viewersMay === undefined)) {
    for (const body of [{}, { junk: true }]) {
      const { ids } = naming(route, world);
      assert.deepEqual(said(await send(route, { ids, body, as })), FORBIDDEN, route.name);
      if (!route.path.startsWith('/orgs/{id}')) continue;
      assert.deepEqual(said(await send(route, { ids, body, as: eve.token })), NOT_FOUND, `${route.name} by a stranger`);
    }
  }
});
