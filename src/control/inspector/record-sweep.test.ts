/** Recorded requests go by the plan of their organization, with their tunnel and with their organization. */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { eq } from 'drizzle-orm';
import { organizations } from '../db/schema.ts';
import { recorded } from '../db/usage/testing.ts';
import type { UserActor } from '../core/rules/actor.ts';
import type { Plan } from '../core/rules/plans.ts';
import { Plane, START } from '../core/testing/plane.ts';

const DAY = 24 * 3_600_000;

let plane: Plane;
beforeEach(() => {
  plane = new Plane();
});
afterEach(async () => {
  await plane.control.records.close();
  plane.close();
});

/** A request of that instant to a tunnel of the organization. */
async function record(actor: UserActor, tunnelId: string, at: number): Promise<string> {
  const request = recorded({ orgId: actor.orgId, tunnelId, at });
  await plane.control.link.inspect({ records: [request], unrecorded: [] });
  return request.id;
}
async function kept(actor: UserActor): Promise<string[]> {
  const { items } = await plane.control.records.list(actor.orgId, { limit: 500 });
  return items.map(({ id }) => id);
}
const sweepAt = (instant: number): Promise<void> => {
  plane.now = instant;
  return plane.control.recordSweep.run();
};

test('each plan keeps records for its days, to the millisecond, and a change of plan counts at once', async () => {
  const days: ReadonlyArray<readonly [Plan, number]> = [
    ['free', 7],
    ['pro', 30],
    ['team', 90],
    ['enterprise', 365],
  ];
  const people: Array<{ actor: UserActor; days: number; id: string }> = [];
  for (const [plan, count] of days) {
    const actor = await plane.person(`${plan}@example.com`);
    plane.control.store.inTx(
      ({ db }) => void db.update(organizations).set({ plan }).where(eq(organizations.id, actor.orgId)).run(),
    );
    const tunnel = plane.create(actor);
    people.push({ actor, days: count, id: await record(actor, tunnel.row.id, START) });
  }
  for (const { actor, days: count, id } of people) {
    await sweepAt(START + count * DAY);
    assert.deepEqual(await kept(actor), [id], `${count} days: kept too short`);
    await sweepAt(START + count * DAY + 1);
    assert.deepEqual(await kept(actor), [], `${count} days: kept too long`);
  }
  const [free] = people;
  assert.ok(free !== undefined);
  const tunnel = plane.create(free.actor);
  await record(free.actor, tunnel.row.id, plane.now - 20 * DAY);
  await plane.control.recordSweep.run();
  assert.deepEqual(await kept(free.actor), []);
});

test('records of a deleted tunnel are shown until its row goes, 30 days later, and those of others stay', async () => {
  const ann = await plane.person('ann@example.com');
  const [shop, blog] = [plane.create(ann).row.id, plane.create(ann).row.id];
  const ids = [await record(ann, shop, START), await record(ann, blog, START)];
  plane.control.tunnels.delete(ann, shop);
  await sweepAt(START + 30 * DAY);
  assert.equal((await kept(ann)).length, 2);
  plane.now = START + 30 * DAY + 1;
  plane.control.retention.sweep();
  await plane.control.recordSweep.run();
  assert.deepEqual(await kept(ann), [ids[1]]);
  assert.equal(await plane.control.records.find(ann.orgId, ids[0] ?? ''), undefined);
  assert.deepEqual(await plane.control.records.tunnels(null), [{ orgId: ann.orgId, tunnelId: blog }]);
});

test('with an organization go its records, also one that comes late', async () => {
  const ann = await plane.person('ann@example.com');
  const { records, organizations: orgs } = plane.control;
  const org = orgs.create(ann, 'Second');
  const inSecond = { ...ann, orgId: org.id };
  await record(inSecond, plane.create(ann).row.id, START);
  const first = await record(ann, plane.create(ann).row.id, START);
  await orgs.delete(ann, org.id);
  while ((await records.organizations()).includes(org.id)) await new Promise(setImmediate);
  await record(inSecond, plane.create(ann).row.id, START);
  assert.deepEqual((await records.organizations()).toSorted(), [ann.orgId, org.id].toSorted());
  await plane.control.recordSweep.run();
  assert.deepEqual(await records.organizations(), [ann.orgId]);
  assert.deepEqual(await kept(inSecond), []);
  assert.deepEqual(await kept(ann), [first]);
});

test('a pass that is cut by the stop of the server fails quietly, and any other says so', async () => {
  const ann = await plane.person('ann@example.com');
  await record(ann, plane.create(ann).row.id, START);
  const { records, recordSweep } = plane.control;
  await records.close();
  await recordSweep.run(AbortSignal.abort());
  await assert.rejects(recordSweep.run(new AbortController().signal));
});
