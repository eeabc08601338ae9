/** The long form of the multiplexer's fuzzing, for `npm run fuzz`. Prints the seed of a failure. */
import { hostileRound, honestRound } from './mux-model.ts';

/** Honest conversations and hostile bytes for `seconds`, from `seed` on. Throws at the first rule that is broken. */
export async function fuzzMux(seconds: number, firstSeed: number): Promise<void> {
  const until = performance.now() + seconds * 1_000;
  let seed = firstSeed;
  let rounds = 0;
  do {
    try {
      await honestRound(seed);
      for (let i = 0; i < 10; i++) await hostileRound(seed + i);
    } catch (cause) {
      throw new Error(`mux: seed ${seed} fails`, { cause });
    }
    seed += 10;
    rounds++;
  } while (performance.now() < until);
  console.log(`mux: ${rounds} honest and ${rounds * 10} hostile rounds, seeds ${firstSeed} to ${seed - 10}`);
}
