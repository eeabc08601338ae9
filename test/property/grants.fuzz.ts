/** The long form of the property of live grants, for `npm run fuzz`. Prints the shortest sequence that breaks it, and its seed. */
import fc from 'fast-check';
import { runGrants } from './grants.ts';
import { anySteps } from './grants-steps.ts';
import { makeTemplate, removeTemplate } from './grants-fixture.ts';

/** Sequences for `seconds`, from `seed` on. Throws when the property does not hold. */
export async function fuzzGrants(seconds: number, seed: number): Promise<void> {
  const template = await makeTemplate();
  let runs = 0;
  try {
    const property = fc.asyncProperty(anySteps(80), async (steps) => {
      await runGrants(template, steps);
      runs++;
    });
    await fc.assert(property, { numRuns: Infinity, seed, interruptAfterTimeLimit: seconds * 1_000 });
  } finally {
    removeTemplate(template);
  }
  console.log(`grants: ${runs} sequences, seed ${seed}`);
}
