/**
 * What people see of their own sessions, how they end them, and which organization a session acts for.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { eq } from 'drizzle-orm';
import { memberships, organizations, sessions } from '../../db/schema.ts';
import type { UserActor } from '../../core/rules/actor.ts';
import { insertOrganization } from '../../organizations/rows.ts';
import { leaveOrg } from './rows.ts';
import { type Harness, startHarness } from '../../core/testing/harness.ts';
import { Plane, VISIT } from '../../core/testing/plane.ts';

let h: Harness;
/** Made first: the tests end sessions of the owner, who makes accounts. */
let stranger: string;
before(async () => {
  h = await startHarness();
  stranger = await h.stranger('stranger@example.com');
});
after(() => h.close());

interface SessionView {
  readonly id: string;
  readonly current: boolean;
  readonly last_used_at: string;
}
/** A program that waits for its answer. */
const CALLER = { isGone: () => false, isOwnPage: false };
const login = async (agent: string) => {
  const body = { email: 'admin@localhost', password: h.server.firstOwner?.password.reveal() };
  const headers = { 'user-agent': agent, 'x-forwarded-for': '203.0.113.5' };
  return String((await h.call('POST', '/auth/login', { body, headers })).body['access_token']);
};
const list = async (as: string): Promise<readonly SessionView[]> =>
  (await h.call('GET', '/auth/sessions', { as })).body['sessions'] as SessionView[];
const status = async (as: string): Promise<number> => (await h.call('GET', '/auth/me', { as })).status;

test('lists the live sessions of the caller, newest use first, and says which one is this', async () => {
  const as = await login('browser one');
  const answer = await h.call('GET', '/auth/sessions', { as });
  assert.equal(answer.status, 200);
  const all = answer.body['sessions'] as Array<Record<string, unknown>>;
  assert.ok(all.length >= 2, 'the one of the harness too');
  assert.deepEqual(Object.keys(all[0] ?? {}).sort(), [
    'created_at',
    'current',
    'id',
    'ip_address',
    'last_used_at',
    'user_agent',
  ]);
  assert.equal(all[0]?.['user_agent'], 'browser one');
  assert.equal(all[0]?.['ip_address'], '203.0.113.5');
  assert.deepEqual(
    all.map(({ current }) => current),
    [true, ...all.slice(1).map(() => false)],
  );
  const uses = all.map((row) => String(row['last_used_at']));
  assert.deepEqual(uses, uses.toSorted().reverse());
  assert.equal((await h.call('GET', '/auth/sessions')).status, 401);
});

test('sessions: ends one session of the caller at once, and no other user’s', async () => {
  const [mine, other] = [await login('mine'), await login('other')];
  const doomed = (await list(other)).find(({ current }) => current)?.id ?? '';
  for (const [as, id] of [
    [stranger, doomed],
    [mine, '00000000-0000-7000-8000-000000000000'],
    [mine, 'no-id'],
    [mine, '%00'],
  ] as const) {
    const refused = await h.call('DELETE', `/auth/sessions/${id}`, { as });
    assert.equal(refused.status, 404, id);
    assert.equal(refused.body['error'], 'not_found');
  }
  assert.equal(await status(other), 200);
  assert.deepEqual((await h.call('DELETE', `/auth/sessions/${doomed}`, { as: mine })).body, { revoked: 1 });
  assert.equal(await status(other), 401);
  assert.equal((await h.call('DELETE', `/auth/sessions/${doomed}`, { as: mine })).status, 404, 'it has ended');
  const own = (await list(mine)).find(({ current }) => current)?.id ?? '';
  const last = await h.call('DELETE', `/auth/sessions/${own}`, { as: mine });
  assert.match(last.headers.get('set-cookie') ?? '', /qnt_refresh=;/, 'the cookie of the own session goes with it');
  assert.equal(await status(mine), 401);
});

test('ends all sessions but the current one', async () => {
  const [mine, other] = [await login('mine'), await login('other')];
  const before = (await list(mine)).length;
  assert.deepEqual((await h.call('DELETE', '/auth/sessions', { as: mine })).body, { revoked: before - 1 });
  assert.deepEqual([await status(mine), await status(other), await status(stranger)], [200, 401, 200]);
  assert.deepEqual(
    (await list(mine)).map(({ current }) => current),
    [true],
  );
});

test('an organization that the caller is not in can not be switched to', async () => {
  const as = await login('switcher');
  const me = await h.call('GET', '/auth/me', { as: stranger });
  const foreign = (me.body['active_org'] as { id: string }).id;
  for (const org_id of [foreign, 'no-id', '00000000-0000-7000-8000-000000000000']) {
    assert.equal((await h.call('POST', '/auth/switch-org', { as, body: { org_id } })).status, 404, org_id);
  }
  assert.equal((await h.call('POST', '/auth/switch-org', { as, body: {} })).status, 400);
  assert.equal((await h.call('POST', '/auth/switch-org', { body: { org_id: foreign } })).status, 401);
});

/** A second organization of the person, made a minute after the first. */
function secondOrg(plane: Plane, actor: UserActor): string {
  plane.now += 60_000;
  return plane.control.store.inTx(
    (tx) => insertOrganization(tx, { name: 'Second', ownerId: actor.userId }, { plan: 'free', approval: 'pending' }).id,
  );
}

test('a session acts for the organization that it switched to, and older access tokens for theirs', async () => {
  const plane = new Plane();
  try {
    const { accounts, sessions: service, refresh } = plane.control;
    const email = 'ann@example.com';
    const made = await accounts.createUser({ email, name: '', plan: 'free', superadmin: false });
    const done = await service.login({ email, password: made.password.reveal() }, VISIT);
    assert.ok('accessToken' in done);
    const actor = await service.authenticate(done.accessToken, '');
    assert.ok(actor !== undefined);
    const second = secondOrg(plane, actor);
    const switched = await service.switchOrg(actor, second);
    assert.equal(switched.activeOrg.id, second);
    assert.equal(switched.activeOrg.approval_status, 'pending');
    assert.equal((await service.authenticate(switched.accessToken, ''))?.orgId, second);
    assert.equal((await service.authenticate(done.accessToken, ''))?.orgId, actor.orgId, 'another tab');
    const next = await refresh.swap(done.refreshToken, VISIT, CALLER);
    assert.equal((await service.authenticate(next.accessToken, ''))?.orgId, second);
  } finally {
    plane.close();
  }
});

test('sessions move on when their organization goes, and end when there is no other', async () => {
  const plane = new Plane();
  try {
    const ann = await plane.person('ann@example.com');
    const bob = await plane.person('bob@example.com');
    const second = secondOrg(plane, ann);
    const { store } = plane.control;
    const rowOf = (actor: UserActor) => store.db.select().from(sessions).where(eq(sessions.id, actor.sessionId)).get();
    const remove = (actor: UserActor, orgId: string): void =>
      store.inTx((tx) => {
        tx.db.delete(memberships).where(eq(memberships.orgId, orgId)).run();
        leaveOrg(tx, actor.userId, orgId);
      });
    await plane.control.sessions.switchOrg(ann, second);
    remove(ann, ann.orgId);
    assert.equal(rowOf(ann)?.orgId, second, 'it was active elsewhere');
    assert.equal(rowOf(ann)?.revokedAt, null);
    remove(bob, bob.orgId);
    assert.notEqual(rowOf(bob)?.revokedAt, null);

    const third = secondOrg(plane, ann);
    await plane.control.sessions.switchOrg({ ...ann, orgId: second }, third);
    store.inTx((tx) => {
      leaveOrg(tx, ann.userId, third);
      tx.db.update(organizations).set({ deletedAt: tx.now }).where(eq(organizations.id, third)).run();
    });
    assert.equal(rowOf(ann)?.orgId, second, 'also before the organization is taken away');
    assert.equal(rowOf(ann)?.revokedAt, null);
  } finally {
    plane.close();
  }
});

test('a refresh whose caller has hung up swaps nothing', async () => {
  const plane = new Plane();
  try {
    const email = 'ann@example.com';
    const { accounts, sessions: service, refresh } = plane.control;
    const made = await accounts.createUser({ email, name: '', plan: 'free', superadmin: false });
    const done = await service.login({ email, password: made.password.reveal() }, VISIT);
    assert.ok('refreshToken' in done);
    await assert.rejects(refresh.swap(done.refreshToken, VISIT, { ...CALLER, isGone: () => true }), {
      code: 'unauthorized',
      retryAfterSeconds: 1,
    });
    assert.ok(refresh.isLive(done.refreshToken));
    await refresh.swap(done.refreshToken, VISIT, CALLER);
    await assert.rejects(refresh.swap(done.refreshToken, VISIT, CALLER), {
      code: 'unauthorized',
      retryAfterSeconds: undefined,
    });
    assert.ok(!refresh.isLive(done.refreshToken));
  } finally {
    plane.close();
  }
});
