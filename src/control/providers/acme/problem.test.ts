/** What an authority says against an order reaches the caller: in one line, with the time to wait. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DAY_MS, HOUR_MS } from '../../../base/clock.ts';
import { type Play, sendProblem } from '../../../../test/harness/played-authority.ts';
import { failureOf, NAME, start } from './testing.ts';

test('acme: a limit of the authority is reported with its end', async (t) => {
  const { authority, account, played, order: ordered } = await start(t);
  const limited =
    (retryAfter: string): Play =>
    (_, response) =>
      sendProblem(response.setHeader('retry-after', retryAfter), {
        status: 429,
        type: 'rateLimited',
        detail: 'too many',
      });
  const waits = async (retryAfter: string): Promise<number | null> => {
    played.plays.set('/orders', limited(retryAfter));
    const error = await failureOf(authority.issue(account, ordered()));
    assert.equal(error.code, 'rateLimited');
    return error.retryAfterMs;
  };
  assert.equal(await waits('3600'), HOUR_MS);
  const byDate = await waits(new Date(Date.now() + HOUR_MS).toUTCString());
  assert.ok(byDate !== null && Math.abs(byDate - HOUR_MS) < 5_000, `${byDate}`);
  assert.equal(await waits(new Date(0).toUTCString()), 0);
  assert.equal(await waits('999999999'), 7 * DAY_MS);
  assert.equal(await waits('soon'), null);
});

test('a problem is made into one line of bounded length', async (t) => {
  const { authority, account, played, order: ordered } = await start(t);
  const sub = { detail: 'a\u202e\u0000b', identifier: { type: 'dns', value: NAME } };
  played.plays.set('/orders', (_, response) =>
    sendProblem(response, {
      status: 400,
      type: 'malformed',
      detail: `no\n\t\u001b[2J${'x'.repeat(100)}`,
      subproblems: [sub],
    }),
  );
  const { message } = await failureOf(authority.issue(account, ordered()));
  assert.match(message, /^127\.0\.0\.1:\d+ refused: no \[2Jx{100}; shop\.example\.test: a b$/);
  played.plays.set('/orders', (_, response) =>
    sendProblem(response, { status: 400, type: 'x'.repeat(100), detail: '\ud800x'.repeat(10_000) }),
  );
  const long = await failureOf(authority.issue(account, ordered()));
  assert.equal(long.code, 'bad_answer');
  assert.ok(long.message.length < 500 && long.message.isWellFormed());
});
