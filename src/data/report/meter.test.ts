import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLog } from '../../base/log.ts';
import { FakeLink, testRoute } from '../fixtures/link.ts';
import { LatencyRecorder } from '../latency/latency-recorder.ts';
import { type Payer, RouteEntry, TunnelMeter } from '../routing/entry.ts';
import { type Metered, UsageMeter } from './meter.ts';
import { Outbox } from './outbox.ts';

class Fixture {
  readonly link = new FakeLink();
  readonly outbox = new Outbox({ node: 'n' }, { link: this.link, log: silentLog });
  readonly latency = new LatencyRecorder({ outbox: this.outbox, log: silentLog });
  readonly meter = new UsageMeter(this.outbox, this.latency);

  /** What was reported so far: token, requests, bytes in and out. */
  async reported(): Promise<string[]> {
    await this.outbox.flush(1_000);
    return this.link.batches.flatMap((batch) =>
      batch.events.map((e) => (e.kind === 'usage' ? `${e.tokenId} ${e.requests} ${e.bytesIn} ${e.bytesOut}` : e.kind)),
    );
  }
}

interface Serving extends Metered {
  inFlight: number;
  /** What its payer was charged: bytes and requests. */
  readonly charged: string[];
}

const entry = new RouteEntry(testRoute('shop'));

function servingOf(tokenId: string): Serving {
  const charged: string[] = [];
  const payer: Payer = {
    tokenId,
    exhausted: false,
    charge: (bytes, requests) => void charged.push(`${bytes} ${requests}`),
  };
  return { entry, payer, meter: new TunnelMeter(), inFlight: 0, charged };
}

function count({ meter }: Serving, requests: number): void {
  meter.requests += requests;
  meter.bytesIn += requests * 2;
  meter.bytesOut += requests * 3;
}

test('counters become usage, are charged once, and start again from nothing', async () => {
  const w = new Fixture();
  const one = servingOf('one');
  w.meter.add(one);
  count(one, 5);
  w.meter.collect();
  w.meter.collect();
  assert.deepEqual(one.charged, ['25 5']);
  assert.deepEqual(await w.reported(), ['one 5 10 15']);
  assert.equal(one.meter.requests, 0);
  w.meter.close();
});

test('two servings of one tunnel count each for its own token; those of one token are reported together', async () => {
  const w = new Fixture();
  const [one, again, two] = [servingOf('one'), servingOf('one'), servingOf('two')];
  for (const serving of [one, again, two]) w.meter.add(serving);
  count(one, 1);
  count(again, 2);
  count(two, 4);
  w.meter.collect();
  assert.deepEqual(await w.reported(), ['one 3 6 9', 'two 4 8 12']);
  assert.deepEqual([one.charged, again.charged, two.charged], [['5 1'], ['10 2'], ['20 4']]);
  w.meter.close();
});

test('meter: an ended serving is reported at once, and read until nothing is in flight', async () => {
  const w = new Fixture();
  const one = servingOf('one');
  w.meter.add(one);
  count(one, 1);
  one.inFlight = 1;
  w.meter.release(one);
  assert.deepEqual(await w.reported(), ['one 1 2 3']);
  for (const requests of [2, 3]) {
    count(one, requests);
    w.meter.collect();
  }
  assert.deepEqual(one.charged, ['5 1', '10 2', '15 3']);
  count(one, 4);
  one.inFlight = 0;
  assert.equal(w.meter.size, 1);
  w.meter.collect();
  assert.deepEqual(one.charged.at(-1), '20 4');
  assert.equal(w.meter.size, 0);
  w.meter.close();
});

test('a serving that is over and carries nothing is forgotten at once', async () => {
  const w = new Fixture();
  const one = servingOf('one');
  w.meter.add(one);
  count(one, 1);
  w.meter.release(one);
  assert.equal(w.meter.size, 0);
  assert.deepEqual(await w.reported(), ['one 1 2 3']);
  w.meter.close();
});

test('counters are walked every two seconds, and at the close', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const w = new Fixture();
  const one = servingOf('one');
  w.meter.add(one);
  count(one, 1);
  t.mock.timers.tick(2_000);
  assert.deepEqual(await w.reported(), ['one 1 2 3']);
  count(one, 2);
  w.meter.close();
  assert.deepEqual((await w.reported()).at(-1), 'one 2 4 6');
});
