// alone: it judges figures of its process: sockets, memory, collections
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { ProcessWatch } from './process-watch.ts';

/** Looks until what is seen is as wanted: the watch hears of things a turn later. */
async function until<T>(look: () => T, what: (seen: T) => boolean): Promise<T> {
  const end = performance.now() + 10_000;
  for (;;) {
    const seen = look();
    if (what(seen)) return seen;
    if (performance.now() > end) assert.fail(`never came: ${JSON.stringify(seen)}`);
    await pause(30);
  }
}

function holdLoop(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}

test('a loop that stood still is seen at the next look, and not at the one after', async (t) => {
  const watch = new ProcessWatch();
  t.after(() => watch.close());
  // Until it has ticked once: what stands in front of that is not seen.
  await pause(60);
  holdLoop(400);
  await pause(60);
  const { loop } = watch.look();
  assert.ok(loop.maxMs > 300 && loop.maxMs < 5_000, `${loop.maxMs} ms`);
  assert.ok(loop.p99Ms <= loop.maxMs + 1 && loop.p50Ms <= loop.p99Ms);
  assert.ok(loop.busyShare > 0.2 && loop.busyShare <= 1, `${loop.busyShare}`);
  const calm = await until(
    () => watch.look(),
    (seen) => seen.loop.maxMs < 300,
  );
  assert.ok(calm.loop.p50Ms < 300);
});

test('sockets, memory and collections are those of the process', async (t) => {
  const watch = new ProcessWatch();
  t.after(() => watch.close());
  const before = watch.look();
  const server = createServer();
  t.after(() => server.close());
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const sockets = Array.from({ length: 5 }, () => connect((server.address() as AddressInfo).port, '127.0.0.1'));
  t.after(() => {
    for (const socket of sockets) socket.destroy();
  });
  await Promise.all(sockets.map((socket) => once(socket, 'connect')));
  await until(
    () => watch.look().sockets,
    (count) => count === before.sockets + 10,
  );
  const kept: object[] = [];
  for (let i = 0; i < 300_000; i++) kept.push({ i });
  const after = await until(
    () => watch.look(),
    ({ collections }) => collections.minor.count + collections.minor_mark_sweep.count > 0,
  );
  assert.equal(kept.length, 300_000);
  assert.ok(after.collections.minor.seconds + after.collections.minor_mark_sweep.seconds > 0);
  assert.ok(after.memory.resident > after.memory.heapUsed && after.memory.heapTotal > 0 && after.memory.external > 0);
  assert.ok(after.cpuSeconds > before.cpuSeconds);
  assert.ok(Math.abs(after.startedAtSeconds * 1_000 - Date.now()) < 3_600_000);
  watch.close();
  watch.close();
});
