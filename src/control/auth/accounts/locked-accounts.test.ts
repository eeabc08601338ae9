/** An account that an operator has locked: every way in is shut, and what was open is over. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import { and, eq, isNull } from 'drizzle-orm';
import { auditEvents, capabilityTokens, memberships, sessions } from '../../db/schema.ts';
import { issueResetToken } from './reset-tokens.ts';
import type { Answer } from '../../core/testing/harness.ts';
import { MfaPerson } from '../mfa/testing.ts';
import { Plane, VISIT } from '../../core/testing/plane.ts';
import { type PlaneApi, servePlane } from '../../core/testing/plane-api.ts';

const OPERATOR = { kind: 'operator', orgId: null, userId: null, label: 'operator', ipAddress: '' } as const;
const STAYS = new AbortController().signal;

let plane: Plane;
let api: PlaneApi;
before(async () => {
  plane = new Plane();
  api = await servePlane(plane);
});
after(async () => {
  await api.close();
  plane.close();
});

const lock = (person: MfaPerson) => plane.control.operatorUsers.lock(OPERATOR, person.email);
const unlock = (person: MfaPerson) => plane.control.operatorUsers.unlock(OPERATOR, person.email);
const openSessions = (userId: string) =>
  plane.control.store.db
    .select()
    .from(sessions)
    .where(and(eq(sessions.userId, userId), isNull(sessions.revokedAt)))
    .all();
const isLocked = ({ status, body, headers }: Answer): void => {
  assert.deepEqual([status, body['error']], [403, 'forbidden']);
  assert.equal(body['message'], 'This account is locked. Ask an operator of this server.');
  assert.equal(headers.get('set-cookie'), null);
};

test('locked account: only the right password gets the reason; unlocked, it opens again', async () => {
  const ann = await MfaPerson.create(plane, api, 'ann@example.test');
  assert.equal(lock(ann).sessions, 1);
  assert.equal((await api.call('GET', '/auth/me', { as: ann.token })).status, 401);
  isLocked(await ann.login());
  const wrong = await api.call('POST', '/auth/login', { body: { email: ann.email, password: 'wrong' } });
  assert.equal(wrong.status, 401);
  assert.deepEqual(openSessions(ann.id), []);

  assert.equal(unlock(ann), true);
  assert.equal(unlock(ann), false);
  assert.equal((await ann.login()).status, 200);
});

test('a second factor and a challenge from before the lock open nothing', async () => {
  const eve = await MfaPerson.protected(plane, api, 'eve@example.test');
  plane.now += 60_000;
  const challenge = await eve.challenge();
  lock(eve);
  isLocked(await eve.second({ code: eve.code() }, challenge));
  isLocked(await eve.second({ recovery_code: eve.codes[0] }, challenge));
  isLocked(await eve.login());
  unlock(eve);
  assert.equal((await eve.second({ recovery_code: eve.codes[0] })).status, 200, 'no recovery code was used up');
});

test('a reset sets a password and opens nothing', async () => {
  const fay = await MfaPerson.create(plane, api, 'fay@example.test');
  lock(fay);
  const token = plane.control.store.inTx((tx) => issueResetToken(tx, fay.id));
  await plane.control.passwordReset.reset({ token, newPassword: 'another long password' }, VISIT);
  fay.password = 'another long password';
  isLocked(await fay.login());
});

test('all keys that the person made end, in whatever organization, with their agents; those of others live', async () => {
  const gus = await MfaPerson.create(plane, api, 'gus@example.test');
  const actor = await plane.control.sessions.authenticate(gus.token, '');
  const ann = await plane.person('host@example.test');
  assert.ok(actor !== undefined);
  const { store } = plane.control;
  store.inTx((tx) => {
    tx.db.insert(memberships).values({ orgId: ann.orgId, userId: gus.id, role: 'member', createdAt: tx.now }).run();
  });
  const own = plane.mint(actor).row;
  const guest = plane.mint({ ...actor, orgId: ann.orgId, role: 'member' }).row;
  const theirs = plane.mint(ann).row;
  const [fetched, waiting] = [randomBytes(32).toString('base64url'), randomBytes(32).toString('base64url')];
  plane.control.deviceLogins.authorize(actor, fetched);
  plane.control.deviceLogins.authorize(actor, waiting);
  const pickUp = (deviceCode: string) =>
    plane.control.deviceLogins.fetch({ deviceCode, waitSeconds: 0, session: true }, VISIT, STAYS);
  const line = await pickUp(fetched);

  assert.deepEqual(lock(gus), { sessions: 2, keys: 4 });
  await assert.rejects(pickUp(waiting), { code: 'authorization_pending' });
  const cookie = line.session?.refreshToken ?? '';
  const caller = { isGone: () => false, isOwnPage: false };
  await assert.rejects(plane.control.refresh.swap(cookie, VISIT, caller), { code: 'unauthorized' });
  const live = store.db.select().from(capabilityTokens).where(isNull(capabilityTokens.revokedAt)).all();
  assert.deepEqual(
    live.map(({ id }) => id),
    [theirs.id],
  );
  const cut = new Set(plane.deltas.flatMap((delta) => (delta.kind === 'revoke_token' ? [delta.tokenId] : [])));
  assert.ok([own.id, guest.id].every((id) => cut.has(id)) && !cut.has(theirs.id));
  const auditLog = store.db.select().from(auditEvents).where(eq(auditEvents.resourceId, gus.id)).all();
  const entry = auditLog.find(({ action }) => action === 'user.lock');
  assert.deepEqual([entry?.actorKind, entry?.details], ['operator', { sessions: 2, keys: 4 }]);
  assert.deepEqual(lock(gus), { sessions: 0, keys: 0 }, 'locked is locked');
});

test('locked account: a session inserted by another way is invalid', async () => {
  const ida = await MfaPerson.create(plane, api, 'ida@example.test');
  lock(ida);
  plane.control.store.inTx(
    (tx) => void tx.db.update(sessions).set({ revokedAt: null }).where(eq(sessions.userId, ida.id)).run(),
  );
  assert.equal((await api.call('GET', '/auth/me', { as: ida.token })).status, 401);
});

test('the last superadmin who can log in is not locked, and a locked one counts for none', async () => {
  const make = (email: string) =>
    plane.control.accounts.createUser({ email, name: '', plan: 'free', superadmin: true });
  await make('root@example.test');
  const { operatorUsers } = plane.control;
  assert.throws(() => operatorUsers.lock(OPERATOR, 'root@example.test'), { code: 'conflict' });
  await make('spare@example.test');
  operatorUsers.lock(OPERATOR, 'spare@example.test');
  assert.throws(() => operatorUsers.lock(OPERATOR, 'root@example.test'), { code: 'conflict' });
  assert.throws(() => operatorUsers.update(OPERATOR, 'root@example.test', { superadmin: false }), { code: 'conflict' });
});

test('where sign-up is closed, a user removed from their last organization waits for an operator', async () => {
  for (const [signup, approval] of [
    ['closed', 'pending'],
    ['open', 'approved'],
  ] as const) {
    const server = new Plane(undefined, { signup });
    const served = await servePlane(server);
    const kim = await MfaPerson.create(server, served, 'kim@example.test');
    server.control.store.inTx((tx) => void tx.db.delete(memberships).where(eq(memberships.userId, kim.id)).run());
    const org = (await kim.login()).body['active_org'] as { approval_status: string };
    assert.equal(org.approval_status, approval);
    await served.close();
    server.close();
  }
});
