/** What those who run the server may do by the API, who else may not, and who gets to read of it. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { SignJWT } from 'jose';
import { systemClock } from '../../base/clock.ts';
import { OperatorTokens } from './admin-tokens.ts';
import { openSealer, Sealer } from '../core/secrets/sealing.ts';
import { askSocket } from '../../server/admin-client.ts';
import { STATS } from './testing.ts';
import { type Answer, type Harness, startHarness } from '../core/testing/harness.ts';

interface UserBody {
  readonly id: string;
  readonly email: string;
  readonly name: string;
  readonly is_superadmin: boolean;
  readonly mfa_enabled: boolean;
  readonly orgs: ReadonlyArray<{ id: string; slug: string; role: string }>;
}
interface OrgBody {
  readonly id: string;
  readonly slug: string;
  readonly plan: string;
  readonly approval_status: string;
  readonly members: number;
  readonly owners: readonly string[];
}

/** What the answers about one thing hold, between them. */
type Fields = Readonly<Record<'id' | 'email' | 'password' | 'name' | 'plan' | 'approval_status' | 'kid', string>> & {
  readonly is_superadmin: boolean;
};

let h: Harness;
let ann = '';
before(async () => {
  h = await startHarness();
  ann = await h.stranger('ann@example.test');
});
after(() => h.close());

const UNKNOWN = '00000000-0000-7000-8000-000000000000';
const ROUTES: ReadonlyArray<readonly [string, string, unknown?]> = [
  ['GET', '/superadmin/users'],
  ['GET', '/superadmin/users?limit=nonsense'],
  ['POST', '/superadmin/users', { email: 'new@example.test' }],
  ['POST', '/superadmin/users', { nonsense: true }],
  ['PATCH', '/superadmin/users/ann@example.test', { superadmin: true }],
  ['PATCH', `/superadmin/users/${UNKNOWN}`, { superadmin: true }],
  ['POST', '/superadmin/users/ann@example.test/reset-mfa'],
  ['POST', `/superadmin/users/${UNKNOWN}/reset-mfa`],
  ['POST', '/superadmin/users/ann@example.test/revoke-sessions'],
  ['POST', '/superadmin/users/ann@example.test/reset-password'],
  ['POST', '/superadmin/users/ann@example.test/password-link'],
  ['POST', '/superadmin/users/ann@example.test/lock'],
  ['POST', '/superadmin/users/ann@example.test/unlock'],
  ['GET', '/superadmin/certificates'],
  ['GET', '/superadmin/certificates?limit=nonsense'],
  ['POST', '/superadmin/certificates/shop.example.test/renew'],
  ['GET', '/superadmin/orgs'],
  ['GET', '/superadmin/edge'],
  ['PATCH', '/superadmin/orgs/ann', { plan: 'enterprise' }],
  ['PATCH', `/superadmin/orgs/${UNKNOWN}`, { plan: 'enterprise' }],
  ['POST', '/superadmin/orgs/ann/approve'],
  ['POST', '/superadmin/orgs/ann/suspend'],
  ['POST', '/superadmin/keys/access/rotate'],
  ['POST', '/superadmin/keys/nonsense/rotate'],
];

const users = (answer: Answer) => answer.body as unknown as readonly UserBody[];
const orgs = (answer: Answer) => answer.body as unknown as readonly OrgBody[];
const one = (answer: Answer, status = 200): Fields => {
  assert.equal(answer.status, status, answer.text);
  return answer.body as unknown as Fields;
};
const ask = (method: string, path: string, body?: unknown, as = h.owner) =>
  h.call(method, path, body === undefined ? { as } : { as, body });
const actions = async (as: string): Promise<string[]> =>
  ((await h.call('GET', '/events', { as })).body as unknown as { action: string }[]).map(({ action }) => action);

test('superadmin routes: all other users get the same 403, whatever they ask about; the anonymous 401', async () => {
  for (const [method, path, body] of ROUTES) {
    const refused = await ask(method, path, body, ann);
    assert.deepEqual([refused.status, refused.body['error']], [403, 'forbidden'], `${method} ${path}`);
    assert.equal(refused.body['message'], 'This requires a superadmin. Ask an operator of this server.');
    const anonymous = await h.call(method, path, body === undefined ? {} : { body });
    assert.equal(anonymous.status, 401, `${method} ${path}`);
  }
  assert.equal((await h.call('GET', '/superadmin/nothing', { as: ann })).status, 404);
  assert.equal((await h.call('DELETE', '/superadmin/users', { as: ann })).status, 405);
});

test('accounts are listed page by page, found by a part of address or name, and never with a secret', async () => {
  for (const name of ['Percy', 'Per%', 'Pax']) {
    one(await ask('POST', '/superadmin/users', { email: `${name.replace('%', 'cent')}@list.test`, name }), 201);
  }
  const all = users(await ask('GET', '/superadmin/users'));
  assert.ok(all.length >= 5);
  const first = users(await ask('GET', '/superadmin/users?limit=2'));
  const second = users(await ask('GET', `/superadmin/users?limit=2&after=${first[1]?.id}`));
  assert.deepEqual([...first, ...second], all.slice(0, 4));
  const names = async (query: string) =>
    users(await ask('GET', `/superadmin/users?query=${encodeURIComponent(query)}`)).map(({ name }) => name);
  assert.deepEqual(await names('LIST.test'), ['Percy', 'Per%', 'Pax']);
  assert.deepEqual(await names('Per%'), ['Per%'], 'a wildcard is a sign like any other');
  assert.deepEqual(Object.keys(all[0] ?? {}).sort(), [
    'created_at',
    'email',
    'email_verified',
    'id',
    'is_locked',
    'is_superadmin',
    'mfa_enabled',
    'name',
    'orgs',
    'password_pending',
  ]);
  for (const limit of [0, 201, 'x']) assert.equal((await ask('GET', `/superadmin/users?limit=${limit}`)).status, 400);
});

test('an account is made with a password that is shown once; its owner reads who made it', async () => {
  const made = one(
    await ask('POST', '/superadmin/users', { email: 'Bob@Example.test', name: 'Bob', superadmin: true }),
    201,
  );
  const login = await h.call('POST', '/auth/login', { body: { email: 'bob@example.test', password: made.password } });
  assert.equal(one(login).is_superadmin, true);
  assert.ok((await actions(String(login.body['access_token']))).includes('user.create'));
  assert.equal((await ask('POST', '/superadmin/users', { email: 'bob@EXAMPLE.test' })).body['error'], 'conflict');
  assert.equal((await ask('POST', '/superadmin/users', { email: 'none' })).body['error'], 'invalid_request');
  one(await ask('PATCH', `/superadmin/users/${made.id}`, { superadmin: false }));
  const bob = String(login.body['access_token']);
  assert.equal((await ask('GET', '/superadmin/users', undefined, bob)).status, 403, 'from the next request on');
});

test('the last superadmin stays one, also when two go at once', async () => {
  const self = '/superadmin/users/admin@localhost';
  const refused = await ask('PATCH', self, { superadmin: false });
  assert.deepEqual([refused.status, refused.body['error']], [409, 'conflict']);
  assert.equal(one(await ask('PATCH', self, { superadmin: true, name: 'Root' })).name, 'Root');
  one(await ask('POST', '/superadmin/users', { email: 'second@example.test', superadmin: true }), 201);
  const both = await Promise.all(
    [self, '/superadmin/users/second@example.test'].map((path) => ask('PATCH', path, { superadmin: false })),
  );
  // The user who was demoted first may not demote the other any more.
  assert.deepEqual(both.map(({ status }) => status).toSorted()[0], 200);
  const left = JSON.parse((await asOperator('GET', '/superadmin/users')).text) as readonly UserBody[];
  assert.equal(left.filter((row) => row.is_superadmin).length, 1);
  const back = await asOperator('PATCH', self, { body: { superadmin: true } });
  assert.equal(back.status, 200, back.text);
});

test('superadmin: changes of sessions, second factor and password of a user are shown to them', async () => {
  const password = one(await ask('POST', '/superadmin/users', { email: 'eve@example.test' }), 201);
  const login = (secret: string) =>
    h.call('POST', '/auth/login', { body: { email: 'eve@example.test', password: secret } });
  const path = '/superadmin/users/EVE@example.test';
  const as = String((await login(password.password)).body['access_token']);
  assert.deepEqual(one(await ask('POST', `${path}/reset-mfa`)), { reset: false });
  assert.deepEqual(one(await ask('POST', `${path}/revoke-sessions`)), { revoked: 1, revoked_keys: 0 });
  assert.equal((await h.call('GET', '/auth/me', { as })).status, 401);
  assert.deepEqual(one(await ask('POST', `${path}/revoke-sessions`)), { revoked: 0, revoked_keys: 0 });
  const during = String((await login(password.password)).body['access_token']);
  const reset = one(await ask('POST', `${path}/reset-password`));
  assert.equal(reset.email, 'eve@example.test');
  assert.equal((await h.call('GET', '/auth/me', { as: during })).status, 401);
  assert.equal((await login(password.password)).status, 401);
  const again = String((await login(reset.password)).body['access_token']);
  assert.deepEqual(
    (await actions(again)).filter((action) => action.startsWith('user.')),
    ['user.password_reset', 'user.sessions_revoke', 'user.create'],
    'no change, no audit entry',
  );
  const own = (await h.call('GET', '/me/events', { as: again })).body as unknown as { action: string }[];
  assert.ok(own.some(({ action }) => action === 'user.password_reset'));
  assert.equal((await ask('POST', `/superadmin/users/${UNKNOWN}/reset-password`)).status, 404);
});

test('password link: sets the password once, and ends no session before it is used', async () => {
  const email = 'link@example.test';
  const { password } = one(await ask('POST', '/superadmin/users', { email }), 201);
  const login = (secret: string) => h.call('POST', '/auth/login', { body: { email, password: secret } });
  const as = String((await login(password)).body['access_token']);
  const made = (await ask('POST', `/superadmin/users/${email}/password-link`)).body;
  assert.equal(made['email'], email);
  const url = new URL(String(made['url']));
  assert.equal(url.pathname, '/app/reset');
  assert.ok(!readFileSync(join(h.dataDir, 'culvert.db-wal')).includes(url.searchParams.get('token') ?? '-'));
  const term = Date.parse(String(made['expires_at'])) - Date.now();
  assert.ok(term > 3_500_000 && term <= 3_600_000, `${term} ms`);
  assert.equal((await h.call('GET', '/auth/me', { as })).status, 200);
  const body = { token: url.searchParams.get('token'), new_password: 'seven green bottles sit' };
  assert.equal((await h.call('POST', '/auth/reset', { body })).status, 200);
  assert.equal((await h.call('POST', '/auth/reset', { body })).body['error'], 'invalid_code');
  assert.equal((await h.call('GET', '/auth/me', { as })).status, 401);
  assert.equal((await login('seven green bottles sit')).status, 200);
  const again = String((await login('seven green bottles sit')).body['access_token']);
  assert.ok((await actions(again)).includes('user.password_link'));
  assert.equal((await ask('POST', `/superadmin/users/${UNKNOWN}/password-link`)).status, 404);
});

test('an organization is suspended: its agents are cut and refused, its names stay, and an approval lets it go on', async () => {
  const as = await h.stranger('shop@example.test');
  const tunnel = await ask('POST', '/tunnels', { localPort: 1, subdomain: 'shop' }, as);
  const key = String((await ask('POST', '/tokens', { name: 'ci' }, as)).body['apiKey']);
  assert.equal((await h.node.lnk.admit(key)).ok, true);
  const [org] = orgs(await ask('GET', '/superadmin/orgs?query=shop'));
  assert.ok(org !== undefined);
  assert.deepEqual([org.owners, org.members, org.approval_status], [['shop@example.test'], 1, 'approved']);

  h.node.deltas.length = 0;
  assert.equal(one(await ask('POST', '/superadmin/orgs/shop/suspend')).approval_status, 'suspended');
  const [cut] = h.node.deltas;
  assert.ok(cut?.kind === 'cut_org' && h.node.deltas.length === 1, JSON.stringify(h.node.deltas));
  assert.equal(cut.orgId, org.id);
  const refused = await h.node.lnk.admit(key);
  assert.deepEqual([refused.ok, refused.ok ? '' : refused.code], [false, 'forbidden']);
  assert.equal((await ask('POST', '/tokens', { name: 'more' }, as)).body['error'], 'forbidden');
  assert.equal((await ask('GET', `/tunnels/${String(tunnel.body['id'])}`, undefined, as)).status, 200);
  const taken = await ask('POST', '/tunnels', { localPort: 1, subdomain: 'shop' });
  assert.equal(taken.body['error'], 'duplicate_name', 'the name stays');
  assert.deepEqual(
    orgs(await ask('GET', '/superadmin/orgs?status=suspended')).map(({ id }) => id),
    [org.id],
  );
  one(await ask('POST', '/superadmin/orgs/shop/suspend'));
  assert.equal(h.node.deltas.length, 1, 'twice is once');

  assert.equal(one(await ask('POST', `/superadmin/orgs/${org.id}/approve`)).approval_status, 'approved');
  assert.equal((await h.node.lnk.admit(key)).ok, true);
  assert.equal(one(await ask('PATCH', '/superadmin/orgs/shop', { plan: 'pro' })).plan, 'pro');
  assert.equal((await ask('PATCH', '/superadmin/orgs/shop', { plan: 'gold' })).status, 400);
  one(await ask('PATCH', '/superadmin/orgs/shop', {}));
  assert.deepEqual(
    (await actions(as)).filter((action) => action.startsWith('org.')),
    ['org.plan', 'org.approve', 'org.suspend'],
  );
  assert.ok(!(await actions(ann)).includes('org.suspend'), 'no other organization reads of it');
  assert.equal((await ask('POST', `/superadmin/orgs/${UNKNOWN}/suspend`)).status, 404);
});

test("a slug that reads like another organization's id does not stand for it", async () => {
  const [target] = orgs(await ask('GET', '/superadmin/orgs?limit=1'));
  assert.ok(target !== undefined);
  const made = await ask('POST', '/superadmin/users', { email: 'mimic@example.test', name: target.id });
  one(made, 201);
  const [mimic] = orgs(await ask('GET', `/superadmin/orgs?query=${target.id}`));
  assert.equal(mimic?.slug, target.id);
  const changed = one(await ask('PATCH', `/superadmin/orgs/${target.id}`, { plan: 'team' }));
  assert.equal(changed.id, target.id);
});

test('keys rotate, and who logged in before stays in', async () => {
  const kid = one(await ask('POST', '/superadmin/keys/access/rotate')).kid;
  const { keys } = (await h.call('GET', '/.well-known/jwks.json')).body as unknown as { keys: { kid: string }[] };
  assert.ok(keys.some((key) => key.kid === kid));
  assert.equal((await h.call('GET', '/auth/me', { as: ann })).status, 200);
  assert.equal((await ask('POST', '/superadmin/keys/other/rotate')).status, 404);
});

const operatorBearer = async (over: { sealer?: Sealer; ageMs?: number } = {}): Promise<string> => {
  const clock = { ...systemClock, now: () => Date.now() - (over.ageMs ?? 0) };
  return `Bearer ${await new OperatorTokens({ sealer: over.sealer ?? openSealer(h.dataDir), clock }).sign('root')}`;
};

/** As `culvert admin` asks: over the socket of the data folder. */
const asOperator = async (
  method: string,
  path: string,
  { body, headers = {} }: { body?: unknown; headers?: Record<string, string> } = {},
) =>
  askSocket(h.dataDir, {
    method,
    path,
    headers: { authorization: await operatorBearer(), 'content-type': 'application/json', ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });

test("an operator's token opens these routes for a minute, and nothing else", async () => {
  const get = (path: string, authorization: string) => asOperator('GET', path, { headers: { authorization } });
  const good = await operatorBearer();
  assert.equal((await get('/superadmin/users', good)).status, 200);
  assert.equal((await get('/api/superadmin/users', good)).status, 200);
  for (const path of ['/auth/me', '/tunnels', '/events', '/me/events', '/tokens', '/superadmin/../tunnels']) {
    assert.equal((await get(path, good)).status, 401, path);
  }
  const key = openSealer(h.dataDir).derive('operator-token');
  const now = Math.floor(Date.now() / 1000);
  const signed = (typ: string, audience: string, life: number) =>
    new SignJWT()
      .setProtectedHeader({ alg: 'HS256', typ })
      .setAudience(audience)
      .setIssuedAt(now)
      .setExpirationTime(now + life)
      .sign(key);
  const none = `${Buffer.from('{"alg":"none","typ":"operator+jwt"}').toString('base64url')}.${Buffer.from(
    JSON.stringify({ aud: 'culvert-operator', iat: now, exp: now + 60 }),
  ).toString('base64url')}.`;
  for (const [what, bearer] of [
    ['too old', await operatorBearer({ ageMs: 61_000 })],
    ['from the future', await operatorBearer({ ageMs: -120_000 })],
    ['by another key', await operatorBearer({ sealer: new Sealer(Buffer.alloc(32, 7)) })],
    ['of another type', `Bearer ${await signed('at+jwt', 'culvert-operator', 60)}`],
    ['for another audience', `Bearer ${await signed('operator+jwt', 'culvert-api', 60)}`],
    ['unsigned', `Bearer ${none}`],
  ] as const) {
    assert.equal((await get('/superadmin/users', bearer)).status, 401, what);
  }
});

test("an operator's token is good over the folder's socket alone; there it has no address, whatever a header says", async () => {
  for (const headers of [{}, { 'x-forwarded-for': '127.0.0.1' }, { host: 'localhost' }] as Record<string, string>[]) {
    const authorization = await operatorBearer();
    const refused = await h.call('GET', '/superadmin/users', { headers: { ...headers, authorization } });
    assert.deepEqual([refused.status, refused.body['error']], [401, 'unauthorized']);
  }
  const made = await asOperator('POST', '/superadmin/users', {
    body: { email: 'socket@example.test' },
    headers: { 'x-forwarded-for': '198.51.100.7' },
  });
  assert.equal(made.status, 201, made.text);
  const { password } = JSON.parse(made.text) as { password: string };
  const login = await h.call('POST', '/auth/login', { body: { email: 'socket@example.test', password } });
  const events = await h.call('GET', '/events', { as: String(login.body['access_token']) });
  const entries = events.body as unknown as { action: string; ipAddress: string }[];
  assert.equal(entries.find(({ action }) => action === 'user.create')?.ipAddress, '');
});

test('superadmin: operators read admitted, refused and cut connections of the public edge', async () => {
  const answer = await h.call('GET', '/superadmin/edge', { as: h.owner });
  assert.equal(answer.status, 200, answer.text);
  const { connections, dropped, answered, inspector, relays } = STATS;
  const { heldBytes, ...records } = inspector;
  const since = '2026-11-21T09:30:00.000Z';
  const told = { since, connections, dropped, answered, inspector: { ...records, held_bytes: heldBytes } };
  const { attached, onStream, flows, packetsIn, packetsOut, bytesIn, bytesOut } = relays;
  const passed = { packets_in: packetsIn, packets_out: packetsOut, bytes_in: bytesIn, bytes_out: bytesOut };
  const carried = { attached, on_stream: onStream, flows, ...passed, dropped: relays.dropped };
  assert.deepEqual(answer.body, { ...told, relays: carried });
});
