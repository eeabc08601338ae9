import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import { type Payer, TokenBucket } from './token-bucket.ts';

/** One megabit per second is 125 bytes per millisecond. */
const MBPS = 125_000;

/** A bucket on a clock that only this test moves, and payers that spend pieces as fast as they may. */
class Fixture {
  nowMs = 0;
  readonly bucket: TokenBucket;
  readonly #t: TestContext;

  constructor(t: TestContext, mbps: number) {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    this.#t = t;
    this.bucket = new TokenBucket(mbps, { now: () => this.nowMs, monotonic: () => this.nowMs });
  }

  run(ms: number): void {
    for (let i = 0; i < ms; i++) {
      this.nowMs++;
      this.#t.mock.timers.tick(1);
    }
  }
}

class Greedy implements Payer {
  debt = 0;
  allowance = 0;
  moved = 0;
  readonly #bucket: TokenBucket;
  readonly #piece: number;

  constructor(bucket: TokenBucket, piece: number) {
    this.#bucket = bucket;
    this.#piece = piece;
  }

  /** Moves first and pays then, as a reader does. */
  paid(): void {
    do this.moved += this.#piece;
    while (this.#bucket.spend(this, this.#piece));
  }
}

describe('the rate', () => {
  for (const mbps of [1, 10, 100, 1_000, 9_999]) {
    test(`${mbps} Mbps pass within 5 % over 10 s, and no second is far from it`, (t) => {
      const fixture = new Fixture(t, mbps);
      const payer = new Greedy(fixture.bucket, 16_384);
      payer.paid();
      const seconds: number[] = [];
      for (let i = 0; i < 10; i++) {
        const before = i === 0 ? 0 : payer.moved;
        fixture.run(1_000);
        seconds.push((payer.moved - before) / (mbps * MBPS));
      }
      const measured = payer.moved / (10 * mbps * MBPS);
      assert.ok(Math.abs(measured - 1) < 0.05, `${measured} of the limit`);
      for (const second of seconds.slice(1)) assert.ok(second > 0.85 && second < 1.15, `${second} in one second`);
    });
  }

  test('what was not used is saved up for a tenth of a second and no longer', (t) => {
    const fixture = new Fixture(t, 100);
    fixture.run(60_000);
    const payer = new Greedy(fixture.bucket, 1_000);
    payer.paid();
    assert.ok(payer.moved <= 100 * MBPS * 0.1 + 3_000, `${payer.moved}`);
  });

  test('a rate that changes holds from then on', (t) => {
    const fixture = new Fixture(t, 100);
    const payer = new Greedy(fixture.bucket, 4_096);
    payer.paid();
    fixture.run(1_000);
    fixture.bucket.setRate(10);
    const before = payer.moved;
    fixture.run(10_000);
    assert.ok(Math.abs((payer.moved - before) / (100 * MBPS) - 1) < 0.02);
  });
});

describe('the line', () => {
  test('all get the same in bytes, whatever pieces they come in', (t) => {
    const fixture = new Fixture(t, 10);
    const payers = [1_400, 4_096, 16_384, 65_536].map((piece) => new Greedy(fixture.bucket, piece));
    for (const payer of payers) payer.paid();
    fixture.run(60_000);
    for (const { moved } of payers) assert.ok(Math.abs(moved / (150 * MBPS) - 1) < 0.03, `${moved}`);
  });

  test('heartbeats pass by the line, and who sends many stands in it like all', (t) => {
    const fixture = new Fixture(t, 1);
    const greedy = new Greedy(fixture.bucket, 65_536);
    greedy.paid();
    assert.equal(fixture.bucket.waiting, 1);
    const small: Payer = { debt: 0, allowance: 0, paid: () => {} };
    assert.equal(fixture.bucket.spend(small, 12), false, 'the first time it stands in line');
    fixture.run(100);
    assert.equal(small.debt, 0);
    let passed = 0;
    while (fixture.bucket.spend(small, 12)) passed++;
    assert.equal(passed, Math.floor((4_096 - 12) / 12), 'the rest of its step');
    assert.equal(fixture.bucket.waiting, 2);
    const many = new Greedy(fixture.bucket, 12);
    many.paid();
    const before = { bulk: greedy.moved, crumbs: many.moved };
    fixture.run(60_000);
    const [bulk, crumbs] = [greedy.moved - before.bulk, many.moved - before.crumbs];
    assert.ok(bulk > crumbs / 2 && bulk + crumbs < 60 * MBPS * 1.05, `${bulk} and ${crumbs}`);
  });

  test('token bucket: a payer that used up its step to the byte may still send a heartbeat', (t) => {
    const fixture = new Fixture(t, 1);
    new Greedy(fixture.bucket, 65_536).paid();
    const small: Payer = { debt: 0, allowance: 0, paid: () => {} };
    assert.equal(fixture.bucket.spend(small, fixture.bucket.step), false);
    fixture.run(200);
    assert.equal(small.debt, 0);
    for (let bytes = 0; bytes < 1_000; bytes += 20) assert.equal(fixture.bucket.spend(small, 20), true);
    assert.equal(fixture.bucket.waiting, 1);
  });

  test('who is forgotten is not called and owes nothing; what it has moved counts', (t) => {
    const fixture = new Fixture(t, 1);
    let calls = 0;
    const gone: Payer = { debt: 0, allowance: 0, paid: () => void calls++ };
    const next: Payer = { debt: 0, allowance: 0, paid: () => void (calls += 100) };
    assert.equal(fixture.bucket.spend(gone, MBPS), false);
    assert.equal(fixture.bucket.spend(next, 4_096), false);
    fixture.bucket.forget(gone);
    fixture.run(700);
    assert.equal(calls, 0, 'what it has moved is paid for first');
    fixture.run(400);
    assert.equal(calls, 100);
    assert.equal(gone.debt, 0);
    assert.equal(fixture.bucket.spend(gone, MBPS), false);
    fixture.bucket.forget(gone);
    assert.deepEqual([fixture.bucket.waiting, fixture.bucket.full], [0, false]);
    fixture.run(20_000);
    assert.deepEqual([calls, fixture.bucket.full], [100, true]);
    assert.equal(fixture.bucket.spend(gone, 1_500), true, 'the bucket works on');
    assert.equal(fixture.bucket.full, false);
  });

  test('a payer never hears `paid` before `waits`, whichever way the clock moves', (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    for (const stepMs of [0.001, 0.5, 40, 700]) {
      let nowMs = 0;
      const monotonic = (): number => (nowMs += stepMs);
      const bucket = new TokenBucket(100, { now: monotonic, monotonic });
      let inside = false;
      let waits = false;
      const payer: Payer = {
        debt: 0,
        allowance: 0,
        paid: () => {
          assert.equal(inside, false, `within spend, at ${stepMs} ms a look`);
          waits = false;
        },
      };
      let waited = 0;
      for (let i = 0; i < 500; i++) {
        inside = true;
        waits = !bucket.spend(payer, 1 + ((i * 7_919) % 3_000_000));
        inside = false;
        if (!waits) continue;
        waited++;
        assert.ok(payer.debt > 0 && bucket.waiting === 1);
        for (let ticks = 0; ticks < 1_000; ticks++) {
          if (payer.debt === 0) break;
          nowMs += 300;
          t.mock.timers.tick(300);
        }
        assert.equal(waits, false);
      }
      assert.ok(waited > 50, `${waited} waits`);
    }
  });

  test('what is spent while waiting is paid for too', (t) => {
    const fixture = new Fixture(t, 1);
    let paidAt = 0;
    const payer: Payer = { debt: 0, allowance: 0, paid: () => void (paidAt = fixture.nowMs) };
    assert.equal(fixture.bucket.spend(payer, 16_384 + 125_000), false);
    assert.equal(fixture.bucket.spend(payer, 125_000), false);
    fixture.run(3_000);
    assert.ok(paidAt >= 2_000 && paidAt < 2_100, `${paidAt}`);
  });
});

/** Offers more than the rate lets pass, and drops what does not. */
class Flood implements Payer {
  debt = 0;
  allowance = 0;
  moved = 0;
  readonly #bucket: TokenBucket;
  readonly #piece: number;

  constructor(bucket: TokenBucket, piece: number) {
    this.#bucket = bucket;
    this.#piece = piece;
  }

  paid(): void {}

  offer(times: number): void {
    for (let i = 0; i < times; i++) if (this.#bucket.trySpend(this, this.#piece)) this.moved += this.#piece;
  }
}

describe('what does not wait', () => {
  /** Each millisecond each of them offers what the whole rate lets pass, and twice over. */
  function flood(fixture: Fixture, floods: readonly Flood[], { ms, times }: { ms: number; times: number }): void {
    for (let i = 0; i < ms; i++) {
      fixture.run(1);
      for (const each of floods) each.offer(times);
    }
  }

  for (const mbps of [1, 10, 100]) {
    test(`over ${mbps} Mbps is dropped, and the rest passes`, (t) => {
      const fixture = new Fixture(t, mbps);
      const one = new Flood(fixture.bucket, 1_400);
      flood(fixture, [one], { ms: 10_000, times: 2 + mbps / 5 });
      const measured = one.moved / (10 * mbps * MBPS);
      assert.ok(measured > 0.93 && measured < 1.05, `${measured} of the limit`);
    });
  }

  test('who has no claim has what the others leave, and takes nothing from them', (t) => {
    const fixture = new Fixture(t, 10);
    const one = new Flood(fixture.bucket, 1_400);
    let spare = 0;
    const run = (ms: number, times: number): void => {
      for (let i = 0; i < ms; i++) {
        fixture.run(1);
        while (fixture.bucket.trySpare(1_400)) spare += 1_400;
        one.offer(times);
      }
    };
    run(1_000, 0);
    assert.ok(spare > 0.95 * MBPS * 10, 'all of it');
    spare = 0;
    // 700 bytes per millisecond of 1,250.
    for (let i = 0; i < 5_000; i++) run(1, i % 2);
    assert.equal(one.moved, 2_500 * 1_400);
    assert.ok(spare > 0.3 * 5 * 10 * MBPS && spare < 0.5 * 5 * 10 * MBPS, `${spare}`);
    spare = 0;
    run(5_000, 10);
    assert.ok(spare < 100_000, `${spare}`);
  });

  test('shares with who waits: neither shuts the other out', (t) => {
    const fixture = new Fixture(t, 10);
    const waiting = new Greedy(fixture.bucket, 16_384);
    waiting.paid();
    const one = new Flood(fixture.bucket, 1_400);
    const other = new Flood(fixture.bucket, 200);
    flood(fixture, [one, other], { ms: 10_000, times: 20 });
    const sum = waiting.moved + one.moved + other.moved;
    assert.ok(Math.abs(sum / (10 * 10 * MBPS) - 1) < 0.05, `${sum}`);
    for (const { moved } of [waiting, one, other])
      assert.ok(moved > sum / 5, `${moved} of ${sum}: ${waiting.moved} ${one.moved} ${other.moved}`);
  });

  test('a datagram that is longer than what can be saved up passes now and then', (t) => {
    const fixture = new Fixture(t, 0.5);
    const one = new Flood(fixture.bucket, 60_000);
    flood(fixture, [one], { ms: 20_000, times: 1 });
    assert.ok(one.moved >= 60_000 * 10 && one.moved <= 20 * 0.5 * MBPS + 80_000, `${one.moved}`);
  });
});
