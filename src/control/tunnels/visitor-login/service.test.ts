/**
 * Visitor gates over the API: what is taken, what is refused, and what the data plane gets. Signing in is sign-in.test.ts; what gates
 * do to requests is src/data/edge/h1/visitors.test.ts.
 */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { Secret } from '../../../base/secret.ts';
import { organizations, visitorGates } from '../../db/schema.ts';
import { Plane } from '../../core/testing/plane.ts';
import { type PlaneApi, servePlane } from '../../core/testing/plane-api.ts';
import { type Person, said, Team } from '../../core/testing/team.ts';

/** No server answers there. */
const google = { clientId: 'id', clientSecret: new Secret('secret'), issuer: 'http://127.0.0.1:1' };
const oauth = { google, github: null };

let plane: Plane;
let api: PlaneApi;
let team: Team;
let ann: Person;
let path: string;
let tunnelId: string;
beforeEach(async () => {
  plane = new Plane(undefined, { oauth });
  api = await servePlane(plane);
  team = new Team(plane, api);
  ann = await team.person('ann@example.test');
  const made = await ann.call('POST', '/tunnels', { localPort: 3000, subdomain: 'shop' });
  tunnelId = String(made.body['id']);
  path = `/tunnels/${tunnelId}/edge-auth`;
});
afterEach(async () => {
  await api.close();
  plane.close();
});

const LISTS = { allowed_domains: ['example.com'], allowed_emails: ['ann@partner.test'] };
const put = (lists: object = LISTS) => ann.call('PUT', path, lists);
const gateTold = () => {
  const delta = plane.deltas.at(-1);
  assert.ok(delta?.kind === 'put');
  return delta.route.visitorGate;
};
const flag = async () => [
  (await ann.call('GET', `/tunnels/${tunnelId}`)).body['edgeAuthEnabled'],
  ((await ann.call('GET', '/tunnels')).body as unknown as Array<{ edgeAuthEnabled: boolean }>)[0]?.edgeAuthEnabled,
];
const onPlan = (plan: 'free' | 'pro') => plane.control.store.db.update(organizations).set({ plan }).run();

test('visitor gate: the data plane gets no lists, its organization sees them, and the audit log has it', async () => {
  assert.deepEqual(await flag(), [false, false]);
  const none = { id: tunnelId, edgeAuthEnabled: false, allowed_domains: [], allowed_emails: [] };
  assert.deepEqual((await ann.call('GET', path)).body, none);
  const done = await put();
  const shown = { id: tunnelId, edgeAuthEnabled: true, ...LISTS };
  assert.deepEqual([done.status, done.body], [200, shown]);
  assert.deepEqual((await ann.call('GET', path)).body, shown);
  const gate = gateTold();
  assert.equal(gate?.signInUrl, `http://api.test/edge-auth/start?tunnel_id=${tunnelId}`);
  const snapshot = await plane.control.link.snapshot();
  assert.deepEqual(snapshot.routes[0]?.visitorGate, gate);
  assert.doesNotMatch(JSON.stringify([snapshot, plane.deltas]), /example\.com|partner/);
  assert.deepEqual(await flag(), [true, true]);
  const [newest] = (await ann.call('GET', '/events?limit=1')).body as unknown as Array<{
    action: string;
    details: object;
  }>;
  assert.equal(newest?.action, 'tunnel.edge_auth');
  assert.deepEqual(newest.details, { allowed_domains: 'example.com', allowed_emails: 'ann@partner.test' });
});

test('visitor gate: without a provider the owner gets a warning with the setting of the operator', async (t) => {
  const bare = new Plane();
  const bareApi = await servePlane(bare);
  t.after(async () => {
    await bareApi.close();
    bare.close();
  });
  const others = new Team(bare, bareApi);
  const bob = await others.person('bob@example.test');
  const made = await bob.call('POST', '/tunnels', { localPort: 3000 });
  const gate = `/tunnels/${String(made.body['id'])}/edge-auth`;
  const before = await bob.call('GET', gate);
  assert.equal(before.body['edgeAuthEnabled'], false);
  const put = await bob.call('PUT', gate, LISTS);
  assert.deepEqual(before.body['warnings'], put.body['warnings'], 'before it blocks all visitors');
  assert.deepEqual([put.status, put.body['edgeAuthEnabled']], [200, true], 'it is as closed as its owner wants it');
  assert.match(String(put.body['warnings']), /oauth\.google\.client_id and client_secret/);
  const there = await bob.call('GET', gate);
  assert.deepEqual([there.body['edgeAuthEnabled'], there.body['warnings']], [true, put.body['warnings']]);
  assert.deepEqual(said(await bob.call('DELETE', gate)), [200]);
  // Who may not have one anyway hears of that.
  bare.control.store.db.update(organizations).set({ plan: 'free' }).run();
  assert.deepEqual(said(await bob.call('PUT', gate, LISTS)), [402, 'upgrade_required']);
});

test('the key that signs for visitors is the same after a restart, and another in another folder or with another provider', async () => {
  const { visitorKey } = await plane.control.link.snapshot();
  assert.equal(Buffer.from(visitorKey, 'base64url').length, 32);
  const keyOf = async (dataDir?: string, changes: ConstructorParameters<typeof Plane>[1] = {}): Promise<string> => {
    const other = new Plane(dataDir, { oauth, ...changes });
    const found = (await other.control.link.snapshot()).visitorKey;
    if (dataDir === undefined) other.close();
    else other.control.close();
    return found;
  };
  plane.control.close();
  assert.equal(await keyOf(plane.dataDir), visitorKey);
  assert.notEqual(await keyOf(), visitorKey);
  assert.notEqual(await keyOf(plane.dataDir, { visitorProvider: 'github' }), visitorKey);
  assert.notEqual(
    await keyOf(plane.dataDir, { oauth: { ...oauth, google: { ...google, issuer: 'https://id.test' } } }),
    visitorKey,
  );
});

test('lists are kept in lower case and once each; either may be left out', async () => {
  const { body } = await put({
    allowed_domains: ['Example.COM', 'example.com', 'b.test'],
    allowed_emails: ['Ann@Partner.test', 'ann@partner.test'],
  });
  assert.deepEqual(
    [body['allowed_domains'], body['allowed_emails']],
    [['b.test', 'example.com'], ['ann@partner.test']],
  );
  assert.equal((await put({ allowed_domains: ['example.com'] })).status, 200);
  assert.equal((await put({ allowed_emails: ['a@b.test'] })).status, 200);
  assert.equal(plane.control.store.db.select().from(visitorGates).all().length, 1);
});

// biome-ignore format: a table
const REFUSED: ReadonlyArray<readonly [what: string, lists: object]> = [
  ['nothing', {}],
  ['empty lists', { allowed_domains: [], allowed_emails: [] }],
  ['an empty domain', { allowed_domains: [''] }],
  ['a domain with an @', { allowed_domains: ['@example.com'] }],
  ['a wildcard', { allowed_domains: ['*.example.com'] }],
  ['a leading dot', { allowed_domains: ['.example.com'] }],
  ['a final dot', { allowed_domains: ['example.com.'] }],
  ['a URL', { allowed_domains: ['https://example.com'] }],
  ['a port', { allowed_domains: ['example.com:443'] }],
  ['a domain that is not ASCII', { allowed_domains: ['b\u00fccher.example'] }],
  ['white space', { allowed_domains: [' example.com'] }],
  ['a line break', { allowed_domains: ['example.com\n'] }],
  ['an address without a domain', { allowed_emails: ['ann'] }],
  ['an address without a name', { allowed_emails: ['@example.com'] }],
  ['two addresses in one', { allowed_emails: ['ann@a.test,bob@b.test'] }],
  ['an address with a name in front', { allowed_emails: ['Ann <ann@a.test>'] }],
  ['an address with a line break', { allowed_emails: ['ann@a.test\r\nX: 1'] }],
  ['an address that is not ASCII', { allowed_emails: ['\u212aate@a.test'] }],
  ['a long address', { allowed_emails: [`${'a'.repeat(65)}@a.test`] }],
  ['a number', { allowed_emails: [1] }],
  ['a text for a list', { allowed_domains: 'example.com' }],
  ['null', { allowed_domains: null }],
];

test('visitor gate: lists that match no visitor, or less than they seem to, are refused, and nothing changes', async () => {
  const before = plane.deltas.length;
  for (const [what, lists] of REFUSED) assert.deepEqual(said(await put(lists)), [400, 'invalid_request'], what);
  assert.equal(plane.deltas.length, before);
  assert.deepEqual(await flag(), [false, false]);
});

test('each change has a version of its own, also to the same lists', async () => {
  await put();
  const before = gateTold();
  await put();
  assert.notEqual(gateTold()?.version, before?.version);
});

test('visitor gate: stays when the route is published again for another reason, and goes when it is removed', async () => {
  await put();
  const gate = gateTold();
  await ann.call('POST', `/tunnels/${tunnelId}/stop`);
  assert.deepEqual(gateTold(), gate);
  for (let i = 0; i < 2; i++) {
    const done = await ann.call('DELETE', path);
    assert.deepEqual([done.status, done.body], [200, { id: tunnelId, edgeAuthEnabled: false }]);
  }
  assert.equal(gateTold(), null);
  assert.deepEqual(await flag(), [false, false]);
  const auditLog = (await ann.call('GET', '/events?limit=2')).body as unknown as Array<{ action: string }>;
  assert.deepEqual(
    auditLog.map(({ action }) => action),
    ['tunnel.edge_auth_remove', 'tunnel.stop'],
  );
});

test('it comes with Pro; on a plan without it a gate stays closed, and can only be taken away', async () => {
  onPlan('free');
  const refused = await put();
  assert.deepEqual(said(refused), [402, 'upgrade_required']);
  assert.match(
    String(refused.body['message']),
    /^The Free plan does not include visitor login\. Use Pro, Team or Enterprise/,
  );
  assert.deepEqual(await flag(), [false, false]);
  onPlan('pro');
  assert.equal((await put()).status, 200);
  const gate = gateTold();
  onPlan('free');
  assert.deepEqual(said(await put({ allowed_domains: ['other.test'] })), [402, 'upgrade_required']);
  await ann.call('POST', `/tunnels/${tunnelId}/stop`);
  assert.deepEqual(gateTold(), gate);
  assert.deepEqual((await plane.control.link.snapshot()).routes[0]?.visitorGate, gate);
  assert.equal((await ann.call('DELETE', path)).status, 200);
  assert.equal(gateTold(), null);
});

test('visitor gate: refused on a tcp tunnel', async () => {
  const made = await ann.call('POST', '/tunnels', { localPort: 22, protocol: 'tcp' });
  const answer = await ann.call('PUT', `/tunnels/${String(made.body['id'])}/edge-auth`, LISTS);
  assert.deepEqual(said(answer), [400, 'invalid_request']);
});

test('a tunnel of others is not there, on whatever plan, and who may only look changes nothing', async () => {
  await put();
  const bob = await team.person('bob@example.test');
  onPlan('free');
  for (const [method, body] of [['GET'], ['PUT', LISTS], ['DELETE']] as const)
    assert.deepEqual(said(await bob.call(method, path, body)), [404, 'not_found'], method);
  const viewer = await team.member('viv@example.test', ann, 'viewer');
  const as = await team.acting(viewer, ann.home);
  assert.equal((await api.call('GET', path, { as })).status, 200);
  assert.deepEqual(said(await api.call('PUT', path, { as, body: LISTS })), [403, 'forbidden']);
  assert.deepEqual(said(await api.call('DELETE', path, { as })), [403, 'forbidden']);
});

test('the lists of a deleted tunnel are forgotten', async () => {
  await put();
  assert.deepEqual(said(await ann.call('DELETE', `/tunnels/${tunnelId}`)), [200]);
  assert.deepEqual(plane.control.store.db.select().from(visitorGates).all(), []);
  assert.deepEqual(said(await put()), [404, 'not_found']);
});
