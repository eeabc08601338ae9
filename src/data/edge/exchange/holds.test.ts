import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testRoute } from '../../fixtures/link.ts';
import { RouteEntry } from '../../routing/entry.ts';
import { RouteTable } from '../../routing/table.ts';
import { Drops } from '../../faults/drops.ts';
import { type HoldEnd, Holds } from './holds.ts';

const LIMITS = { holdMs: 5_000, perTunnel: 3, perOrg: 4, total: 6, maxBytes: 4_000 };

function fixture(limits: Partial<typeof LIMITS> = {}) {
  const time = { monotonic: 1_000, now: 0 };
  const drops = new Drops();
  const clock = { monotonic: () => time.monotonic, now: () => time.now };
  const holds = new Holds({ ...LIMITS, ...limits }, { drops, clock });
  const ends: HoldEnd[] = [];
  const wait = (entry: RouteEntry, bytes = 10) => holds.wait(entry, { bytes, onEnd: (why) => ends.push(why) });
  return { time, drops, holds, ends, wait };
}

const table = new RouteTable('example.test');

function tunnel(name: string, orgId = 'org'): RouteEntry {
  return new RouteEntry(testRoute(name, { orgId }));
}

test('holds: a tunnel is awaited for hold_seconds after its session was lost, and never when they are 0', () => {
  const { holds, time } = fixture();
  const shop = tunnel('shop');
  assert.equal(holds.isAwaited(shop), false);
  holds.lost(shop, 'token-1');
  time.monotonic += 4_999;
  assert.equal(holds.isAwaited(shop), true);
  time.monotonic += 1;
  assert.equal(holds.isAwaited(shop), false);
  const off = fixture({ holdMs: 0 });
  off.holds.lost(shop, 'token-1');
  assert.equal(off.holds.isAwaited(shop), false);
});

test('holds: a visitor is refused at once when its tunnel, organization, node or memory is full, and it is counted', (t) => {
  const { holds, drops, wait } = fixture();
  t.after(() => holds.close(table));
  const [shop, blog, other, far] = [tunnel('shop'), tunnel('blog'), tunnel('other', 'two'), tunnel('far', 'three')];
  for (let i = 0; i < 3; i++) assert.notEqual(wait(shop), null);
  assert.equal(wait(shop), null, 'the tunnel is full');
  // Of six places three are left: an organization never gets more than are free.
  assert.equal(wait(blog), null, 'the organization has its share');
  assert.notEqual(wait(other), null);
  assert.notEqual(wait(far), null);
  assert.equal(wait(far), null, 'one place is left, for an organization that holds none');
  assert.equal(drops.get('hold_full'), 3);
  assert.equal(holds.stats().waiting, 5);
});

test('holds: bytes are bounded per node and organization, also when a visitor sends more while it waits', () => {
  const { holds, drops, ends, wait } = fixture({ perTunnel: 100, perOrg: 100, total: 200 });
  const shop = tunnel('shop');
  assert.equal(wait(shop, 1_001), null, 'more than a quarter of the node');
  const first = wait(shop, 600);
  const second = wait(shop, 300);
  assert.equal(second?.grow(100), true);
  assert.equal(holds.stats().bytes, 1_000);
  assert.equal(second?.grow(1), false);
  assert.deepEqual(ends, ['full']);
  assert.equal(holds.stats().bytes, 600, 'its bytes are free again');
  assert.equal(second?.grow(1), false, 'it is over');
  first?.leave();
  first?.leave();
  assert.deepEqual(ends, ['full', 'left']);
  assert.deepEqual([holds.stats().waiting, holds.stats().bytes], [0, 0]);
  assert.equal(drops.get('hold_full'), 2);
});

test('holds: an agent that comes ends the waits of its tunnel alone, and each place is free again', (t) => {
  const { holds, ends, wait } = fixture();
  t.after(() => holds.close(table));
  const [shop, blog] = [tunnel('shop'), tunnel('blog')];
  holds.lost(shop, 'token-1');
  wait(shop);
  wait(blog);
  holds.came(shop);
  assert.deepEqual(ends, ['served']);
  assert.equal(shop.lost, null);
  assert.deepEqual([holds.stats().waiting, holds.stats().ended['served']], [1, 1]);
  holds.close(table);
  assert.deepEqual(ends, ['served', 'changed']);
  assert.equal(wait(shop), null, 'nothing waits once it is closed');
});

test('holds: a tunnel that expires meanwhile is waited for no longer than that', async () => {
  const { holds } = fixture();
  const shop = new RouteEntry(testRoute('shop', { expiresAt: 20 }));
  const why = await new Promise<HoldEnd>((onEnd) => holds.wait(shop, { bytes: 0, onEnd }));
  assert.equal(why, 'timed_out');
});
