/**
 * HTTP Basic gates over the API: what is taken, what is refused, and what the data plane gets. What they do to requests is
 * src/data/edge/h1/basic.test.ts.
 */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { basicGates, memberships } from '../../db/schema.ts';
import { Plane } from '../../core/testing/plane.ts';
import { type PlaneApi, servePlane } from '../../core/testing/plane-api.ts';
import { type Person, said, Team } from '../../core/testing/team.ts';

let plane: Plane;
let api: PlaneApi;
let team: Team;
let ann: Person;
let path: string;
let tunnelId: string;
beforeEach(async () => {
  plane = new Plane();
  api = await servePlane(plane);
  team = new Team(plane, api);
  ann = await team.person('ann@example.test');
  const made = await ann.call('POST', '/tunnels', { localPort: 3000, subdomain: 'shop' });
  tunnelId = String(made.body['id']);
  path = `/tunnels/${tunnelId}/auth`;
});
afterEach(async () => {
  await api.close();
  plane.close();
});

const PASSWORD = 'correct horse';
const put = (over: object = {}) => ann.call('PUT', path, { username: 'preview', password: PASSWORD, ...over });
const gateTold = () => {
  const delta = plane.deltas.at(-1);
  assert.ok(delta?.kind === 'put');
  return delta.route.gate;
};
const flag = async () => [
  (await ann.call('GET', `/tunnels/${tunnelId}`)).body['authEnabled'],
  ((await ann.call('GET', '/tunnels')).body as unknown as Array<{ authEnabled: boolean }>).map(
    (one) => one.authEnabled,
  ),
];

test('basic gate: the data plane gets a hash, the API a flag, the audit log no password', async () => {
  assert.deepEqual(await flag(), [false, [false]]);
  const done = await put();
  assert.deepEqual([done.status, done.body], [200, { id: tunnelId, authEnabled: true }]);
  const gate = gateTold();
  assert.equal(gate?.username, 'preview');
  assert.match(gate?.passwordHash ?? '', /^\$argon2id\$/);
  assert.deepEqual((await plane.control.link.snapshot()).routes[0]?.gate, gate);
  assert.deepEqual(await flag(), [true, [true]]);
  const one = (await ann.call('GET', `/tunnels/${tunnelId}`)).body;
  assert.equal(one['authUsername'], 'preview');
  const auditLog = await ann.call('GET', '/events?limit=1');
  const [newest] = auditLog.body as unknown as Array<{ action: string }>;
  assert.equal(newest?.action, 'tunnel.auth');
  assert.doesNotMatch(JSON.stringify([auditLog.body, done.body, one]), /horse|argon2/);
});

test('each change has a version of its own, also to the same password', async () => {
  await put();
  const before = gateTold();
  await put();
  assert.notEqual(gateTold()?.version, before?.version);
  assert.equal(plane.control.store.db.select().from(basicGates).all().length, 1);
});

test('basic gate: stays when the route is published again for another reason, and goes when it is removed', async () => {
  await put();
  await ann.call('POST', `/tunnels/${tunnelId}/stop`);
  assert.equal(gateTold()?.username, 'preview');
  for (let i = 0; i < 2; i++) {
    const done = await ann.call('DELETE', path);
    assert.deepEqual([done.status, done.body], [200, { id: tunnelId, authEnabled: false }]);
  }
  assert.equal(gateTold(), null);
  assert.deepEqual(await flag(), [false, [false]]);
  const auditLog = (await ann.call('GET', '/events?limit=2')).body as unknown as Array<{
    action: string;
    changes: readonly object[];
  }>;
  assert.deepEqual(
    auditLog.map(({ action }) => action),
    ['tunnel.auth_remove', 'tunnel.stop'],
  );
  assert.deepEqual(auditLog[0]?.changes, [
    { field: 'username', from: 'preview', to: null },
    { field: 'password', from: null, to: 'removed' },
  ]);
});

// biome-ignore format: a table
const REFUSED: ReadonlyArray<readonly [what: string, over: object]> = [
  ['no user name', { username: undefined }],
  ['an empty user name', { username: '' }],
  ['an empty password', { password: '' }],
  ['a colon in the user name', { username: 'a:b' }],
  ['a line break', { username: 'a\r\nb' }],
  ['a control character', { password: 'a\u0000b' }],
  ['half a character', { password: 'a\ud800' }],
  ['a long user name', { username: 'a'.repeat(257) }],
  ['a long password', { password: 'a'.repeat(257) }],
  ['a number', { password: 12345678 }],
];

test('what no visitor could show is refused, and nothing changes', async () => {
  const before = plane.deltas.length;
  for (const [what, over] of REFUSED) assert.deepEqual(said(await put(over)), [400, 'invalid_request'], what);
  assert.equal(plane.deltas.length, before);
  assert.deepEqual(said(await put({ username: 'a'.repeat(256), password: ':'.repeat(256) })), [200]);
});

test('basic gate: refused on a tcp tunnel', async () => {
  const made = await ann.call('POST', '/tunnels', { localPort: 22, protocol: 'tcp' });
  const answer = await ann.call('PUT', `/tunnels/${String(made.body['id'])}/auth`, { username: 'a', password: 'b' });
  assert.deepEqual(said(answer), [400, 'invalid_request']);
});

test('a tunnel of others is not there, and who may only look changes nothing', async () => {
  const bob = await team.person('bob@example.test');
  const gate = { username: 'a', password: 'b' };
  assert.deepEqual(said(await bob.call('PUT', path, gate)), [404, 'not_found']);
  assert.deepEqual(said(await bob.call('DELETE', path)), [404, 'not_found']);
});

test('basic gate: a user demoted during the hash changes nothing', async () => {
  const actor = await plane.control.sessions.authenticate(ann.token, '192.0.2.1');
  assert.ok(actor !== undefined);
  const before = plane.deltas.length;
  const asked = plane.control.basicGates.put(actor, tunnelId, { username: 'a', password: 'b' });
  plane.control.store.db.update(memberships).set({ role: 'viewer' }).run();
  await assert.rejects(asked, { code: 'forbidden' });
  assert.deepEqual(said(await put()), [403, 'forbidden']);
  assert.deepEqual(said(await ann.call('DELETE', path)), [403, 'forbidden']);
  assert.equal(plane.deltas.length, before);
});

test('the password of a deleted tunnel is forgotten', async () => {
  await put();
  assert.deepEqual(said(await ann.call('DELETE', `/tunnels/${tunnelId}`)), [200]);
  assert.deepEqual(plane.control.store.db.select().from(basicGates).all(), []);
  assert.deepEqual(said(await put()), [404, 'not_found']);
});
