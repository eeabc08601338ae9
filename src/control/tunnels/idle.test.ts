/**
 * Unused tunnels: which of them go by themselves, when, and that their names are free after a cooldown of a day.
 */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { eq, inArray } from 'drizzle-orm';
import { auditEvents, organizations, tunnels } from '../db/schema.ts';
import type { UserActor } from '../core/rules/actor.ts';
import type { Plan } from '../core/rules/plans.ts';
import { Plane } from '../core/testing/plane.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

let plane: Plane;
let ann: UserActor;
beforeEach(async () => {
  plane = new Plane();
  ann = await plane.person('ann@example.test', 'free');
});
afterEach(() => plane.close());

const onPlan = (plan: Plan) =>
  plane.control.store.inTx(
    ({ db }) => void db.update(organizations).set({ plan }).where(eq(organizations.id, ann.orgId)).run(),
  );
/** Lets the time of every tunnel run out. */
const runOut = (): void => {
  plane.now += 7 * DAY;
  plane.control.tunnels.expireDue();
};
const deletedBySystem = (): unknown[] => {
  const { db } = plane.control.store;
  const entries = db.select().from(auditEvents).where(eq(auditEvents.action, 'tunnel.delete')).all();
  return entries.map(({ resourceId, actorKind }) => [resourceId, actorKind]);
};

for (const plan of ['free', 'pro', 'team'] as const) {
  test(`${plan}: a tunnel that ran out 30 days ago is deleted, and others have its name a day later`, async () => {
    onPlan(plan);
    const { id } = plane.create(ann, { subdomain: 'shop' }).row;
    runOut();
    plane.now += 30 * DAY;
    assert.equal(plane.control.tunnels.removeForgotten(), 0);
    plane.now += 1;
    plane.deltas.length = 0;
    assert.equal(plane.control.tunnels.removeForgotten(), 1);
    assert.deepEqual(deletedBySystem(), [[id, 'system']]);
    assert.deepEqual(
      plane.deltas.map((delta) => (delta.kind === 'remove' ? [delta.tunnelId, delta.code] : delta.kind)),
      [[id, 'tunnel_deleted']],
    );
    const bob = await plane.person('bob@example.test');
    assert.throws(() => plane.create(bob, { subdomain: 'shop' }), { code: 'duplicate_name' });
    plane.now += DAY;
    plane.create(bob, { subdomain: 'shop' });
  });
}

test('on Enterprise it stays, however long ago it ran out', () => {
  onPlan('enterprise');
  const { id } = plane.create(ann, { subdomain: 'shop', ttlSeconds: 60 }).row;
  runOut();
  plane.now += 365 * DAY;
  assert.equal(plane.control.tunnels.removeForgotten(), 0);
  assert.equal(plane.control.tunnels.get(ann, id).row.expired, true);
});

test('a start and an agent that served it begin the 30 days anew', async () => {
  const started = plane.create(ann, { subdomain: 'started' }).row.id;
  const served = plane.create(ann, { subdomain: 'served' }).row.id;
  const token = plane.mint(ann, { ttlHours: 2160 });
  runOut();
  plane.now += 20 * DAY;
  plane.control.tunnels.start(ann, started);
  await plane.bound(token, { subdomain: 'served' });
  runOut();
  plane.now += 30 * DAY - HOUR;
  assert.equal(plane.control.tunnels.removeForgotten(), 0);
  plane.now += 2 * HOUR;
  assert.equal(plane.control.tunnels.removeForgotten(), 2);
  assert.deepEqual(deletedBySystem().flat().sort(), [served, started, 'system', 'system'].sort());
});

test('a tunnel that has time left stays, and so does the reservation of a name whose tunnel goes', async () => {
  onPlan('pro');
  plane.control.reservedSubdomains.create(ann, 'kept');
  plane.create(ann, { subdomain: 'kept' });
  runOut();
  plane.now += 31 * DAY;
  const { id } = plane.create(ann, { subdomain: 'new' }).row;
  assert.equal(plane.control.tunnels.removeForgotten(), 1);
  assert.equal(plane.control.tunnels.get(ann, id).row.label, 'new');
  plane.now += 365 * DAY;
  const bob = await plane.person('bob@example.test');
  assert.throws(() => plane.create(bob, { subdomain: 'kept' }), { code: 'duplicate_name' });
});

test('a smaller plan ends an old tunnel in its time, and deletes it 30 days later', () => {
  onPlan('enterprise');
  plane.create(ann, { subdomain: 'old' });
  plane.now += 40 * DAY;
  const operator = { kind: 'operator', orgId: null, userId: null, label: 'root', ipAddress: '' } as const;
  plane.control.operatorOrgs.setPlan(operator, ann.orgId, 'free');
  assert.equal(plane.control.tunnels.removeForgotten(), 0);
  plane.now += HOUR;
  plane.control.tunnels.expireDue();
  assert.equal(plane.control.tunnels.removeForgotten(), 0);
  plane.now += 30 * DAY + 1;
  assert.equal(plane.control.tunnels.removeForgotten(), 1);
});

test('agents that have been connected for days do not hide unserved tunnels from the job', async () => {
  onPlan('enterprise');
  const token = plane.mint(ann, { ttlHours: 100 });
  const first = await plane.bound(token);
  const { row } = plane.control.tunnels.get(ann, first.tunnelId);
  const more = Array.from({ length: 250 }, (_, i) => ({ ...row, id: `online-${i}`, label: `online-${i}` }));
  plane.control.store.inTx(({ db }) => void db.insert(tunnels).values(more).run());
  for (const { id } of more) plane.online.add(id);
  plane.online.add(first.tunnelId);
  plane.now += 1;
  const left = await plane.bound(token);
  plane.now += DAY + 1;
  assert.equal(plane.control.tunnels.removeUnused(), 1);
  assert.deepEqual(deletedBySystem(), [[left.tunnelId, 'system']]);
  const ids = more.map(({ id }) => id);
  const still = plane.control.store.db.select().from(tunnels).where(inArray(tunnels.id, ids)).all();
  assert.ok(still.every(({ deletedAt }) => deletedAt === null));
});

test('a new run that revives a tunnel that had expired is in the audit log', async () => {
  const token = plane.mint(ann, { ttlHours: 100, name: 'laptop' });
  const { tunnelId } = await plane.bound(token, { subdomain: 'shop' });
  await plane.bound(token, { subdomain: 'shop' });
  plane.now += HOUR;
  plane.control.tunnels.expireDue();
  await plane.bound(token, { subdomain: 'shop' });
  const entries = plane.control.store.db.select().from(auditEvents).where(eq(auditEvents.resourceId, tunnelId)).all();
  assert.deepEqual(
    entries.map(({ action, actorKind, actorLabel }) => [action, actorKind, actorLabel]),
    [
      ['tunnel.create', 'token', 'laptop'],
      ['tunnel.expire', 'system', 'system'],
      ['tunnel.start', 'token', 'laptop'],
    ],
  );
});
