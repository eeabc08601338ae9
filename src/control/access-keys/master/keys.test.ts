/**
 * Master keys: who mints one, what one may mint, that it is good for nothing else, and that nothing outlives it.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { afterEach, beforeEach, test } from 'node:test';
import { eq } from 'drizzle-orm';
import { auditEvents, capabilityTokens, organizations } from '../../db/schema.ts';
import type { Answer } from '../../core/testing/harness.ts';
import { type Key, keyOf, mint, mintMaster, shown } from '../testing.ts';
import { Plane, START } from '../../core/testing/plane.ts';
import { type PlaneApi, servePlane } from '../../core/testing/plane-api.ts';
import { type Person, said, Team } from '../../core/testing/team.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const UNAUTHORIZED = [401, 'unauthorized'];
const NOT_FOUND = [404, 'not_found'];
let plane: Plane;
let api: PlaneApi;
let team: Team;
let ann: Person;
beforeEach(async () => {
  plane = new Plane();
  api = await servePlane(plane);
  team = new Team(plane, api);
  ann = await team.person('ann@example.test');
  await ann.call('POST', '/projects', { slug: 'web', name: 'Web' });
});
afterEach(async () => {
  await api.close();
  plane.close();
});

const mintBy = (bearer: string, body: object = {}, slug = 'web'): Promise<Answer> =>
  api.call('POST', `/projects/${slug}/tokens`, { as: bearer, body: { name: 'job', ...body } });
const rotateBy = (bearer: string, nonce: string, body?: object): Promise<Answer> =>
  api.call('POST', `/projects/web/tokens/${nonce}/rotate`, { as: bearer, ...(body === undefined ? {} : { body }) });
const revokeBy = (bearer: string, nonce: string): Promise<Answer> =>
  api.call('DELETE', `/projects/web/tokens/${nonce}`, { as: bearer });
const change = (set: Partial<typeof organizations.$inferInsert>): void =>
  plane.control.store.inTx(
    ({ db }) => void db.update(organizations).set(set).where(eq(organizations.id, ann.home)).run(),
  );
const rowsOf = (master: Key) =>
  plane.control.store.db.select().from(capabilityTokens).where(eq(capabilityTokens.parentId, master.id)).all();
const actionsOn = ({ nonce }: Pick<Key, 'nonce'>): string[] =>
  plane.control.store.db
    .select()
    .from(auditEvents)
    .where(eq(auditEvents.resourceId, nonce))
    .all()
    .map(({ action, actorLabel }) => `${action} by ${actorLabel}`);
const admit = async ({ apiKey }: Pick<Key, 'apiKey'>): Promise<string> => {
  const answer = await plane.control.link.admit(apiKey);
  return answer.ok ? 'ok' : answer.code;
};
const claim = ({ id }: Pick<Key, 'id'>, subdomain: string, project?: string) =>
  plane.control.link.claim({
    ...{ tokenId: id, agentId: 'a', liveTunnelIds: [], protocol: 'http', target: '', localPort: 80, subdomain },
    ...(project === undefined ? {} : { project }),
  });

test('an admin mints one for 1 to 365 days; it is shown once, opens nothing and says so by its quota', async () => {
  const key = await mintMaster(ann);
  assert.match(key.apiKey, /^mtk_master_[0-9A-Za-z]{43}$/);
  assert.deepEqual([key.kind, key.tunnelQuota, key.allowedSubdomains], ['master', 0, []]);
  assert.equal(key.expiresAt - key.issuedAt, 90 * 24 * 3600);
  assert.equal((await mintMaster(ann, { ttl_days: 365 })).expiresAt - key.issuedAt, 365 * 24 * 3600);
  for (const body of [
    {},
    { name: '' },
    { name: 'x', ttl_days: 0 },
    { name: 'x', ttl_days: 366 },
    { name: 'x', ttl_days: 1.5 },
  ])
    assert.deepEqual(said(await ann.call('POST', '/tokens/master', body)), [400, 'invalid_request']);
  assert.deepEqual(actionsOn(key), ['token.mint by ann@example.test']);
});

test('the handshake refuses a master key, and so does a claim that comes by another way', async () => {
  const key = await mintMaster(ann);
  assert.equal(await admit(key), 'forbidden');
  assert.equal(await admit({ apiKey: key.wireBytes }), 'forbidden');
  const answer = await claim(key, 'shop');
  assert.equal(answer.ok ? 'ok' : answer.code, 'forbidden');
});

test('the Free plan has none, and one that was minted before rests', async () => {
  const key = await mintMaster(ann);
  change({ plan: 'free' });
  const refused = [402, 'upgrade_required'];
  assert.deepEqual(said(await ann.call('POST', '/tokens/master', { name: 'x' })), refused);
  assert.deepEqual(said(await ann.call('POST', `/tokens/${key.nonce}/rotate`)), refused);
  assert.deepEqual(said(await mintBy(key.apiKey)), refused);
  assert.equal((await mintBy(ann.token)).status, 200, 'people mint keys of projects on every plan');
  change({ plan: 'pro' });
  assert.equal((await mintBy(key.apiKey)).status, 200);
});

test('what it minted it can revoke where it may mint no more: making things safer is behind no gate', async () => {
  const master = await mintMaster(ann);
  for (const set of [{ plan: 'free' }, { plan: 'pro', approvalStatus: 'suspended' }] as const) {
    change({ plan: 'pro', approvalStatus: 'approved' });
    const key = keyOf(await mintBy(master.apiKey));
    change(set);
    assert.notEqual((await rotateBy(master.apiKey, key.nonce)).status, 200);
    assert.deepEqual((await revokeBy(master.apiKey, key.nonce)).body, { success: true, revoked: 1 });
    assert.equal(await admit(key), 'unauthorized');
  }
});

test('members neither mint, rotate, revoke nor cap one', async () => {
  const key = await mintMaster(ann);
  const bob = await team.member('bob@example.test', ann, 'member');
  const as = await team.acting(bob, ann.home);
  for (const [method, path, body] of [
    ['POST', '/tokens/master', { name: 'x' }],
    ['POST', `/tokens/${key.nonce}/rotate`, undefined],
    ['DELETE', `/tokens/${key.nonce}`, undefined],
    ['PUT', `/tokens/${key.nonce}/budget`, { monthlyBudgetUsdCents: 1 }],
  ] as const) {
    const answer = await api.call(method, path, { as, ...(body === undefined ? {} : { body }) });
    assert.deepEqual(said(answer), [403, 'forbidden'], `${method} ${path}`);
  }
  assert.equal((await mintBy(as)).status, 200, 'keys of a project they do');
});

test('one mints keys for a project, by its text or its wire form: an hour long, with its own name in the audit log', async () => {
  const master = await mintMaster(ann);
  for (const bearer of [master.apiKey, master.wireBytes]) {
    const key = keyOf(await mintBy(bearer));
    assert.deepEqual(
      [key.kind, key.projectSlug, key.parentNonce, key.allowedSubdomains, key.tunnelQuota],
      ['project', 'web', master.nonce, ['*'], 5],
    );
    assert.equal(key.expiresAt - key.issuedAt, 3600);
    assert.deepEqual(actionsOn(key), ['token.mint by factory']);
    assert.deepEqual([(await shown(ann, key)).parentNonce, (await shown(ann, key)).projectSlug], [master.nonce, 'web']);
  }
  const by = plane.control.store.db.select().from(auditEvents).where(eq(auditEvents.actorLabel, 'factory')).all();
  assert.ok(
    by.every(({ actorKind, actorId, ipAddress }) => actorKind === 'token' && actorId === master.id && ipAddress),
  );
  assert.equal(keyOf(await mintBy(ann.token)).expiresAt - START / 1000, 24 * 3600, 'by a person for a day');
  assert.equal(keyOf(await mintBy(ann.token, { ttl_hours: 9999 })).expiresAt - START / 1000, 2160 * 3600, 'cut');
});

test('the body of a mint says a name; a project that is not there is not found', async () => {
  const { apiKey } = await mintMaster(ann);
  for (const body of [
    { name: '' },
    { ttl_hours: 0 },
    { ttl_hours: 1.5 },
    { allowed_subdomains: [] },
    { allowed_subdomains: ['A'] },
  ])
    assert.deepEqual(said(await mintBy(apiKey, body)), [400, 'invalid_request'], JSON.stringify(body));
  const nameless = await api.call('POST', '/projects/web/tokens', { as: apiKey, body: {} });
  assert.deepEqual(said(nameless), [400, 'invalid_request']);
  assert.deepEqual(said(await mintBy(apiKey, {}, 'none')), NOT_FOUND);
  assert.equal((await mintBy(apiKey, {}, 'default')).status, 200);
});

test('a key of a project opens tunnels in its namespace alone', async () => {
  const { apiKey } = await mintMaster(ann);
  const key = keyOf(await mintBy(apiKey, { allowed_subdomains: ['pr-*'] }));
  const opened = await claim(key, 'pr-7');
  assert.ok(opened.ok);
  assert.equal(opened.route.subdomain, 'pr-7-web');
  const refusals = await Promise.all([claim(key, 'shop'), claim(key, 'pr-8', 'default')]);
  assert.deepEqual(
    refusals.map((answer) => (answer.ok ? 'ok' : answer.code)),
    ['subdomain_not_allowed', 'forbidden'],
  );
});

test('a key never outlives the master key, and has its grace', async () => {
  const master = await mintMaster(ann, { ttl_days: 1 });
  assert.equal(keyOf(await mintBy(master.apiKey, { ttl_hours: 100 })).expiresAt, master.expiresAt);
  const first = keyOf(await mintBy(master.apiKey, { ttl_hours: 20 }));
  plane.now += 10 * HOUR;
  ann = await team.again(ann);
  const second = keyOf(await rotateBy(master.apiKey, first.nonce, { graceHours: 1 }));
  assert.equal(second.expiresAt, master.expiresAt, 'nor does one that rotation made');
  assert.equal((await shown(ann, first)).graceEndsAt, plane.now / 1000 + 3600);
  keyOf(await ann.call('POST', `/tokens/${master.nonce}/rotate`, { graceHours: 2 }));
  assert.equal(keyOf(await mintBy(master.apiKey, { ttl_hours: 100 })).expiresAt, plane.now / 1000 + 7200);
});

test('it rotates and revokes the keys that it minted, and sees no others', async () => {
  const [one, two] = [await mintMaster(ann), await mintMaster(ann)];
  const [mine, other, persons, agents] = [
    keyOf(await mintBy(one.apiKey)),
    keyOf(await mintBy(two.apiKey)),
    keyOf(await mintBy(ann.token)),
    await mint(ann),
  ];
  for (const { nonce } of [other, persons, agents, one, two]) {
    assert.deepEqual(said(await revokeBy(one.apiKey, nonce)), NOT_FOUND);
    assert.deepEqual(said(await rotateBy(one.apiKey, nonce)), NOT_FOUND);
  }
  await ann.call('POST', '/projects', { slug: 'api', name: 'Api' });
  assert.deepEqual(said(await api.call('DELETE', `/projects/api/tokens/${mine.nonce}`, { as: one.apiKey })), NOT_FOUND);
  const fresh = keyOf(await rotateBy(one.apiKey, mine.nonce));
  assert.equal(fresh.parentNonce, one.nonce);
  assert.deepEqual([await admit(mine), await admit(fresh)], ['unauthorized', 'ok']);
  assert.deepEqual(said(await rotateBy(one.apiKey, mine.nonce)), NOT_FOUND);
  assert.deepEqual((await revokeBy(one.apiKey, fresh.nonce)).body, { success: true, revoked: 1 });
  assert.deepEqual(actionsOn(fresh), ['token.revoke by factory']);
  assert.deepEqual(said(await revokeBy(ann.token, agents.nonce)), NOT_FOUND, 'a key of no project, by a person');
  assert.equal((await revokeBy(ann.token, other.nonce)).status, 200);
});

test('a master key is a bearer of three routes; every other one answers 401', async () => {
  const { apiKey, wireBytes } = await mintMaster(ann);
  const { paths } = (await api.call('GET', '/openapi.json')).body as unknown as {
    paths: Record<string, Record<string, { security?: ReadonlyArray<Record<string, unknown>> }>>;
  };
  const open: string[] = [];
  for (const [path, methods] of Object.entries(paths)) {
    for (const [method, { security }] of Object.entries(methods)) {
      if (security?.length === 0) continue;
      if (security?.some((scheme) => 'masterKey' in scheme)) {
        open.push(`${method} ${path}`);
        continue;
      }
      for (const as of [apiKey, wireBytes]) {
        const answer = await api.call(method.toUpperCase(), path.replaceAll(/\{\w+\}/g, 'web'), { as });
        assert.deepEqual(said(answer), UNAUTHORIZED, `${method} ${path}`);
      }
    }
  }
  assert.deepEqual(open.sort(), [
    'delete /projects/{slug}/tokens/{nonce}',
    'post /projects/{slug}/tokens',
    'post /projects/{slug}/tokens/{nonce}/rotate',
  ]);
});

test('a bearer that is no live master key of a live organization mints nothing', async () => {
  const master = await mintMaster(ann, { ttl_days: 1 });
  const [revoked, agent, child] = [await mintMaster(ann), await mint(ann), keyOf(await mintBy(master.apiKey))];
  await ann.call('DELETE', `/tokens/${revoked.nonce}`);
  for (const { apiKey, wireBytes } of [revoked, agent, child])
    for (const bearer of [apiKey, wireBytes]) assert.deepEqual(said(await mintBy(bearer)), UNAUTHORIZED);
  for (const bearer of [`${master.apiKey.slice(0, -1)}!`, 'mtk_master_', master.wireBytes.slice(0, -8), 'a.b.c'])
    assert.deepEqual(said(await mintBy(bearer)), UNAUTHORIZED, bearer);
  for (const approvalStatus of ['pending', 'suspended'] as const) {
    change({ approvalStatus });
    assert.deepEqual(said(await mintBy(master.apiKey)), [403, 'forbidden'], approvalStatus);
  }
  change({ approvalStatus: 'approved', deletedAt: START });
  assert.deepEqual(said(await mintBy(master.apiKey)), UNAUTHORIZED, 'the organization is gone');
  change({ deletedAt: null });
  assert.equal((await mintBy(master.apiKey)).status, 200);
  plane.now += DAY;
  assert.deepEqual(said(await mintBy(master.apiKey)), UNAUTHORIZED, 'expired');
});

test("another organization's master key finds no project of this one", async () => {
  const eve = await team.person('eve@example.test');
  const theirs = await mintMaster(eve);
  const key = keyOf(await mintBy((await mintMaster(ann)).apiKey));
  assert.deepEqual(said(await mintBy(theirs.apiKey)), NOT_FOUND);
  assert.deepEqual(said(await revokeBy(theirs.apiKey, key.nonce)), NOT_FOUND);
  assert.equal(await admit(key), 'ok');
});

test('revoking one ends all that it minted, each in the audit log, and agents are cut', async () => {
  const master = await mintMaster(ann);
  const children = [keyOf(await mintBy(master.apiKey)), keyOf(await mintBy(master.apiKey))];
  const spared = keyOf(await mintBy(ann.token));
  plane.deltas.length = 0;
  assert.deepEqual((await ann.call('DELETE', `/tokens/${master.nonce}`)).body, { success: true, revoked: 3 });
  for (const child of children) {
    assert.equal(await admit(child), 'unauthorized');
    assert.deepEqual(actionsOn(child), ['token.mint by factory', 'token.revoke by ann@example.test']);
  }
  assert.equal(await admit(spared), 'ok');
  assert.deepEqual(
    plane.deltas.map((delta) => (delta.kind === 'revoke_token' ? delta.tokenId : delta.kind)),
    [master.id, ...children.map(({ id }) => id)],
  );
});

test('rotating one ends all that it minted: at once, or with it at the end of the grace', async () => {
  const first = await mintMaster(ann);
  const child = keyOf(await mintBy(first.apiKey));
  const second = keyOf(await ann.call('POST', `/tokens/${first.nonce}/rotate`));
  assert.match(second.apiKey, /^mtk_master_/);
  assert.deepEqual(said(await mintBy(first.apiKey)), UNAUTHORIZED);
  assert.equal(await admit(child), 'unauthorized');
  assert.deepEqual(actionsOn(child), ['token.mint by factory', 'token.revoke by ann@example.test']);

  const [short, long] = [keyOf(await mintBy(second.apiKey)), keyOf(await mintBy(second.apiKey, { ttl_hours: 9 }))];
  const third = keyOf(await ann.call('POST', `/tokens/${second.nonce}/rotate`, { graceHours: 2 }));
  assert.deepEqual([await admit(short), await admit(long)], ['ok', 'ok']);
  assert.deepEqual(
    [(await shown(ann, short)).graceEndsAt, (await shown(ann, long)).graceEndsAt],
    [null, START / 1000 + 7200],
  );
  assert.deepEqual(
    [(await shown(ann, long)).replacedBy, (await shown(ann, second)).replacedBy],
    [null, third.nonce],
    'what a master key minted was not replaced with it',
  );
  for (const [token, reason] of [
    [long, /^The master key of this access key was rotated/],
    [second, /^The access key was already rotated/],
  ] as const) {
    const again = await ann.call('POST', `/tokens/${token.nonce}/rotate`);
    assert.deepEqual(said(again), [409, 'conflict']);
    assert.match(String(again.body['message']), reason);
  }
  plane.now = START + 2 * HOUR;
  assert.deepEqual([await admit(long), said(await mintBy(second.apiKey))], ['unauthorized', UNAUTHORIZED]);
  assert.equal(plane.control.tokenEnds.endGraces(), 2);
  assert.deepEqual(actionsOn(long), ['token.mint by factory', 'token.revoke by system']);
  assert.equal((await mintBy(third.apiKey)).status, 200);
});

test('who is made a member loses the master keys that they minted, and keeps their other tokens', async () => {
  const bob = await team.member('bob@example.test', ann, 'admin');
  const as = await team.acting(bob, ann.home);
  const master = keyOf(await api.call('POST', '/tokens/master', { as, body: { name: 'bobs' } }));
  const child = keyOf(await mintBy(master.apiKey));
  const agent = keyOf(await api.call('POST', '/tokens', { as, body: {} }));
  const role = (to: string) => ann.call('PATCH', `/orgs/${ann.home}/members/${bob.id}`, { role: to });
  assert.equal((await role('member')).status, 200);
  assert.deepEqual(said(await mintBy(master.apiKey)), UNAUTHORIZED);
  assert.deepEqual([await admit(child), await admit(agent)], ['unauthorized', 'ok']);
});

test("a child's cap is its own; the master's holds for it in any case", async () => {
  const master = await mintMaster(ann, { monthlyBudgetUsdCents: 10 });
  const child = keyOf(await mintBy(master.apiKey, { monthlyBudgetUsdCents: 1_000_000 }));
  const admitted = await plane.control.link.admit(child.apiKey);
  assert.ok(admitted.ok);
  assert.deepEqual(
    admitted.grant.budgets.map(({ accountId, capCents }) => [accountId, capCents]),
    [
      [child.id, 1_000_000],
      [master.id, 10],
    ],
  );
  const events = [
    { kind: 'usage', tunnelId: 'none', tokenId: child.id, requests: 1, bytesIn: 1e9, bytesOut: 0 },
  ] as const;
  await plane.control.link.report({ node: 'n', sequence: 1, events });
  const sibling = keyOf(await mintBy(master.apiKey));
  const answer = await claim(sibling, 'shop');
  assert.equal(answer.ok ? 'ok' : answer.code, 'budget_exhausted');
  assert.equal((await shown(ann, master)).spentUsdCents, 10);
  await ann.call('PUT', `/tokens/${master.nonce}/budget`, { monthlyBudgetUsdCents: null });
  assert.ok((await claim(sibling, 'shop')).ok);
});

test('no key comes of a request whose body dawdled while the master key was revoked', async () => {
  const master = await mintMaster(ann);
  const body = JSON.stringify({ name: 'late' });
  const socket = connect(api.port, '127.0.0.1');
  const head = [
    'POST /projects/web/tokens HTTP/1.1',
    'Host: api.test',
    `Authorization: Bearer ${master.apiKey}`,
    'Content-Type: application/json',
    `Content-Length: ${body.length}`,
    'Connection: close',
  ];
  socket.write(`${head.join('\r\n')}\r\n\r\n${body.slice(0, 5)}`);
  // The bearer was accepted once its use is noted.
  while (rowOf(master)?.lastUsedAt === null) await new Promise((resolve) => setImmediate(resolve));
  assert.equal((await ann.call('DELETE', `/tokens/${master.nonce}`)).status, 200);
  let answer = '';
  socket.on('data', (chunk) => void (answer += chunk.toString()));
  socket.write(body.slice(5));
  await once(socket, 'close');
  assert.match(answer, /^HTTP\/1\.1 401 /);
  assert.deepEqual(rowsOf(master), []);
});

test('of mints that race the revocation of their master key none is left alive', async () => {
  for (const end of ['DELETE', 'rotate'] as const) {
    const master = await mintMaster(ann);
    const before = Array.from({ length: 10 }, () => mintBy(master.apiKey));
    const ended =
      end === 'DELETE'
        ? ann.call('DELETE', `/tokens/${master.nonce}`)
        : ann.call('POST', `/tokens/${master.nonce}/rotate`);
    const after = Array.from({ length: 10 }, () => mintBy(master.apiKey));
    const answers = await Promise.all([...before, ...after]);
    assert.equal((await ended).status, 200);
    const made = answers.filter(({ status }) => status === 200);
    for (const answer of answers) if (answer.status !== 200) assert.deepEqual(said(answer), UNAUTHORIZED);
    assert.equal(rowsOf(master).length, made.length);
    assert.deepEqual(
      rowsOf(master).filter(({ revokedAt }) => revokedAt === null),
      [],
    );
    for (const answer of made) assert.equal(await admit(keyOf(answer)), 'unauthorized');
  }
});

function rowOf({ id }: Key) {
  return plane.control.store.db.select().from(capabilityTokens).where(eq(capabilityTokens.id, id)).get();
}
