import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { eq } from 'drizzle-orm';
import { users } from '../../db/schema.ts';
import { orgsOf } from '../../organizations/rows.ts';
import { openSession } from './rows.ts';
import { Plane, VISIT } from '../../core/testing/plane.ts';

let p: Plane;
beforeEach(() => {
  p = new Plane();
});
afterEach(() => p.close());

test('a person has a hundred sessions at most: the one that was used longest ago gives way', async () => {
  const ann = await p.person('ann@example.test');
  const bob = await p.person('bob@example.test');
  const open = (): string => {
    p.now += 1_000;
    return p.control.store.inTx((tx) => {
      const user = tx.db.select().from(users).where(eq(users.id, ann.userId)).get();
      const [org] = orgsOf(tx.db, ann.userId);
      assert.ok(user !== undefined && org !== undefined);
      return openSession(tx, { user, org, visit: VISIT }).actor.sessionId;
    });
  };
  const ids = [ann.sessionId, ...Array.from({ length: 99 }, open)];
  const live = (): Set<string> => new Set(p.control.sessionList.list(ann).map(({ id }) => id));
  assert.deepEqual(live(), new Set(ids));
  const more = [open(), open()];
  assert.deepEqual(live(), new Set([...ids.slice(2), ...more]));
  assert.equal(p.control.sessionList.list(bob).length, 1, 'no other session gives way');
});
