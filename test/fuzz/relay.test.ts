// group: fuzz
/** The short form of relay.fuzz.ts: a fixed set of seeds. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type RelayReport, relayRound } from './relay.fuzz.ts';

test('relay: in 15 rounds of private networks among strangers every datagram reaches its own client', () => {
  const sum: RelayReport = { passedIn: 0, passedOut: 0, dropped: 0, moves: 0, cut: 0 };
  for (let seed = 1; seed <= 15; seed++) {
    const report = relayRound(seed);
    for (const name of Object.keys(sum) as Array<keyof RelayReport>) sum[name] += report[name];
  }
  // Rounds in which nothing passes, or nothing is dropped, would show nothing.
  const { passedIn, passedOut, dropped, moves, cut } = sum;
  assert.ok(passedIn > 5_000 && passedOut > 1_500 && dropped > 5_000, JSON.stringify(sum));
  assert.ok(moves > 100 && cut > 200, JSON.stringify(sum));
});
