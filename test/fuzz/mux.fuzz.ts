/** The long form of the multiplexer's fuzzing: `node test/fuzz/mux.fuzz.ts SECONDS [SEED]`. Prints the seed of a failure. */
import { hostileRound, honestRound } from './mux-model.ts';

const seconds = Number(process.argv[2] ?? 60);
let seed = Number(process.argv[3] ?? Date.now() % 1_000_000_000);
const until = performance.now() + seconds * 1_000;
let rounds = 0;
do {
  try {
    await honestRound(seed);
    for (let i = 0; i < 10; i++) await hostileRound(seed + i);
  } catch (error) {
    console.error(`seed ${seed} fails`);
    throw error;
  }
  seed += 10;
  rounds++;
} while (performance.now() < until);
console.log(`mux: ${rounds} honest and ${rounds * 10} hostile rounds in ${seconds} s, last seed ${seed - 10}`);
