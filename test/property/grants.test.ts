/** The short form of grants.fuzz.ts: a fixed seed. */
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import { runGrants } from './grants.ts';
import { anyStep } from './grants-steps.ts';
import { makeTemplate, removeTemplate, type Template } from './grants-world.ts';

let template: Template;
before(async () => {
  template = await makeTemplate();
});
after(() => removeTemplate(template));

test('200 sequences of up to 40 steps leave no live session without a valid grant', async () => {
  const steps = fc.array(anyStep, { minLength: 1, maxLength: 40, size: 'max' });
  await fc.assert(
    fc.asyncProperty(steps, (sequence) => runGrants(template, sequence)),
    { numRuns: 200, seed: 1, endOnFailure: false },
  );
});
