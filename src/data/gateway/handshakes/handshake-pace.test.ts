import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { HandshakePace } from './handshake-pace.ts';

test('handshakes of agents: a few begin at once, the rest in order and in turns of 10 ms', (t) => {
  mock.timers.enable({ apis: ['setTimeout'] });
  t.after(() => mock.timers.reset());
  const pace = new HandshakePace();
  const begun: number[] = [];
  for (let i = 0; i < 12; i++) pace.run(() => begun.push(i));
  assert.deepEqual(begun, [0, 1, 2, 3, 4]);
  mock.timers.tick(10);
  pace.run(() => begun.push(12));
  assert.deepEqual([begun.length, pace.waiting], [10, 3]);
  mock.timers.tick(10);
  assert.deepEqual(
    begun,
    Array.from({ length: 13 }, (_, i) => i),
  );
  mock.timers.tick(20);
  for (let i = 13; i < 20; i++) pace.run(() => begun.push(i));
  assert.equal(begun.length, 18, 'after a quiet turn some begin at once again');
  pace.close();
  mock.timers.tick(100);
  assert.equal(begun.length, 18);
});
