/**
 * A user over the mint limit is refused alone: no use of own tokens blocks another user from minting, rotating or logging a
 * command line in, and what they have done can be undone.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, test } from 'node:test';
import { count, eq, isNull } from 'drizzle-orm';
import { AppError } from '../../../base/errors.ts';
import { auditEvents, capabilityTokens, revokedNonces } from '../../db/schema.ts';
import {
  MAX_LIVE_OF_ONE,
  MAX_MASTERS_OF_ONE,
  MAX_UNDEAD,
  MINTS_PER_DAY,
  PER_DAY_BEYOND,
  ROTATIONS_PER_DAY,
} from './mint-limits.ts';
import { MAX_ENDED_TOKENS, MAX_LIVE_TOKENS } from '../room.ts';
import type { Answer } from '../../core/testing/harness.ts';
import { type Key, keyOf, mint, mintMaster, shown } from '../testing.ts';
import { Plane, START } from '../../core/testing/plane.ts';
import { type PlaneApi, servePlane } from '../../core/testing/plane-api.ts';
import { type Person, said, Team } from '../../core/testing/team.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const CONFLICT = [409, 'conflict'];
const LIMITED = [429, 'rate_limited'];
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

const rotate = ({ nonce }: Pick<Key, 'nonce'>, graceHours = 0, by = ann) =>
  by.call('POST', `/tokens/${nonce}/rotate`, { graceHours });
const mintBy = (bearer: string, body: object = {}): Promise<Answer> =>
  api.call('POST', '/projects/default/tokens', { as: bearer, body: { name: 'job', ...body } });
const login = () =>
  ann.call('POST', '/auth/cli/authorize', { device_code: randomUUID().replaceAll('-', '').padEnd(43, 'A') });
const at = async (instant: number): Promise<void> => {
  plane.now = instant;
  ann = await team.again(ann);
};
const retryAfter = ({ body }: Answer): number => Number(body['retry_after_seconds']);
const rowsOf = (table: typeof capabilityTokens | typeof revokedNonces): number =>
  plane.control.store.db.select({ n: count() }).from(table).get()?.n ?? 0;
const listed = async (): Promise<string[]> => {
  plane.now += 1_000;
  const { body } = await api.call('GET', '/.well-known/culvert-revocations');
  return (body as unknown as { revoked: ReadonlyArray<{ nonce: string }> }).revoked.map(({ nonce }) => nonce);
};

/** Rows that stand for tokens of the past. */
function insertTokens(n: number, like: Key, change: Partial<typeof capabilityTokens.$inferInsert> = {}): void {
  const { store } = plane.control;
  const row = store.db.select().from(capabilityTokens).where(eq(capabilityTokens.id, like.id)).get();
  assert.ok(row !== undefined);
  store.inTx(({ db }) => {
    for (let i = 0; i < n; i++) {
      const id = randomUUID();
      db.insert(capabilityTokens)
        .values({ ...row, id, lineageId: id, nonce: id, keyHash: id, ...change })
        .run();
    }
  });
}

/** Entries of the list that stand for tokens of a minter, revoked in the past. */
function insertNonces(n: number, minterId: string, until: number): void {
  plane.control.store.inTx(({ db }) => {
    for (let i = 0; i < n; i++) {
      const id = randomUUID();
      db.insert(revokedNonces).values({ tokenId: id, nonce: id, minterId, from: START, until }).run();
    }
  });
}

function insertAuditEvents(n: number, action: string, actorId: string): void {
  const entry = { at: plane.now, action, resourceType: 'token', resourceId: '', actorKind: 'user', actorId } as const;
  plane.control.store.inTx(({ db }) => {
    for (let i = 0; i < n; i++)
      db.insert(auditEvents)
        .values({ id: randomUUID(), ...entry, actorLabel: '', ipAddress: '' })
        .run();
  });
}

/** Mints and revokes as the master key until that is refused; returns how often it went well, and the refusal. */
function churn({ apiKey }: Key): { pairs: number; refusal: AppError } {
  const { masterKeys, projectTokens } = plane.control;
  const actor = masterKeys.authenticate(apiKey, { ipAddress: '192.0.2.9', mints: true });
  assert.ok(actor !== undefined);
  const scope = { name: 'x', ttlHours: 2160, allowedSubdomains: ['*'], bandwidthLimitMbps: 100, tunnelQuota: 5 };
  for (let pairs = 0; pairs < 100; pairs++) {
    try {
      projectTokens.revoke(actor, 'default', projectTokens.mint(actor, 'default', scope).row.nonce);
    } catch (error) {
      assert.ok(error instanceof AppError);
      return { pairs, refusal: error };
    }
  }
  return assert.fail('nothing stops it');
}

test('a master key that mints and revokes in a loop bars itself alone, for as long as its answer says', async () => {
  const [prod, master, other] = [await mint(ann, { ttlHours: 2160 }), await mintMaster(ann), await mintMaster(ann)];
  insertAuditEvents(MINTS_PER_DAY - 25, 'token.mint', master.id);
  const { pairs, refusal } = churn(master);
  assert.equal(pairs, 25);
  assert.deepEqual([refusal.code, refusal.retryAfterSeconds], ['rate_limited', 24 * 3600]);
  await mint(ann);
  keyOf(await rotate(prod));
  keyOf(await rotate(other));
  assert.equal((await login()).status, 200);
  await at(START + DAY);
  assert.equal((await mintBy(master.apiKey)).status, 200, 'and it goes on');
});

test('a master key with a thousand revoked keys that have not run out waits until one has, or is replaced', async () => {
  const master = await mintMaster(ann);
  insertNonces(MAX_UNDEAD - 1, master.id, START + 5 * DAY);
  const last = keyOf(await mintBy(master.apiKey));
  await ann.call('DELETE', `/tokens/${last.nonce}`);
  const refused = await mintBy(master.apiKey);
  assert.deepEqual([said(refused), retryAfter(refused)], [LIMITED, 3600], 'the first of them runs out in an hour');
  assert.deepEqual(said(await mintBy((await mintMaster(ann)).apiKey)), [200]);
  assert.equal((await mintBy(keyOf(await rotate(master)).apiKey)).status, 200);
});

test('revoking a master key takes what it revoked from the list, for it stands there for them all', async () => {
  const master = await mintMaster(ann);
  const [early, late] = [keyOf(await mintBy(master.apiKey, { ttl_hours: 99 })), keyOf(await mintBy(master.apiKey))];
  await ann.call('DELETE', `/tokens/${early.nonce}`);
  insertNonces(MAX_UNDEAD, master.id, START + 80 * DAY);
  assert.equal((await listed()).length, MAX_UNDEAD + 1);
  await ann.call('DELETE', `/tokens/${master.nonce}`);
  const both = await listed();
  assert.deepEqual([both.includes(early.nonce), both.includes(late.nonce)], [true, false], 'it overlaps');
  await at(plane.now + HOUR);
  assert.deepEqual(await listed(), [master.nonce]);
  plane.control.retention.sweep();
  plane.control.retention.sweep();
  assert.equal(rowsOf(revokedNonces), 1);
});

test('a master key whose grace ends later covers what it revoked from then on, not before', async () => {
  const master = await mintMaster(ann);
  const early = keyOf(await mintBy(master.apiKey, { ttl_hours: 99 }));
  await ann.call('DELETE', `/tokens/${early.nonce}`);
  keyOf(await rotate(master, 48));
  await at(START + 48 * HOUR);
  assert.deepEqual((await listed()).sort(), [early.nonce, master.nonce].sort());
  await at(START + 50 * HOUR);
  assert.deepEqual(await listed(), [master.nonce]);
});

test('a person mints and rotates so many tokens a day, over all organizations, and others are not concerned', async () => {
  const key = await mint(ann);
  const bob = await team.member('bob@example.test', ann, 'member');
  const asBob = await team.acting(bob, ann.home);
  insertAuditEvents(MINTS_PER_DAY - 2, 'token.mint', ann.id);
  await mint(ann);
  const refused = await ann.call('POST', '/tokens', {});
  assert.deepEqual([said(refused), retryAfter(refused)], [LIMITED, 24 * 3600]);
  for (const answer of [await mintBy(ann.token), await login()]) assert.deepEqual(said(answer), LIMITED);
  assert.deepEqual(said(await ann.call('POST', '/tokens/master', { name: 'x' })), LIMITED);
  const fresh = keyOf(await rotate(key));
  assert.equal((await mintBy(asBob)).status, 200);
  insertAuditEvents(ROTATIONS_PER_DAY - 2, 'token.rotate', ann.id);
  const last = keyOf(await rotate(fresh));
  assert.deepEqual(said(await rotate(last)), LIMITED);
  assert.equal((await api.call('POST', `/tokens/${last.nonce}/rotate`, { as: asBob })).status, 200);
  assert.deepEqual((await ann.call('DELETE', `/tokens/${key.nonce}`)).status, 200, 'to revoke is never refused');
  await at(START + DAY);
  await mint(ann);
});

test('a person whose list is long goes on with a few tokens a day', async () => {
  const key = await mint(ann);
  insertNonces(MAX_UNDEAD, ann.id, START + 90 * DAY);
  insertAuditEvents(PER_DAY_BEYOND - 2, 'token.mint', ann.id);
  await mint(ann);
  assert.deepEqual(said(await ann.call('POST', '/tokens', {})), LIMITED);
  keyOf(await rotate(key));
  await at(START + DAY);
  await mint(ann);
});

test('one person, one master key, has so many live tokens; to revoke one makes room', async () => {
  const [key, master] = [await mint(ann), await mintMaster(ann)];
  const child = keyOf(await mintBy(master.apiKey));
  insertTokens(MAX_LIVE_OF_ONE - 2, key);
  insertTokens(MAX_LIVE_OF_ONE - 1, child);
  assert.deepEqual(said(await ann.call('POST', '/tokens', {})), CONFLICT);
  assert.deepEqual(said(await mintBy(master.apiKey)), CONFLICT);
  const bob = await team.member('bob@example.test', ann, 'member');
  assert.equal((await mintBy(await team.acting(bob, ann.home))).status, 200);
  keyOf(await rotate(key, 1));
  for (const { nonce } of [child, master]) await ann.call('DELETE', `/tokens/${nonce}`);
  await mint(ann);
});

test('a person has so many live master keys, over all organizations', async () => {
  const master = await mintMaster(ann);
  const elsewhere = await team.person('eve@example.test');
  insertTokens(MAX_MASTERS_OF_ONE - 1, master, { orgId: elsewhere.home });
  assert.deepEqual(said(await ann.call('POST', '/tokens/master', { name: 'x' })), CONFLICT);
  keyOf(await rotate(master, 1));
  await mint(ann);
  await mintMaster(elsewhere);
});

test('an organization has a bounded number of live tokens; a rotation needs no room', async () => {
  const key = await mint(ann, { ttlHours: 99 });
  const master = await mintMaster(ann);
  insertTokens(MAX_LIVE_TOKENS - 2, key, { createdBy: null });
  assert.deepEqual(said(await ann.call('POST', '/tokens', {})), CONFLICT);
  assert.equal((await mintBy(master.apiKey)).status, 200, 'what master keys mint has room of its own');
  const second = keyOf(await rotate(key));
  const third = keyOf(await rotate(second, 2));
  const fourth = keyOf(await rotate(third, 1));
  assert.deepEqual(said(await rotate(fourth, 1)), CONFLICT, 'two predecessors have their grace');
  assert.equal((await shown(ann, fourth)).graceEndsAt, null, 'and nothing came of it');
  keyOf(await rotate(fourth));
  const live = (await ann.call('GET', '/tokens')).body as unknown as readonly Key[];
  assert.equal(live.filter(({ revoked }) => !revoked).length, MAX_LIVE_TOKENS + 3, 'all of them are listed');
});

test('what master keys mint is bounded by itself and leaves people their room', async () => {
  const master = await mintMaster(ann);
  const child = keyOf(await mintBy(master.apiKey));
  insertTokens(MAX_LIVE_TOKENS - 1, child, { parentId: randomUUID() });
  assert.deepEqual(said(await mintBy(master.apiKey)), CONFLICT);
  await mint(ann);
});

test('of the tokens that have ended the last thousand stay, and none that has just ended goes', async () => {
  const key = await mint(ann, { ttlHours: 2160 });
  insertTokens(MAX_ENDED_TOKENS + 200, key, { revokedAt: START });
  await mint(ann);
  assert.equal(rowsOf(capabilityTokens), MAX_ENDED_TOKENS + 202, 'its agents are still being counted');
  await at(START + HOUR);
  for (let i = 0; i < 6; i++) await mint(ann);
  assert.equal(rowsOf(capabilityTokens), MAX_ENDED_TOKENS + 8);
  const live = plane.control.store.db.select().from(capabilityTokens).where(isNull(capabilityTokens.revokedAt)).all();
  assert.equal(live.length, 8);
});
