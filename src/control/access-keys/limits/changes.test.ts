/** Limits of keys that exist, over HTTP: who may change them, what live agents notice, and what a key serves. */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import type { ConnectionInfo, NodeControl } from '../../../plane/link.ts';
import { IDLE_NODE } from '../../core/testing/idle-node.ts';
import { Plane } from '../../core/testing/plane.ts';
import { type PlaneApi, servePlane } from '../../core/testing/plane-api.ts';
import { type Person, said, Team } from '../../core/testing/team.ts';
import { capabilityTokens } from '../../db/schema.ts';
import { tunnels } from '../../tunnels/index.ts';
import { type Key, keyOf, mint, mintMaster, shown } from '../testing.ts';

let plane: Plane;
let api: PlaneApi;
let team: Team;
let ann: Person;
/** Sessions of the played node. */
let live: ConnectionInfo[];
let cut: string[];
beforeEach(async () => {
  plane = new Plane();
  api = await servePlane(plane);
  team = new Team(plane, api);
  ann = await team.person('ann@example.test');
  [live, cut] = [[], []];
  const node: NodeControl = {
    ...IDLE_NODE,
    connections: () => live,
    disconnect: (agentId) => cut.push(agentId) > 0,
  };
  plane.control.nodes.attach(node);
});
afterEach(async () => {
  await api.close();
  plane.close();
});

const change = (key: Pick<Key, 'nonce'>, body: object, by = ann) => by.call('PATCH', `/tokens/${key.nonce}`, body);
/** A new person, who acts in Ann's organization. */
async function colleague(role: 'member' | 'viewer'): Promise<Person> {
  const person = await team.member(`${role}@example.test`, ann, role);
  const as = await team.acting(person, ann.home);
  const call: Person['call'] = (method, path, body) => api.call(method, path, { as, body: body as object });
  return { ...person, call };
}
const limited = () => plane.deltas.flatMap((delta) => (delta.kind === 'token_limits' ? [delta.limits] : []));
const claim = async ({ id }: Pick<Key, 'id'>, subdomain: string): Promise<string> => {
  const question = { protocol: 'http', target: '', localPort: 80, liveTunnelIds: [] } as const;
  const answer = await plane.control.link.claim({ ...question, tokenId: id, agentId: 'a', subdomain });
  return answer.ok ? answer.route.tunnelId : answer.code;
};
function session(key: Pick<Key, 'id'>, agentId: string, tunnelIds: readonly string[]): ConnectionInfo {
  const about = {
    remoteIp: '198.51.100.20',
    hostname: 'laptop',
    version: '1.0.0',
    connectedAt: plane.now + live.length,
  };
  const one = { agentId, orgId: ann.home, tokenId: key.id, ...about, tunnelIds, uninspectedIds: [], networkIds: [] };
  live.push(one);
  return one;
}

test('limits: changed at once for claims and data nodes, with an audit entry; what is not given stays', async () => {
  const key = await mint(ann);
  plane.deltas.length = 0;
  const changed = await change(key, {
    tunnelQuota: 2,
    allowedSubdomains: ['pr-*', 'pr-*'],
    bandwidthLimitMbps: 20_000,
  });
  assert.equal(changed.status, 200, changed.text);
  const { tunnelQuota, bandwidthLimitMbps, allowedSubdomains, name } = await shown(ann, key);
  assert.deepEqual([tunnelQuota, bandwidthLimitMbps, allowedSubdomains, name], [2, 20_000, ['pr-*'], 'ci']);
  assert.deepEqual(limited(), [{ tokenId: key.id, tunnelQuota: 2, bandwidthLimitMbps: null }]);
  assert.equal(await claim(key, 'shop'), 'subdomain_not_allowed');
  assert.match(await claim(key, 'pr-7'), /^[0-9a-f-]{36}$/);
  assert.equal((await change(key, { tunnelQuota: 2 })).status, 200);
  const log = (await ann.call('GET', '/events')).body as unknown as ReadonlyArray<Record<string, unknown>>;
  assert.deepEqual(
    log.filter(({ action }) => action === 'token.update').map(({ resourceName, changes }) => [resourceName, changes]),
    [
      [
        'ci',
        [
          { field: 'tunnelQuota', from: 5, to: 2 },
          { field: 'bandwidthLimitMbps', from: 100, to: 20_000 },
          { field: 'allowedSubdomains', from: '*', to: 'pr-*' },
        ],
      ],
    ],
    'no change, no entry',
  );
  assert.equal((await change(key, { name: 'shop ci' })).body['name'], 'shop ci');
  for (const body of [{ tunnelQuota: 0 }, { bandwidthLimitMbps: 0.5 }, { allowedSubdomains: [] }, { name: 'a@b' }])
    assert.deepEqual(said(await change(key, body)), [400, 'invalid_request'], JSON.stringify(body));
});

test('limits: those of the key that it replaces change too, while that works', async () => {
  const old = await mint(ann);
  const fresh = keyOf(await ann.call('POST', `/tokens/${old.nonce}/rotate`, { graceHours: 1 }));
  plane.deltas.length = 0;
  await change(fresh, { tunnelQuota: 1 });
  assert.equal((await shown(ann, old)).tunnelQuota, 1);
  assert.deepEqual(new Set(limited().map(({ tokenId }) => tokenId)), new Set([old.id, fresh.id]));
});

test('limits: sessions with a name that is not allowed, or beyond the quota, end; the others go on', async () => {
  const key = await mint(ann);
  const [shop, one, two] = [await claim(key, 'shop'), await claim(key, 'pr-1'), await claim(key, 'pr-2')];
  session(key, 'a', [one]);
  session(key, 'b', [shop]);
  session(key, 'c', [two]);
  await change(key, { bandwidthLimitMbps: 5 });
  await change(key, { tunnelQuota: 3 });
  assert.deepEqual(cut, []);
  await change(key, { allowedSubdomains: ['pr-*'] });
  assert.deepEqual(cut.splice(0), ['b']);
  await change(key, { tunnelQuota: 1 });
  assert.deepEqual(cut.splice(0), ['b', 'c'], 'the newest');
  // Claimed before the change, bound behind it.
  live.splice(1);
  session(key, 'd', [two]);
  const { beyondLimits } = plane.control.slices.use(tunnels);
  beyondLimits.again();
  assert.deepEqual(cut.splice(0), ['d']);
  plane.now += 15_000;
  beyondLimits.again();
  beyondLimits.again();
  assert.deepEqual(cut, ['d'], 'no longer than a claim takes');
});

test('limits: raising them takes the right to create such a key; lowering them the right to change it', async () => {
  const [member, viewer] = [await colleague('member'), await colleague('viewer')];
  const key = await mint(ann, { tunnelQuota: 3 });
  assert.equal((await change(key, { tunnelQuota: 9 }, member)).status, 200);
  assert.deepEqual(said(await change(key, { tunnelQuota: 1 }, viewer)), [403, 'forbidden']);
  const bob = await team.person('bob@example.test');
  assert.deepEqual(said(await change(key, { tunnelQuota: 1 }, bob)), [404, 'not_found']);
  // A login stands for its user.
  plane.control.store.db.update(capabilityTokens).set({ kind: 'cli' }).run();
  for (const more of [{ tunnelQuota: 10 }, { bandwidthLimitMbps: 101 }])
    assert.deepEqual(said(await change(key, more, member)), [403, 'forbidden'], JSON.stringify(more));
  assert.equal((await change(key, { allowedSubdomains: ['pr-*'] }, member)).status, 200);
  assert.deepEqual(said(await change(key, { allowedSubdomains: ['p-*'] }, member)), [403, 'forbidden']);
  assert.equal((await change(key, { allowedSubdomains: ['pr-a-*', 'pr-b'] }, member)).status, 200);
  assert.equal((await change(key, { tunnelQuota: 10 })).status, 200);
});

test('limits: a master key has none, but a name, for admins; a key that ended has none', async () => {
  const master = await mintMaster(ann);
  assert.deepEqual(said(await change(master, { tunnelQuota: 2 })), [400, 'invalid_request']);
  assert.equal((await change(master, { name: 'jobs' })).status, 200);
  const member = await colleague('member');
  assert.deepEqual(said(await change(master, { name: 'mine' }, member)), [403, 'forbidden']);
  const key = await mint(ann);
  await ann.call('DELETE', `/tokens/${key.nonce}`);
  assert.deepEqual(said(await change(key, { tunnelQuota: 1 })), [404, 'not_found']);
});

test('key: it says when and from where it was used last, and what it serves now', async () => {
  const key = await mint(ann);
  const tunnel = await claim(key, 'shop');
  assert.equal((await plane.control.link.admit(key.apiKey, '198.51.100.20')).ok, true);
  session(key, '0b7e6f6e-4a0f-4b8e-9c52-1d9b1f0a7c33', [tunnel]);
  const listed = await ann.call('GET', '/tokens');
  const [row] = listed.body as unknown as ReadonlyArray<Record<string, unknown>>;
  assert.deepEqual(row?.['serving'], { sessions: 1, tunnels: 1, networks: 0 });
  assert.deepEqual([row['lastUsedAt'], row['lastUsedIp']], [Math.floor(plane.now / 1000), '198.51.100.20']);
  const { sessions, ...rest } = (await ann.call('GET', `/tokens/${key.nonce}`)).body;
  assert.deepEqual(rest, row);
  assert.deepEqual(sessions, [
    {
      agentId: '0b7e6f6e-4a0f-4b8e-9c52-1d9b1f0a7c33',
      hostname: 'laptop',
      remoteIp: '198.51.100.20',
      version: '1.0.0',
      connectedAt: Math.floor(plane.now / 1000),
      tunnels: [{ id: tunnel, subdomain: 'shop' }],
      networks: [],
    },
  ]);
  const bob = await team.person('bob@example.test');
  assert.deepEqual(said(await bob.call('GET', `/tokens/${key.nonce}`)), [404, 'not_found']);
});

test('pricing: what the operator set; nothing without prices or billing', async () => {
  const prices = (await ann.call('GET', '/tokens/pricing')).body;
  assert.deepEqual(prices, { usdCentsPerGb: 10, usdCentsPerMillionRequests: null });
  const free = new Plane(undefined, { billing: { mode: 'none' } });
  const server = await servePlane(free);
  try {
    const other = await new Team(free, server).person('eve@example.test');
    const none = { usdCentsPerGb: null, usdCentsPerMillionRequests: null };
    assert.deepEqual((await other.call('GET', '/tokens/pricing')).body, none);
  } finally {
    await server.close();
    free.close();
  }
});
