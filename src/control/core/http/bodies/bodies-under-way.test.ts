import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BodiesUnderWay } from './bodies-under-way.ts';

const isOvertaken = (one: { overtaken: Promise<never> }): Promise<boolean> =>
  Promise.race([one.overtaken.catch(() => true), new Promise<boolean>((resolve) => setImmediate(resolve, false))]);

test('request bodies: at the limit the longest under way ends, and no more than needed', async () => {
  const all = new BodiesUnderWay(100);
  const [slow, slower, quick] = [all.enter(), all.enter(), all.enter()];
  slow.hold(50);
  slower.hold(50);
  assert.equal(all.bytes, 100);
  quick.hold(40);
  assert.deepEqual(await Promise.all([slow, slower, quick].map(isOvertaken)), [true, false, false]);
  assert.equal(all.bytes, 90);
  await assert.rejects(slow.overtaken, { code: 'unavailable' });
  slow.hold(1_000);
  slow.leave();
  assert.equal(all.bytes, 90, 'it counts no more');
  slower.leave();
  slower.leave();
  quick.leave();
  assert.equal(all.bytes, 0);
});
