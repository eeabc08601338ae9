/**
 * Tokens over HTTP: what is minted and listed, how one replaces another, what caps its spending, and how many there may be.
 */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { eq } from 'drizzle-orm';
import { auditEvents, capabilityTokens, organizations } from '../db/schema.ts';
import { type Key, keyOf, mint, mintMaster, shown } from './testing.ts';
import { Plane, START } from '../core/testing/plane.ts';
import { type PlaneApi, servePlane } from '../core/testing/plane-api.ts';
import { type Person, said, Team } from '../core/testing/team.ts';

const HOUR = 3_600_000;
const NOW = START / 1000;
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

const rotate = (key: Pick<Key, 'nonce'>, body?: object, by = ann) =>
  by.call('POST', `/tokens/${key.nonce}/rotate`, body);
/** Moves the clock, further than an access token lives. */
const at = async (instant: number): Promise<void> => {
  plane.now = instant;
  ann = await team.again(ann);
};
const cap = (key: Pick<Key, 'nonce'>, body: object, by = ann) => by.call('PUT', `/tokens/${key.nonce}/budget`, body);
const admit = async ({ apiKey }: Pick<Key, 'apiKey'>): Promise<string> => {
  const answer = await plane.control.link.admit(apiKey);
  return answer.ok ? 'ok' : answer.code;
};
const claim = async ({ id }: Pick<Key, 'id'>, subdomain: string): Promise<string> => {
  const answer = await plane.control.link.claim({
    tokenId: id,
    agentId: 'a',
    liveTunnelIds: [],
    protocol: 'http',
    target: '',
    localPort: 80,
    subdomain,
  });
  return answer.ok ? 'ok' : answer.code;
};

let batches = 0;
/** Traffic of a token's agents, as a data node reports it. Costs 10 cents a GB. */
const report = ({ id }: Pick<Key, 'id'>, bytes: number): Promise<void> =>
  plane.control.link.report({
    node: 'n',
    sequence: ++batches,
    events: [{ kind: 'usage', tunnelId: 'none', tokenId: id, requests: 1, bytesIn: bytes, bytesOut: 0 }],
  });
const actionsOn = ({ nonce }: Pick<Key, 'nonce'>): string[] =>
  plane.control.store.db
    .select()
    .from(auditEvents)
    .where(eq(auditEvents.resourceId, nonce))
    .all()
    .map(({ action, actorLabel }) => `${action} by ${actorLabel}`);
const deltasOf = ({ id }: Pick<Key, 'id'>) =>
  plane.deltas.filter((delta) => 'tokenId' in delta && delta.tokenId === id).map(({ kind }) => kind);

test('a mint takes what the specification says and a budget, and the list shows it without secrets', async () => {
  const key = await mint(ann, { ttlHours: 5000, allowedSubdomains: ['shop'], monthlyBudgetUsdCents: 500 });
  assert.match(key.apiKey, /^mtk_[0-9A-Za-z]{43}$/);
  assert.equal(key.expiresAt - key.issuedAt, 2160 * 3600, 'cut, not refused');
  assert.equal(Buffer.from(key.wireBytes, 'base64').length, key.wireBytesLen);
  const listed = await shown(ann, key);
  const { apiKey: _, wireBytes: __, subject: ___, signature: ____, ...safe } = key;
  assert.deepEqual(listed, safe);
  assert.deepEqual(
    [listed.monthlyBudgetUsdCents, listed.spentUsdCents, listed.graceEndsAt, listed.parentNonce, listed.projectSlug],
    [500, 0, null, null, null],
  );
  for (const monthlyBudgetUsdCents of [-1, 1_000_000_001, 0.5, '5'])
    assert.deepEqual(said(await ann.call('POST', '/tokens', { monthlyBudgetUsdCents })), [400, 'invalid_request']);
});

test('the list shows whole cents of this month, and of a rotated token what all its lineage has spent', async () => {
  const first = await mint(ann);
  await report(first, 1_290_000_000);
  assert.equal((await shown(ann, first)).spentUsdCents, 12);
  const second = keyOf(await rotate(first));
  assert.equal(second.spentUsdCents, 12);
  await report(second, 1_000_000_000);
  for (const key of [first, second]) assert.equal((await shown(ann, key)).spentUsdCents, 22);
  await at(Date.UTC(2026, 11, 1));
  assert.equal((await shown(ann, second)).spentUsdCents, 0);
});

test('a rotated token is the same in everything but its secrets and its time', async () => {
  const scope = {
    allowedSubdomains: ['pr-*', 'shop'],
    bandwidthLimitMbps: 7,
    tunnelQuota: 3,
    monthlyBudgetUsdCents: 9,
  };
  const old = await mint(ann, { ...scope, ttlHours: 10 });
  await at(START + 3 * HOUR);
  const fresh = keyOf(await rotate(old));
  const sameAs = ({
    name,
    kind,
    version,
    allowedSubdomains,
    bandwidthLimitMbps,
    tunnelQuota,
    monthlyBudgetUsdCents,
  }: Key) => ({
    ...{ name, kind, version, allowedSubdomains, bandwidthLimitMbps, tunnelQuota, monthlyBudgetUsdCents },
  });
  assert.deepEqual(sameAs(fresh), sameAs(old));
  assert.deepEqual([fresh.issuedAt, fresh.expiresAt], [NOW + 3 * 3600, NOW + 13 * 3600]);
  for (const secret of ['apiKey', 'wireBytes', 'nonce', 'id'] as const) assert.notEqual(fresh[secret], old[secret]);
  assert.deepEqual([await admit(old), await admit(fresh)], ['unauthorized', 'ok']);
  assert.deepEqual([await claim(old, 'shop'), await claim(fresh, 'shop')], ['unauthorized', 'ok']);
  assert.deepEqual(deltasOf(old), ['revoke_token']);
  assert.deepEqual(actionsOn(old), ['token.mint by ann@example.test', 'token.rotate by ann@example.test']);
  assert.deepEqual(said(await rotate(old)), [404, 'not_found'], 'it has ended');
});

test('a rotation takes no body, an empty one, or a grace of 0 to 720 hours', async () => {
  const key = await mint(ann);
  const send = (options: { raw?: string; headers?: Record<string, string> }) =>
    api.call('POST', `/tokens/${key.nonce}/rotate`, { as: ann.token, ...options });
  for (const raw of ['{"graceHours":-1}', '{"graceHours":721}', '{"graceHours":1.5}', '{"graceHours":"1"}', '[]', 'x'])
    assert.deepEqual(said(await send({ raw })), [400, 'invalid_request'], raw);
  const empty = keyOf(await send({ headers: { 'content-type': 'application/json' } }));
  assert.equal((await shown(ann, key)).revoked, true);
  keyOf(await rotate(empty, {}));
  const longest = keyOf(await rotate(await mint(ann, { ttlHours: 2160 }), { graceHours: 720 }));
  assert.equal(longest.graceEndsAt, null);
});

test('a token that was rotated names the one that replaced it, and keeps that name when it has ended', async () => {
  const first = await mint(ann, { ttlHours: 24 });
  assert.equal(first.replacedBy, null);
  const second = keyOf(await rotate(first, { graceHours: 2 }));
  const third = keyOf(await rotate(second));
  const heirs = async () => Promise.all([first, second, third].map(async (key) => (await shown(ann, key)).replacedBy));
  assert.deepEqual([second.replacedBy, third.replacedBy], [null, null]);
  assert.deepEqual(await heirs(), [second.nonce, third.nonce, null]);
  assert.equal((await ann.call('DELETE', `/tokens/${first.nonce}`)).status, 200);
  assert.deepEqual(await heirs(), [second.nonce, third.nonce, null]);
});

test('with a grace both keys work, then the old one ends within a second, and data nodes know it before', async () => {
  const old = await mint(ann, { ttlHours: 24 });
  const fresh = keyOf(await rotate(old, { graceHours: 2 }));
  assert.deepEqual(deltasOf(old), ['token_ends']);
  const told = plane.deltas.find((delta) => delta.kind === 'token_ends');
  assert.equal(told?.kind === 'token_ends' && told.expiresAt, START + 2 * HOUR);
  assert.deepEqual([(await shown(ann, old)).graceEndsAt, (await shown(ann, old)).revoked], [NOW + 7200, false]);
  const admitted = await plane.control.link.admit(old.apiKey);
  assert.equal(admitted.ok && admitted.grant.expiresAt, START + 2 * HOUR, 'its sessions end with the grace');
  assert.deepEqual(said(await rotate(old)), [409, 'conflict'], 'a second successor would be an unknown one');
  await at(START + 2 * HOUR - 1);
  assert.equal(plane.control.tokenEnds.endGraces(), 0);
  assert.deepEqual([await admit(old), await claim(old, 'one'), await admit(fresh)], ['ok', 'ok', 'ok']);
  plane.now += 1;
  assert.deepEqual([await admit(old), await claim(old, 'one')], ['unauthorized', 'unauthorized'], 'before the job too');
  assert.deepEqual(said(await rotate(old)), [404, 'not_found']);
  assert.equal(plane.control.tokenEnds.endGraces(), 1);
  assert.equal(plane.control.tokenEnds.endGraces(), 0);
  assert.deepEqual(deltasOf(old), ['token_ends', 'revoke_token']);
  assert.equal((await shown(ann, old)).revoked, true);
  assert.equal(actionsOn(old).at(-1), 'token.revoke by system');
  assert.equal(await admit(fresh), 'ok');
});

test('a grace never outlives the token', async () => {
  const old = await mint(ann, { ttlHours: 1 });
  keyOf(await rotate(old, { graceHours: 720 }));
  assert.equal((await shown(ann, old)).graceEndsAt, old.expiresAt);
});

test('an unnamed tcp tunnel keeps its port when the key of its agent is rotated', async () => {
  const old = await mint(ann);
  const open = (key: Key, more: object = {}) =>
    plane.control.link.claim({
      ...{ tokenId: key.id, agentId: 'a', liveTunnelIds: [], protocol: 'tcp', target: '', localPort: 22 },
      ...more,
    });
  const before = await open(old);
  assert.ok(before.ok);
  const after = await open(keyOf(await rotate(old)), { tunnelId: before.route.tunnelId });
  assert.ok(after.ok);
  assert.equal(after.route.tcpPort, before.route.tcpPort);
});

test('a key that has ended, or was never there, is not found', async () => {
  const revoked = await mint(ann);
  assert.deepEqual((await ann.call('DELETE', `/tokens/${revoked.nonce}`)).body, { success: true, revoked: 1 });
  const expired = await mint(ann, { ttlHours: 1 });
  await at(START + HOUR);
  for (const nonce of [revoked.nonce, expired.nonce, 'none']) {
    assert.deepEqual(said(await rotate({ nonce })), [404, 'not_found']);
    assert.deepEqual(said(await cap({ nonce }, { monthlyBudgetUsdCents: 1 })), [404, 'not_found']);
  }
});

test("tokens: the key of another user's command line can't be taken over", async () => {
  const bob = await team.member('bob@example.test', ann, 'admin');
  const as = await team.acting(bob, ann.home);
  const approved = await ann.call('POST', '/auth/cli/authorize', {
    device_code: Buffer.alloc(32, 7).toString('base64url'),
  });
  assert.equal(approved.status, 200);
  const [cli] = (await ann.call('GET', '/tokens')).body as unknown as readonly Key[];
  assert.ok(cli?.kind === 'cli');
  assert.deepEqual(said(await api.call('POST', `/tokens/${cli.nonce}/rotate`, { as })), [403, 'forbidden']);
  assert.equal(keyOf(await rotate(cli)).kind, 'cli');
});

test('a cap is set, taken off and told to data nodes with what is spent; zero refuses new tunnels at once', async () => {
  const key = await mint(ann);
  await report(key, 500_000_000);
  plane.deltas.length = 0;
  assert.deepEqual((await cap(key, { monthlyBudgetUsdCents: 0 })).body, { success: true, monthlyBudgetUsdCents: 0 });
  assert.equal(await claim(key, 'one'), 'budget_exhausted');
  assert.deepEqual((await cap(key, { monthlyBudgetUsdCents: 1_000_000_000 })).body['monthlyBudgetUsdCents'], 1e9);
  assert.equal((await shown(ann, key)).monthlyBudgetUsdCents, 1e9);
  assert.equal(await claim(key, 'one'), 'ok');
  assert.equal((await cap(key, { monthlyBudgetUsdCents: null })).body['monthlyBudgetUsdCents'], null);
  assert.deepEqual(
    plane.deltas.flatMap((delta) => (delta.kind === 'budget' ? [delta.budget] : [])),
    [0, 1e9, null].map((capCents) => ({ accountId: key.id, month: '2026-11', spentCents: 5, capCents })),
  );
  for (const body of [
    {},
    { monthlyBudgetUsdCents: -1 },
    { monthlyBudgetUsdCents: 1e9 + 1 },
    { monthlyBudgetUsdCents: 0.5 },
  ])
    assert.deepEqual(said(await cap(key, body)), [400, 'invalid_request'], JSON.stringify(body));
  const entry = plane.control.store.db.select().from(auditEvents).where(eq(auditEvents.action, 'token.budget')).all();
  const change = { field: 'monthlyBudgetUsdCents', from: 0, to: 1e9 };
  assert.deepEqual(entry.map(({ changes }) => changes)[1], [change]);
  plane.deltas.length = 0;
  assert.equal((await cap(key, { monthlyBudgetUsdCents: null })).status, 200);
  const after = plane.control.store.db.select().from(auditEvents).where(eq(auditEvents.action, 'token.budget')).all();
  assert.deepEqual([after.length, plane.deltas.length], [entry.length, 0], 'no change, no audit entry');
});

test('a cap holds for all that rotation made of a token', async () => {
  const old = await mint(ann);
  const fresh = keyOf(await rotate(old, { graceHours: 1 }));
  await cap(old, { monthlyBudgetUsdCents: 0 });
  assert.deepEqual([await claim(old, 'one'), await claim(fresh, 'two')], ['budget_exhausted', 'budget_exhausted']);
  assert.equal((await shown(ann, fresh)).monthlyBudgetUsdCents, 0);
  assert.equal(keyOf(await rotate(fresh)).monthlyBudgetUsdCents, 0, 'a rotation is no way out');
});

test('who holds a key can do nothing to it: no bearer but a person is heard', async () => {
  for (const key of [await mint(ann), await mintMaster(ann)]) {
    for (const as of [key.apiKey, key.wireBytes]) {
      for (const [method, path, body] of [
        ['PUT', `/tokens/${key.nonce}/budget`, { monthlyBudgetUsdCents: null }],
        ['POST', `/tokens/${key.nonce}/rotate`, {}],
        ['DELETE', `/tokens/${key.nonce}`, undefined],
        ['GET', '/tokens', undefined],
      ] as const) {
        const answer = await api.call(method, path, { as, ...(body === undefined ? {} : { body }) });
        assert.deepEqual(said(answer), [401, 'unauthorized'], `${method} ${path}`);
      }
    }
  }
});

test('of twenty rotations of one token at once one succeeds, and two keys never come of it', async () => {
  for (const body of [undefined, { graceHours: 1 }]) {
    const key = await mint(ann);
    const answers = await Promise.all(Array.from({ length: 20 }, () => rotate(key, body)));
    const made = answers.filter(({ status }) => status === 200);
    assert.equal(made.length, 1);
    const code = body === undefined ? [404, 'not_found'] : [409, 'conflict'];
    for (const answer of answers) if (answer.status !== 200) assert.deepEqual(said(answer), code);
    const rows = plane.control.store.db
      .select()
      .from(capabilityTokens)
      .where(eq(capabilityTokens.lineageId, key.id))
      .all();
    assert.equal(rows.length, 2);
    assert.equal(rows.filter(({ revokedAt }) => revokedAt === null).length, body === undefined ? 1 : 2);
  }
});

test('revocations and rotations of one token at once leave no key that was not handed out, and none alive by accident', async () => {
  const key = await mint(ann);
  const [rotated, revoked] = await Promise.all([rotate(key), ann.call('DELETE', `/tokens/${key.nonce}`)]);
  assert.equal(revoked.status, 200);
  assert.ok(rotated.status === 200 || rotated.status === 404);
  assert.equal(await admit(key), 'unauthorized');
  const rows = plane.control.store.db
    .select()
    .from(capabilityTokens)
    .where(eq(capabilityTokens.lineageId, key.id))
    .all();
  assert.equal(rows.filter(({ revokedAt }) => revokedAt === null).length, rotated.status === 200 ? 1 : 0);
});

test('a rotation needs the rights of a mint: not a viewer, not in an organization that waits', async () => {
  const key = await mint(ann);
  const viewer = await team.member('viv@example.test', ann, 'viewer');
  const as = await team.acting(viewer, ann.home);
  assert.deepEqual(said(await api.call('POST', `/tokens/${key.nonce}/rotate`, { as })), [403, 'forbidden']);
  const { store } = plane.control;
  store.inTx(({ db }) => void db.update(organizations).set({ approvalStatus: 'suspended' }).run());
  assert.deepEqual(said(await rotate(key)), [403, 'forbidden']);
  assert.equal((await shown(ann, key)).revoked, false);
});
