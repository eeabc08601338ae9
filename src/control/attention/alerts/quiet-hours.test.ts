/** Quiet hours by the clock of a time zone. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isQuiet } from './quiet-hours.ts';

const quiet = (from: string, to: string, time_zone: string, at: string) =>
  isQuiet({ from, to, time_zone }, Date.parse(at));

test('quiet hours: the start belongs to them, the end does not, also past midnight', () => {
  for (const [from, to, at, expected] of [
    ['22:00', '07:00', '2026-11-21T22:00:00Z', true],
    ['22:00', '07:00', '2026-11-21T00:00:00Z', true],
    ['22:00', '07:00', '2026-11-21T06:59:59Z', true],
    ['22:00', '07:00', '2026-11-21T07:00:00Z', false],
    ['22:00', '07:00', '2026-11-21T21:59:59Z', false],
    ['12:00', '13:30', '2026-11-21T13:29:00Z', true],
    ['12:00', '13:30', '2026-11-21T13:30:00Z', false],
  ] as const)
    assert.equal(quiet(from, to, 'UTC', at), expected, `${from} to ${to} at ${at}`);
});

test('quiet hours: follow their time zone through summer and winter', () => {
  assert.equal(quiet('22:00', '07:00', 'Europe/Berlin', '2026-07-01T05:30:00Z'), false);
  assert.equal(quiet('22:00', '07:00', 'Europe/Berlin', '2026-12-01T05:30:00Z'), true);
  assert.equal(quiet('22:00', '07:00', 'Asia/Kolkata', '2026-12-01T16:30:00Z'), true);
  assert.equal(isQuiet(null, 0), false);
});

test('quiet hours: a zone has one clock, however it is spelled', (t) => {
  const made = t.mock.method(Intl, 'DateTimeFormat');
  for (const zone of ['Pacific/Chatham', 'pacific/chatham', 'PACIFIC/CHATHAM'])
    assert.equal(quiet('22:00', '07:00', zone, '2026-12-01T09:00:00Z'), true);
  assert.equal(made.mock.callCount(), 1);
});
