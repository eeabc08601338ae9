/** The words for why an agent left: without a browser. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { matches, reasonOf } from '../../src/dashboard/pages/connections/reasons.ts';
import { END_REASONS } from '../../src/plane/events.ts';

test('disconnect reasons: each has a label; an unknown one is shown as it is', () => {
  const names = END_REASONS.map((reason) => reasonOf(reason).name);
  assert.equal(new Set(names).size, END_REASONS.length);
  assert.ok(
    names.every((name) => !name.includes('_')),
    names.join(),
  );
  for (const odd of ['moved_away', 'constructor', '__proto__'])
    assert.deepEqual(reasonOf(odd), { name: odd, tone: 'quiet' });
});

test('ended connections: search by machine, address and label', () => {
  const one = { hostname: 'Laptop', remote_ip: '192.0.2.7', message: 'Nothing was heard.', reason: 'heartbeat_lost' };
  for (const text of ['', 'lap', ' 192.0.2 ', 'HEARD', 'timed out']) assert.ok(matches(one, text), text);
  for (const text of ['heartbeat_lost', 'desk']) assert.ok(!matches(one, text), text);
});
