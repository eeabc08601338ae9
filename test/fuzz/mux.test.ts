// group: fuzz
/** The short form of mux.fuzz.ts: a fixed set of seeds. */
import { test } from 'node:test';
import { hostileRound, honestRound } from './mux-model.ts';

test('40 rounds of honest sessions with random lives', async () => {
  for (let seed = 1; seed <= 40; seed++) await honestRound(seed);
});

test('400 rounds of a lying peer', async () => {
  for (let seed = 1; seed <= 400; seed++) await hostileRound(seed);
});
