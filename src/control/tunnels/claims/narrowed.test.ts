/** Audit of agents' flags: a key that changes them with each claim does not fill the disk. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DAY_MS } from '../../../base/clock.ts';
import type { Narrowing } from '../../../plane/narrowing.ts';
import type { TokenActor } from '../../core/rules/actor.ts';
import { Plane } from '../../core/testing/plane.ts';
import { NarrowedTunnels } from './narrowed.ts';

const OTHERS = {
  deny: [],
  gate: null,
  policy: null,
  visitors: null,
  endsAt: null,
  domain: null,
  remotePort: null,
  webhook: null,
};
const flags = (n: number): Narrowing => ({ ...OTHERS, names: ['allow_cidr'], allow: [`10.0.${n >> 8}.${n & 255}`] });

test('agent flags: entries in the audit log are bounded by organization and day', async (t) => {
  const p = new Plane();
  t.after(() => p.close());
  const ann = await p.person('ann@example.test');
  const bob = await p.person('bob@example.test');
  const { row } = p.create(ann, { subdomain: 'shop' });
  const actorOf = ({ orgId }: { orgId: string }): TokenActor => ({
    kind: 'token',
    tokenId: 'x',
    name: 'laptop',
    orgId,
  });
  const narrowed = new NarrowedTunnels();
  const note = (n: number, whose = ann): boolean =>
    p.control.store.inTx((tx) => narrowed.note(tx, actorOf(whose), { tunnelId: row.id, narrowing: flags(n) }));
  p.control.store.inTx((tx) => {
    for (let n = 0; n < 5_000; n++)
      assert.ok(narrowed.note(tx, actorOf(ann), { tunnelId: row.id, narrowing: flags(n) }));
  });
  assert.equal(note(5_000), false);
  assert.equal(note(4_999), true, 'the same flags once more are no entry');
  assert.equal(note(5_000, bob), true);
  const without = { tunnelId: row.id, narrowing: null };
  assert.ok(
    p.control.store.inTx((tx) => narrowed.note(tx, actorOf(ann), without)),
    'an agent without flags is served',
  );
  p.now += DAY_MS / 100;
  assert.equal(note(5_001), true);
});

test('agent flags: a claim that could not be recorded is refused, and the agent tries again', async (t) => {
  const p = new Plane();
  t.after(() => p.close());
  const key = p.mint(await p.person('ann@example.test'));
  t.mock.method(NarrowedTunnels.prototype, 'note', () => false);
  const answer = await p.claim(key, { subdomain: 'shop', narrow: { allow_cidr: ['10.0.0.1'] } });
  assert.ok(!answer.ok);
  assert.equal(answer.code, 'overloaded');
});
