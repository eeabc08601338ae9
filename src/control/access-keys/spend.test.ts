/**
 * What keys have spent, as it is stored and as it is asked for: batches of data nodes in, grants and refused claims out.
 */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { eq } from 'drizzle-orm';
import { capabilityTokens, tokenSpend, tunnels } from '../db/schema.ts';
import type { UserActor } from '../core/rules/actor.ts';
import type { UsageEvent } from '../../plane/events.ts';
import type { Budget } from '../../plane/spend.ts';
import { Plane } from '../core/testing/plane.ts';

/** 100 MB at 10 cents per GB. */
const CENT = 100_000_000;

let plane: Plane;
let ann: UserActor;
let sequence = 0;
beforeEach(async () => {
  plane = new Plane(undefined, { prices: { centsPerGb: 10, centsPerMillionRequests: 1_000_000 } });
  ann = await plane.person('ann@example.test');
});
afterEach(() => plane.close());

type Minted = ReturnType<Plane['mint']>;

function usage(tokenId: string, over: Partial<UsageEvent> = {}): UsageEvent {
  return { kind: 'usage', tunnelId: 'none', tokenId, requests: 0, bytesIn: 0, bytesOut: 0, ...over };
}

async function report(...events: UsageEvent[]): Promise<void> {
  await plane.control.link.report({ node: 'edge/1', sequence: ++sequence, events });
}

function change(token: Minted, values: Partial<typeof capabilityTokens.$inferInsert>): void {
  plane.control.store.inTx(
    ({ db }) => void db.update(capabilityTokens).set(values).where(eq(capabilityTokens.id, token.row.id)).run(),
  );
}

async function budgets(token: Minted): Promise<readonly Budget[]> {
  const answer = await plane.control.link.admit(token.apiKey);
  assert.ok(answer.ok, JSON.stringify(answer));
  return answer.grant.budgets;
}

/** Cents of the token's own account and, if a master key minted it, of that one's. */
async function spent(token: Minted): Promise<number[]> {
  return (await budgets(token)).map(({ spentCents }) => spentCents);
}

test('both directions and requests of all tunnels count, once per batch', async () => {
  const token = plane.mint(ann);
  const other = plane.mint(ann);
  const batch = {
    node: 'edge/1',
    sequence: ++sequence,
    events: [
      usage(token.row.id, { bytesIn: CENT }),
      usage(token.row.id, { tunnelId: 'another', bytesOut: CENT / 2, requests: 2 }),
      usage(other.row.id, { requests: 1 }),
      usage('absent', { bytesIn: CENT }),
    ],
  };
  await plane.control.link.report(batch);
  await plane.control.link.report(batch);
  assert.deepEqual(await spent(token), [3.5]);
  assert.deepEqual(await spent(other), [1]);
  assert.equal(plane.control.store.db.select().from(tokenSpend).all().length, 2);
});

test('a tunnel shows the same bytes and requests as its key has spent', async () => {
  const token = plane.mint(ann);
  const route = await plane.bound(token, { subdomain: 'shop' });
  for (let i = 1; i <= 3; i++)
    await report(usage(token.row.id, { tunnelId: route.tunnelId, bytesIn: i, bytesOut: 10 * i, requests: 1 }));
  const [row] = plane.control.store.db.select().from(tunnels).all();
  assert.deepEqual([row?.bytesIn, row?.bytesOut, row?.totalRequests], [6, 60, 3]);
  const [account] = plane.control.store.db.select().from(tokenSpend).all();
  assert.deepEqual([account?.bytes, account?.requests], [66, 3]);
});

test('what a key spent that has ended meanwhile still counts for its lineage', async () => {
  const token = plane.mint(ann);
  const heir = plane.mint(ann);
  change(heir, { lineageId: token.row.id });
  change(token, { revokedAt: plane.now, expiresAt: plane.now - 1 });
  await report(usage(token.row.id, { bytesOut: CENT }));
  await report(usage(heir.row.id, { bytesOut: CENT }));
  assert.deepEqual(await spent(heir), [2]);
});

test("a child spends from its own account and from its master key's; a cap on either stops new tunnels", async () => {
  const master = plane.mint(ann);
  const child = plane.mint(ann);
  const sibling = plane.mint(ann);
  for (const each of [child, sibling]) change(each, { kind: 'project', parentId: master.row.id });
  await report(usage(child.row.id, { bytesIn: 2 * CENT }), usage(sibling.row.id, { bytesIn: CENT }));
  assert.deepEqual(await spent(child), [2, 3]);
  assert.deepEqual(await spent(sibling), [1, 3]);
  change(child, { monthlyBudgetUsdCents: 2 });
  assert.equal(await plane.refusal(child, { subdomain: 'shop' }), 'budget_exhausted');
  assert.equal(await plane.refusal(sibling, { subdomain: 'site' }), 'bound site');
  change(child, { monthlyBudgetUsdCents: null });
  change(master, { monthlyBudgetUsdCents: 3 });
  assert.equal(await plane.refusal(child, { subdomain: 'shop' }), 'budget_exhausted');
  assert.equal(await plane.refusal(sibling, { subdomain: 'third' }), 'budget_exhausted');
  assert.deepEqual(
    (await budgets(child)).map(({ accountId, capCents }) => [accountId, capCents]),
    [
      [child.row.id, null],
      [master.row.id, 3],
    ],
  );
});

test('a claim is granted below the cap and refused at and above it; 0 refuses the first, no cap none', async () => {
  const token = plane.mint(ann);
  const claim = (): Promise<string> => plane.refusal(token, { subdomain: 'shop' });
  change(token, { monthlyBudgetUsdCents: 0 });
  assert.equal(await claim(), 'budget_exhausted');
  change(token, { monthlyBudgetUsdCents: 3 });
  assert.equal(await claim(), 'bound shop');
  await report(usage(token.row.id, { bytesIn: 3 * CENT - 1 }));
  assert.equal(await claim(), 'bound shop');
  await report(usage(token.row.id, { bytesIn: 1 }));
  assert.equal(await claim(), 'budget_exhausted');
  await report(usage(token.row.id, { bytesIn: 1 }));
  assert.equal(await claim(), 'budget_exhausted');
  change(token, { monthlyBudgetUsdCents: 4 });
  assert.equal(await claim(), 'bound shop');
  change(token, { monthlyBudgetUsdCents: null });
  await report(usage(token.row.id, { bytesIn: 1e15 }));
  assert.equal(await claim(), 'bound shop');
});

test('at the cap the run that served a tunnel comes back to it, with a rotated key too; no other run does', async () => {
  const token = plane.mint(ann);
  const heir = plane.mint(ann);
  const stranger = plane.mint(ann);
  change(heir, { lineageId: token.row.id });
  const { tunnelId } = await plane.bound(token, { subdomain: 'shop' });
  for (const each of [token, heir, stranger]) change(each, { monthlyBudgetUsdCents: 0 });
  const back = { subdomain: 'shop', tunnelId };
  assert.equal(await plane.refusal(stranger, back), 'budget_exhausted');
  assert.equal(await plane.refusal(token, { subdomain: 'shop' }), 'budget_exhausted', 'a fresh run');
  assert.equal(await plane.refusal(token, { subdomain: 'site', tunnelId }), 'budget_exhausted', 'another name');
  assert.equal(await plane.refusal(token, back), 'bound shop');
  assert.equal(await plane.refusal(heir, back), 'bound shop');
});

test('a UTC month begins at nothing; the month of the last one stays what it was', async () => {
  const token = plane.mint(ann, { ttlHours: 2000 });
  change(token, { monthlyBudgetUsdCents: 1 });
  plane.now = Date.UTC(2026, 10, 30, 23, 59, 59, 999);
  await report(usage(token.row.id, { bytesIn: CENT }));
  assert.equal(await plane.refusal(token, { subdomain: 'shop' }), 'budget_exhausted');
  plane.now += 1;
  assert.deepEqual(await budgets(token), [{ accountId: token.row.id, month: '2026-12', spentCents: 0, capCents: 1 }]);
  assert.equal(await plane.refusal(token, { subdomain: 'shop' }), 'bound shop');
  await report(usage(token.row.id, { bytesIn: CENT / 2 }));
  assert.deepEqual(await spent(token), [0.5]);
  plane.now -= 1;
  assert.deepEqual(await spent(token), [1]);
});

test('it is kept over a restart, and a price that was changed counts for the whole month', async () => {
  const token = plane.mint(ann);
  await report(usage(token.row.id, { bytesIn: CENT, requests: 1 }));
  plane.control.close();
  plane = new Plane(plane.dataDir, { prices: { centsPerGb: 20, centsPerMillionRequests: 0 } });
  assert.deepEqual(await spent(token), [2]);
});
