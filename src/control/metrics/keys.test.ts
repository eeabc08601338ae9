/** Metrics keys: what they open and what they do not, who makes them, when they end, and what is kept of them. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { rows } from '../../../test/control/sweep-routes.ts';
import { Plane } from '../core/testing/plane.ts';
import { type PlaneApi, servePlane } from '../core/testing/plane-api.ts';
import { type Person, said, Team } from '../core/testing/team.ts';

let plane: Plane;
let api: PlaneApi;
let team: Team;
let ann: Person;
beforeEach(async () => {
  plane = new Plane();
  api = await servePlane(plane);
  team = new Team(plane, api);
  ann = await team.person('ann@example.test');
});
afterEach(async () => {
  await api.close();
  plane.close();
});

const PATH = '/metrics/prometheus';
const make = async (by: Person, name = 'prometheus') => {
  const { status, body, text } = await by.call('POST', '/metrics/keys', { name });
  assert.equal(status, 201, text);
  return { id: String(body['id']), key: String(body['key']) };
};
const scrape = (key: string) => api.call('GET', PATH, { as: key });
const kept = async (by: Person) =>
  (await by.call('GET', '/metrics/keys')).body as unknown as ReadonlyArray<Record<string, unknown>>;

test('a key reads the exposition of its organization, an hour later too, and nothing else', async () => {
  const tunnel = await ann.call('POST', '/tunnels', { localPort: 3000, subdomain: 'shop' });
  await (await team.person('bob@example.test')).call('POST', '/tunnels', { localPort: 3000, subdomain: 'theirs' });
  const { key } = await make(ann);
  assert.match(key, /^msk_[0-9A-Za-z]{43}$/);
  plane.now += 3_600_000;
  const answer = await scrape(key);
  assert.equal(answer.status, 200, answer.text);
  assert.match(answer.text, new RegExp(`tunnel="${String(tunnel.body['id'])}",subdomain="shop"`));
  assert.doesNotMatch(answer.text, /theirs/);
  assert.deepEqual(said(await api.call('HEAD', PATH, { as: key })), [200]);
  for (const { name, method, path, row } of rows) {
    if (path === PATH) continue;
    const filled = path.replaceAll(/\{\w+\}/g, () => String(tunnel.body['id']));
    const { query } = row;
    const refused = await api.call(method, query === undefined ? filled : `${filled}?${query}`, { as: key });
    assert.deepEqual(said(refused), [403, 'forbidden'], name);
    assert.match(refused.text, /may only read GET \/metrics\/prometheus/, name);
  }
});

test('nothing that only looks like a key is one', async () => {
  const { key } = await make(ann);
  const minted = await ann.call('POST', '/tokens', { name: 'ci' });
  for (const wrong of [
    `${key}x`,
    key.slice(0, -1),
    key.slice(4),
    `mtk_${key.slice(4)}`,
    'msk_',
    'msk_.',
    String(minted.body['apiKey']),
  ])
    assert.deepEqual(said(await scrape(wrong)), [401, 'unauthorized'], wrong);
});

test('a key is shown once, kept as a hash, listed without itself, and gone when it is deleted', async () => {
  const { id, key } = await make(ann, ' prometheus ');
  assert.deepEqual(await kept(ann), [
    {
      id,
      name: 'prometheus',
      created_at: new Date(plane.now).toISOString(),
      created_by: 'ann@example.test',
      last_used_at: null,
    },
  ]);
  for (const file of ['culvert.db', 'culvert.db-wal'])
    assert.equal(readFileSync(join(plane.dataDir, file)).includes(key.slice(4)), false, file);
  plane.now += 5_000;
  await scrape(key);
  assert.equal((await kept(ann))[0]?.['last_used_at'], new Date(plane.now).toISOString());
  const first = plane.now;
  plane.now += 50_000;
  await scrape(key);
  assert.equal((await kept(ann))[0]?.['last_used_at'], new Date(first).toISOString(), 'to the minute');
  assert.deepEqual(said(await ann.call('DELETE', `/metrics/keys/${id}`)), [200]);
  assert.deepEqual(said(await scrape(key)), [401, 'unauthorized']);
  assert.deepEqual(said(await ann.call('DELETE', `/metrics/keys/${id}`)), [404, 'not_found']);
  const auditLog = (await ann.call('GET', '/events')).body as unknown as ReadonlyArray<Record<string, unknown>>;
  const entries = auditLog.filter(({ resourceType }) => resourceType === 'metric_key');
  assert.deepEqual(
    entries.map(({ action, resourceId, userEmail }) => [action, resourceId, userEmail]),
    [
      ['metric_key.delete', id, 'ann@example.test'],
      ['metric_key.create', id, 'ann@example.test'],
    ],
  );
  assert.doesNotMatch(JSON.stringify(auditLog), new RegExp(key));
});

test('admins make and delete keys, of their own organization alone', async () => {
  const bob = await team.person('bob@example.test');
  const { id } = await make(ann);
  assert.deepEqual(said(await bob.call('DELETE', `/metrics/keys/${id}`)), [404, 'not_found']);
  assert.deepEqual(await kept(bob), []);
  for (const [role, status] of [
    ['viewer', 403],
    ['member', 403],
    ['admin', 201],
  ] as const) {
    const member = await team.member(`${role}@example.test`, ann, role);
    const as = await team.acting(member, ann.home);
    assert.equal((await api.call('POST', '/metrics/keys', { as, body: { name: role } })).status, status, role);
    assert.equal((await api.call('GET', '/metrics/keys', { as })).status, 200, role);
  }
  for (const name of ['', '   ', 'x'.repeat(101), 5])
    assert.deepEqual(said(await ann.call('POST', '/metrics/keys', { name })), [400, 'invalid_request'], String(name));
});

test('a key ends when its maker leaves or is locked, and with its organization', async () => {
  const { key: own } = await make(ann);
  const keyOf = async (email: string) => {
    const person = await team.member(email, ann, 'admin');
    const as = await team.acting(person, ann.home);
    const { body } = await api.call('POST', '/metrics/keys', { as, body: { name: 'x' } });
    return { person, key: String(body['key']) };
  };
  const leaver = await keyOf('leaver@example.test');
  const locked = await keyOf('locked@example.test');
  for (const { key } of [leaver, locked]) assert.equal((await scrape(key)).status, 200);
  await ann.call('DELETE', `/orgs/${ann.home}/members/${leaver.person.id}`);
  assert.equal((await scrape(leaver.key)).status, 401);
  const operator = { kind: 'operator', orgId: null, userId: null, label: 'operator', ipAddress: '' } as const;
  plane.control.operatorUsers.lock(operator, locked.person.id);
  assert.equal((await scrape(locked.key)).status, 401);
  plane.control.operatorUsers.unlock(operator, locked.person.id);
  assert.equal((await scrape(locked.key)).status, 401, 'what the lock ended stays ended');
  assert.equal((await scrape(own)).status, 200);
  // The only organization can't be deleted.
  await ann.call('POST', '/orgs', { name: 'Another' });
  const gone = await ann.call('DELETE', `/orgs/${ann.home}`);
  assert.equal(gone.status, 200, gone.text);
  assert.equal((await scrape(own)).status, 401);
});
