import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { OwnClock } from './own-clock.ts';

test('a wait counts, and so does what the program computes', async () => {
  const waiting = new OwnClock();
  await sleep(400);
  assert.ok(waiting.ms > 300, `${waiting.ms} ms`);
  const computing = new OwnClock();
  const { user } = process.cpuUsage();
  while (process.cpuUsage().user - user < 200_000);
  assert.ok(computing.ms > 150, `${computing.ms} ms`);
});
