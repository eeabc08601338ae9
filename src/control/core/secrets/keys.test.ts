/**
 * Signing keys that change while the server runs: what was signed before stays valid, and an old key goes in the end.
 */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { desc, eq } from 'drizzle-orm';
import { auditEvents } from '../../db/schema.ts';
import type { Actor, UserActor } from '../rules/actor.ts';
import { Plane, VISIT } from '../testing/plane.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const SYSTEM: Actor = { kind: 'system', orgId: null };

let plane: Plane;
let ann: UserActor;
beforeEach(async () => {
  plane = new Plane();
  ann = await plane.person('ann@example.com');
});
afterEach(() => plane.close());

const ids = (): readonly string[] => plane.control.keys.jwks().keys.map(({ kid }) => kid);
const jwt = async (): Promise<string> => (await plane.control.sessions.switchOrg(ann, ann.orgId)).accessToken;
const kidOf = (token: string): unknown =>
  JSON.parse(Buffer.from(token.split('.')[0] ?? '', 'base64url').toString()).kid;
const isValid = async (token: string): Promise<boolean> =>
  (await plane.control.sessions.authenticate(token, VISIT.ipAddress)) !== undefined;

test('an access token of the key before stays valid, and the new key signs from then on', async () => {
  const old = await jwt();
  const before = ids();
  plane.now += 1;
  const made = plane.control.keys.rotate(SYSTEM, 'access');
  assert.deepEqual(ids(), [...before, made], 'the JWKS has both');
  const fresh = await jwt();
  assert.equal(kidOf(fresh), made);
  assert.notEqual(kidOf(old), made);
  assert.deepEqual([await isValid(old), await isValid(fresh)], [true, true]);
});

test('a capability token of the key before opens sessions for as long as it lives', () => {
  const { wire } = plane.mint(ann, { ttlHours: 2160 });
  const old = Buffer.from(wire).toString('base64');
  plane.control.keys.rotate(SYSTEM, 'capability');
  const fresh = Buffer.from(plane.mint(ann, { ttlHours: 2160 }).wire).toString('base64');
  plane.now += 89 * DAY;
  plane.control.keys.sweep();
  for (const token of [old, fresh]) {
    assert.ok(plane.control.tokens.recognise(token) !== undefined);
  }
});

test('a retired key verifies for a day (access) or 366 days (capability), then it is gone', async () => {
  const { keys } = plane.control;
  const access = keys.signing('access').id;
  const capability = keys.signing('capability').id;
  keys.rotate(SYSTEM, 'access');
  keys.rotate(SYSTEM, 'capability');
  assert.equal(ids().length, 4);
  plane.now += DAY - 1;
  keys.sweep();
  assert.ok(keys.verifying('access', access) !== undefined);
  plane.now += 1;
  keys.sweep();
  assert.equal(keys.verifying('access', access), undefined);
  assert.ok(!ids().includes(access));
  plane.now += 365 * DAY - 1;
  keys.sweep();
  assert.ok(keys.verifying('capability', capability) !== undefined);
  plane.now += 1;
  keys.sweep();
  assert.equal(keys.verifying('capability', capability), undefined);
});

test('data nodes have the access keys, and get each change', async () => {
  const { keys, link } = plane.control;
  const { accessKeys } = await link.snapshot();
  assert.deepEqual(
    accessKeys.map(({ kid }) => kid),
    [keys.signing('access').id],
  );
  plane.now += 1;
  const made = keys.rotate(SYSTEM, 'access');
  const delta = plane.deltas.at(-1);
  assert.ok(delta?.kind === 'access_keys');
  assert.deepEqual(
    delta.keys.map(({ kid }) => kid),
    [accessKeys[0]?.kid, made],
  );
  assert.deepEqual((await link.snapshot()).accessKeys, delta.keys);
  plane.now += DAY;
  keys.sweep();
  const last = plane.deltas.at(-1);
  assert.ok(last?.kind === 'access_keys');
  assert.deepEqual(
    last.keys.map(({ kid }) => kid),
    [made],
  );
});

test('the access key rotates by itself after 90 days, the capability key does not', () => {
  const { keys } = plane.control;
  const before = { access: keys.signing('access').id, capability: keys.signing('capability').id };
  plane.now += 90 * DAY - 1;
  keys.sweep();
  assert.equal(keys.signing('access').id, before.access);
  plane.now += 1;
  keys.sweep();
  assert.notEqual(keys.signing('access').id, before.access);
  assert.ok(keys.verifying('access', before.access) !== undefined);
  assert.equal(keys.signing('capability').id, before.capability);
  keys.sweep();
  assert.equal(ids().length, 3, 'once');
});

test('only operators and the server rotate keys, and it is in the audit log', () => {
  const { keys, store } = plane.control;
  assert.throws(() => keys.rotate(ann, 'access'), { code: 'forbidden' });
  assert.equal(ids().length, 2);
  const made = keys.rotate({ ...ann, superadmin: true }, 'capability');
  const row = store.db
    .select()
    .from(auditEvents)
    .where(eq(auditEvents.action, 'key.rotate'))
    .orderBy(desc(auditEvents.id))
    .get();
  assert.deepEqual([row?.resourceType, row?.resourceId, row?.actorLabel], ['key', made, ann.email]);
});

test('the number of keys is bounded', () => {
  const { keys } = plane.control;
  for (let i = 0; i < 15; i++) keys.rotate(SYSTEM, 'access');
  assert.throws(() => keys.rotate(SYSTEM, 'access'), { code: 'conflict' });
  assert.equal(ids().length, 17);
  plane.now += DAY;
  keys.sweep();
  keys.rotate(SYSTEM, 'access');
});
