import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cutFaulty, Sweeper } from '../clock.ts';
import { silentLog } from '../log.ts';
import { Lifecycle } from './lifecycle.ts';
import { TurnEnd } from './turn.ts';

test('closes in reverse order, once, and tells all failures together', async () => {
  const order: string[] = [];
  const life = new Lifecycle();
  life.onClose('first', () => void order.push('first'));
  life.onClose('second', () => {
    throw new Error('no');
  });
  life.onClose('third', async () => void order.push('third'));
  const both = [life.close(), life.close()];
  for (const closing of both) await assert.rejects(closing, /closing second failed/);
  assert.deepEqual(order, ['third', 'first']);
});

test('runs each job once at the end of the turn, jobs added meanwhile at the end of the next', async () => {
  const turn = new TurnEnd();
  const ran: string[] = [];
  const job = (name: string, then?: () => void) => ({
    atTurnEnd: () => {
      ran.push(name);
      then?.();
    },
  });
  turn.add(job('a', () => turn.add(job('c'))));
  turn.add(job('b'));
  assert.deepEqual(ran, []);
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(ran, ['a', 'b']);
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(ran, ['a', 'b', 'c']);
});

test('sweeps its members with the clock given, and those taken out no more', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const sweeper = new Sweeper<{ sweep(now: number): void }>(1, { clock: { now: () => 0, monotonic: () => 77 } });
  const seen: string[] = [];
  const gone = { sweep: () => void seen.push('gone') };
  sweeper.add(gone);
  sweeper.add({
    sweep: (now) => {
      seen.push(String(now));
      resolve();
    },
  });
  sweeper.delete(gone);
  assert.equal(sweeper.size, 1);
  const alive = setInterval(() => {}, 1_000); // the sweeper's own timer keeps no process alive
  await promise;
  clearInterval(alive);
  sweeper.close();
  assert.deepEqual([...new Set(seen)], ['77']);
  assert.equal(sweeper.size, 0);
});

test('a member that throws is cut and swept no more, and the others go on', async () => {
  const ended: unknown[] = [];
  const { promise, resolve } = Promise.withResolvers<void>();
  interface Member {
    sweep(now: number): void;
    destroy(): void;
  }
  const faulty: Member = {
    sweep: () => {
      throw new Error('no');
    },
    destroy: () => void ended.push('cut'),
  };
  let sweeps = 0;
  const sweeper = new Sweeper<Member>(1, {
    onFault: cutFaulty({ ...silentLog, error: (fields) => void ended.push(fields) }, 'a visitor'),
  });
  sweeper.add(faulty);
  sweeper.add({ sweep: () => ++sweeps === 3 && resolve(), destroy: () => {} });
  const alive = setInterval(() => {}, 1_000);
  await promise;
  clearInterval(alive);
  assert.equal(sweeper.size, 1);
  sweeper.close();
  assert.deepEqual(ended, [{ err: new Error('no') }, 'cut']);
});
