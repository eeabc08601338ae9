/** What ends with a session: the key of `culvert login` that came with it, and its agents. Keys for machines do not. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, beforeEach, test } from 'node:test';
import { and, eq, isNotNull, isNull } from 'drizzle-orm';
import { auditEvents, capabilityTokens, sessions } from '../../db/schema.ts';
import type { UserActor } from '../../core/rules/actor.ts';
import { issueResetToken } from '../accounts/reset-tokens.ts';
import type { TokenRow } from '../../access-keys/rows.ts';
import { Plane, VISIT } from '../../core/testing/plane.ts';

const STAYS = new AbortController().signal;
const CALLER = { isGone: () => false, isOwnPage: false };
const OPERATOR = { kind: 'operator', orgId: null, userId: null, label: 'operator', ipAddress: '' } as const;
const PASSWORD = 'correct horse battery';

let plane = new Plane();
let ann: UserActor;
beforeEach(async () => {
  plane.close();
  plane = new Plane();
  ann = await plane.person('ann@example.test');
});
after(() => plane.close());

interface Line {
  readonly token: TokenRow;
  readonly cookie: string;
  readonly sessionId: string;
}

/** A command line that ann authorized. */
async function commandLine(session = true, as = ann): Promise<Line> {
  const code = randomBytes(32).toString('base64url');
  plane.control.deviceLogins.authorize(as, code);
  const handed = await plane.control.deviceLogins.fetch({ deviceCode: code, waitSeconds: 0, session }, VISIT, STAYS);
  const token = plane.control.tokens.recognise(Buffer.from(handed.wire).toString('base64'));
  assert.ok(token !== undefined);
  const row = plane.control.store.db.select().from(sessions).where(eq(sessions.tokenId, token.id)).get();
  return { token, cookie: handed.session?.refreshToken ?? '', sessionId: row?.id ?? '' };
}

const isDead = ({ id }: TokenRow): boolean => {
  const row = plane.control.store.db.select().from(capabilityTokens).where(eq(capabilityTokens.id, id)).get();
  assert.ok(row !== undefined);
  const wasCut = plane.deltas.some((delta) => delta.kind === 'revoke_token' && delta.tokenId === id);
  assert.equal(wasCut, row.revokedAt !== null, 'the agents are cut exactly when the key is over');
  return wasCut;
};
const reset = async (): Promise<void> => {
  const token = plane.control.store.inTx((tx) => issueResetToken(tx, ann.userId));
  await plane.control.passwordReset.reset({ token, newPassword: PASSWORD }, VISIT);
};

test('a key that was rotated goes with the session all the same, and so does the old one in its grace', async () => {
  const [once, graced] = [await commandLine(), await commandLine()];
  const fresh = plane.control.rotation.rotate(ann, once.token.nonce, 0).row;
  const later = plane.control.rotation.rotate(ann, graced.token.nonce, 24).row;
  const keyOf = (sessionId: string) =>
    plane.control.store.db.select().from(sessions).where(eq(sessions.id, sessionId)).get()?.tokenId;
  assert.deepEqual([keyOf(once.sessionId), keyOf(graced.sessionId)], [fresh.id, later.id]);
  assert.deepEqual([once.token, fresh, graced.token, later].map(isDead), [true, false, false, false]);
  plane.control.sessionList.revoke(ann, graced.sessionId);
  assert.deepEqual([fresh, graced.token, later].map(isDead), [false, true, true]);
  await reset();
  assert.equal(isDead(fresh), true);
});

test('a session that is ended from the list takes its key along, and no other', async () => {
  const [one, two] = [await commandLine(), await commandLine()];
  const machine = plane.mint(ann).row;
  plane.control.sessionList.revoke(ann, one.sessionId);
  assert.deepEqual([one.token, two.token, machine].map(isDead), [true, false, false]);
  const entry = plane.control.store.db.select().from(auditEvents).where(eq(auditEvents.resourceId, one.token.nonce));
  assert.ok(entry.all().some(({ action, actorLabel }) => action === 'token.revoke' && actorLabel === ann.email));
});

test('all other sessions end with their keys, and a log-out with its own', async () => {
  const line = await commandLine();
  const me = await commandLine();
  const actor = plane.control.refresh.actorOf(me.cookie, VISIT);
  assert.ok(actor !== undefined);
  plane.control.sessionList.revokeOthers(actor);
  assert.deepEqual([line.token, me.token].map(isDead), [true, false]);
  plane.control.sessions.logout(actor);
  assert.ok(isDead(me.token));
});

test('a cookie that was stolen ends the key that came with it', async () => {
  const { token, cookie } = await commandLine();
  const swap = (old: string) => plane.control.refresh.swap(old, VISIT, CALLER);
  await swap(cookie);
  plane.now += 60_000;
  await assert.rejects(swap(cookie));
  assert.ok(isDead(token));
});

test('a new password ends the keys of other sessions and keeps the one of the session that set it', async () => {
  await reset();
  const done = await plane.control.sessions.login({ email: ann.email, password: PASSWORD }, VISIT);
  assert.ok('accessToken' in done);
  const now = await plane.control.sessions.authenticate(done.accessToken, '');
  assert.ok(now !== undefined);
  const line = await commandLine(true, now);
  const mine = await commandLine(true, now);
  const actor = plane.control.refresh.actorOf(mine.cookie, VISIT);
  assert.ok(actor !== undefined);
  await plane.control.passwordReset.change(actor, { current: PASSWORD, next: `${PASSWORD} 2` });
  assert.deepEqual([line.token, mine.token].map(isDead), [true, false]);
});

for (const [what, end] of [
  ['a reset', reset],
  [
    'an operator who logs the person out',
    async () => void plane.control.operatorUsers.revokeSessions(OPERATOR, ann.email),
  ],
  [
    'an operator who gives a password',
    async () => void (await plane.control.operatorUsers.resetPassword(OPERATOR, ann.email)),
  ],
] as const) {
  test(`${what} ends every command line, in other organizations and without a session too, and no machine`, async () => {
    const withSession = await commandLine();
    const without = await commandLine(false);
    const org = plane.control.organizations.create(ann, 'Second');
    const elsewhere = await commandLine(true, { ...ann, orgId: org.id, role: 'owner' });
    const machine = plane.mint(ann).row;
    const bob = await plane.person('bob@example.test');
    const bobs = await commandLine(true, bob);
    await end();
    assert.deepEqual(
      [withSession, without, elsewhere, bobs].map(({ token }) => isDead(token)),
      [true, true, true, false],
    );
    assert.ok(!isDead(machine));
    const auditLog = plane.control.store.db.select().from(auditEvents).where(eq(auditEvents.orgId, org.id)).all();
    assert.ok(
      auditLog.some(({ resourceId }) => resourceId === elsewhere.token.nonce),
      'in the audit log of its organization',
    );
    const open = and(eq(sessions.userId, ann.userId), isNull(sessions.revokedAt), isNotNull(sessions.tokenId));
    assert.deepEqual(plane.control.store.db.select().from(sessions).where(open).all(), []);
  });
}
