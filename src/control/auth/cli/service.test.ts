/** The log-in of a command line: who may approve, who gets the key, how often, for how long, and what ends it. On a clock that moves. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, beforeEach, test } from 'node:test';
import { and, eq } from 'drizzle-orm';
import { AppError } from '../../../base/errors.ts';
import * as rows from '../../db/schema.ts';
import type { UserActor } from '../../core/rules/actor.ts';
import type { Approved, Handed } from './service.ts';
import { findRefresh } from '../sessions/refresh-rows.ts';
import { revokeSessionsOf } from '../sessions/rows.ts';
import { readActor } from '../../core/rules/caller.ts';
import { checkPhrase } from '../../../wire/check-phrase.ts';
import { Plane, VISIT } from '../../core/testing/plane.ts';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
const STAYS = new AbortController().signal;

let plane = new Plane();
let ann: UserActor;
beforeEach(async () => {
  plane.close();
  plane = new Plane();
  ann = await plane.person('ann@example.test');
});
after(() => plane.close());

const newCode = (): string => randomBytes(32).toString('base64url');
const approve = (code: string, actor: UserActor = ann): Approved => plane.control.deviceLogins.authorize(actor, code);
const ask = (code: string, input: { wait?: number; session?: boolean; gone?: AbortSignal } = {}): Promise<Handed> =>
  plane.control.deviceLogins.fetch(
    { deviceCode: code, waitSeconds: input.wait ?? 0, session: input.session ?? false },
    VISIT,
    input.gone ?? STAYS,
  );
const failsWith = (code: string) => (error: unknown) => error instanceof AppError && error.code === code;
const pending = failsWith('authorization_pending');
const base64 = ({ wire }: Pick<Approved, 'wire'>): string => Buffer.from(wire).toString('base64');
const tokenOf = (given: Approved) => plane.control.tokens.recognise(base64(given));
const storedRows = () => plane.control.store.db.select().from(rows.deviceLogins).all();

test('an approved code gives a key of kind cli: 90 days, all names, in the active organization, once', async () => {
  const code = newCode();
  const approved = approve(code);
  assert.equal(approved.label, `cli-${checkPhrase(code)}`);
  const handed = await ask(code);
  assert.deepEqual(handed, { wire: Buffer.from(approved.wire), label: approved.label });
  const token = tokenOf(handed);
  assert.deepEqual(
    [token?.kind, token?.orgId, token?.name, token?.allowedSubdomains, token?.createdBy],
    ['cli', ann.orgId, approved.label, ['*'], ann.userId],
  );
  assert.equal((token?.expiresAt ?? 0) - plane.now, 90 * DAY);
  await assert.rejects(ask(code), pending);
});

test('device login: an unapproved code is pending, and leaves no trace', async () => {
  await assert.rejects(ask(newCode()), pending);
  await assert.rejects(ask(newCode(), { session: true }), pending);
  assert.deepEqual(storedRows(), []);
});

test('what waits in the table is sealed, and gone once it was fetched', async () => {
  const code = newCode();
  const approved = approve(code);
  const [waiting] = storedRows();
  assert.ok(!JSON.stringify(waiting).includes(code), 'the code itself is not stored');
  assert.ok(!Buffer.from(waiting?.sealedWire ?? '', 'base64url').includes(Buffer.from(approved.wire).subarray(-64)));
  await ask(code);
  assert.equal(storedRows()[0]?.sealedWire, '');
});

test('a code can be approved once, also after it was fetched and after it ran out', async () => {
  const code = newCode();
  approve(code);
  assert.throws(() => approve(code), failsWith('conflict'));
  await ask(code);
  assert.throws(() => approve(code), failsWith('conflict'));
  plane.now += 11 * MINUTE;
  plane.control.retention.sweep();
  const eve = await plane.person('eve@example.test');
  assert.throws(() => approve(code, eve), failsWith('conflict'));
});

test('the key waits ten minutes', async () => {
  const [early, late] = [newCode(), newCode()];
  approve(early);
  approve(late);
  plane.now += 10 * MINUTE - 1;
  await ask(early);
  plane.now += 1;
  await assert.rejects(ask(late), pending);
});

test('device login: retention empties what was not fetched, and forgets the code a day later', () => {
  approve(newCode());
  plane.now += 10 * MINUTE + 1;
  plane.control.retention.sweep();
  assert.equal(storedRows()[0]?.sealedWire, '');
  plane.now += DAY;
  plane.control.retention.sweep();
  assert.deepEqual(storedRows(), []);
});

test('who may not mint tokens may not approve', () => {
  for (const actor of [
    { ...ann, role: 'viewer' as const },
    { ...ann, approval: 'pending' as const },
    { ...ann, approval: 'suspended' as const },
  ]) {
    assert.throws(() => approve(newCode(), actor), failsWith('forbidden'));
  }
  assert.deepEqual(storedRows(), []);
});

const mine = () => eq(rows.memberships.userId, ann.userId);
const VOIDS: Record<string, () => void> = {
  'the person left the organization': () =>
    void plane.control.store.db
      .delete(rows.memberships)
      .where(and(mine(), eq(rows.memberships.orgId, ann.orgId)))
      .run(),
  'the person became a viewer': () =>
    void plane.control.store.db.update(rows.memberships).set({ role: 'viewer' }).where(mine()).run(),
  'the organization was suspended': () =>
    void plane.control.store.db.update(rows.organizations).set({ approvalStatus: 'suspended' }).run(),
  'the organization was deleted': () =>
    void plane.control.store.db.update(rows.organizations).set({ deletedAt: plane.now }).run(),
  'the token was revoked': () => {
    const [{ row } = assert.fail()] = plane.control.tokens.list(ann);
    plane.control.tokenEnds.revoke(ann, row.nonce);
  },
  'all sessions of the person were ended': () => {
    plane.control.store.inTx((tx) => revokeSessionsOf(tx, ann.userId));
  },
};
for (const [what, happens] of Object.entries(VOIDS)) {
  test(`nothing is handed out when, after the approval, ${what}`, async () => {
    const code = newCode();
    approve(code);
    happens();
    const before = plane.control.store.db.select().from(rows.sessions).all().length;
    await assert.rejects(ask(code, { session: true }), pending);
    assert.equal(plane.control.store.db.select().from(rows.sessions).all().length, before);
    assert.equal(storedRows()[0]?.sealedWire, '');
  });
}

test('with `session` the key comes with a session of the person, made when it is fetched', async () => {
  const code = newCode();
  approve(code);
  const sessionCount = () => plane.control.store.db.select().from(rows.sessions).all().length;
  const before = sessionCount();
  const { session } = await ask(code, { session: true });
  assert.equal(sessionCount(), before + 1);
  assert.equal(session?.email, 'ann@example.test');
  assert.equal(session?.expiresAt, plane.now + 90 * DAY);
  const db = plane.control.store.db;
  const found = findRefresh(db, session?.refreshToken ?? '', plane.now);
  const actor = found && readActor(db, found, { now: plane.now, ipAddress: '192.0.2.1' });
  assert.deepEqual([actor?.userId, actor?.orgId], [ann.userId, ann.orgId]);
  assert.notEqual(actor?.sessionId, ann.sessionId);
});

test('a held request is answered by the approval', async () => {
  const code = newCode();
  const held = ask(code, { wait: 30 });
  assert.equal(plane.control.deviceLogins.waiting, 1);
  const approved = approve(code);
  assert.equal((await held).label, approved.label);
  assert.equal(plane.control.deviceLogins.waiting, 0);
});

test('of twenty held requests with one code one gets the key', async () => {
  const code = newCode();
  const held = Array.from({ length: 20 }, () => ask(code, { wait: 30, session: true }));
  approve(code);
  const outcomes = await Promise.allSettled(held);
  assert.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 1);
  for (const outcome of outcomes) if (outcome.status === 'rejected') assert.ok(pending(outcome.reason));
});

test('device login: an approval that was rolled back wakes no waiting request', async () => {
  const code = newCode();
  const leaver = new AbortController();
  const held = ask(code, { wait: 30, gone: leaver.signal });
  assert.throws(() => approve(code, { ...ann, role: 'viewer' }), failsWith('forbidden'));
  assert.equal(plane.control.deviceLogins.waiting, 1);
  leaver.abort();
  await assert.rejects(held, pending);
});

test('device login: a client that has left gets nothing: the key stays for the next who asks', async () => {
  const code = newCode();
  const leaver = new AbortController();
  const held = ask(code, { wait: 30, gone: leaver.signal });
  approve(code); // the held request is woken, and finds its caller gone
  leaver.abort();
  await assert.rejects(held, pending);
  await ask(code);
});

test('at most 200 requests are held; the next is answered at once; a stop answers all', async () => {
  const held = Array.from({ length: 200 }, () => ask(newCode(), { wait: 30 }).catch((error: unknown) => error));
  assert.equal(plane.control.deviceLogins.waiting, 200);
  const next = ask(newCode(), { wait: 30 });
  assert.equal(plane.control.deviceLogins.waiting, 200);
  await assert.rejects(next, pending);
  plane.control.deviceLogins.endWaits();
  for (const error of await Promise.all(held)) assert.ok(pending(error));
  assert.equal(plane.control.deviceLogins.waiting, 0);
  await assert.rejects(ask(newCode(), { wait: 30 }), pending);
});

test('the key itself is enough to end it, and its agents are cut', async () => {
  const code = newCode();
  approve(code);
  const handed = await ask(code);
  const told: string[] = [];
  plane.control.link.onDelta((delta) => told.push(JSON.stringify(delta)));
  plane.control.deviceLogins.logout(base64(handed));
  assert.notEqual(tokenOf(handed)?.revokedAt, null);
  assert.match(told.join(), new RegExp(`revoke.*${tokenOf(handed)?.id}`));
  assert.throws(() => plane.control.deviceLogins.logout(base64(handed)), failsWith('unauthorized'));
});

test('keys of another kind, text keys, dead keys and noise end nothing', async () => {
  const agent = plane.mint(ann);
  const code = newCode();
  approve(code);
  const dead = await ask(code);
  const refuses = (text: string): void =>
    assert.throws(() => plane.control.deviceLogins.logout(text), failsWith('unauthorized'));
  for (const text of [base64(agent), agent.apiKey, 'AAAA', 'x'.repeat(20_000)]) refuses(text);
  plane.now += 90 * DAY;
  refuses(base64(dead));
  assert.equal(plane.control.tokens.recognise(agent.apiKey)?.revokedAt, null);
});

test('approval, fetch and log-out are in the audit log', async () => {
  const code = newCode();
  approve(code);
  plane.control.deviceLogins.logout(base64(await ask(code, { session: true })));
  const auditLog = plane.control.store.db
    .select()
    .from(rows.auditEvents)
    .all()
    .map(({ action, actorLabel }) => `${action} ${actorLabel}`)
    .slice(-4);
  assert.deepEqual(auditLog.sort(), [
    'auth.cli_authorize ann@example.test',
    `auth.cli_logout cli-${checkPhrase(code)}`,
    'auth.login ann@example.test',
    'token.mint ann@example.test',
  ]);
});

test('a key that was rotated before the command line came for it is not handed out', async () => {
  const code = newCode();
  const approved = approve(code);
  plane.control.rotation.rotate(ann, tokenOf(approved)?.nonce ?? '', 24);
  await assert.rejects(ask(code, { session: true }), pending);
});

test('a log-out ends the key that is shown and those that rotation made of it', async () => {
  const code = newCode();
  approve(code);
  const handed = await ask(code);
  const fresh = plane.control.rotation.rotate(ann, tokenOf(handed)?.nonce ?? '', 24);
  plane.control.deviceLogins.logout(base64(fresh));
  assert.deepEqual(
    [tokenOf(handed)?.revokedAt, tokenOf({ ...handed, wire: fresh.wire })?.revokedAt],
    [plane.now, plane.now],
  );
  assert.throws(() => plane.control.deviceLogins.logout(base64(handed)), failsWith('unauthorized'));
});
