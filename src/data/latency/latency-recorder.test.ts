/** Reports of latency: what waits, what is bounded, and that a request under way is counted for its own tunnel. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { silentLog } from '../../base/log.ts';
import { latencyCell, type LatencyEvent } from '../../plane/latency.ts';
import { testRoute } from '../fixtures/link.ts';
import { RouteEntry } from '../routing/entry.ts';
import { LatencyRecorder } from './latency-recorder.ts';

/** An outbox whose events wait until the test takes them. */
class Waiting {
  readonly events = new Map<string, LatencyEvent>();
  readonly hasLatency = (id: string): boolean => this.events.has(id);
  readonly addLatency = (event: LatencyEvent): void => void this.events.set(event.tunnelId, event);

  take(): readonly LatencyEvent[] {
    const all = [...this.events.values()];
    this.events.clear();
    return all;
  }
}

function fixture(t: TestContext, maxTunnels?: number) {
  const outbox = new Waiting();
  const recorder = new LatencyRecorder({ outbox, log: silentLog }, maxTunnels === undefined ? {} : { maxTunnels });
  t.after(() => recorder.close());
  return { outbox, recorder };
}

const entry = (name: string): RouteEntry => new RouteEntry(testRoute(name));

test('a report holds what was counted since the last one, and nothing when there is nothing', (t) => {
  const { outbox, recorder } = fixture(t);
  const shop = entry('shop');
  const latency = recorder.of(shop);
  assert.equal(recorder.of(shop), latency);
  latency.answered(200, 5, true);
  latency.answered(503, 80, false);
  latency.completed(90);
  latency.blocked(403);
  latency.canceled();
  latency.connected();
  latency.carried(10, 2 ** 40);
  recorder.flush();
  assert.deepEqual(outbox.take(), [
    {
      kind: 'latency',
      tunnelId: shop.route.tunnelId,
      firstByte: [latencyCell(5), 1, latencyCell(80), 1],
      total: [latencyCell(5), 1, latencyCell(90), 1],
      status: [0, 1, 0, 1, 1, 1],
      bytesIn: 10,
      bytesOut: 2 ** 40,
      connections: 1,
    },
  ]);
  recorder.flush();
  assert.deepEqual(outbox.take(), []);
  latency.completed(7);
  recorder.flush();
  assert.deepEqual(
    outbox.take().map(({ total, status, bytesIn }) => [total, status, bytesIn]),
    [[[latencyCell(7), 1], [0, 0, 0, 0, 0, 0], 0]],
  );
});

test('a tunnel whose last report still waits goes on counting', (t) => {
  const { outbox, recorder } = fixture(t);
  const latency = recorder.of(entry('shop'));
  for (let i = 0; i < 3; i++) {
    latency.answered(200, 5, true);
    recorder.flush();
  }
  const counts = [outbox.take(), (recorder.flush(), outbox.take())].map(([event]) => event?.status[1]);
  assert.deepEqual(counts, [1, 2]);
});

test('at the limit of tunnels the others are not counted until the next report, and the first ones are', (t) => {
  const { outbox, recorder } = fixture(t, 2);
  const all = ['a', 'b', 'c'].map((name) => recorder.of(entry(name)));
  for (const one of all) one.answered(200, 5, true);
  recorder.flush();
  assert.equal(outbox.take().length, 2);
  for (const one of all.toReversed()) one.answered(200, 5, true);
  recorder.flush();
  assert.deepEqual(
    outbox.take().map(({ tunnelId, status }) => [tunnelId, status[1]]),
    [all[2], all[1]].map((one) => [one?.tunnelId, 1]),
  );
});

test('a request that was under way during a report is counted for its own tunnel', (t) => {
  const { outbox, recorder } = fixture(t);
  const [a, b] = [recorder.of(entry('a')), recorder.of(entry('b'))];
  a.answered(200, 5, false);
  recorder.flush();
  outbox.take();
  // It gets the array that `a` had.
  b.answered(200, 5, true);
  a.completed(1_000);
  recorder.flush();
  const totals = outbox.take().map(({ tunnelId, total }) => [tunnelId, total]);
  assert.deepEqual(totals, [
    [b.tunnelId, [latencyCell(5), 1]],
    [a.tunnelId, [latencyCell(1_000), 1]],
  ]);
});

test('many tunnels are reported in slices by the timer, each once', async (t) => {
  const outbox = new Waiting();
  const recorder = new LatencyRecorder({ outbox, log: silentLog }, { periodMs: 20 });
  t.after(() => recorder.close());
  for (let i = 0; i < 450; i++) recorder.of(entry(`n${i}`)).blocked(404);
  const until = performance.now() + 20_000;
  while (outbox.events.size < 450 && performance.now() < until) await new Promise(setImmediate);
  assert.equal(outbox.events.size, 450);
});
