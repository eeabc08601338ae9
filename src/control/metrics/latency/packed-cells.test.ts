/** Histograms: how far percentiles are off, and that adding them up in any order comes to the same. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cellMiddle, LATENCY_CELLS, latencyCell } from '../../../plane/latency.ts';
import { addPacked, addPairs, type Cells, noCells, pack, percentiles } from './packed-cells.ts';

/** The same numbers in each run. */
function* numbers(seed: number): Generator<number, never> {
  for (let state = seed; ; ) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    yield state / 2 ** 32;
  }
}

/** Durations from 0.25 ms to 100 s, most of them short. */
function durations(seed: number, count: number): readonly number[] {
  const random = numbers(seed);
  return Array.from({ length: count }, () => 0.25 * 400_000 ** (random.next().value ** 2));
}

function histogramOf(ms: readonly number[]): Cells {
  const cells = noCells();
  for (const one of ms) addPairs(cells, [latencyCell(one), 1]);
  return cells;
}

const merged = (...all: readonly Cells[]): Cells => {
  const sum = noCells();
  for (const one of all) addPacked(sum, pack(one));
  return sum;
};

test('a percentile is at most 3.2 % off the exact one', () => {
  for (const seed of [1, 2, 3]) {
    const all = durations(seed, 5_000);
    const sorted = all.toSorted((a, b) => a - b);
    const parts = [0.01, 0.25, 0.5, 0.9, 0.95, 0.99, 0.999, 1];
    percentiles(histogramOf(all), parts).forEach((found, i) => {
      const exact = sorted[Math.ceil((parts[i] as number) * sorted.length) - 1] as number;
      const error = Math.abs((found as number) - exact) / exact;
      assert.ok(error <= 0.032, `p${parts[i]}: ${found} ms for ${exact} ms is ${error} off`);
    });
  }
});

test('a duration below a quarter of a millisecond is at most 8 µs off', () => {
  for (let ms = 0; ms < 0.25; ms += 0.001) assert.ok(Math.abs(cellMiddle(latencyCell(ms)) - ms) <= 1 / 128 + 1e-9);
});

test('cells are in the order of durations, without a gap', () => {
  let cell = 0;
  for (let ms = 0; ms < 5_000_000; ms = ms * 1.005 + 0.005) {
    const next = latencyCell(ms);
    assert.ok(next === cell || next === cell + 1, `${ms} ms is in ${next}, behind ${cell}`);
    cell = next;
  }
  assert.equal(cell, LATENCY_CELLS - 1);
  for (const ms of [Infinity, 1e12, 2 ** 28 / 64]) assert.equal(latencyCell(ms), LATENCY_CELLS - 1);
  for (const ms of [-1, -0.001, 0]) assert.equal(latencyCell(ms), 0);
});

test('histograms add up in any order and grouping', () => {
  const [a, b, c] = [1, 2, 3].map((seed) => histogramOf(durations(seed, 400))) as [Cells, Cells, Cells];
  const at_once = histogramOf([1, 2, 3].flatMap((seed) => durations(seed, 400)));
  assert.deepEqual(merged(merged(a, b), c), at_once);
  assert.deepEqual(merged(a, merged(b, c)), at_once);
  assert.deepEqual(merged(c, a, b), at_once);
});

test('large counts survive packing', () => {
  const cells = noCells();
  for (const [cell, count] of [
    [0, 1],
    [1, 127],
    [2, 128],
    [300, 2 ** 31],
    [LATENCY_CELLS - 1, 2 ** 45 + 3],
  ] as const)
    cells[cell] = count;
  assert.deepEqual(merged(cells), cells);
});

test('cells that do not exist are left out', () => {
  const cells = noCells();
  addPairs(cells, [LATENCY_CELLS, 1, -1, 1, 0.5, 1, 7, 2]);
  assert.deepEqual([cells.reduce((sum, one) => sum + one, 0), cells[7]], [2, 2]);
});

test('an empty histogram has no percentiles', () => {
  assert.deepEqual(percentiles(noCells(), [0.5, 0.99]), [null, null]);
  assert.equal(pack(noCells()).length, 0);
});
