import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RateLimit, WINDOW_MS } from './rate-limit.ts';

test('lets the given number through in a window, and says when the next one begins', () => {
  const limit = new RateLimit({ requestsPerMinute: 2, perClientIp: false });
  assert.deepEqual(
    [0, 10_000, 10_001, 59_001, WINDOW_MS - 1].map((at) => limit.take('192.0.2.1', at)),
    [0, 0, 50, 1, 1],
  );
  assert.equal(limit.take('192.0.2.1', WINDOW_MS), 0);
});

test('rate limit: with a clock behind the first request the wait is at most one window', () => {
  const limit = new RateLimit({ requestsPerMinute: 1, perClientIp: false });
  assert.equal(limit.take('a', 10_000), 0);
  assert.equal(limit.take('a', 8_000), 60);
});

test('a limit of all counts all, a limit per client each by itself', () => {
  const all = new RateLimit({ requestsPerMinute: 1, perClientIp: false });
  assert.deepEqual([all.take('a', 0), all.take('b', 0)], [0, 60]);
  const each = new RateLimit({ requestsPerMinute: 1, perClientIp: true });
  assert.deepEqual([each.take('a', 0), each.take('b', 0), each.take('a', 0)], [0, 0, 60]);
});

test('counts a bounded number of clients: the oldest gives way, those whose window is over leave', () => {
  const limit = new RateLimit({ requestsPerMinute: 1, perClientIp: true });
  for (let i = 0; i < 10_001; i++) assert.equal(limit.take(`c${i}`, i), 0);
  assert.equal(limit.size, 10_000);
  assert.notEqual(limit.take('c1', 10_001), 0);
  assert.equal(limit.take('c0', 10_001), 0);
  assert.equal(limit.take('late', 3 * WINDOW_MS), 0);
  assert.equal(limit.size, 1);
});
