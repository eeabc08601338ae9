/** What the charts of latency work out without a browser: series, words, and the period that a selection opens. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { filterIn, matches, queryOf, searchOf } from '../../src/dashboard/pages/inspector/filters/filter.ts';
import { setTimeZone } from '../../src/dashboard/parts/time/time-zone.ts';
import { rangeText } from '../../src/dashboard/pages/inspector/filters/time-range-text.ts';
import {
  axisText,
  DURATION_STEPS,
  type Latency,
  percentileSeries,
  percentilesText,
  shareText,
  startsOf,
  statusSeries,
  statusText,
} from '../../src/dashboard/pages/latency/latency.ts';
import { snapped, stacked, valuesText } from '../../src/dashboard/parts/charts/series.ts';

const START = Date.UTC(2026, 10, 21, 14);
const MINUTE = 60_000;
const NONE = { p50_ms: null, p95_ms: null, p99_ms: null };
const SOME = { p50_ms: 12.1, p95_ms: 480, p99_ms: 1_210 };

function latency(...buckets: ReadonlyArray<Latency['buckets'][number]['status']>): Latency {
  const rest = { bytes_in: 0, bytes_out: 0, connections: 0 };
  const summary: Record<string, number> = {};
  for (const bucket of buckets)
    for (const [name, count] of Object.entries(bucket)) summary[name] = (summary[name] ?? 0) + count;
  const sum = (of: object) => Object.values(of).reduce((all: number, one: number) => all + one, 0);
  const figures = (status: Latency['summary']['status']) => ({
    count: sum(status),
    first_byte: sum(status) === 0 ? NONE : SOME,
    total: NONE,
    status,
    ...rest,
  });
  return {
    summary: figures(summary),
    buckets: buckets.map((status, i) => ({
      start: new Date(START + i * MINUTE).toISOString(),
      ...figures(status),
    })),
  };
}

test('latency: lines have gaps where no request was, and say what is there', () => {
  const of = latency({ '2xx': 3 }, {});
  const series = percentileSeries(of, 'first_byte');
  assert.deepEqual(
    series.map(({ name, values }) => [name, ...values]),
    [
      ['p50', 12.1, null],
      ['p95', 480, null],
      ['p99', 1_210, null],
    ],
  );
  assert.equal(valuesText(series, 0, { say: axisText }), 'p50 12.1 ms, p95 480 ms, p99 1.2 s');
  assert.equal(valuesText(series, 1, { say: axisText }), 'no data');
  assert.deepEqual(startsOf(of), [START, START + MINUTE]);
  assert.equal(percentilesText(of, 'first_byte', '1h'), 'p50 12 ms, p95 480 ms, p99 1.21 s in the last hour');
  assert.equal(percentilesText(of, 'total', '7d'), 'No request reached an agent in the last 7 days');
});

test('latency: status classes stand on each other, those alone that the range has', () => {
  const of = latency({ '2xx': 3, '5xx': 1 }, { '4xx': 2 });
  const series = statusSeries(of);
  assert.deepEqual(
    series.map(({ name, values }) => [name, ...values]),
    [
      ['2xx', 3, 0],
      ['4xx', 0, 2],
      ['5xx', 1, 0],
    ],
  );
  assert.deepEqual(stacked(series), [
    [4, 2],
    [3, 2],
    [3, 0],
  ]);
  assert.equal(valuesText(series, 1, { say: String, isStacked: true }), '4xx 2');
  assert.equal(statusText(of, '1h'), '6 requests in the last hour, 17 % server errors');
  assert.equal(statusText(latency({ '2xx': 1 }), '24h'), '1 request in the last 24 hours, no server errors');
});

test('latency: a share that is not 0 is never said to be', () => {
  assert.deepEqual(
    [shareText(0, 9), shareText(1, 1_000_000), shareText(5, 1_000), shareText(1, 1)],
    ['no', 'under 0.1 %', '0.5 %', '100 %'],
  );
});

test('latency: lines of the axis are in order, and have different words', () => {
  assert.deepEqual(
    DURATION_STEPS,
    DURATION_STEPS.toSorted((a, b) => a - b),
  );
  for (const step of DURATION_STEPS)
    assert.equal(new Set([0, 1, 2, 3].map((times) => axisText(times * step))).size, 4, String(step));
});

test('latency: a selection opens whole buckets in the inspector', () => {
  const starts = [0, 1, 2, 3].map((i) => START + i * MINUTE);
  assert.deepEqual(snapped({ from: START + 70_000, until: START + 130_000 }, starts, MINUTE), {
    from: START + MINUTE,
    until: START + 3 * MINUTE,
  });
  const whole = { from: START, until: START + 4 * MINUTE };
  assert.deepEqual(snapped({ from: START - 5_000, until: START + 10 * MINUTE }, starts, MINUTE), whole);
  const search = searchOf({
    since: new Date(START).toISOString(),
    until: new Date(START + 15 * MINUTE).toISOString(),
  });
  const filter = filterIn(search);
  assert.deepEqual(queryOf(filter, 0), { since: '2026-11-21T14:00:00.000Z', until: '2026-11-21T14:15:00.000Z' });
  assert.match(rangeText(filter) ?? '', /^2026-11-2\d \d\d:\d\d to \d\d:\d\d [+-]\d\d:\d\d$/);
  for (const bad of ['yesterday', '2026-11-21', '2026-13-41T00:00:00Z'])
    assert.deepEqual(filterIn(new URLSearchParams({ since: bad, until: bad }).toString()), {}, bad);
});

test('inspector: words of a period', (t) => {
  t.after(() => setTimeZone('local'));
  setTimeZone('utc');
  const at = (day: number, hour: number): string => new Date(Date.UTC(2026, 10, day, hour)).toISOString();
  assert.equal(rangeText({ since: at(21, 14), until: at(21, 15) }), '2026-11-21 14:00 to 15:00 UTC');
  assert.equal(rangeText({ since: at(21, 14), until: at(22, 15) }), '2026-11-21 14:00 to 2026-11-22 15:00 UTC');
  assert.equal(rangeText({ since: at(21, 14) }), 'since 2026-11-21 14:00 UTC');
  assert.equal(rangeText({ since: '1h', until: at(21, 14) }), 'until 2026-11-21 14:00 UTC');
  assert.equal(rangeText({ since: '1h' }), undefined);
});

test('inspector: a live request behind the period is not shown', () => {
  const item = { timestamp: '2026-11-21T14:15:00.000Z', path: '/' } as Parameters<typeof matches>[1];
  assert.equal(matches({ until: '2026-11-21T14:15:00.000Z' }, item), false);
  assert.equal(matches({ until: '2026-11-21T14:15:00.001Z' }, item), true);
});
