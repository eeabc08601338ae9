/**
 * The bounds on the tunnels of one organization, at once and in a day, and what gives way at the first.
 */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { and, count, eq, isNull } from 'drizzle-orm';
import { uuidv7 } from 'uuidv7';
import { tunnels } from '../db/schema.ts';
import type { UserActor } from '../core/rules/actor.ts';
import { MAX_PER_DAY, MAX_TUNNELS, type TunnelRow } from './rows.ts';
import { Plane, START } from '../core/testing/plane.ts';

let plane: Plane;
let ann: UserActor;
beforeEach(async () => {
  plane = new Plane();
  ann = await plane.person('ann@example.com');
});
afterEach(() => plane.close());

const rowOf = (id: string): TunnelRow | undefined =>
  plane.control.store.db.select().from(tunnels).where(eq(tunnels.id, id)).get();
/** Of the organization that the tests fill. */
const live = (): number =>
  plane.control.store.db
    .select({ n: count() })
    .from(tunnels)
    .where(and(eq(tunnels.orgId, ann.orgId), isNull(tunnels.deletedAt)))
    .get()?.n ?? 0;

/** Copies a tunnel of the organization until it is full. */
function fill(like: TunnelRow): void {
  const missing = MAX_TUNNELS - live();
  const rows = Array.from({ length: missing }, (_, i) => ({
    ...like,
    id: uuidv7(),
    label: `filler-${i}`,
    tcpPort: null,
  }));
  plane.control.store.inTx(({ db }) => void db.insert(tunnels).values(rows).run());
  assert.equal(live(), MAX_TUNNELS);
}

test('in a full organization the unnamed tunnel that was used longest ago gives way', async () => {
  const token = plane.mint(ann, { tunnelQuota: 1000 });
  const oldest = await plane.bound(token);
  plane.now += 1000;
  const unused = await plane.bound(token);
  plane.now += 1000;
  const newer = await plane.bound(token);
  plane.online.add(oldest.tunnelId);
  plane.now += 1000;
  fill(plane.create(ann, { subdomain: 'named' }).row);

  const made = await plane.bound(token);
  assert.equal(live(), MAX_TUNNELS);
  assert.equal(rowOf(oldest.tunnelId)?.deletedAt, null, 'it is served now');
  assert.notEqual(rowOf(unused.tunnelId)?.deletedAt, null);
  assert.equal(rowOf(newer.tunnelId)?.deletedAt, null);
  assert.equal(rowOf(made.tunnelId)?.deletedAt, null);
  const told = plane.deltas.findLast((delta) => JSON.stringify(delta).includes(unused.tunnelId));
  assert.match(JSON.stringify(told), /tunnel_deleted/, 'the data plane hears of it');
});

test('people who make a tunnel get the room too', async () => {
  const left = await plane.bound(plane.mint(ann));
  fill(plane.create(ann, { subdomain: 'named' }).row);
  plane.create(ann, { subdomain: 'wanted' });
  assert.notEqual(rowOf(left.tunnelId)?.deletedAt, null);
  assert.throws(() => plane.create(ann, { subdomain: 'one-more' }), { code: 'conflict' });
});

test('nothing gives way that has a name, is served, or belongs to others', async () => {
  const bob = await plane.person('bob@example.com');
  const foreign = await plane.bound(plane.mint(bob));
  const token = plane.mint(ann);
  const served = await plane.bound(token);
  plane.online.add(served.tunnelId);
  fill(plane.create(ann, { subdomain: 'named' }).row);
  assert.equal(await plane.refusal(token), 'quota_exceeded');
  assert.equal(live(), MAX_TUNNELS);
  assert.equal(rowOf(foreign.tunnelId)?.deletedAt, null);
});

const DAY = 24 * 3_600_000;

/** As if the organization had made so many tunnels at this instant and deleted them since. */
function madeBefore(like: TunnelRow, many: number, createdAt: number): void {
  const rows = Array.from({ length: many }, (_, i) => ({
    ...like,
    id: uuidv7(),
    label: `gone-${createdAt}-${i}`,
    createdAt,
    deletedAt: createdAt,
  }));
  plane.control.store.inTx(({ db }) => {
    for (let i = 0; i < rows.length; i += 1_000)
      db.insert(tunnels)
        .values(rows.slice(i, i + 1_000))
        .run();
  });
}

test('an organization makes 5,000 tunnels in a day, people and agents together, deleted ones too', async () => {
  const token = plane.mint(ann);
  const { row } = plane.create(ann, { subdomain: 'shop' });
  plane.now += 1000;
  madeBefore(row, MAX_PER_DAY - 3, plane.now);
  await plane.bound(token);
  plane.create(ann, { subdomain: 'last' });
  assert.throws(() => plane.create(ann), { code: 'rate_limited', retryAfterSeconds: 24 * 3600 - 1 });
  assert.equal(await plane.refusal(token), 'quota_exceeded');
  assert.equal(await plane.refusal(token, { subdomain: 'shop' }), 'bound shop', 'what there is goes on');
  const bob = await plane.person('bob@example.com');
  plane.create(bob);

  plane.now = START + DAY - 1;
  assert.throws(() => plane.create(ann), { code: 'rate_limited', retryAfterSeconds: 1 });
  plane.now += 1;
  await plane.bound(plane.mint(ann));
  assert.throws(
    () => plane.create(ann),
    { code: 'rate_limited', retryAfterSeconds: 1 },
    'the rest is as full as before',
  );
});

test('at the bound of a day nothing gives way', async () => {
  const token = plane.mint(ann);
  const unnamed = await plane.bound(token);
  const { row } = plane.create(ann, { subdomain: 'named' });
  fill({ ...row, createdAt: START - DAY });
  madeBefore(row, MAX_PER_DAY, plane.now);
  assert.equal(await plane.refusal(token, { subdomain: 'more' }), 'quota_exceeded');
  assert.throws(() => plane.create(ann), { code: 'rate_limited' });
  assert.equal(rowOf(unnamed.tunnelId)?.deletedAt, null);
});
