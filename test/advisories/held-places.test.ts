/** While an agent is away its visitors wait, in a bounded number of places: one address that takes all of them leaves some to others. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AddressLoad } from '../../src/data/entrance/admission.ts';
import { Drops } from '../../src/data/faults/drops.ts';
import { Holds } from '../../src/data/edge/exchange/holds.ts';
import { testRoute } from '../../src/data/fixtures/link.ts';
import { RouteEntry } from '../../src/data/routing/entry.ts';
import { RouteTable } from '../../src/data/routing/table.ts';

// 24 connections of one address took all 2,048 places of a tunnel, and every other visitor got 503 at once.
test('class 11 resource exhaustion: an address that holds all places of a tunnel gives them up to others, until all hold the same', (t) => {
  const clock = { monotonic: () => 0, now: () => 0 };
  const limits = { holdMs: 5_000, perTunnel: 10, perOrg: 20, total: 40, maxBytes: 4_000 };
  const drops = new Drops();
  const holds = new Holds(limits, { drops, clock });
  t.after(() => holds.close(new RouteTable('example.test')));
  const shop = new RouteEntry(testRoute('shop', {}));
  const ends: string[] = [];
  const wait = (who: string, from: AddressLoad | null): boolean =>
    holds.wait(shop, { bytes: 1, from, onEnd: (why) => ends.push(`${who} ${why}`) }) !== null;
  const [eve, ann, bob] = [new AddressLoad(), new AddressLoad(), new AddressLoad()];
  for (let i = 0; i < 10; i++) assert.equal(wait('eve', eve), true);
  assert.equal(wait('eve', eve), false);
  assert.equal(wait('proxy', null), false, 'who speaks for many displaces no visitor');
  for (let i = 0; i < 5; i++) assert.equal(wait('ann', ann), true);
  assert.equal(wait('ann', ann), false, 'both have five');
  assert.equal(wait('bob', bob), true);
  assert.equal(ends.length, 6);
  assert.deepEqual(ends.slice(0, 5), Array(5).fill('eve full'));
  assert.equal(holds.stats().waiting, 10);
  assert.equal(drops.get('hold_full'), 9);
});
