/** In a process of its own: in that of all tests a thread of the file before may still be at work. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { promisify } from 'node:util';

const CLOCK = new URL('./own-clock.ts', import.meta.url).href;

const PROGRAM = `
import { OwnClock } from '${CLOCK}';
const waiting = new OwnClock();
await new Promise((resolve) => setTimeout(resolve, 400));
const waitedMs = waiting.ms;
const computing = new OwnClock();
const { user } = process.threadCpuUsage();
while (process.threadCpuUsage().user - user < 200_000);
console.log(JSON.stringify([waitedMs, computing.ms]));
`;

test('a wait counts, and so does what the program computes', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', PROGRAM]);
  const [waitedMs, computedMs] = JSON.parse(stdout) as [number, number];
  assert.ok(waitedMs > 390, `${waitedMs} ms`);
  assert.ok(computedMs > 190, `${computedMs} ms`);
});
