/**
 * Traffic policies over HTTP: what is taken, what is refused and how, and what the data plane gets. What they do to requests is
 * src/data/edge/h1/policy.test.ts.
 */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { Plane } from '../../core/testing/plane.ts';
import { type PlaneApi, servePlane } from '../../core/testing/plane-api.ts';
import { type Person, said, Team } from '../../core/testing/team.ts';

let plane: Plane;
let api: PlaneApi;
let ann: Person;
let tunnelId: string;
beforeEach(async () => {
  plane = new Plane();
  api = await servePlane(plane);
  ann = await new Team(plane, api).person('ann@example.test');
  const made = await ann.call('POST', '/tunnels', { localPort: 3000, subdomain: 'shop' });
  tunnelId = String(made.body['id']);
});
afterEach(async () => {
  await api.close();
  plane.close();
});

const put = (policy: unknown) => ann.call('PUT', `/tunnels/${tunnelId}/policy`, policy);
const deny = { kind: 'deny', path_prefix: '/admin' };
const rate = { kind: 'rate_limit', requests_per_minute: 60, per_client_ip: true };
const jwt = { kind: 'jwt_validation' };

test('policies: a saved one is read back, sent to the data plane and written into the audit log', async () => {
  const actions = [
    deny,
    rate,
    { kind: 'header_set', name: 'X-Tenant', value: 'blue' },
    { kind: 'response_header_set', name: 'X-Frame-Options', value: 'DENY' },
    { kind: 'ip_allow', networks: ['10.0.0.0/8', '2001:db8::/32', '192.0.2.7'], enforce: false },
    { kind: 'ip_deny', networks: ['10.0.0.1'] },
    { kind: 'jwt_validation', allowed_issuers: ['https://id.example.com'], jwks_url: 'https://id.example.com/keys' },
  ];
  const done = await put({ actions });
  assert.deepEqual([done.status, done.body], [200, { id: tunnelId, policy: { actions } }]);
  const { dry_run: _, ...shown } = (await ann.call('GET', `/tunnels/${tunnelId}/policy`)).body;
  assert.deepEqual(shown, done.body);
  const delta = plane.deltas.at(-1);
  assert.ok(delta?.kind === 'put');
  assert.deepEqual(delta.route.policy?.actions[0], { kind: 'deny', pathPrefix: '/admin', enforce: true });
  const snapshot = await plane.control.link.snapshot();
  assert.deepEqual(snapshot.routes[0], delta.route);
  const [newest] = (await ann.call('GET', '/events?limit=1')).body as unknown as Array<{ action: string }>;
  assert.equal(newest?.action, 'tunnel.policy');
});

test('keys over plain HTTP come from the machine of the server alone, and the owner hears where its operator lets them not', async (t) => {
  const lax = new Plane(undefined, { allowPrivateJwks: true });
  t.after(() => lax.close());
  const actor = await lax.person('ann@example.test');
  const { row } = lax.create(actor);
  for (const host of ['localhost', '127.0.0.1', '[::1]']) {
    const policy = { actions: [{ ...jwt, jwks_url: `http://${host}:9000/keys` }] };
    assert.deepEqual(lax.control.policies.put(actor, row.id, policy).warnings, [], host);
    const warned = await put(policy);
    assert.equal(warned.status, 200, host);
    assert.match(
      String(warned.body['warnings']),
      /^actions\.0\.jwks_url: the keys can't be fetched.*edge\.allow_private_jwks/,
    );
  }
});

test('the owner hears of an issuer whose keys can never be had, unless the policy says where they are, or it is this server', async () => {
  const plain = 'http://id.example.com';
  const warned = await put({ actions: [{ ...jwt, allowed_issuers: ['https://id.example.com', plain] }] });
  assert.equal(warned.status, 200);
  assert.match(String(warned.body['warnings']), /http:\/\/id\.example\.com .*https.*jwks_url/);
  for (const action of [
    { ...jwt, allowed_issuers: [plain], jwks_url: 'https://id.example.com/keys' },
    { ...jwt, allowed_issuers: ['http://api.test'] },
  ])
    assert.equal((await put({ actions: [action] })).body['warnings'], undefined);
});

test('a policy is replaced whole, and removed', async () => {
  await put({ actions: [deny] });
  await put({ actions: [rate] });
  assert.deepEqual((await ann.call('GET', `/tunnels/${tunnelId}/policy`)).body['policy'], { actions: [rate] });
  assert.deepEqual(said(await ann.call('DELETE', `/tunnels/${tunnelId}/policy`)), [200]);
  assert.equal((await ann.call('GET', `/tunnels/${tunnelId}/policy`)).body['policy'], null);
  const delta = plane.deltas.at(-1);
  assert.ok(delta?.kind === 'put' && delta.route.policy === null);
  assert.deepEqual(said(await ann.call('DELETE', `/tunnels/${tunnelId}/policy`)), [200]);
});

test('a tcp tunnel knows addresses alone', async () => {
  const made = await ann.call('POST', '/tunnels', { localPort: 5432, protocol: 'tcp' });
  const path = `/tunnels/${String(made.body['id'])}/policy`;
  const allow = { kind: 'ip_allow', networks: ['10.0.0.0/8'] };
  assert.deepEqual(said(await ann.call('PUT', path, { actions: [allow] })), [200]);
  const refused = await ann.call('PUT', path, { actions: [allow, deny] });
  assert.deepEqual(said(refused), [400, 'bad_policy']);
  assert.match(String(refused.body['message']), /tcp tunnel/);
});

test('policies: a route published again for another reason keeps its policy', async () => {
  await put({ actions: [deny] });
  await ann.call('POST', `/tunnels/${tunnelId}/stop`);
  const delta = plane.deltas.at(-1);
  assert.ok(delta?.kind === 'put' && delta.route.stopped);
  assert.equal(delta.route.policy?.actions.length, 1);
});

const many = (count: number) => ({ actions: Array.from({ length: count }, () => deny) });
const header = (name: string, value = 'x') => ({ actions: [{ kind: 'header_set', name, value }] });

// biome-ignore format: a table
const REFUSED: ReadonlyArray<readonly [what: string, policy: unknown, says: RegExp]> = [
  ['no actions', {}, /actions/],
  ['a list', [deny], /the policy/],
  ['an unknown field', { actions: [], action: [] }, /action/],
  ['an unknown field of an action', { actions: [{ ...deny, path: '/' }] }, /actions\.0/],
  ['an unknown kind', { actions: [{ kind: 'allow' }] }, /actions\.0/],
  ['seventeen actions', many(17), /16/],
  ['two rate limits', { actions: [rate, rate] }, /at most one rate_limit/],
  ['two JWT checks', { actions: [jwt, jwt] }, /at most one jwt_validation/],
  ['a prefix without slash', { actions: [{ kind: 'deny', path_prefix: 'admin' }] }, /begin with a \//],
  ['a rate of 0', { actions: [{ ...rate, requests_per_minute: 0 }] }, /requests_per_minute/],
  ['half a request', { actions: [{ ...rate, requests_per_minute: 1.5 }] }, /requests_per_minute/],
  ['keys over plain HTTP', { actions: [{ ...jwt, jwks_url: 'http://id.example.com/keys' }] }, /jwks_url/],
  ['keys at a name that only looks like this machine', { actions: [{ ...jwt, jwks_url: 'http://127.0.0.1.example.com/' }] }, /https/],
  ['no network', { actions: [{ kind: 'ip_allow', networks: [] }] }, /networks/],
  ['a host for a network', { actions: [{ kind: 'ip_deny', networks: ['example.com'] }] }, /IP address/],
  ['a line break in a value', header('X-A', 'a\r\nX-B: b'), /visible ASCII/],
  ['a name that is none', header('X A'), /header name/],
  ...['Host', 'content-length', 'Transfer-Encoding', 'connection', 'X-Forwarded-For', 'x_forwarded_for', 'X-Real-IP', 'culvert-error', 'Proxy-Authorization', 'Upgrade', 'TE']
    .map((name) => [`the header ${name}`, header(name), /is set by the edge/] as const),
  ...['Set-Cookie', 'set-cookie2', 'SET_COOKIE', 'Clear-Site-Data']
    .map((name) => [`the answer's ${name}`, { actions: [{ kind: 'response_header_set', name, value: 'qnt_refresh=x; Domain=example.test' }] }, /sets or clears cookies/] as const),
];

test('policy: a header action can set Cookie for the service', async () => {
  assert.deepEqual(said(await put(header('Cookie', 'flavour=mint'))), [200]);
  const delta = plane.deltas.at(-1);
  assert.ok(delta?.kind === 'put');
  const [action] = delta.route.policy?.actions ?? [];
  assert.deepEqual(action, { kind: 'header_set', name: 'Cookie', value: 'flavour=mint', enforce: true });
});

test('a policy that is not understood is refused, and the old one stays', async () => {
  await put({ actions: [deny] });
  const before = plane.deltas.length;
  for (const [what, policy, says] of REFUSED) {
    const answer = await put(policy);
    assert.deepEqual(said(answer), [400, 'bad_policy'], what);
    assert.match(String(answer.body['message']), says, what);
  }
  assert.equal(plane.deltas.length, before);
  assert.deepEqual(said(await put(many(16))), [200]);
  assert.deepEqual(said(await put({ actions: [] })), [200]);
});
