/** Another plan, by an operator: what lives by the plan follows at once, and the data plane gets it. Plans by billing: service.test.ts, webhook.test.ts. */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { eq } from 'drizzle-orm';
import { auditEvents, tunnels } from '../db/schema.ts';
import type { OperatorActor, UserActor } from '../core/rules/actor.ts';
import { Plane, START } from '../core/testing/plane.ts';

const OPERATOR: OperatorActor = { kind: 'operator', orgId: null, userId: null, label: 'root', ipAddress: '' };
const HOUR = 3_600_000;
const DAY = 24 * HOUR;

let plane: Plane;
beforeEach(() => {
  plane = new Plane();
});
afterEach(() => plane.close());

const setPlan = (who: UserActor, plan: 'free' | 'pro' | 'team' | 'enterprise') =>
  plane.control.operatorOrgs.setPlan(OPERATOR, who.orgId, plan);
const endOf = (id: string) => plane.control.store.db.select().from(tunnels).where(eq(tunnels.id, id)).get()?.expiresAt;
const told = () =>
  plane.deltas.flatMap((delta) => (delta.kind === 'put' ? [[delta.route.tunnelId, delta.route.expiresAt]] : []));

test('a smaller plan gives a running tunnel its shorter time, counted from the change, and the data plane hears of it', async () => {
  const ann = await plane.person('ann@example.test', 'enterprise');
  const endless = plane.create(ann);
  assert.equal(endless.row.expiresAt, null);
  plane.now += 5 * HOUR;
  plane.deltas.length = 0;
  setPlan(ann, 'free');
  assert.equal(endOf(endless.row.id), START + 6 * HOUR);
  assert.deepEqual(told(), [[endless.row.id, START + 6 * HOUR]]);
  plane.now += HOUR - 1;
  assert.equal(plane.control.tunnels.expireDue(), 0);
  plane.now += 1;
  assert.equal(plane.control.tunnels.expireDue(), 1);
});

test('a larger plan gives a running tunnel more time, and none that ends by the plan on Enterprise', async () => {
  const ann = await plane.person('ann@example.test', 'free');
  const { id } = plane.create(ann).row;
  setPlan(ann, 'pro');
  assert.equal(endOf(id), START + DAY);
  setPlan(ann, 'team');
  assert.equal(endOf(id), START + 7 * DAY);
  setPlan(ann, 'enterprise');
  assert.equal(endOf(id), null);
});

test('what a tunnel asked for counts under each plan, up to its maximum, from its beginning', async () => {
  const ann = await plane.person('ann@example.test', 'free');
  const short = plane.create(ann, { ttlSeconds: 600 }).row.id;
  const long = plane.create(ann, { ttlSeconds: 7200 }).row.id;
  plane.now += 60_000;
  setPlan(ann, 'enterprise');
  assert.deepEqual([endOf(short), endOf(long)], [START + 600_000, START + 2 * HOUR]);
  setPlan(ann, 'free');
  assert.deepEqual([endOf(short), endOf(long)], [START + 600_000, plane.now + HOUR]);
});

test('no change of plan, and no number of them, makes a life longer than the plan has it', async () => {
  const ann = await plane.person('ann@example.test');
  setPlan(ann, 'team');
  const short = plane.create(ann, { ttlSeconds: 60 }).row.id;
  const week = plane.create(ann).row.id;
  plane.now += 59_000;
  for (const plan of ['free', 'pro', 'free', 'team'] as const) setPlan(ann, plan);
  assert.deepEqual([endOf(short), endOf(week)], [START + 60_000, START + 7 * DAY]);
  plane.now = START + 7 * DAY - 1000;
  setPlan(ann, 'free');
  assert.equal(endOf(week), START + 7 * DAY, 'a smaller plan gives no more than was left');
});

test('a start begins the life that a plan is counted from', async () => {
  const ann = await plane.person('ann@example.test', 'free');
  const token = plane.mint(ann);
  const started = plane.create(ann).row.id;
  const { tunnelId } = await plane.bound(token, { subdomain: 'shop' });
  plane.now += HOUR;
  plane.control.tunnels.start(ann, started);
  await plane.bound(token, { subdomain: 'shop' });
  setPlan(ann, 'pro');
  assert.deepEqual([endOf(started), endOf(tunnelId)], [plane.now + DAY, plane.now + DAY]);
});

test('a tunnel whose time has run out, one that was deleted and one of another organization stay as they are', async () => {
  const ann = await plane.person('ann@example.test', 'free');
  const eve = await plane.person('eve@example.test', 'free');
  const over = plane.create(ann).row.id;
  const gone = plane.create(ann).row.id;
  const other = plane.create(eve).row.id;
  plane.control.tunnels.delete(ann, gone);
  // Due, and the job has not come by yet: a plan brings nothing back.
  plane.now += HOUR;
  plane.deltas.length = 0;
  setPlan(ann, 'pro');
  assert.deepEqual([over, gone, other].map(endOf), [START + HOUR, START + HOUR, START + HOUR]);
  assert.deepEqual(told(), []);
});

test('plan change: the audit log has actor, old and new plan, and no entry without a change', async () => {
  const ann = await plane.person('ann@example.test', 'free');
  setPlan(ann, 'free');
  setPlan(ann, 'team');
  const entries = plane.control.store.db.select().from(auditEvents).where(eq(auditEvents.action, 'org.plan')).all();
  assert.deepEqual(
    entries.map(({ orgId, actorKind, actorLabel, changes }) => ({ orgId, actorKind, actorLabel, changes })),
    [
      {
        ...{ orgId: ann.orgId, actorKind: 'operator', actorLabel: 'root' },
        changes: [{ field: 'plan', from: 'free', to: 'team' }],
      },
    ],
  );
});
