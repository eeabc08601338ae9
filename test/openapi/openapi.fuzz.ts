/** The long form of the test of the API document, for `npm run fuzz`: more requests that fit, from a seed that it prints. */
import { roundOf } from './rounds.ts';
import { ApiTester } from './tester.ts';

const RUNS = 20;

/** Rounds over all operations for `seconds`. Throws at the end of a round in which a response was not as documented. */
export async function fuzzOpenapi(seconds: number, seed: number): Promise<void> {
  const tester = await ApiTester.start();
  const until = performance.now() + seconds * 1_000;
  try {
    for (let round = 0; performance.now() < until; round++) {
      const faults: string[] = [];
      for (const operation of tester.operations) {
        if (performance.now() >= until) break;
        faults.push(...(await roundOf(tester, operation, { runs: RUNS, seed: seed + round })).faults);
      }
      if (faults.length > 0) throw new Error(`seed ${seed + round}:\n${faults.join('\n')}`);
    }
    console.log(`openapi: ${tester.operations.length} operations, ${tester.sent} requests, seed ${seed}`);
  } finally {
    await tester.close();
  }
}
