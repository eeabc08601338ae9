import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  agoText,
  bytesText,
  clockText,
  dayText,
  durationText,
  minuteText,
  moneyText,
  periodText,
  shortTimeText,
  spanText,
  timeOf,
} from '../../src/dashboard/parts/format.ts';
import { setTimeZone, startOfDay } from '../../src/dashboard/parts/time/time-zone.ts';

test('sizes: three digits or fewer before the unit', () => {
  const said = [0, 999, 999.6, 1000, 1536, 99_900, 999_499, 999_500, 12_345_678, 5e15].map(bytesText);
  assert.deepEqual(said, [
    '0 B',
    '999 B',
    '1.0 KB',
    '1.0 KB',
    '1.5 KB',
    '100 KB',
    '999 KB',
    '1.0 MB',
    '12.3 MB',
    '5.0 PB',
  ]);
});

test('money: fractions of a cent are shown, and no cent is rounded away', () => {
  assert.deepEqual([0, 5, 1234, 0.25, 100_000].map(moneyText), ['$0.00', '$0.05', '$12.34', '$0.0025', '$1,000.00']);
});

test('times: how long ago, or how soon', () => {
  const now = Date.parse('2026-01-01T12:00:00Z');
  const said = (at: string): string => agoText(Date.parse(at), now);
  assert.equal(said('2026-01-01T11:59:58Z'), 'just now');
  assert.equal(said('2026-01-01T11:55:00Z'), '5 min ago');
  assert.equal(said('2026-01-01T09:30:00Z'), '2 h 30 min ago');
  assert.equal(said('2026-01-02T12:00:00Z'), 'in 1 d');
  assert.equal(spanText(8 * 86_400_000 + 3_600_000), '8 d');
  assert.equal(durationText(0.42), '0.4 ms');
  assert.equal(durationText(1234), '1.23 s');
});

test('spans: rounded to the nearest, not down', () => {
  const [second, minute, hour, day] = [1000, 60_000, 3_600_000, 86_400_000];
  const spans = [
    30 * day - second,
    day - second,
    day - minute,
    14 * hour + 20 * minute,
    9 * hour + 59 * minute,
    hour - second,
    7 * day - second,
    6 * day + 23 * hour,
    7 * day + 13 * hour,
    2 * day + 40 * minute,
    90 * second,
    59 * second,
    -second,
  ];
  assert.deepEqual(spans.map(spanText), [
    '30 d',
    '1 d',
    '1 d',
    '14 h',
    '9 h 59 min',
    '1 h',
    '7 d',
    '6 d 23 h',
    '8 d',
    '2 d 1 h',
    '2 min',
    '59 s',
    '0 s',
  ]);
});

test('times: the API sends RFC 3339 or Unix seconds', () => {
  assert.equal(timeOf('2026-01-01T00:00:00Z'), timeOf(1_767_225_600));
});

test('times: ISO dates, with the zone that the reader has chosen', (t) => {
  const at = Date.parse('2026-11-21T14:03:22Z');
  assert.match(clockText(at), /^2026-11-2\d \d\d:\d\d:22 [+-]\d\d:\d\d$/);
  assert.match(minuteText(at), /^2026-11-2\d \d\d:\d\d [+-]\d\d:\d\d$/);
  assert.equal(startOfDay('2026-11-21'), new Date(2026, 10, 21).getTime());
  t.after(() => setTimeZone('local'));
  setTimeZone('utc');
  assert.equal(clockText(at), '2026-11-21 14:03:22 UTC');
  assert.equal(minuteText(at), '2026-11-21 14:03 UTC');
  assert.equal(periodText(at, at + 900_000), '2026-11-21 14:03 to 14:18 UTC');
  assert.equal(periodText(at, at + 86_400_000), '2026-11-21 14:03 to 2026-11-22 14:03 UTC');
  assert.equal(dayText(at), '2026-11-21');
  assert.equal(shortTimeText(at, at + 3_600_000), '14:03:22');
  assert.equal(shortTimeText(at, at + 86_400_000), '2026-11-21 14:03');
  assert.equal(startOfDay('2026-11-21'), Date.UTC(2026, 10, 21));
});
